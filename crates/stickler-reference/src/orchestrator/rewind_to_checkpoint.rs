//! `rewind_to_checkpoint`.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::trouble::Trouble;
use crate::workspace::{Event, Workspace, checkpoint};

#[derive(Deserialize)]
struct Rewind {
    checkpoint_id: String,
    #[serde(default)]
    dry_run: bool,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "checkpoint_id": { "type": "string", "pattern": "^cp-[0-9]{1,15}$", "description": "Where to go back to; `cp-0` is the beginning" },
            "dry_run": { "type": "boolean", "default": false, "description": "Only tell what would be undone" },
        }),
        &["checkpoint_id"],
        json!({ "checkpoint_id": "cp-0", "dry_run": true }),
    );
    let description = "Undoes every gate, decision and directive after a checkpoint; the trace keeps them as undone.";
    Tool::new("rewind_to_checkpoint", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &Rewind) -> Check {
    let id = number(call)?;
    let events = workspace.recall()?.events()?;
    if id != 0 && !events.iter().any(|event| event.id == id) {
        let last = checkpoint(events.last().map_or(0, |event| event.id));
        let given = &call.checkpoint_id;
        return Err(Trouble::runtime(format!("there is no `{given}`; the last is `{last}`")));
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Rewind) -> Outcome {
    let id = number(call)?;
    let standing = workspace.recall()?.standing()?;
    let after: Vec<_> = standing.iter().filter(|event| event.id > id).map(Event::written).collect();
    let count =
        if call.dry_run || after.is_empty() { 0 } else { workspace.remember()?.undo_after(id)? };
    Ok(Answer::data(json!({
        "checkpoint": call.checkpoint_id, "undone": count, "dry_run": call.dry_run,
        "events": after,
    })))
}

fn number(call: &Rewind) -> Result<i64, Trouble> {
    let digits = call.checkpoint_id.strip_prefix("cp-").and_then(|digits| digits.parse().ok());
    digits.ok_or_else(|| Trouble::semantic("a checkpoint looks like `cp-12`"))
}
