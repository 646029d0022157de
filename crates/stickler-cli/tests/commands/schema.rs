//! `stickler schema`: prints the schema of the protocol.

use crate::support::command::stickler;
use serde_json::Value;
use stickler::Revision;
use stickler_protocol::SchemaValidator;

#[test]
fn schema_prints_the_newest_revision_by_default() {
    let run = stickler(&["schema"]);
    assert_eq!(run.status, 0);
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(printed, SchemaValidator::built_in(Revision::V2026_07_28).schema());
    assert_eq!(printed["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn printed_schema_can_be_loaded() {
    for revision in Revision::ALL {
        let run = stickler(&["schema", "--revision", revision.as_str(), "--format", "json"]);
        assert_eq!(run.stdout.lines().count(), 1);
        let printed: Value = serde_json::from_str(&run.stdout).unwrap();
        SchemaValidator::from_schema(revision, &printed).unwrap();
    }
}

#[test]
fn single_definition_is_printed_with_its_dependencies() {
    let run = stickler(&["schema", "--revision", "2025-03-26", "TextContent"]);
    assert_eq!(run.status, 0);
    insta::assert_snapshot!("schema_text_content", run.stdout);
}

#[test]
fn list_option_prints_the_definition_names() {
    let run = stickler(&["schema", "--revision", "2024-11-05", "--list"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.lines().any(|name| name == "CallToolRequest"));
    assert!(!run.stdout.contains("Task"));
    let run = stickler(&["schema", "--list", "--format", "json"]);
    let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert!(first["definition"].is_string());
}

#[test]
fn unknown_definition_gets_a_suggestion_and_exits_with_2() {
    let run = stickler(&["schema", "--revision", "2025-11-25", "CallToolReslt"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    let expected =
        "error: 2025-11-25 has no definition `CallToolReslt`; did you mean `CallToolResult`?";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    assert!(run.stderr.contains("hint: `stickler schema --revision 2025-11-25 --list`"));
}

#[test]
fn unknown_revision_exits_with_2_and_lists_the_known_ones() {
    let run = stickler(&["schema", "--revision", "2025-11-26"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("known revisions: 2024-11-05, 2025-03-26,"), "{}", run.stderr);
}
