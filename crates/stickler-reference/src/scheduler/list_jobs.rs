//! Tool `list_jobs`: lists the jobs and their last runs.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{jobs, runs};
use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct ListJobs {
    name: Option<String>,
    tool: Option<String>,
    #[serde(default = "default_runs")]
    runs: u32,
}

fn default_runs() -> u32 {
    1
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "name": { "type": "string", "minLength": 1, "description": "Only the job with this name" },
            "tool": { "type": "string", "minLength": 1, "description": "Only jobs that call this tool, as `server:tool`" },
            "runs": { "type": "integer", "minimum": 0, "maximum": 100, "default": 1, "description": "The number of last runs to show of each job, newest first" },
        }),
        &[],
        json!({ "tool": "files:write_file", "runs": 3 }),
    );
    let description = "Lists the jobs with their next run and their last runs. The state of a run is `succeeded`, `failed`, `rejected` (invalid, not called), `unknown` (interrupted during the call, not repeated), or in progress.";
    Tool::new("list_jobs", description, Effect::Reads, schema, no_check::<ListJobs>, run)
        .unrecorded()
}

fn run(workspace: &Workspace, call: &ListJobs) -> Outcome {
    let state = workspace.open_state_read()?;
    let mut listed: Vec<Value> = Vec::new();
    for job in jobs::all(&state)? {
        let is_chosen = call.name.as_ref().is_none_or(|name| *name == job.name)
            && call.tool.as_ref().is_none_or(|tool| *tool == job.tool);
        if is_chosen {
            let (finished, last) = runs::history(&state, &job, call.runs)?;
            let mut entry = job.to_json();
            entry["finished_runs"] = finished.into();
            entry["last_runs"] = last.into();
            listed.push(entry);
        }
    }
    Ok(Answer::data(json!({ "jobs": listed })))
}
