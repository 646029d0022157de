//! Tool `rewind_to_checkpoint`: undoes the events after a checkpoint.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Event, NewEvent, Workspace, checkpoint};

#[derive(Deserialize)]
struct Rewind {
    checkpoint_id: String,
    #[serde(default)]
    dry_run: bool,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "checkpoint_id": { "type": "string", "pattern": "^cp-[0-9]{1,15}$", "description": "The checkpoint to return to; `cp-0` is the beginning" },
            "dry_run": { "type": "boolean", "default": false, "description": "Only report what would be undone" },
        }),
        &["checkpoint_id"],
        json!({ "checkpoint_id": "cp-0", "dry_run": true }),
    );
    let description = "Undoes every gate, decision and directive after a checkpoint. The trace keeps them, marked as undone.";
    Tool::new("rewind_to_checkpoint", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &Rewind) -> Check {
    let id = number(call)?;
    let events = workspace.open_state_read()?.events()?;
    if id != 0 && !events.iter().any(|event| event.id == id) {
        let last = checkpoint(events.last().map_or(0, |event| event.id));
        let given = &call.checkpoint_id;
        return Err(ToolFailure::runtime(format!(
            "the checkpoint `{given}` does not exist; the last one is `{last}`"
        )));
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Rewind) -> Outcome {
    let id = number(call)?;
    let active_events = workspace.open_state_read()?.active_events()?;
    let after: Vec<_> =
        active_events.iter().filter(|event| event.id > id).map(Event::to_json).collect();
    let count = if call.dry_run || after.is_empty() {
        0
    } else {
        let event =
            NewEvent { kind: "rewind", task: None, data: json!({ "to": call.checkpoint_id }) };
        workspace.open_state_write()?.rewind(id, &event, None)?;
        after.len()
    };
    Ok(Answer::data(json!({
        "checkpoint": call.checkpoint_id, "undone": count, "dry_run": call.dry_run,
        "events": after,
    })))
}

fn number(call: &Rewind) -> Result<i64, ToolFailure> {
    let digits = call.checkpoint_id.strip_prefix("cp-").and_then(|digits| digits.parse().ok());
    digits.ok_or_else(|| ToolFailure::semantic("a checkpoint has the form `cp-12`"))
}
