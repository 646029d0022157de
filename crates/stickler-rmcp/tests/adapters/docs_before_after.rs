//! Generates `docs/before-after.md`, the responses to invalid calls without and with Stickler, and compares it with
//! the stored page. `UPDATE_DOCS=1` writes the page.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use stickler_rmcp::{Validated, ValidationConfig};

use crate::notes::Notes;
use crate::support::Wire;

const INTRODUCTION: &str = "\
# Before and after

This page shows the full text that a model reads after common mistakes, without and with Stickler.
[rmcp-before-and-after.md](rmcp-before-and-after.md) compares transports and eras instead, one line per case.
The same calls are sent to the same server (`examples/support/notes.rs`, built with the official Rust SDK),
first unchanged, then wrapped in `Validated`. `stickler run` in front of the server gives the same responses.
A test compares this page with the actual responses; `UPDATE_DOCS=1` makes it write the page.
";

/// Invalid calls: title, tool and arguments.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("A required field is misspelt", "write_note", json!({ "pth": "a", "content": "x" })),
        (
            "An optional field is misspelt",
            "write_note",
            json!({ "path": "a", "content": "x", "Mode": "append" }),
        ),
        ("A number is sent as text", "search_notes", json!({ "query": "x", "limit": "ten" })),
        (
            "An enum value does not exist",
            "write_note",
            json!({ "path": "a", "content": "x", "mode": "apend" }),
        ),
        ("The tool does not exist", "write_notes", json!({ "path": "a", "content": "x" })),
    ]
}

#[tokio::test]
async fn before_after_page_matches_the_responses() {
    let (mut before, _) = Wire::legacy(Notes::default()).await;
    let wrapped = Validated::new(Notes::default(), ValidationConfig::default());
    let (mut after, _) = Wire::legacy(wrapped).await;
    let mut page = INTRODUCTION.to_owned();
    for (title, tool, arguments) in calls() {
        let plain = visible_text(&before.call(tool, arguments.clone()).await);
        let validated = visible_text(&after.call(tool, arguments.clone()).await);
        assert_ne!(plain, validated);
        write!(
            page,
            "\n## {title}\n\n`{tool} {arguments}`\n\nBefore:\n\n````text\n{plain}\n````\n\nAfter:\n\n\
             ````text\n{validated}\n````\n"
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/before-after.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), page);
}

/// The text that the caller reads.
fn visible_text(response: &Value) -> String {
    if let Some(error) = response.get("error") {
        let mut text = format!("error {}: {}", error["code"], error["message"].as_str().unwrap());
        if let Some(suggestions) = error["data"].get("suggestions") {
            write!(text, "\nsuggestions: {suggestions}").unwrap();
        }
        return text;
    }
    let result = &response["result"];
    let text = result["content"][0]["text"].as_str().unwrap().trim_end();
    if result["isError"] == true { text.to_owned() } else { format!("(success) {text}") }
}
