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
        json!({ "name": { "type": "string", "minLength": 1, "description": "The name of the job, as in `list_jobs`" } }),
        &["name"],
        json!({ "name": "nightly-note" }),
    );
    let description =
        "Cancels a job and removes it from the list. A call that has begun is not interrupted.";
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
    let is_calling = jobs::remove(&workspace.open_state_write()?, &call.name)?;
    let note = if is_calling { "; its current call continues" } else { "" };
    Ok(Answer::text(format!("cancelled `{}`{note}", call.name)))
}
