//! Gates: decisions that wait for a person, read from the events.

use serde_json::{Value, json};

use crate::trouble::Trouble;
use crate::workspace::State;

/// What an event that opens a gate is called, and one that decides it.
pub(super) const OPENED: &str = "gate_opened";
pub(super) const DECIDED: &str = "gate_decided";

/// One gate as it is now.
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
    pub(super) fn written(&self) -> Value {
        json!({
            "gate_id": self.id, "title": self.title, "task_id": self.task,
            "status": self.status, "reason": self.reason,
        })
    }
}

/// All gates, the oldest first.
pub(super) fn all(state: &State) -> Result<Vec<Gate>, Trouble> {
    let mut gates: Vec<Gate> = Vec::new();
    for event in state.standing()? {
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

/// A gate is named after the event that opened it.
pub(super) fn id(event: i64) -> String {
    format!("gate-{event}")
}
