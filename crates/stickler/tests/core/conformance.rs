//! Runs the conformance table on the core.
//!
//! `STICKLER_UPDATE_CONFORMANCE=1` replaces the expectations by what the core does. Read the difference and compare it
//! with the contract before committing it: the other adapters, and the Python and Node packages, are tested against it.

use std::collections::BTreeSet;

use crate::support::conformance::{self as conformance_table, Case, Differences, FILES, Settings};
use serde_json::{Value, json};
use stickler::{
    CallAnswer, CallRejection, Edit, ErrorEnhancer, McpValidator, Mode, ValidationError,
    ValidationResult,
};

/// Name of the server in the cache; no text contains it.
const SERVER: &str = "conformance";

#[test]
fn core_conforms_to_the_table() {
    let update = std::env::var_os("STICKLER_UPDATE_CONFORMANCE").is_some();
    let mut differences = Differences::default();
    let mut count = 0;
    for file in FILES {
        let mut lines = String::new();
        for mut case in conformance_table::read(file) {
            let actual = judge(&case);
            count += 1;
            if update {
                case.line.insert("expect".to_owned(), actual);
                lines.push_str(&Value::Object(case.line).to_string());
                lines.push('\n');
            } else {
                let expected = case.line.get("expect").cloned().unwrap_or_default();
                differences.compare(&case, "the expectation", &expected, &actual);
            }
        }
        if update {
            std::fs::write(conformance_table::folder().join(format!("{file}.jsonl")), lines)
                .unwrap();
        }
    }
    differences.finish(count);
}

#[test]
fn table_covers_every_kind_of_mistake_and_edit() {
    let (mut kinds, mut edits) = (BTreeSet::new(), BTreeSet::new());
    let mut names = BTreeSet::new();
    for case in conformance_table::all() {
        assert!(names.insert(case.name().to_owned()), "two cases are called {}", case.name());
        let collect = |member: &str, name: &str, into: &mut BTreeSet<String>| {
            let entries = case.expect("core", member);
            let entries = entries.as_array().into_iter().flatten();
            into.extend(entries.map(|entry| entry[name].as_str().unwrap().to_owned()));
        };
        collect("errors", "kind", &mut kinds);
        collect("edits", "edit", &mut edits);
    }
    let all_kinds = [
        "invalid_enum",
        "invalid_value",
        "missing_required",
        "type_mismatch",
        "unknown_field",
        "unknown_tool",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all_kinds);
    let all_edits = [
        "drop_empty",
        "drop_null",
        "fill_default",
        "join_list",
        "move_field",
        "rename_field",
        "rename_tool",
        "replace_value",
        "split_list",
        "stringify",
        "strip_injected",
        "unstringify",
        "unwrap_arguments",
        "unwrap_element",
        "wrap_in_array",
    ];
    assert_eq!(edits.iter().map(String::as_str).collect::<Vec<_>>(), all_edits);
}

#[test]
fn offered_corrections_and_examples_are_valid() {
    for case in conformance_table::all() {
        let corrected = case.expect("core", "corrected");
        if corrected.is_null() {
            continue;
        }
        let validator = McpValidator::new(case.settings().validation);
        validator.cache().populate(SERVER, &conformance_table::tool_definitions(case.tools()));
        let name = corrected["name"].as_str().unwrap();
        let result = validator.validate(SERVER, name, &corrected["arguments"]);
        assert!(result.is_valid && result.edits.is_empty(), "{}: {result:?}", case.name());
    }
}

/// Returns what the core does with a case.
fn judge(case: &Case) -> Value {
    let settings = case.settings();
    let validator = McpValidator::new(settings.validation.clone());
    validator.cache().populate(SERVER, &conformance_table::tool_definitions(case.tools()));
    let arguments = case.arguments_text();
    let result = validator
        .validate_text(SERVER, case.tool(), arguments.as_deref().map(str::as_bytes))
        .unwrap();
    let mut expect = verdict(case, &validator, &settings, &result);
    if let Some(server) = case.server() {
        add_response(case, &validator, server, &mut expect);
    }
    expect
}

fn verdict(
    case: &Case,
    validator: &McpValidator,
    settings: &Settings,
    result: &ValidationResult,
) -> Value {
    let is_forwarded = result.is_valid || settings.mode == Mode::Observe;
    let repaired = result.arguments().filter(|_| is_forwarded);
    let verdict = match (is_forwarded, &repaired) {
        (false, _) => "reject",
        (true, Some(_)) => "repair",
        (true, None) => "forward",
    };
    let mut expect = json!({ "verdict": verdict, "valid": result.is_valid });
    if let Some(arguments) = repaired {
        expect["forwarded"] = serde_json::from_str(arguments.get()).unwrap();
    }
    if let Some(reason) = &result.unchecked {
        expect["unchecked"] = json!(reason);
    }
    if result.errors.is_empty() {
        return expect;
    }
    expect["errors"] = result.errors.iter().map(error_record).collect();
    let corrected = result.corrected.as_ref().filter(|_| !settings.validation.mask_values);
    if let Some(call) = corrected {
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap();
        expect["corrected"] = json!({ "name": call.name, "arguments": arguments });
        expect["edits"] = result.edits.iter().map(edit_record).collect();
    }
    if !result.is_valid {
        let help: String = validator.build_help_prompt(SERVER, case.tool(), result).into();
        expect["help"] = json!(help);
    }
    if !is_forwarded {
        let rejection = CallRejection::new(validator, SERVER, case.tool(), result)
            .repeated(case.times(), settings.retry_limit)
            .in_turn(case.turn().unwrap_or(1));
        expect["answer"] = match rejection.answer(settings.answer) {
            CallAnswer::Result(result) => json!({ "result": result }),
            CallAnswer::Error { code, message, data } => {
                json!({ "error": { "code": code, "message": message, "data": data } })
            }
        };
    }
    expect
}

/// Adds what becomes of the response of the server.
fn add_response(case: &Case, validator: &McpValidator, server: &Value, expect: &mut Value) {
    let mut reply = json!({ "jsonrpc": "2.0", "id": 1 });
    reply.as_object_mut().unwrap().extend(server.as_object().unwrap().clone());
    let reply = reply.to_string();
    let extended =
        ErrorEnhancer::of(validator).enhance_reply(SERVER, case.tool(), reply.as_bytes());
    let mut answer: Value = serde_json::from_slice(&extended).unwrap();
    answer.as_object_mut().unwrap().retain(|key, _| key == "result" || key == "error");
    expect["enhanced"] = json!(answer != *server);
    expect["answer"] = answer;
    let result = server.get("result").filter(|result| result["isError"] != true);
    let structured = result.map(|result| result.get("structuredContent"));
    let errors = structured.map(|one| validator.validate_output(SERVER, case.tool(), one));
    let errors = errors.unwrap_or_default();
    if !errors.is_empty() {
        expect["output_errors"] = errors.iter().map(error_record).collect();
    }
}

/// The form of an error in the output of `stickler validate --format json`.
fn error_record(error: &ValidationError) -> Value {
    json!({
        "path": error.path,
        "schema_path": error.schema_path,
        "kind": error.kind.name(),
        "message": error.message,
        "expected": error.expected,
        "received": error.received,
        "suggestions": error.suggestions(),
    })
}

fn edit_record(edit: &Edit) -> Value {
    json!({ "edit": edit.kind.name(), "path": edit.path, "from": edit.from, "to": edit.to })
}
