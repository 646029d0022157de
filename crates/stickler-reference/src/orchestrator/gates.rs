//! Gates: decisions that require a person, derived from the event log.

use serde_json::{Value, json};

use crate::tool_failure::ToolFailure;
use crate::workspace::State;

/// The event kinds that open and decide a gate.
pub(super) const OPENED: &str = "gate_opened";
pub(super) const DECIDED: &str = "gate_decided";

/// The current state of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gate {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) task: Option<String>,
    /// `open`, `approved` or `rejected`.
    pub(super) status: String,
    pub(super) reason: Option<String>,
}

impl Gate {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "gate_id": self.id, "title": self.title, "task_id": self.task,
            "status": self.status, "reason": self.reason,
        })
    }
}

/// Returns all gates, oldest first.
pub(super) fn all(state: &State) -> Result<Vec<Gate>, ToolFailure> {
    let mut gates: Vec<Gate> = Vec::new();
    for event in state.active_events()? {
        let text = |key: &str| event.data[key].as_str().map(str::to_owned);
        if event.kind == OPENED {
            gates.push(Gate {
                id: id(event.id),
                title: text("title").unwrap_or_default(),
                task: event.task.clone(),
                status: "open".to_owned(),
                reason: None,
            });
        } else if event.kind == DECIDED
            && let Some(gate) =
                gates.iter_mut().find(|gate| Some(&gate.id) == text("gate_id").as_ref())
        {
            gate.status = text("status").unwrap_or_default();
            gate.reason = text("reason");
        }
    }
    Ok(gates)
}

/// Returns the gate id for the event that opened it.
pub(super) fn id(event: i64) -> String {
    format!("gate-{event}")
}
