//! Tool `get_logs`: returns what tools, jobs and agents have recorded.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::{Event, Workspace};

const LEVELS: [&str; 4] = ["debug", "info", "warn", "error"];

#[derive(Deserialize)]
struct Logs {
    level: Option<String>,
    task_id: Option<String>,
    contains: Option<String>,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    50
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "level": { "type": "string", "enum": LEVELS, "description": "The minimum severity" },
            "task_id": { "type": "string", "minLength": 1, "description": "Only entries of this task" },
            "contains": { "type": "string", "minLength": 1, "description": "Only entries with this text in the message" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 500, "default": 50, "description": "The maximum number of entries; the most recent are returned" },
        }),
        &[],
        json!({ "level": "info", "limit": 20 }),
    );
    let description = "Returns what happened in the project, oldest first: tool calls with their arguments and output, runs of scheduled jobs, and entries of `capture_trace`. A failed call has the level `warn`.";
    Tool::new("get_logs", description, Effect::Reads, schema, no_check::<Logs>, run).unrecorded()
}

fn run(workspace: &Workspace, call: &Logs) -> Outcome {
    let events = workspace.open_state_read()?.active_events()?;
    let found: Vec<&Event> = events.iter().filter(|event| matches(event, call)).collect();
    let from = found.len().saturating_sub(call.limit);
    let entries: Vec<Value> = found[from..].iter().map(|event| event.to_json()).collect();
    Ok(Answer::data(json!({ "entries": entries, "left_out": from })))
}

fn matches(event: &Event, call: &Logs) -> bool {
    let text = |key: &str| event.data[key].as_str().unwrap_or_default();
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    event.data["message"].is_string()
        && call.level.as_deref().is_none_or(|level| rank(text("level")) >= rank(level))
        && call.task_id.as_deref().is_none_or(|task| event.task.as_deref() == Some(task))
        && call.contains.as_deref().is_none_or(|part| text("message").contains(part))
}
