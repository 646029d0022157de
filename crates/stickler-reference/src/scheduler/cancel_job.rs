//! Tool `cancel_job`: removes a job.

use serde::Deserialize;
use serde_json::json;

use super::jobs;
use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct CancelJob {
    name: String,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({ "name": { "type": "string", "minLength": 1, "description": "The name of the job" } }),
        &["name"],
        json!({ "name": "morning-note" }),
    );
    let description = "Cancels a job. It does not run again.";
    Tool::new("cancel_job", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &CancelJob) -> Check {
    let jobs = jobs::all(&workspace.open_state_read()?)?;
    if jobs.iter().any(|job| job.name == call.name) {
        return Ok(Vec::new());
    }
    let known: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(ToolFailure::runtime(format!(
        "the job `{}` does not exist; existing jobs: {known}",
        call.name
    )))
}

fn run(workspace: &Workspace, call: &CancelJob) -> Outcome {
    jobs::remove(&workspace.open_state_write()?, &call.name)?;
    Ok(Answer::text(format!("cancelled `{}`", call.name)))
}
