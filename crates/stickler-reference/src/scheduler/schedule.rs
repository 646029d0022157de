//! Tool `schedule`: adds a job.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::cron::Cron;
use super::jobs::{self, Job};
use super::target;
use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct NewJob {
    name: String,
    schedule: String,
    tool: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "description": "The name of the job" },
            "schedule": { "type": "string", "minLength": 1, "description": "When it runs: a cron expression in UTC (`minute hour day month weekday`), or `@hourly`, `@daily`, `@weekly`, `@monthly`" },
            "tool": { "type": "string", "minLength": 1, "description": "The tool to call, as `tool` or `suite:tool`" },
            "parameters": { "type": "object", "additionalProperties": true, "description": "The arguments of the call" },
        }),
        &["name", "schedule", "tool"],
        json!({
            "name": "morning-note", "schedule": "0 9 * * 1-5", "tool": "files:write_file",
            "parameters": { "path": "notes/today.txt", "content": "Good morning.\n" },
        }),
    );
    let description = "Calls a tool on a schedule for as long as this server runs.";
    Tool::new("schedule", description, Effect::Adds, schema, check, run)
}

fn check(workspace: &Workspace, call: &NewJob) -> Check {
    Cron::parse(&call.schedule).map_err(|reason| {
        ToolFailure::semantic(format!("`{}` is not a cron expression: {reason}", call.schedule))
    })?;
    let target = target::find(&call.tool, &Value::Object(call.parameters.clone()))?;
    let warnings = target.check(workspace, call.parameters.clone())?;
    if jobs::all(&workspace.open_state_read()?)?.iter().any(|job| job.name == call.name) {
        let name = &call.name;
        return Err(ToolFailure::runtime(format!(
            "the job `{name}` already exists; cancel it or choose another name"
        )));
    }
    Ok(warnings)
}

fn run(workspace: &Workspace, call: &NewJob) -> Outcome {
    let cron = Cron::parse(&call.schedule).map_err(ToolFailure::semantic)?;
    let job = Job {
        name: call.name.clone(),
        schedule: call.schedule.clone(),
        tool: call.tool.clone(),
        parameters: Value::Object(call.parameters.clone()),
        next_run: cron.next_after(jobs::now()).unwrap_or(i64::MAX),
        runs: 0,
        last_outcome: None,
    };
    jobs::add(&workspace.open_state_write()?, &job)?;
    Ok(Answer::data(job.to_json()))
}
