//! Gates: questions that a person decides, derived from the event log.
//!
//! A decision counts only with a proof: a signature with the passphrase of the approver
//! ([`Approver`]), or the mark of this process for an answer that the client got from its user. A
//! decision that is written to the log in another way is ignored, so that an agent that can write
//! to the state database cannot approve its own gate.

mod approver;
mod proof;
mod store;

use serde_json::{Value, json};

pub use approver::{Approver, ApproverKey};
pub(crate) use proof::Trust;
pub use store::GateStore;
pub(crate) use store::{require_open, store};

use crate::tool_failure::ToolFailure;
use crate::workspace::{Event, State};

/// The event kinds that open and decide a gate.
pub(crate) const OPENED: &str = "gate_opened";
pub(crate) const DECIDED: &str = "gate_decided";

/// The current state of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// As in `gate-7`.
    pub id: String,
    /// When it was opened, in UTC.
    pub opened_at: String,
    /// The question.
    pub title: String,
    /// What the person should know.
    pub details: Option<String>,
    /// The task that waits for the decision.
    pub task: Option<String>,
    /// The decision, if there is one.
    pub decision: Option<Decision>,
    /// Whether the log has a decision without a valid proof.
    pub has_unproven_decision: bool,
}

/// What a person has decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Approved or rejected.
    pub is_approved: bool,
    /// The person's reason.
    pub reason: Option<String>,
}

impl Gate {
    /// Returns `open`, `approved` or `rejected`.
    pub fn status(&self) -> &'static str {
        self.decision.as_ref().map_or("open", Decision::name)
    }

    /// Returns the gate as the tool reports it.
    pub fn to_json(&self) -> Value {
        let reason = self.decision.as_ref().and_then(|decision| decision.reason.as_ref());
        let mut json = json!({
            "gate_id": self.id, "title": self.title, "details": self.details,
            "task_id": self.task, "opened_at": self.opened_at, "status": self.status(),
            "reason": reason,
        });
        if self.has_unproven_decision {
            json["note"] = "the log has a decision without a valid proof, which is ignored".into();
        }
        json
    }

    fn of(event: &Event) -> Self {
        let text = |key: &str| event.data[key].as_str().map(str::to_owned);
        Self {
            id: id(event.id),
            opened_at: event.at.clone(),
            title: text("title").unwrap_or_default(),
            details: text("details"),
            task: event.task.clone(),
            decision: None,
            has_unproven_decision: false,
        }
    }
}

impl Decision {
    pub(crate) fn name(&self) -> &'static str {
        if self.is_approved { "approved" } else { "rejected" }
    }

    fn read(event: &Event) -> Self {
        Self {
            is_approved: event.data["status"] == "approved",
            reason: event.data["reason"].as_str().map(str::to_owned),
        }
    }
}

/// Returns all gates, oldest first. A rewind removes gates, but undoes no decision: otherwise an agent
/// could return to an approval that a person has replaced.
pub(crate) fn all(state: &State, trust: &Trust) -> Result<Vec<Gate>, ToolFailure> {
    let mut gates: Vec<Gate> = Vec::new();
    for event in state.events()? {
        if event.kind == OPENED && !event.undone {
            gates.push(Gate::of(&event));
        } else if event.kind == DECIDED
            && let Some(gate) = gates.iter_mut().find(|gate| event.data["gate_id"] == gate.id)
        {
            let decision = Decision::read(&event);
            if trust.accepts(gate, &decision, event.data["proof"].as_str().unwrap_or_default()) {
                gate.decision = Some(decision);
            } else {
                gate.has_unproven_decision = true;
            }
        }
    }
    Ok(gates)
}

/// Returns the gate id for the event that opened it.
pub(crate) fn id(event: i64) -> String {
    format!("gate-{event}")
}

/// Returns one gate; the error lists the existing ones.
pub(crate) fn find(state: &State, trust: &Trust, id: &str) -> Result<Gate, ToolFailure> {
    let gates = all(state, trust)?;
    let known: Vec<&str> = gates.iter().map(|gate| gate.id.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let found = gates.into_iter().find(|gate| gate.id == id);
    found.ok_or_else(|| {
        ToolFailure::runtime(format!("the gate `{id}` does not exist; existing gates: {known}"))
    })
}
