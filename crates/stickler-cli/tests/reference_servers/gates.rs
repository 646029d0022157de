//! Gates: an agent is held back until a person decides, and cannot decide itself.

use serde_json::{Value, json};

use crate::root::{Root, has};
use crate::session::Session;
use crate::terminal;

const PASSPHRASE: &str = "correct horse";

/// Creates the approver's key outside the root, and returns its path.
fn approver(root: &Root) -> String {
    let path = root.beside("approver.json").display().to_string();
    let (code, shown) =
        terminal::run(&["gate", "init", "--approver", &path], &[PASSPHRASE, PASSPHRASE]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains(PASSPHRASE), "the passphrase is shown: {shown}");
    path
}

fn open_gate(session: &mut Session) -> String {
    let call = json!({ "action": "open", "title": "Deploy to production?", "task_id": "task-7" });
    let gate = session.succeeds("manage_hitl_gate", call)["structuredContent"].clone();
    assert_eq!(gate["status"], "open");
    assert!(gate["next"].as_str().unwrap().contains("stickler gate approve"), "{gate}");
    gate["gate_id"].as_str().unwrap().to_owned()
}

fn status(session: &mut Session, gate: &str) -> Value {
    let call = json!({ "action": "status", "gate_id": gate });
    session.succeeds("manage_hitl_gate", call)["structuredContent"].clone()
}

#[test]
fn gate_holds_an_agent_back_until_a_person_approves() {
    let root = Root::new();
    let approver = approver(&root);
    let mut session = Session::gateway("orchestrator", &root.path(), &["--approver", &approver]);
    let gate = open_gate(&mut session);
    let wait = json!({ "action": "wait", "gate_id": gate, "timeout_seconds": 1 });
    let waited = session.succeeds("manage_hitl_gate", wait);
    assert_eq!(waited["structuredContent"]["status"], "open");
    let path = root.path().display().to_string();
    let decide = ["gate", "approve", &gate, "--root", &path, "--approver", &approver];
    let decide = [&decide[..], &["--reason", "after the backup"]].concat();
    let (code, shown) = terminal::run(&decide, &["wrong passphrase"]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("Deploy to production?"), "{shown}");
    assert!(shown.contains("wrong passphrase; nothing was decided"), "{shown}");
    assert_eq!(status(&mut session, &gate)["status"], "open");
    let (code, shown) = terminal::run(&decide, &[PASSPHRASE]);
    assert_eq!(code, Some(0), "{shown}");
    let waited = json!({ "action": "wait", "gate_id": gate, "timeout_seconds": 60 });
    let waited = session.succeeds("manage_hitl_gate", waited)["structuredContent"].clone();
    assert_eq!(
        (&waited["status"], &waited["reason"]),
        (&json!("approved"), &json!("after the backup"))
    );
    assert!(waited.get("next").is_none(), "{waited}");
    let (code, shown) = terminal::run(&decide, &[]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("is already decided: approved"), "{shown}");
    // The decision is valid in a new server process, too.
    drop(session);
    let mut session = Session::gateway("orchestrator", &root.path(), &["--approver", &approver]);
    assert_eq!(status(&mut session, &gate)["status"], "approved");
}

#[test]
fn client_that_can_ask_its_user_decides_a_gate_at_once() {
    let root = Root::new();
    let mut session = Session::gateway_with_user("orchestrator", &root.path(), &[]);
    session.user_answer = json!({ "action": "cancel" });
    let gate = open_gate(&mut session);
    let question = session.received.last().unwrap();
    assert_eq!(question["params"]["message"], "Deploy to production?");
    session.user_answer = json!({ "action": "accept", "content": { "decision": "reject", "reason": "it is Friday" } });
    let ask = json!({ "action": "ask", "gate_id": gate });
    let gate = session.succeeds("manage_hitl_gate", ask)["structuredContent"].clone();
    assert_eq!((&gate["status"], &gate["reason"]), (&json!("rejected"), &json!("it is Friday")));
    session.user_answer = json!({ "action": "accept", "content": { "decision": "approve" } });
    let call = json!({ "action": "open", "title": "Drop the table?" });
    let gate = session.succeeds("manage_hitl_gate", call)["structuredContent"].clone();
    assert_eq!(gate["status"], "approved");
}

#[test]
fn rewind_does_not_undo_the_decision_of_a_person() {
    let root = Root::new();
    let mut session = Session::gateway_with_user("orchestrator", &root.path(), &[]);
    session.user_answer = json!({ "action": "decline" });
    let gate = open_gate(&mut session);
    session.user_answer = json!({ "action": "accept", "content": { "decision": "reject" } });
    session.succeeds("manage_hitl_gate", json!({ "action": "ask", "gate_id": gate }));
    let opened = gate.replace("gate-", "cp-");
    session.succeeds("rewind_to_checkpoint", json!({ "checkpoint_id": opened }));
    assert_eq!(status(&mut session, &gate)["status"], "rejected");
}

#[test]
fn tool_has_no_action_that_decides_a_gate() {
    let root = Root::new();
    let mut session = Session::gateway("orchestrator", &root.path(), &[]);
    let gate = open_gate(&mut session);
    for action in ["approve", "reject", "decide"] {
        let call = json!({ "action": action, "gate_id": gate });
        let message = session.fails("manage_hitl_gate", call);
        assert!(message.contains("a question that a person must decide"), "{message}");
    }
    let message = session.fails("manage_hitl_gate", json!({ "action": "ask", "gate_id": gate }));
    assert!(message.contains("the client cannot ask its user"), "{message}");
    assert_eq!(status(&mut session, &gate)["status"], "open");
}

/// The attempts of an agent that can run any program as the user of the server.
fn attempts(gate: &str, approver: &str) -> Vec<String> {
    let stickler = env!("CARGO_BIN_EXE_stickler");
    let approve = format!("{stickler} gate approve {gate} --root . --approver {approver}");
    let forge = |proof: &str| {
        let data = json!({ "gate_id": gate, "status": "approved", "reason": null, "proof": proof });
        format!(
            r#"python3 -c "import sqlite3, sys; db = sqlite3.connect('.stickler/state.db')
head = db.execute('select event from head').fetchone()[0]
id = db.execute('insert into events (parent, kind, task, data) values (?, ?, ?, ?)', (head, 'gate_decided', 'task-7', sys.argv[1])).lastrowid
db.execute('update head set event = ?', (id,)); db.commit()" '{data}'"#
        )
    };
    vec![
        approve.clone(),
        format!("echo guess | {approve}"),
        format!("(sleep 1; echo guess; sleep 1) | script -qec '{approve}' /dev/null"),
        forge(""),
        forge(&"00".repeat(32)),
        forge(&"00".repeat(64)),
        // A key of the agent's own.
        format!("sed -i 's/[0-9a-f]\\{{64\\}}/{}/' {approver}", "ab".repeat(32)),
    ]
}

#[test]
fn agent_with_a_shell_cannot_approve_its_own_gate() {
    if !has("python3") || !has("setsid") {
        return;
    }
    let root = Root::new();
    let approver = approver(&root);
    let options = ["--approver", approver.as_str()];
    let mut orchestrator = Session::gateway("orchestrator", &root.path(), &options);
    let gate = open_gate(&mut orchestrator);
    let mut sandbox = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    for command in attempts(&gate, &approver) {
        let done = sandbox.succeeds("run_shell_monitored", json!({ "command": command }));
        let status = status(&mut orchestrator, &gate);
        assert_eq!(status["status"], "open", "{command}: {done}");
    }
    let list = std::process::Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["gate", "list", "--format", "json", "--approver", &approver, "--root"])
        .arg(root.path())
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!((&listed["gate_id"], &listed["status"]), (&json!(gate), &json!("open")));
    let status = status(&mut orchestrator, &gate);
    assert!(status["note"].as_str().unwrap().contains("without a valid proof"), "{status}");
}

#[test]
fn approver_inside_the_root_is_rejected() {
    let root = Root::new();
    let approver = approver(&root);
    let inside = root.path().join("approver.json");
    std::fs::rename(approver, &inside).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["serve", "--suite", "orchestrator", "--approver"])
        .args([&inside, std::path::Path::new("--root"), &root.path()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("is inside the root, where tools could replace it"), "{message}");
}
