//! What a caller sees of a bad call, with and without the wrapper: the page in `docs/`, made by
//! asking real servers. `STICKLER_UPDATE_DOCS=1` writes it anew.

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

This page compares transports and eras, a line a case: the same server, `examples/wrap_a_server.rs`,
with and without `Validated`, over stdio and Streamable HTTP; [before-after.md](before-after.md) has the
full texts that a model reads after usual mistakes. The server's tool `write_note` has the required
strings `path` and `content` and the optional `mode`. This page is made by a test that asks the running
servers (`crates/stickler-rmcp/tests/adapters/before_and_after.rs`), so it says what they say today.
";

struct BadCall {
    title: &'static str,
    params: Value,
}

fn bad_calls() -> [BadCall; 5] {
    let call = |title, name: &str, arguments: Value| BadCall {
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
        call("Arguments that are no object", "write_note", json!(["a", "hi"])),
    ]
}

/// One way to a server.
#[derive(Clone, Copy)]
struct Way {
    http: bool,
    modern: bool,
}

const WAYS: [Way; 4] = [
    Way { http: false, modern: false },
    Way { http: false, modern: true },
    Way { http: true, modern: false },
    Way { http: true, modern: true },
];

impl Way {
    fn name(self) -> String {
        let transport = if self.http { "HTTP" } else { "stdio" };
        let revision = if self.modern { "2026-07-28" } else { "2025-11-25" };
        format!("{transport} | {revision}")
    }

    async fn ask(self, wrapped: bool, call: &BadCall) -> Value {
        if !self.http {
            let options: &[&str] = if wrapped { &["--raw"] } else { &["--plain"] };
            let mut wire = Wire::process(&example("wrap_a_server"), options, self.modern).await;
            return wire.ask("tools/call", call.params.clone()).await;
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

/// An answer in one line.
fn told(answer: &Value) -> String {
    let text =
        |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
    if let Some(error) = answer.get("error") {
        let suggestions = &error["data"]["suggestions"];
        let more = match suggestions.as_array() {
            Some(names) if !names.is_empty() => format!(", suggestions {suggestions}"),
            _ => String::new(),
        };
        return format!("error {}: {}{more}", error["code"], text(&error["message"]));
    }
    let result = &answer["result"];
    let said = &result["content"][0]["text"];
    if result["isError"] != true {
        return format!("success: {}", text(said));
    }
    let help = said.as_str().unwrap_or_default();
    let Some((_, problems)) = help.split_once("## Problems\n") else {
        return format!("`isError`: {}", text(said));
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
    for call in bad_calls() {
        let _ = write!(
            page,
            "\n## {}\n\n`{} {}`\n\n",
            call.title,
            call.params["name"].as_str().unwrap(),
            call.params["arguments"]
        );
        page.push_str("| transport | revision | without | with |\n| --- | --- | --- | --- |\n");
        for way in WAYS {
            let without = told(&way.ask(false, &call).await);
            let with = told(&way.ask(true, &call).await);
            let _ = writeln!(page, "| {} | {without} | {with} |", way.name());
        }
    }
    let first = &bad_calls()[0];
    let answer = WAYS[0].ask(true, first).await;
    let help = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let _ = write!(
        page,
        "\n## The help in full\n\nFor the first of these calls:\n\n````text\n{}\n````\n",
        help.trim_end()
    );
    page
}

#[tokio::test]
async fn the_page_says_what_callers_see() {
    let page = page().await;
    if std::env::var_os("STICKLER_UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert_eq!(written, page, "run this test with STICKLER_UPDATE_DOCS=1 and read the difference");
}
