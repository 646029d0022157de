//! Tool `rewind_to_checkpoint`: returns to an earlier state of the records and of the files.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Event, FileChange, NewEvent, State, Workspace, checkpoint};

/// The event kinds of the state before a rewind, and of the rewind.
const BEFORE: &str = "checkpoint";
const REWIND: &str = "rewind";

/// Limit on the listed files.
const MAX_FILES: usize = 200;

#[derive(Deserialize)]
struct Rewind {
    checkpoint_id: String,
    #[serde(default)]
    dry_run: bool,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "checkpoint_id": { "type": "string", "pattern": "^cp-[0-9]{1,15}$", "description": "The checkpoint to return to, as in `get_task_trace` and `get_logs`; `cp-0` is the beginning" },
            "dry_run": { "type": "boolean", "default": false, "description": "Only report what would change" },
        }),
        &["checkpoint_id"],
        json!({ "checkpoint_id": "cp-0", "dry_run": true }),
    );
    let description = "Restores the files, gates and directives of the project as they were at a checkpoint. Every recorded call is a checkpoint. Returns `undo_with`, a checkpoint that undoes the rewind. Keeps the decisions of people, git history, and files that git ignores.";
    Tool::new("rewind_to_checkpoint", description, Effect::Changes, schema, check, run).unrecorded()
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
    let state =
        if call.dry_run { workspace.open_state_read()? } else { workspace.open_state_write()? };
    let target = state.tree_at(id)?;
    let current = if target.is_some() { workspace.snapshot() } else { None };
    let files = match (&current, &target) {
        (Some(current), Some(target)) => Some(workspace.changes(current, target)?),
        _ => None,
    };
    let active_before = state.active_events()?;
    let undo = if call.dry_run {
        None
    } else {
        let trees = Trees { current: current.as_deref(), target: target.as_deref() };
        Some(rewind(workspace, &state, (id, &call.checkpoint_id), &trees)?)
    };
    let chain = state.chain(id)?;
    let undone: Vec<Value> =
        active_before.iter().filter(|event| !chain.contains(&event.id)).map(Event::brief).collect();
    let shown: Option<Vec<Value>> =
        files.as_ref().map(|files| files.iter().take(MAX_FILES).map(FileChange::to_json).collect());
    let mut data = json!({
        "checkpoint": call.checkpoint_id, "dry_run": call.dry_run, "undone": undone.len(),
        "events": undone, "files": shown, "file_count": files.as_ref().map(Vec::len),
        "undo_with": undo,
    });
    if files.is_none() {
        data["note"] = "the files were not captured at this checkpoint and are not changed".into();
    }
    Ok(Answer::data(data))
}

/// Snapshots of the files now and at the checkpoint.
struct Trees<'a> {
    current: Option<&'a str>,
    target: Option<&'a str>,
}

/// Stores the present state as a checkpoint, restores the files and moves the head; returns the
/// name of the checkpoint.
fn rewind(
    workspace: &Workspace,
    state: &State,
    (id, name): (i64, &str),
    trees: &Trees<'_>,
) -> Result<String, ToolFailure> {
    let entry = |message: String| json!({ "level": "info", "message": message });
    let before = entry(format!("state before the rewind to `{name}`"));
    let before = NewEvent { kind: BEFORE, task: None, data: before };
    let before = checkpoint(state.add_with_tree(&before, trees.current)?);
    if let (Some(target), Some(_)) = (trees.target, trees.current) {
        workspace.restore(target)?;
    }
    let data = entry(format!("rewound to `{name}`; undo with `{before}`"));
    state.rewind(id, &NewEvent { kind: REWIND, task: None, data }, trees.target)?;
    Ok(before)
}

fn number(call: &Rewind) -> Result<i64, ToolFailure> {
    let digits = call.checkpoint_id.strip_prefix("cp-").and_then(|digits| digits.parse().ok());
    digits.ok_or_else(|| ToolFailure::semantic("a checkpoint has the form `cp-12`"))
}
