//! Tool `list_jobs`: lists the jobs and their last outcomes.

use serde::Deserialize;
use serde_json::{Value, json};

use super::jobs::{self, Job};
use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct ListJobs {
    tool: Option<String>,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "tool": { "type": "string", "minLength": 1, "description": "Only jobs that call this tool, named as in the job" },
        }),
        &[],
        json!({ "tool": "files:write_file" }),
    );
    let description = "Lists the jobs with their next run and the outcome of their last run.";
    Tool::new("list_jobs", description, Effect::Reads, schema, no_check::<ListJobs>, run)
}

fn run(workspace: &Workspace, call: &ListJobs) -> Outcome {
    let jobs = jobs::all(&workspace.open_state_read()?)?;
    let matching =
        jobs.iter().filter(|job| call.tool.as_ref().is_none_or(|tool| *tool == job.tool));
    let jobs: Vec<Value> = matching.map(Job::to_json).collect();
    Ok(Answer::data(json!({ "jobs": jobs })))
}
