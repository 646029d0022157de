//! Every kind of mistake with every tool: refused with the right help, and nothing has changed.

use serde_json::{Value, json};

use crate::SUITES;
use crate::examples::ALLOWED;
use crate::mistake::{Mistake, all};
use crate::root::{Root, has_git};
use crate::session::{Session, text};

#[test]
fn every_kind_of_mistake_is_refused_by_the_gateway_and_nothing_changes() {
    // A server that refuses differently: an answer in the usual form is the gateway's own.
    let options = [&ALLOWED[..], &["--answer", "json-rpc-error"]].concat();
    for (suite, names) in SUITES {
        let root = if has_git() { Root::with_git() } else { Root::new() };
        let mut session = Session::gateway(suite, &root.path(), &options);
        refuses_mistakes(&mut session, &root, names, refused);
    }
}

#[test]
fn every_kind_of_mistake_is_refused_by_the_servers_themselves_and_nothing_changes() {
    for (suite, names) in SUITES {
        let root = if has_git() { Root::with_git() } else { Root::new() };
        let mut session = Session::direct(suite, &root.path(), &ALLOWED);
        refuses_mistakes(&mut session, &root, names, |session, name, mistake| {
            if mistake.arguments.is_object() {
                return refused(session, name, mistake);
            }
            // The SDK knows no such call, so it is stopped before.
            let answer = session.call(name, mistake.arguments.clone());
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            assert_eq!(answer["error"]["data"]["findings"][0]["expected"], "object", "{answer}");
        });
    }
}

fn refuses_mistakes(
    session: &mut Session,
    root: &Root,
    names: &[&str],
    check: impl Fn(&mut Session, &str, &Mistake),
) {
    let before = root.snapshot();
    let listed = session.tools();
    for name in names {
        let tool = listed.iter().find(|tool| tool["name"] == *name).unwrap();
        let mistakes = all(&tool["inputSchema"]);
        assert!(mistakes.len() > 5, "{name}: {}", mistakes.len());
        for mistake in mistakes {
            check(session, name, &mistake);
            assert_eq!(root.snapshot(), before, "{name} {}", mistake.arguments);
        }
        unknown_tool(session, name);
        assert_eq!(root.snapshot(), before, "{name}x");
    }
}

fn refused(session: &mut Session, name: &str, mistake: &Mistake) {
    let Mistake { arguments, place, says } = mistake;
    let answer = session.call(name, arguments.clone());
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{name} {arguments}: {answer}");
    let findings = result["_meta"]["dev.stickler/validation"]["findings"].as_array().unwrap();
    let at = format!("/params/arguments{place}");
    let finding = findings.iter().find(|finding| finding["path"] == at);
    let finding =
        finding.unwrap_or_else(|| panic!("{name} {arguments}: nothing at {at}: {answer}"));
    assert_eq!(finding["rule"], "STK-107", "{answer}");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains(says), "{name} {arguments} should say {says}: {message}");
    let help = text(result);
    assert!(help.starts_with(&format!("Tool call failed for: {name}\n")), "{help}");
    assert!(help.contains(message), "{name} {arguments} should say {message}: {help}");
    assert!(help.contains("## Valid Example"), "{help}");
    assert!(help.contains("Please correct your tool call arguments and try again."), "{help}");
}

fn unknown_tool(session: &mut Session, tool: &str) {
    let answer = session.call(&format!("{tool}x"), json!({}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer["error"]["message"], format!("Unknown tool: {tool}x"));
    let suggestions = answer["error"]["data"]["suggestions"].as_array().unwrap();
    assert!(suggestions.contains(&json!(tool)), "{answer}");
}

#[test]
fn a_refused_call_is_an_observation_where_that_is_wanted() {
    let root = Root::new();
    let options = ["--answer", "observation"];
    let mut session = Session::direct("sandbox", &root.path(), &options);
    let said = session.fails("filesystem_operation", json!({ "action": "read" }));
    let envelope: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(envelope["type"], "observation");
    let observation = &envelope["payload"]["observation"];
    assert_eq!(observation["status"], "VALIDATION_FAILED");
    assert!(observation["stdout"].as_str().unwrap().contains("Tool call failed for: filesystem"));
    // The server goes on.
    session.works("filesystem_operation", json!({ "action": "read", "path": "README.md" }));
    assert_eq!(session.end(), Some(0));
}
