//! Access to the gates of a root for the command that a person runs.

use serde_json::json;

use super::{ApproverKey, DECIDED, Decision, Gate, all, find};
use crate::tool_failure::ToolFailure;
use crate::workspace::{NewEvent, State, Workspace};

/// The gates of a root.
pub struct GateStore {
    workspace: Workspace,
}

impl GateStore {
    /// Opens the gates of a workspace.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    /// Returns all gates, oldest first.
    pub fn list(&self) -> Result<Vec<Gate>, String> {
        let read = || all(&self.workspace.open_state_read()?, &self.workspace.trust);
        read().map_err(|failure| failure.message)
    }

    /// Returns a gate that is still open.
    pub fn open_gate(&self, id: &str) -> Result<Gate, String> {
        let read =
            || require_open(find(&self.workspace.open_state_read()?, &self.workspace.trust, id)?);
        read().map_err(|failure| failure.message)
    }

    /// Stores the decision of the approver.
    pub fn decide(
        &self,
        gate: &Gate,
        decision: &Decision,
        key: &ApproverKey,
    ) -> Result<(), String> {
        let write = || {
            let state = self.workspace.open_state_write()?;
            require_open(find(&state, &self.workspace.trust, &gate.id)?)?;
            let proof = self.workspace.trust.sign(gate, decision, key);
            store(&state, gate, decision, &proof)
        };
        write().map_err(|failure| failure.message)
    }
}

pub(crate) fn require_open(gate: Gate) -> Result<Gate, ToolFailure> {
    if gate.decision.is_none() {
        return Ok(gate);
    }
    let (id, status) = (&gate.id, gate.status());
    Err(ToolFailure::runtime(format!("`{id}` is already decided: {status}")))
}

/// Adds a decision with its proof to the log.
pub(crate) fn store(
    state: &State,
    gate: &Gate,
    decision: &Decision,
    proof: &str,
) -> Result<(), ToolFailure> {
    let data = json!({
        "gate_id": gate.id, "status": decision.name(), "reason": decision.reason, "proof": proof,
    });
    state.add(&NewEvent { kind: DECIDED, task: gate.task.as_deref(), data }).map(drop)
}
