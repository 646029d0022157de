//! Every kind of invalid call to every tool: rejected with the right help and without side effects.

use serde_json::{Value, json};

use crate::SUITES;
use crate::examples::ALLOWED;
use crate::invalid_calls::{InvalidCall, all};
use crate::root::{Root, has_git};
use crate::session::{Session, text};

#[test]
fn gateway_rejects_every_invalid_call_without_side_effects() {
    // The server rejects in another form, so a rejection in the default form comes from the gateway.
    let options = [&ALLOWED[..], &["--answer", "json-rpc-error"]].concat();
    for (suite, names) in SUITES {
        let root = if has_git() { Root::with_git() } else { Root::new() };
        let mut session = Session::gateway(suite, &root.path(), &options);
        assert_rejects_invalid_calls(&mut session, &root, names, assert_rejected);
    }
}

#[test]
fn servers_reject_every_invalid_call_without_side_effects() {
    for (suite, names) in SUITES {
        let root = if has_git() { Root::with_git() } else { Root::new() };
        let options = [&ALLOWED[..], &["--mode", "enforce"]].concat();
        let mut session = Session::direct(suite, &root.path(), &options);
        assert_rejects_invalid_calls(&mut session, &root, names, |session, name, invalid| {
            assert_rejected(session, name, invalid);
        });
    }
}

#[test]
fn mode_of_a_server_is_read_from_the_environment_unless_an_option_sets_it() {
    let root = Root::new();
    root.write("notes.txt", "one\n");
    let start = |mode: &str, options: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stickler"));
        command.args(["serve", "--suite", "files", "--root"]).arg(root.path()).args(options);
        Session::start(command.env("STICKLER_MODE", mode))
    };
    let call = json!({ "path": "notes.txt", "start_line": "1" });
    let help = start("enforce", &[]).fails("read_file", call.clone());
    assert!(help.starts_with("Tool call failed for: read_file"), "{help}");
    let mut assisting = start("enforce", &["--mode", "assist"]);
    assert!(text(&assisting.succeeds("read_file", call.clone())).contains("one"));
    let unchecked = start("observe", &[]).fails("read_file", call);
    assert!(!unchecked.starts_with("Tool call failed for"), "{unchecked}");
}

fn assert_rejects_invalid_calls(
    session: &mut Session,
    root: &Root,
    names: &[&str],
    check: impl Fn(&mut Session, &str, &InvalidCall),
) {
    let before = root.snapshot();
    let listed = session.tools();
    for name in names {
        let tool = listed.iter().find(|tool| tool["name"] == *name).unwrap();
        let invalid_calls = all(&tool["inputSchema"]);
        assert!(invalid_calls.len() > 5, "{name}: {}", invalid_calls.len());
        for invalid in invalid_calls {
            check(session, name, &invalid);
            assert_eq!(root.snapshot(), before, "{name} {}", invalid.arguments);
        }
        assert_unknown_tool(session, name);
        assert_eq!(root.snapshot(), before, "{name}x");
        assert!(!root.path().join(".stickler").exists(), "a rejected call of {name} was recorded");
    }
}

fn assert_rejected(session: &mut Session, name: &str, invalid: &InvalidCall) {
    let InvalidCall { arguments, path, expected } = invalid;
    let response = session.call(name, arguments.clone());
    let result = &response["result"];
    assert_eq!(result["isError"], true, "{name} {arguments}: {response}");
    let findings = result["_meta"]["dev.stickler/validation"]["findings"].as_array().unwrap();
    let at = format!("/params/arguments{path}");
    let finding = findings.iter().find(|finding| finding["path"] == at);
    let finding =
        finding.unwrap_or_else(|| panic!("{name} {arguments}: nothing at {at}: {response}"));
    assert_eq!(finding["rule"], "STK-107", "{response}");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains(expected), "{name} {arguments}: expected {expected}: {message}");
    let help = text(result);
    assert!(help.starts_with(&format!("Tool call failed for: {name}\n")), "{help}");
    assert!(help.contains(message), "{name} {arguments}: expected {message}: {help}");
    assert!(help.contains("## Valid Example"), "{help}");
    assert!(help.contains("Please correct your tool call arguments and try again."), "{help}");
}

fn assert_unknown_tool(session: &mut Session, tool: &str) {
    let response = session.call(&format!("{tool}x"), json!({}));
    let result = &response["result"];
    assert_eq!(result["isError"], true, "{response}");
    let help = text(result);
    assert!(help.starts_with("Unknown tool name. Available tools:\n"), "{help}");
    let problem = format!("Unknown tool: {tool}x. Did you mean `{tool}`?");
    assert!(help.contains(&problem), "{help}");
}

#[test]
fn rejected_call_can_be_rendered_as_an_observation() {
    let root = Root::new();
    let options = ["--answer", "observation"];
    let mut session = Session::direct("sandbox", &root.path(), &options);
    let text_of_observation = session.fails("filesystem_operation", json!({ "action": "read" }));
    let envelope: Value = serde_json::from_str(&text_of_observation).unwrap();
    assert_eq!(envelope["type"], "observation");
    let observation = &envelope["payload"]["observation"];
    assert_eq!(observation["status"], "VALIDATION_FAILED");
    assert!(observation["stdout"].as_str().unwrap().contains("Tool call failed for: filesystem"));
    // The server continues.
    session.succeeds("filesystem_operation", json!({ "action": "read", "path": "README.md" }));
    assert_eq!(session.end(), Some(0));
}
