//! `get_task_trace`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::trouble::Trouble;
use crate::workspace::{Event, Workspace};

#[derive(Deserialize)]
struct Trace {
    task_id: String,
    #[serde(default = "hundred")]
    limit: usize,
}

fn hundred() -> usize {
    100
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "task_id": { "type": "string", "minLength": 1, "description": "The task" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "description": "How many events to give, the newest" },
        }),
        &["task_id"],
        json!({ "task_id": "task-7", "limit": 20 }),
    );
    let description = "Tells what happened in a task, in its order, with what was undone later.";
    Tool::new("get_task_trace", description, Effect::Reads, schema, check, run)
}

fn check(workspace: &Workspace, call: &Trace) -> Check {
    events(workspace, call)?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Trace) -> Outcome {
    let events = events(workspace, call)?;
    let from = events.len().saturating_sub(call.limit);
    let shown: Vec<Value> = events[from..].iter().map(Event::written).collect();
    Ok(Answer::data(json!({ "task_id": call.task_id, "events": shown, "left_out": from })))
}

fn events(workspace: &Workspace, call: &Trace) -> Result<Vec<Event>, Trouble> {
    let all = workspace.recall()?.events()?;
    let tasks: BTreeSet<&str> = all.iter().filter_map(|event| event.task.as_deref()).collect();
    if !tasks.contains(call.task_id.as_str()) {
        let known: Vec<&str> = tasks.into_iter().collect();
        let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
        let task = &call.task_id;
        return Err(Trouble::runtime(format!(
            "nothing happened in `{task}`; tasks with events: {known}"
        )));
    }
    Ok(all.into_iter().filter(|event| event.task.as_deref() == Some(&call.task_id)).collect())
}
