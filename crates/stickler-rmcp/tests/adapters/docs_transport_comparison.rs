//! Generates `docs/rmcp-before-and-after.md`, the responses to invalid calls per transport and era, and compares it
//! with the stored page. `STICKLER_UPDATE_DOCS=1` writes the page.

use std::fmt::Write as _;

use serde_json::{Value, json};
use stickler_rmcp::{Validated, ValidationConfig};

use crate::client::example;
use crate::http::Web;
use crate::notes::Notes;
use crate::support::Wire;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rmcp-before-and-after.md");

const HEAD: &str = "\
# What the caller of an rmcp server sees

This page compares transports and eras, one line per case: the same server, `examples/wrap_a_server.rs`,
with and without `Validated`, over stdio and Streamable HTTP. [before-after.md](before-after.md) shows the
full text that a model reads after common mistakes. The server's tool `write_note` has the required
strings `path` and `content` and the optional `mode`. A test generates this page from running servers
(`crates/stickler-rmcp/tests/adapters/docs_transport_comparison.rs`).
";

struct InvalidCall {
    title: &'static str,
    params: Value,
}

fn invalid_calls() -> [InvalidCall; 5] {
    let call = |title, name: &str, arguments: Value| InvalidCall {
        title,
        params: json!({ "name": name, "arguments": arguments }),
    };
    [
        call("A missing field", "write_note", json!({ "path": "a" })),
        call("A wrong type", "write_note", json!({ "path": "a", "content": 5 })),
        call(
            "An unknown field",
            "write_note",
            json!({ "path": "a", "content": "hi", "moed": "append" }),
        ),
        call("An unknown tool", "write_notes", json!({ "path": "a", "content": "hi" })),
        call("Arguments that are not an object", "write_note", json!(["a", "hi"])),
    ]
}

/// Transport and era of a connection.
#[derive(Clone, Copy)]
struct Connection {
    http: bool,
    modern: bool,
}

const CONNECTIONS: [Connection; 4] = [
    Connection { http: false, modern: false },
    Connection { http: false, modern: true },
    Connection { http: true, modern: false },
    Connection { http: true, modern: true },
];

impl Connection {
    fn name(self) -> String {
        let transport = if self.http { "HTTP" } else { "stdio" };
        let revision = if self.modern { "2026-07-28" } else { "2025-11-25" };
        format!("{transport} | {revision}")
    }

    async fn send(self, wrapped: bool, call: &InvalidCall) -> Value {
        if !self.http {
            let options: &[&str] = if wrapped { &["--raw"] } else { &["--plain"] };
            let mut wire = Wire::process(&example("wrap_a_server"), options, self.modern).await;
            return wire.request("tools/call", call.params.clone()).await;
        }
        let web = if wrapped {
            let server = Validated::new(Notes::default(), ValidationConfig::default());
            server.check_tools().await.unwrap();
            let raw = Some(server.raw_settings());
            if self.modern {
                Web::modern(server, raw).await
            } else {
                Web::legacy(server, raw).await
            }
        } else if self.modern {
            Web::modern(Notes::default(), None).await
        } else {
            Web::legacy(Notes::default(), None).await
        };
        web.call_params(call.params.clone()).await.message()
    }
}

/// A response in one line.
fn summary(response: &Value) -> String {
    let text =
        |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
    if let Some(error) = response.get("error") {
        let suggestions = &error["data"]["suggestions"];
        let more = match suggestions.as_array() {
            Some(names) if !names.is_empty() => format!(", suggestions {suggestions}"),
            _ => String::new(),
        };
        return format!("error {}: {}{more}", error["code"], text(&error["message"]));
    }
    let result = &response["result"];
    let content = &result["content"][0]["text"];
    if result["isError"] != true {
        return format!("success: {}", text(content));
    }
    let help = content.as_str().unwrap_or_default();
    let Some((_, problems)) = help.split_once("## Problems\n") else {
        return format!("`isError`: {}", text(content));
    };
    let problems: Vec<&str> = problems
        .lines()
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let corrected = &result["_meta"]["dev.stickler/validation"]["corrected"]["arguments"];
    let corrected = if corrected.is_null() {
        String::new()
    } else {
        format!(" The corrected call: `{corrected}`")
    };
    format!("`isError`: help with {}{corrected}", problems.join(" ").replace('|', "\\|"))
}

async fn page() -> String {
    let mut page = HEAD.to_owned();
    for call in invalid_calls() {
        let _ = write!(
            page,
            "\n## {}\n\n`{} {}`\n\n",
            call.title,
            call.params["name"].as_str().unwrap(),
            call.params["arguments"]
        );
        page.push_str("| transport | revision | without | with |\n| --- | --- | --- | --- |\n");
        for connection in CONNECTIONS {
            let without = summary(&connection.send(false, &call).await);
            let with = summary(&connection.send(true, &call).await);
            let _ = writeln!(page, "| {} | {without} | {with} |", connection.name());
        }
    }
    let first = &invalid_calls()[0];
    let response = CONNECTIONS[0].send(true, first).await;
    let help = response["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let _ = write!(
        page,
        "\n## The full help text\n\nFor the first of these calls:\n\n````text\n{}\n````\n",
        help.trim_end()
    );
    page
}

#[tokio::test]
async fn transport_comparison_page_matches_the_responses() {
    let page = page().await;
    if std::env::var_os("STICKLER_UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert_eq!(
        written, page,
        "run this test with STICKLER_UPDATE_DOCS=1 and review the difference"
    );
}
