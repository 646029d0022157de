//! `schedule`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::cron::Cron;
use super::jobs::{self, Job};
use super::target;
use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::trouble::Trouble;
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
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "description": "What the job is called" },
            "schedule": { "type": "string", "minLength": 1, "description": "When it runs: a cron expression in UTC (`minute hour day month weekday`), or `@hourly`, `@daily`, `@weekly`, `@monthly`" },
            "tool": { "type": "string", "minLength": 1, "description": "The tool it calls, `tool` or `suite:tool`" },
            "parameters": { "type": "object", "additionalProperties": true, "description": "The arguments of that call" },
        }),
        &["name", "schedule", "tool"],
        json!({
            "name": "morning-note", "schedule": "0 9 * * 1-5", "tool": "files:write_file",
            "parameters": { "path": "notes/today.txt", "content": "Good morning.\n" },
        }),
    );
    let description = "Has a tool called at set times, for as long as this server runs.";
    Tool::new("schedule", description, Effect::Adds, schema, check, run)
}

fn check(workspace: &Workspace, call: &NewJob) -> Check {
    Cron::parse(&call.schedule).map_err(|reason| {
        Trouble::semantic(format!("`{}` is no cron expression: {reason}", call.schedule))
    })?;
    let target = target::find(&call.tool, &Value::Object(call.parameters.clone()))?;
    let warnings = target.check(workspace, call.parameters.clone())?;
    if jobs::all(&workspace.recall()?)?.iter().any(|job| job.name == call.name) {
        let name = &call.name;
        return Err(Trouble::runtime(format!(
            "there is a job `{name}` already; cancel it or choose another name"
        )));
    }
    Ok(warnings)
}

fn run(workspace: &Workspace, call: &NewJob) -> Outcome {
    let cron = Cron::parse(&call.schedule).map_err(Trouble::semantic)?;
    let job = Job {
        name: call.name.clone(),
        schedule: call.schedule.clone(),
        tool: call.tool.clone(),
        parameters: Value::Object(call.parameters.clone()),
        next_run: cron.next_after(jobs::now()).unwrap_or(i64::MAX),
        runs: 0,
        last_outcome: None,
    };
    jobs::add(&workspace.remember()?, &job)?;
    Ok(Answer::data(job.written()))
}
