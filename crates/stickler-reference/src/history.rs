//! Runs a tool and records what it did: the event of the call, and the files after it.
//!
//! Events are what `get_task_trace`, `get_logs` and `search_memory` show, and the checkpoints of
//! `rewind_to_checkpoint`. A call that only reads is recorded if the root has a state, but creates
//! none. A failure to record is logged and does not affect the call.

use std::time::Instant;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::tool::{Effect, Outcome, Tool};
use crate::tool_failure::ToolFailure;
use crate::workspace::{NewEvent, Workspace, clip};

/// The event kind of tool calls.
pub(crate) const KIND: &str = "tool_call";

/// Limits on the recorded text: of one argument, of the result, and of the summary, in bytes.
const MAX_ARGUMENT_BYTES: usize = 2000;
const MAX_OUTPUT_BYTES: usize = 8000;
const MAX_SUMMARY_BYTES: usize = 200;

/// Checks, executes and records a call.
pub(crate) fn run(tool: &Tool, workspace: &Workspace, arguments: JsonObject) -> Outcome {
    let is_recorded = workspace.permissions.history && tool.is_recorded;
    let has_effect = tool.effect != Effect::Reads;
    let started = Instant::now();
    let recorded = arguments.clone();
    let outcome = tool.prepare(workspace, arguments).and_then(|call| {
        if has_effect && workspace.permissions.history {
            keep_baseline(workspace);
        }
        call(workspace)
    });
    let may_create = has_effect && outcome.is_ok();
    if is_recorded && (may_create || workspace.has_state()) {
        let call = Call { tool, arguments: recorded, started, outcome: &outcome };
        let tree = if has_effect { workspace.snapshot() } else { None };
        if let Err(failure) = call.record(workspace, tree.as_deref()) {
            tracing::warn!(tool = tool.name, "the call cannot be recorded: {failure}");
        }
    }
    outcome
}

/// Captures the files before the first change, for `cp-0`.
fn keep_baseline(workspace: &Workspace) {
    let keep = || {
        let state = workspace.open_state_write()?;
        if state.baseline()?.is_none()
            && let Some(tree) = workspace.snapshot()
        {
            state.set_baseline(&tree)?;
        }
        Ok::<(), ToolFailure>(())
    };
    if let Err(failure) = keep() {
        tracing::warn!("the files before the first change cannot be captured: {failure}");
    }
}

/// A call that has been made.
struct Call<'a> {
    tool: &'a Tool,
    arguments: JsonObject,
    started: Instant,
    outcome: &'a Outcome,
}

impl Call<'_> {
    fn record(self, workspace: &Workspace, tree: Option<&str>) -> Result<(), ToolFailure> {
        let task = self.arguments.get("task_id").and_then(Value::as_str);
        let task = workspace.task(task);
        let (level, verb, output) = match self.outcome {
            Ok(answer) => ("info", "succeeded", answer.as_text()),
            Err(failure) => ("warn", "failed", failure.message.as_str()),
        };
        let name = self.tool.name;
        let first = output.lines().find(|line| !line.trim().is_empty());
        // The first line of JSON says nothing.
        let summary = first.filter(|line| !matches!(line.trim(), "{" | "["));
        let message = summary.map_or_else(
            || format!("`{name}` {verb}"),
            |line| format!("`{name}` {verb}: {}", clip(line, MAX_SUMMARY_BYTES)),
        );
        let milliseconds = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let data = json!({
            "level": level, "message": message, "tool": name,
            "arguments": clipped(Value::Object(self.arguments)),
            "output": clip(output, MAX_OUTPUT_BYTES), "milliseconds": milliseconds,
        });
        let event = NewEvent { kind: KIND, task: task.as_deref(), data };
        workspace.open_state_write()?.add_with_tree(&event, tree).map(drop)
    }
}

/// Shortens the texts in a value.
fn clipped(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_ARGUMENT_BYTES => {
            format!("{}…", clip(&text, MAX_ARGUMENT_BYTES)).into()
        }
        Value::Array(items) => items.into_iter().map(clipped).collect(),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name, clipped(value))).collect())
        }
        other => other,
    }
}
