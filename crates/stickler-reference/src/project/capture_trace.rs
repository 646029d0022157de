//! Tool `capture_trace`: appends an entry to the trace of a task.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::{NewEvent, Workspace, checkpoint};

/// The event kind of trace entries.
const KIND: &str = "trace";

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
            "task_id": { "type": "string", "minLength": 1, "description": "The id of the task" },
            "message": { "type": "string", "minLength": 1, "description": "What happened" },
            "level": { "type": "string", "enum": ["debug", "info", "warn", "error"], "default": "info", "description": "The severity of the entry" },
            "data": { "type": "object", "additionalProperties": true, "description": "Additional data" },
        }),
        &["task_id", "message"],
        json!({ "task_id": "task-7", "message": "parser rewritten", "level": "info", "data": { "files": 3 } }),
    );
    let description = "Adds a note about your progress to the trace of a task. Tool calls are recorded without it; `get_logs` and `get_task_trace` return both.";
    Tool::new("capture_trace", description, Effect::Adds, schema, no_check::<Capture>, run)
        .unrecorded()
}

fn run(workspace: &Workspace, call: &Capture) -> Outcome {
    let data = json!({ "message": call.message, "level": call.level, "data": call.data });
    let task = Some(call.task_id.as_str());
    let id = workspace.record(&NewEvent { kind: KIND, task, data })?;
    Ok(Answer::data(json!({ "checkpoint": checkpoint(id), "task_id": call.task_id })))
}
