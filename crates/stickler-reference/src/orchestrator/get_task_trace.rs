//! Tool `get_task_trace`: returns the events of one task.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Event, Workspace};

#[derive(Deserialize)]
struct Trace {
    task_id: String,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    100
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "task_id": { "type": "string", "minLength": 1, "description": "The id of the task" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "description": "The maximum number of events; the most recent are returned" },
        }),
        &["task_id"],
        json!({ "task_id": "task-7", "limit": 20 }),
    );
    let description =
        "Returns the events of a task in chronological order, including events undone later.";
    Tool::new("get_task_trace", description, Effect::Reads, schema, check, run).unrecorded()
}

fn check(workspace: &Workspace, call: &Trace) -> Check {
    events(workspace, call)?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Trace) -> Outcome {
    let events = events(workspace, call)?;
    let from = events.len().saturating_sub(call.limit);
    let shown: Vec<Value> = events[from..].iter().map(Event::to_json).collect();
    Ok(Answer::data(json!({ "task_id": call.task_id, "events": shown, "left_out": from })))
}

fn events(workspace: &Workspace, call: &Trace) -> Result<Vec<Event>, ToolFailure> {
    let all = workspace.open_state_read()?.events()?;
    let tasks: BTreeSet<&str> = all.iter().filter_map(|event| event.task.as_deref()).collect();
    if !tasks.contains(call.task_id.as_str()) {
        let known: Vec<&str> = tasks.into_iter().collect();
        let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
        let task = &call.task_id;
        return Err(ToolFailure::runtime(format!(
            "the task `{task}` has no events; tasks with events: {known}"
        )));
    }
    Ok(all.into_iter().filter(|event| event.task.as_deref() == Some(&call.task_id)).collect())
}
