//! Tool `schedule`: adds a job.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use stickler_rmcp::{DecidedBy, ToolValidation};
use tokio::runtime::Handle;

use super::jobs::{self, Job};
use super::timing::Timing;
use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct NewJob {
    name: String,
    schedule: String,
    #[serde(default = "utc")]
    time_zone: String,
    tool: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

fn utc() -> String {
    "UTC".to_owned()
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "description": "A name for the job, to list and cancel it" },
            "schedule": { "type": "string", "minLength": 1, "description": "When to run. Repeatedly: a cron expression `minute hour day month weekday`, or `@hourly`, `@daily`, `@weekly`, `@monthly`. Once: a date and time such as `2027-01-31T18:00`, or a delay such as `in 10 minutes`" },
            "time_zone": { "type": "string", "minLength": 1, "default": "UTC", "description": "The IANA time zone of `schedule`, such as `Europe/Berlin`" },
            "tool": { "type": "string", "minLength": 1, "description": "The tool to call, as `server:tool`" },
            "parameters": { "type": "object", "additionalProperties": true, "description": "The arguments of the call" },
        }),
        &["name", "schedule", "tool"],
        json!({
            "name": "nightly-note", "schedule": "30 2 * * *", "time_zone": "Europe/Berlin",
            "tool": "files:write_file",
            "parameters": { "path": "notes/today.txt", "content": "A new day.\n" },
        }),
    );
    let description = "Schedules a tool call on another server, once or repeatedly. The call is validated now and again before each run.";
    Tool::new("schedule", description, Effect::Adds, schema, check, run)
}

fn check(workspace: &Workspace, call: &NewJob) -> Check {
    next_run(call)?;
    let validation = validated(workspace, call)?;
    if jobs::all(&workspace.open_state_read()?)?.iter().any(|job| job.name == call.name) {
        let name = &call.name;
        return Err(ToolFailure::runtime(format!(
            "the job `{name}` already exists; cancel it or choose another name"
        )));
    }
    Ok(validation.report.warnings)
}

fn run(workspace: &Workspace, call: &NewJob) -> Outcome {
    let (timing, next_run) = next_run(call)?;
    let job = Job {
        id: 0,
        name: call.name.clone(),
        schedule: timing.text(),
        time_zone: call.time_zone.clone(),
        tool: call.tool.clone(),
        parameters: Value::Object(call.parameters.clone()),
        next_run: Some(next_run),
    };
    let validation = validated(workspace, call)?;
    jobs::add(&workspace.open_state_write()?, &job)?;
    let mut data = job.to_json();
    data["validated_by"] = match validation.decided_by {
        DecidedBy::Server => "server".into(),
        DecidedBy::Schema => "schema".into(),
    };
    data["warnings"] = validation.report.warnings.into();
    Ok(Answer::data(data))
}

fn next_run(call: &NewJob) -> Result<(Timing, Timestamp), ToolFailure> {
    let now = Timestamp::now();
    let timing =
        Timing::parse(&call.schedule, &call.time_zone, now).map_err(ToolFailure::semantic)?;
    let next = timing.next_after(now).ok_or_else(|| {
        let (given, now) = (&call.schedule, timing.local(now));
        ToolFailure::semantic(format!("`{given}` is in the past; it is now {now}"))
    })?;
    Ok((timing, next))
}

/// Validates the call of the job; fails if it is invalid.
fn validated(workspace: &Workspace, call: &NewJob) -> Result<ToolValidation, ToolFailure> {
    let parameters = Value::Object(call.parameters.clone());
    let validation = workspace.servers.validate(&call.tool, &parameters);
    let validation = Handle::current().block_on(validation).map_err(ToolFailure::semantic)?;
    if validation.report.valid {
        return Ok(validation);
    }
    let (tool, errors) = (&call.tool, validation.report.errors.join("; "));
    let failure = ToolFailure::semantic(format!("the call of `{tool}` is invalid: {errors}"));
    Err(failure.suggesting(&validation.report.suggestions))
}
