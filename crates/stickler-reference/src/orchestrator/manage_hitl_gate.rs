//! Tool `manage_hitl_gate`: opens human-in-the-loop gates and reports what a person has decided.
//!
//! No action decides a gate. A person does, through the client (elicitation) or with
//! `stickler gate`.

use std::time::{Duration, Instant};

use rmcp::model::{ElicitResult, ElicitationAction, ElicitationSchema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::gates::{self, Decision, Gate, require_open, store};
use crate::tool::{Answer, Check, Effect, Outcome, Tool, requiring, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Caller, DEFAULT_SECONDS, MAX_SECONDS, NewEvent, Workspace, time_limit};

/// Interval for checking whether a gate has been decided.
const WAIT_POLL: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
struct Manage {
    action: Action,
    gate_id: Option<String>,
    title: Option<String>,
    details: Option<String>,
    task_id: Option<String>,
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Open,
    Ask,
    Wait,
    Status,
    List,
}

pub(super) fn tool() -> Tool {
    let fields = strict(
        json!({
            "action": { "type": "string", "enum": ["open", "ask", "wait", "status", "list"], "description": "`open` a gate, `ask` the person again, `wait` for the decision, show the `status` of one gate, or `list` all. Only a person approves or rejects" },
            "title": { "type": "string", "minLength": 1, "description": "The question to decide, for `open`" },
            "details": { "type": "string", "minLength": 1, "description": "What the person should know to decide, for `open`" },
            "task_id": { "type": "string", "minLength": 1, "description": "The task that waits for the decision, for `open`" },
            "gate_id": { "type": "string", "pattern": "^gate-[0-9]+$", "description": "The gate, for `ask`, `wait` and `status`" },
            "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "default": DEFAULT_SECONDS, "description": "How long to wait for the person, for `open`, `ask` and `wait`" },
        }),
        &["action"],
        json!({ "action": "open", "title": "Deploy to production?", "task_id": "task-7" }),
    );
    let schema =
        requiring(fields, &[(&["open"], "title"), (&["ask", "wait", "status"], "gate_id")]);
    let description = "Opens a gate: a question that a person must decide before you continue. Asks the person through the client if it can; otherwise a person decides with the command `stickler gate`. Do not continue while the gate is open or rejected.";
    Tool::new("manage_hitl_gate", description, Effect::Adds, schema, check, run).unrecorded()
}

fn check(workspace: &Workspace, call: &Manage) -> Check {
    match call.action {
        Action::Open | Action::List => Ok(Vec::new()),
        Action::Ask => {
            require_open(named(workspace, call)?)?;
            if workspace.caller.as_ref().is_some_and(Caller::can_ask) {
                return Ok(Vec::new());
            }
            Err(ToolFailure::runtime(format!("the client cannot ask its user; {}", how(workspace))))
        }
        Action::Wait | Action::Status => named(workspace, call).map(|_| Vec::new()),
    }
}

fn run(workspace: &Workspace, call: &Manage) -> Outcome {
    match call.action {
        Action::Open => {
            let data = json!({ "title": call.title, "details": call.details });
            let task = workspace.task(call.task_id.as_deref());
            let event = NewEvent { kind: gates::OPENED, task: task.as_deref(), data };
            let id = gates::id(workspace.record(&event)?);
            ask(
                workspace,
                call,
                &gates::find(&workspace.open_state_read()?, &workspace.trust, &id)?,
            )
        }
        Action::Ask => ask(workspace, call, &named(workspace, call)?),
        Action::Wait => wait(workspace, call),
        Action::Status => Ok(reported(workspace, &named(workspace, call)?)),
        Action::List => {
            let gates = gates::all(&workspace.open_state_read()?, &workspace.trust)?;
            let gates: Vec<Value> = gates.iter().map(Gate::to_json).collect();
            Ok(Answer::data(json!({ "gates": gates })))
        }
    }
}

/// Asks the user of the client, if the client can.
fn ask(workspace: &Workspace, call: &Manage, gate: &Gate) -> Outcome {
    let caller = workspace.caller.as_ref().filter(|caller| caller.can_ask());
    let Some((caller, schema)) = caller.zip(form()) else { return Ok(reported(workspace, gate)) };
    let details = gate.details.as_deref().map(|details| format!("\n\n{details}"));
    let question = format!("{}{}", gate.title, details.unwrap_or_default());
    let limit = time_limit(call.timeout_seconds);
    let answer = caller.ask(&question, schema, limit, &workspace.running.stop());
    if let Some(decision) = answer.and_then(decision) {
        let state = workspace.open_state_write()?;
        store(&state, gate, &decision, &workspace.trust.mark(gate, &decision))?;
    }
    let id = &gate.id;
    Ok(reported(workspace, &gates::find(&workspace.open_state_read()?, &workspace.trust, id)?))
}

/// The form that the client shows.
fn form() -> Option<ElicitationSchema> {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Decision", "enum": ["approve", "reject"] },
            "reason": { "type": "string", "title": "Reason" },
        },
        "required": ["decision"],
    });
    serde_json::from_value(schema).ok()
}

/// Returns the decision in the user's answer. To close the form is not to decide.
fn decision(answer: ElicitResult) -> Option<Decision> {
    let content = answer.content.filter(|_| answer.action == ElicitationAction::Accept)?;
    let is_approved = match content["decision"].as_str()? {
        "approve" => true,
        "reject" => false,
        _ => return None,
    };
    let reason = content["reason"].as_str().filter(|reason| !reason.is_empty());
    Some(Decision { is_approved, reason: reason.map(str::to_owned) })
}

fn wait(workspace: &Workspace, call: &Manage) -> Outcome {
    let deadline = Instant::now() + time_limit(call.timeout_seconds);
    loop {
        let gate = named(workspace, call)?;
        let is_over = Instant::now() >= deadline || workspace.running.stop().is_set();
        if gate.decision.is_some() || is_over {
            return Ok(reported(workspace, &gate));
        }
        std::thread::sleep(WAIT_POLL);
    }
}

fn named(workspace: &Workspace, call: &Manage) -> Result<Gate, ToolFailure> {
    let id = call.gate_id.as_deref().unwrap_or_default();
    gates::find(&workspace.open_state_read()?, &workspace.trust, id)
}

/// Returns the state of a gate and, while it is open, how a person decides it.
fn reported(workspace: &Workspace, gate: &Gate) -> Answer {
    let mut data = gate.to_json();
    if gate.decision.is_none() {
        data["next"] = format!("do not continue; {}", how(workspace)).into();
    }
    Answer::data(data)
}

fn how(workspace: &Workspace) -> &'static str {
    if workspace.trust.approver.is_some() {
        "a person decides it with `stickler gate approve` or `stickler gate reject`"
    } else {
        "a person must first run `stickler gate init` and restart this server, then decides it \
         with `stickler gate approve`"
    }
}
