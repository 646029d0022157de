//! Tool `inject_directive`: records a directive for the agents of the project.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::{NewEvent, Workspace, checkpoint};

/// The event kind of directives.
pub(super) const KIND: &str = "directive";

#[derive(Deserialize)]
struct Inject {
    directive: String,
    #[serde(default = "normal")]
    priority: String,
    task_id: Option<String>,
}

fn normal() -> String {
    "normal".to_owned()
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "directive": { "type": "string", "minLength": 1, "description": "The instruction that the agents must follow from now on" },
            "priority": { "type": "string", "enum": ["low", "normal", "high"], "default": "normal", "description": "The priority of the directive" },
            "task_id": { "type": "string", "minLength": 1, "description": "The task to which it applies; default: all tasks" },
        }),
        &["directive"],
        json!({ "directive": "Ask before you touch the database.", "priority": "high", "task_id": "task-7" }),
    );
    let description =
        "Gives the agents of the project a directive, which applies until it is rewound.";
    Tool::new("inject_directive", description, Effect::Adds, schema, no_check::<Inject>, run)
        .unrecorded()
}

fn run(workspace: &Workspace, call: &Inject) -> Outcome {
    let data = json!({ "directive": call.directive, "priority": call.priority });
    let task = call.task_id.as_deref();
    let id = workspace.record(&NewEvent { kind: KIND, task, data })?;
    let checkpoint = checkpoint(id);
    let text = format!("the directive is in effect; its checkpoint is `{checkpoint}`");
    Ok(Answer::both(text, json!({ "checkpoint": checkpoint, "task_id": task })))
}
