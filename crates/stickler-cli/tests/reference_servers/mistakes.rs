//! Every kind of mistake with every tool: refused with the right help, and nothing has changed.

use serde_json::{Map, Value, json};

use crate::SUITES;
use crate::examples::ALLOWED;
use crate::root::{Root, has_git};
use crate::session::{Session, text};

#[test]
fn every_kind_of_mistake_is_refused_with_help_and_nothing_changes() {
    let has_git = has_git();
    for (suite, names) in SUITES {
        let root = if has_git { Root::with_git() } else { Root::new() };
        let before = root.snapshot();
        let mut session = Session::gateway(suite, &root.path(), &ALLOWED);
        let tools = session.tools();
        let mut count = 0;
        for tool in tools.iter().filter(|tool| names.contains(&tool["name"].as_str().unwrap())) {
            for (arguments, part) in mistakes(&tool["inputSchema"]) {
                refused(&mut session, tool, arguments, &part);
                count += 1;
            }
            unknown_tool(&mut session, tool["name"].as_str().unwrap());
        }
        assert!(count > 3 * names.len(), "{suite}: {count}");
        assert_eq!(root.snapshot(), before, "{suite}");
    }
}

/// Arguments with one mistake each, and what the help must name.
fn mistakes(schema: &Value) -> Vec<(Value, String)> {
    let example = schema["examples"][0].as_object().unwrap();
    let mut mistakes = Vec::new();
    for field in schema["required"].as_array().unwrap() {
        let field = field.as_str().unwrap();
        let mut arguments = example.clone();
        arguments.remove(field);
        mistakes.push((arguments, format!("`{field}` is required but missing")));
    }
    for (field, about) in schema["properties"].as_object().unwrap() {
        let wrong = match about["type"].as_str().unwrap() {
            "string" => json!({ "not": "text" }),
            "integer" => json!("many"),
            "boolean" => json!("perhaps"),
            "array" => json!({ "not": "a list" }),
            "object" => json!("not an object"),
            other => panic!("{other}"),
        };
        mistakes.push((with(example, field, wrong), format!("`/{field}`")));
        if let Some(choices) = about["enum"].as_array() {
            let first = choices[0].as_str().unwrap().to_owned();
            mistakes.push((with(example, field, json!("no_such_choice")), first));
        }
    }
    let extra = with(example, "no_such_field", json!(1));
    mistakes.push((extra, "`no_such_field` is not a known field".to_owned()));
    mistakes.into_iter().map(|(arguments, part)| (Value::Object(arguments), part)).collect()
}

fn with(example: &Map<String, Value>, field: &str, value: Value) -> Map<String, Value> {
    let mut arguments = example.clone();
    arguments.insert(field.to_owned(), value);
    arguments
}

fn refused(session: &mut Session, tool: &Value, arguments: Value, part: &str) {
    let name = tool["name"].as_str().unwrap();
    let answer = session.call(name, arguments.clone());
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{name} {arguments}: {answer}");
    let help = text(result);
    assert!(help.starts_with(&format!("Tool call failed for: {name}")), "{help}");
    assert!(help.contains(part), "{name} {arguments} should name {part}: {help}");
    assert!(help.contains("## Valid Example"), "{help}");
    assert!(help.contains("Please correct your tool call arguments and try again."), "{help}");
    let findings = result["_meta"]["dev.stickler/validation"]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["rule"] == "STK-107"), "{answer}");
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
