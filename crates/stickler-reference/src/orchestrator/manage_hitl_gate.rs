//! Tool `manage_hitl_gate`: opens and decides human-in-the-loop gates.

use serde::Deserialize;
use serde_json::{Value, json};

use super::gates::{self, Gate};
use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{NewEvent, State, Workspace};

#[derive(Deserialize)]
struct Manage {
    action: Action,
    gate_id: Option<String>,
    title: Option<String>,
    reason: Option<String>,
    task_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Open,
    Approve,
    Reject,
    Status,
    List,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "action": { "type": "string", "enum": ["open", "approve", "reject", "status", "list"], "description": "The action to perform" },
            "gate_id": { "type": "string", "pattern": "^gate-[0-9]+$", "description": "The gate, for `approve`, `reject` and `status`" },
            "title": { "type": "string", "minLength": 1, "description": "The question for a person to decide, for `open`" },
            "reason": { "type": "string", "description": "The reason for the decision" },
            "task_id": { "type": "string", "minLength": 1, "description": "The task that waits for the decision, for `open`" },
        }),
        &["action"],
        json!({ "action": "open", "title": "Deploy to production?", "task_id": "task-7" }),
    );
    let description =
        "Opens a gate that waits for a person's decision, decides it, or reports its status.";
    Tool::new("manage_hitl_gate", description, Effect::Adds, schema, check, run)
}

fn check(workspace: &Workspace, call: &Manage) -> Check {
    match call.action {
        Action::Open if call.title.is_none() => return Err(ToolFailure::needs("open", "title")),
        Action::Open | Action::List => {}
        Action::Approve | Action::Reject => {
            let gate = named(&workspace.open_state_read()?, call)?;
            if gate.status != "open" {
                let (id, status) = (gate.id, gate.status);
                return Err(ToolFailure::runtime(format!("`{id}` is already decided: {status}")));
            }
        }
        Action::Status => drop(named(&workspace.open_state_read()?, call)?),
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Manage) -> Outcome {
    match call.action {
        Action::Open => {
            let state = workspace.open_state_write()?;
            let data = json!({ "title": call.title });
            let task = call.task_id.as_deref();
            let event = state.add(&NewEvent { kind: gates::OPENED, task, data })?;
            Ok(Answer::data(find(&state, &gates::id(event))?.to_json()))
        }
        Action::Approve => decide(workspace, call, "approved"),
        Action::Reject => decide(workspace, call, "rejected"),
        Action::Status => Ok(Answer::data(named(&workspace.open_state_read()?, call)?.to_json())),
        Action::List => {
            let gates = gates::all(&workspace.open_state_read()?)?;
            let gates: Vec<Value> = gates.iter().map(Gate::to_json).collect();
            Ok(Answer::data(json!({ "gates": gates })))
        }
    }
}

fn decide(workspace: &Workspace, call: &Manage, status: &str) -> Outcome {
    let state = workspace.open_state_write()?;
    let gate = named(&state, call)?;
    let data = json!({ "gate_id": gate.id, "status": status, "reason": call.reason });
    state.add(&NewEvent { kind: gates::DECIDED, task: gate.task.as_deref(), data })?;
    Ok(Answer::data(find(&state, &gate.id)?.to_json()))
}

fn named(state: &State, call: &Manage) -> Result<Gate, ToolFailure> {
    let id = call.gate_id.as_deref();
    find(state, id.ok_or_else(|| ToolFailure::semantic("`gate_id` is missing"))?)
}

fn find(state: &State, id: &str) -> Result<Gate, ToolFailure> {
    let gates = gates::all(state)?;
    let known: Vec<&str> = gates.iter().map(|gate| gate.id.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let found = gates.into_iter().find(|gate| gate.id == id);
    found.ok_or_else(|| {
        ToolFailure::runtime(format!("the gate `{id}` does not exist; existing gates: {known}"))
    })
}
