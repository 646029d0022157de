//! `git_controller`.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::trouble::Trouble;
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct Git {
    action: Action,
    #[serde(default)]
    paths: Vec<String>,
    message: Option<String>,
    branch: Option<String>,
    #[serde(default = "ten")]
    limit: u32,
}

fn ten() -> u32 {
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
    let schema = strict(
        json!({
            "action": {
                "type": "string",
                "enum": ["status", "log", "diff", "add", "commit", "create_branch", "switch"],
                "description": "What git is to do",
            },
            "paths": {
                "type": "array", "items": { "type": "string", "minLength": 1 },
                "description": "Which files, relative to the root; all without it",
            },
            "message": { "type": "string", "minLength": 1, "description": "What changed and why, for `commit`" },
            "branch": { "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_./-]*$", "description": "The branch for `create_branch` and `switch`" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "How many commits `log` gives" },
        }),
        &["action"],
        json!({ "action": "status" }),
    );
    let description = "Works with the git repository of the root. Nothing goes over the network.";
    Tool::new("git_controller", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &Git) -> Check {
    for path in &call.paths {
        workspace.place(path)?;
    }
    match call.action {
        Action::Commit if call.message.is_none() => Err(Trouble::needs("commit", "message")),
        Action::CreateBranch if call.branch.is_none() => {
            Err(Trouble::needs("create_branch", "branch"))
        }
        Action::Switch if call.branch.is_none() => Err(Trouble::needs("switch", "branch")),
        _ => {
            workspace.require_repository()?;
            Ok(Vec::new())
        }
    }
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
    let said = workspace.git(&arguments)?.stdout;
    Ok(Answer::text(match call.action {
        Action::CreateBranch => format!("made the branch `{branch}`"),
        Action::Switch => format!("now on the branch `{branch}`"),
        _ if said.is_empty() => "nothing".to_owned(),
        _ => said,
    }))
}
