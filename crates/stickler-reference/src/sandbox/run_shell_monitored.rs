//! Tool `run_shell_monitored`: runs a shell command with limits.

use std::process::Command;

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{DEFAULT_SECONDS, MAX_SECONDS, Workspace, time_limit};

#[derive(Deserialize)]
struct Shell {
    command: String,
    working_directory: Option<String>,
    timeout_seconds: Option<u64>,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "command": { "type": "string", "minLength": 1, "description": "The shell command to run" },
            "working_directory": { "type": "string", "minLength": 1, "description": "The working directory, relative to the root; default: the root" },
            "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "default": DEFAULT_SECONDS, "description": "The time limit, after which the command and its child processes are terminated" },
        }),
        &["command"],
        json!({ "command": "ls -l", "timeout_seconds": 10 }),
    );
    let description = "Runs a shell command in the root, with limits on time and output. Reports its last line of output as progress while it runs.";
    Tool::new("run_shell_monitored", description, Effect::Runs, schema, check, run)
}

fn check(workspace: &Workspace, call: &Shell) -> Check {
    workspace.require_shell("`run_shell_monitored`")?;
    let place = workspace.place_or_root(call.working_directory.as_deref())?;
    if !workspace.dir().is_dir(&place.path) {
        return Err(ToolFailure::runtime(format!("the folder `{}` does not exist", place.given)));
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Shell) -> Outcome {
    let place = workspace.place_or_root(call.working_directory.as_deref())?;
    let mut command = Command::new("sh");
    command.args(["-c", &call.command]).current_dir(workspace.full_path(&place));
    let finished = workspace.running.run(&mut command, time_limit(call.timeout_seconds));
    let finished = finished
        .map_err(|error| ToolFailure::runtime(format!("`sh` cannot be started: {error}")))?;
    Ok(Answer::both(finished.text(), finished.data()))
}
