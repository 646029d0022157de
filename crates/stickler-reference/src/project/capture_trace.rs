//! `capture_trace`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::{NewEvent, Workspace, checkpoint};

/// What its events are called.
pub(super) const KIND: &str = "trace";

#[derive(Deserialize)]
struct Capture {
    task_id: String,
    message: String,
    #[serde(default = "info")]
    level: String,
    #[serde(default)]
    data: Map<String, Value>,
}

fn info() -> String {
    "info".to_owned()
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "task_id": { "type": "string", "minLength": 1, "description": "The task it belongs to" },
            "message": { "type": "string", "minLength": 1, "description": "What happened" },
            "level": { "type": "string", "enum": ["debug", "info", "warn", "error"], "default": "info", "description": "How much it matters" },
            "data": { "type": "object", "additionalProperties": true, "description": "Whatever else is worth keeping" },
        }),
        &["task_id", "message"],
        json!({ "task_id": "task-7", "message": "parser rewritten", "level": "info", "data": { "files": 3 } }),
    );
    let description = "Adds what happened in a task to its trace, which `get_logs` reads.";
    Tool::new("capture_trace", description, Effect::Adds, schema, no_check::<Capture>, run)
}

fn run(workspace: &Workspace, call: &Capture) -> Outcome {
    let data = json!({ "message": call.message, "level": call.level, "data": call.data });
    let task = Some(call.task_id.as_str());
    let id = workspace.remember()?.add(&NewEvent { kind: KIND, task, data })?;
    Ok(Answer::data(json!({ "checkpoint": checkpoint(id), "task_id": call.task_id })))
}
