//! The page with the same mistakes before and after, as they really come out.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use stickler_rmcp::{Validated, ValidationConfig};

use crate::notes::Notes;
use crate::support::Wire;

const INTRODUCTION: &str = "\
# Before and after

This page has the full texts that a model reads after usual mistakes, without and with Stickler;
[rmcp-before-and-after.md](rmcp-before-and-after.md) compares transports and eras instead, a line a case.
The same calls go to the same server (`examples/support/notes.rs`, built with the official Rust SDK):
first as it is, then wrapped in `Validated`. `stickler run` in front of it answers in the same way. A
test writes down what really comes back and compares it with this page; `UPDATE_DOCS=1` lets it write
the page.
";

/// What a model sends, and what is wrong with it.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("A required field is misspelt", "write_note", json!({ "pth": "a", "content": "x" })),
        (
            "An optional field is misspelt",
            "write_note",
            json!({ "path": "a", "content": "x", "Mode": "append" }),
        ),
        ("A number arrives as text", "search_notes", json!({ "query": "x", "limit": "ten" })),
        (
            "A choice that there is not",
            "write_note",
            json!({ "path": "a", "content": "x", "mode": "apend" }),
        ),
        ("A tool that there is not", "write_notes", json!({ "path": "a", "content": "x" })),
    ]
}

#[tokio::test]
async fn the_page_shows_what_comes_back() {
    let (mut before, _) = Wire::legacy(Notes::default()).await;
    let wrapped = Validated::new(Notes::default(), ValidationConfig::default());
    let (mut after, _) = Wire::legacy(wrapped).await;
    let mut page = INTRODUCTION.to_owned();
    for (title, tool, arguments) in calls() {
        let plain = shown(&before.call(tool, arguments.clone()).await);
        let validated = shown(&after.call(tool, arguments.clone()).await);
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

/// What the caller gets to read.
fn shown(answer: &Value) -> String {
    if let Some(error) = answer.get("error") {
        let mut text = format!("error {}: {}", error["code"], error["message"].as_str().unwrap());
        if let Some(suggestions) = error["data"].get("suggestions") {
            write!(text, "\nsuggestions: {suggestions}").unwrap();
        }
        return text;
    }
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap().trim_end();
    if result["isError"] == true { text.to_owned() } else { format!("(success) {text}") }
}
