//! A server with its own semantic, runtime and security checks, offered as the tool `validate`.
//!
//! Serves on stdio. With `--show` it validates a few calls in process and prints the results.
#![allow(clippy::print_stdout, reason = "the example prints its results")]

#[path = "support/notes.rs"]
mod notes;

use notes::Notes;
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use stickler_rmcp::{
    Concerns, DeepCall, DeepChecks, Validated, ValidationConfig, ValidationLevels,
};

impl DeepChecks for Notes {
    fn levels(&self) -> ValidationLevels {
        ValidationLevels { semantic: true, runtime: true, security: true, ..Default::default() }
    }

    async fn semantic(&self, call: DeepCall<'_>) -> Concerns {
        let is_empty = call.arguments.get("content").is_some_and(|content| content == "");
        if is_empty {
            Concerns::none().warning("this makes an empty note")
        } else {
            Concerns::none()
        }
    }

    async fn runtime(&self, call: DeepCall<'_>) -> Concerns {
        match call.arguments.get("path").and_then(Value::as_str) {
            Some(path) if call.tool == "read_note" && !self.has(path) => Concerns::none()
                .error(format!("there is no note at `{path}`"))
                .suggestion("`search_notes` finds notes by their text"),
            _ => Concerns::none(),
        }
    }

    async fn security(&self, call: DeepCall<'_>) -> Concerns {
        match call.arguments.get("path").and_then(Value::as_str) {
            Some(path) if path.starts_with("private/") => {
                Concerns::none().error(format!("`{path}` is private"))
            }
            _ => Concerns::none(),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let notes = Notes::default();
    let server = Validated::new(notes, ValidationConfig::default()).with_deep_checks();
    if std::env::args().any(|argument| argument == "--show") {
        return Box::pin(show(server)).await;
    }
    server.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}

async fn show(server: Validated<Notes>) -> Result<(), Box<dyn std::error::Error>> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (serving, client) = tokio::join!(server.serve(far), ().serve(near));
    let (serving, client) = (serving?, client?);
    for (tool, arguments) in [
        ("read_note", json!({ "path": 5 })),
        ("read_note", json!({ "path": "lost" })),
        ("write_note", json!({ "path": "private/diary", "content": "" })),
        ("write_note", json!({ "path": "a", "content": "hi" })),
    ] {
        let mut request = CallToolRequestParams::new("validate");
        request.arguments = json!({ "tool": tool, "arguments": arguments }).as_object().cloned();
        let report = client.call_tool(request).await?.structured_content.unwrap_or_default();
        println!("{tool} {arguments}: valid {}, {}", report["valid"], report["errors"]);
    }
    client.cancel().await?;
    serving.cancel().await?;
    Ok(())
}
