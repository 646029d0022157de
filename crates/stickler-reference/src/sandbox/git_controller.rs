//! Tool `git_controller`: runs git commands in the repository of the root.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, requiring, strict};
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct Git {
    action: Action,
    #[serde(default)]
    paths: Vec<String>,
    message: Option<String>,
    branch: Option<String>,
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Status,
    Log,
    Diff,
    Add,
    Commit,
    CreateBranch,
    Switch,
}

pub(super) fn tool() -> Tool {
    let fields = strict(
        json!({
            "action": {
                "type": "string",
                "enum": ["status", "log", "diff", "add", "commit", "create_branch", "switch"],
                "description": "The git command to run",
            },
            "paths": {
                "type": "array", "items": { "type": "string", "minLength": 1 },
                "description": "The files, relative to the root; default: all",
            },
            "message": { "type": "string", "minLength": 1, "description": "The commit message, for `commit`" },
            "branch": { "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_./-]*$", "description": "The branch for `create_branch` and `switch`" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "The maximum number of commits that `log` returns" },
        }),
        &["action"],
        json!({ "action": "status" }),
    );
    let schema =
        requiring(fields, &[(&["commit"], "message"), (&["create_branch", "switch"], "branch")]);
    let description = "Works with the git repository in the root. Does not access the network.";
    Tool::new("git_controller", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &Git) -> Check {
    for path in &call.paths {
        workspace.place(path)?;
    }
    workspace.require_repository()?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Git) -> Outcome {
    let branch = call.branch.as_deref().unwrap_or_default();
    let limit = format!("--max-count={}", call.limit);
    let mut arguments = match call.action {
        Action::Status => vec!["status", "--short", "--branch", "--ignore-submodules", "--"],
        Action::Log => {
            vec!["log", "--no-decorate", "--format=%h %ad %an: %s", "--date=short", &limit, "--"]
        }
        Action::Diff => {
            vec!["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "HEAD", "--"]
        }
        Action::Add => {
            workspace.stage(&call.paths)?;
            return Ok(Answer::text(workspace.git_status().unwrap_or_default()));
        }
        Action::Commit => {
            let commit =
                workspace.commit(call.message.as_deref().unwrap_or_default(), &call.paths)?;
            return Ok(Answer::both(format!("committed as {commit}"), json!({ "commit": commit })));
        }
        Action::CreateBranch => vec!["branch", "--", branch],
        Action::Switch => vec!["switch", "--quiet", "--no-guess", branch],
    };
    if matches!(call.action, Action::Status | Action::Log | Action::Diff) {
        arguments.extend(call.paths.iter().map(String::as_str));
    }
    let output = workspace.git(&arguments)?.stdout;
    Ok(Answer::text(match call.action {
        Action::CreateBranch => format!("created the branch `{branch}`"),
        Action::Switch => format!("switched to the branch `{branch}`"),
        _ if output.is_empty() => "no output".to_owned(),
        _ => output,
    }))
}
