//! `manage_hitl_gate`: a human in the loop.

use serde::Deserialize;
use serde_json::{Value, json};

use super::gates::{self, Gate};
use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::trouble::Trouble;
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
            "action": { "type": "string", "enum": ["open", "approve", "reject", "status", "list"], "description": "What to do" },
            "gate_id": { "type": "string", "pattern": "^gate-[0-9]+$", "description": "The gate, for `approve`, `reject` and `status`" },
            "title": { "type": "string", "minLength": 1, "description": "What a person is to decide, for `open`" },
            "reason": { "type": "string", "description": "Why it was decided so" },
            "task_id": { "type": "string", "minLength": 1, "description": "The task that waits for it, for `open`" },
        }),
        &["action"],
        json!({ "action": "open", "title": "Deploy to production?", "task_id": "task-7" }),
    );
    let description =
        "Opens a gate that waits for a person's decision, decides it, or tells how it stands.";
    Tool::new("manage_hitl_gate", description, Effect::Adds, schema, check, run)
}

fn check(workspace: &Workspace, call: &Manage) -> Check {
    match call.action {
        Action::Open if call.title.is_none() => return Err(Trouble::needs("open", "title")),
        Action::Open | Action::List => {}
        Action::Approve | Action::Reject => {
            let gate = named(&workspace.recall()?, call)?;
            if gate.status != "open" {
                let (id, status) = (gate.id, gate.status);
                return Err(Trouble::runtime(format!("`{id}` is decided already: {status}")));
            }
        }
        Action::Status => drop(named(&workspace.recall()?, call)?),
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Manage) -> Outcome {
    match call.action {
        Action::Open => {
            let state = workspace.remember()?;
            let data = json!({ "title": call.title });
            let task = call.task_id.as_deref();
            let event = state.add(&NewEvent { kind: gates::OPENED, task, data })?;
            Ok(Answer::data(find(&state, &gates::id(event))?.written()))
        }
        Action::Approve => decide(workspace, call, "approved"),
        Action::Reject => decide(workspace, call, "rejected"),
        Action::Status => Ok(Answer::data(named(&workspace.recall()?, call)?.written())),
        Action::List => {
            let gates = gates::all(&workspace.recall()?)?;
            let gates: Vec<Value> = gates.iter().map(Gate::written).collect();
            Ok(Answer::data(json!({ "gates": gates })))
        }
    }
}

fn decide(workspace: &Workspace, call: &Manage, status: &str) -> Outcome {
    let state = workspace.remember()?;
    let gate = named(&state, call)?;
    let data = json!({ "gate_id": gate.id, "status": status, "reason": call.reason });
    state.add(&NewEvent { kind: gates::DECIDED, task: gate.task.as_deref(), data })?;
    Ok(Answer::data(find(&state, &gate.id)?.written()))
}

fn named(state: &State, call: &Manage) -> Result<Gate, Trouble> {
    let id = call.gate_id.as_deref();
    find(state, id.ok_or_else(|| Trouble::semantic("`gate_id` is missing: which gate?"))?)
}

fn find(state: &State, id: &str) -> Result<Gate, Trouble> {
    let gates = gates::all(state)?;
    let known: Vec<&str> = gates.iter().map(|gate| gate.id.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let found = gates.into_iter().find(|gate| gate.id == id);
    found.ok_or_else(|| Trouble::runtime(format!("there is no `{id}`; the gates are: {known}")))
}
