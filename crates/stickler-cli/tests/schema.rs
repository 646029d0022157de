//! `stickler schema`: the protocol's own schema.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

mod support;

use serde_json::Value;
use stickler::Revision;
use stickler_protocol::SchemaValidator;
use support::stickler;

#[test]
fn the_whole_schema_of_the_newest_revision_is_the_default() {
    let run = stickler(&["schema"]);
    assert_eq!(run.status, 0);
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(printed, SchemaValidator::built_in(Revision::V2026_07_28).schema());
    assert_eq!(printed["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn what_is_printed_can_be_loaded_as_a_schema() {
    for revision in Revision::ALL {
        let run = stickler(&["schema", "--revision", revision.as_str(), "--format", "json"]);
        assert_eq!(run.stdout.lines().count(), 1);
        let printed: Value = serde_json::from_str(&run.stdout).unwrap();
        SchemaValidator::from_schema(revision, &printed).unwrap();
    }
}

#[test]
fn a_definition_comes_with_what_it_needs_and_nothing_else() {
    let run = stickler(&["schema", "--revision", "2025-03-26", "TextContent"]);
    assert_eq!(run.status, 0);
    insta::assert_snapshot!("schema_text_content", run.stdout);
}

#[test]
fn names_are_listed() {
    let run = stickler(&["schema", "--revision", "2024-11-05", "--list"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.lines().any(|name| name == "CallToolRequest"));
    assert!(!run.stdout.contains("Task"));
    let run = stickler(&["schema", "--list", "--format", "json"]);
    let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert!(first["definition"].is_string());
}

#[test]
fn an_unknown_definition_is_suggested_and_exits_with_2() {
    let run = stickler(&["schema", "--revision", "2025-11-25", "CallToolReslt"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    let said =
        "error: 2025-11-25 has no definition `CallToolReslt`; did you mean `CallToolResult`?";
    assert!(run.stderr.starts_with(said), "{}", run.stderr);
    assert!(run.stderr.contains("hint: `stickler schema --revision 2025-11-25 --list`"));
}

#[test]
fn an_unknown_revision_exits_with_2_and_names_those_there_are() {
    let run = stickler(&["schema", "--revision", "2025-11-26"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("there are 2024-11-05, 2025-03-26,"), "{}", run.stderr);
}
