//! Tool `git_commit`: commits changes to the repository in the root.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct GitCommit {
    message: String,
    #[serde(default)]
    paths: Vec<String>,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "message": { "type": "string", "minLength": 1, "description": "The commit message: what changed and why" },
            "paths": {
                "type": "array", "items": { "type": "string", "minLength": 1 },
                "description": "The files to commit, relative to the root; default: all changes",
            },
        }),
        &["message"],
        json!({ "message": "Explain how to start the server", "paths": ["README.md"] }),
    );
    let description = "Commits changes to the git repository in the root.";
    Tool::new("git_commit", description, Effect::Adds, schema, check, run)
}

fn check(workspace: &Workspace, call: &GitCommit) -> Check {
    workspace.require_repository()?;
    for path in &call.paths {
        workspace.place(path)?;
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &GitCommit) -> Outcome {
    let commit = workspace.commit(&call.message, &call.paths)?;
    let text = format!("committed as {commit}");
    Ok(Answer::both(text, json!({ "commit": commit, "message": call.message })))
}
