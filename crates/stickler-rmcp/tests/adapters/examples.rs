//! The example programs, run as processes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use stickler_rmcp::{Code, McpClient, McpConfig, ValidationConfig};

use crate::client::example;

fn printed(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(example(name)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// An example server that prints its URL on standard error.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(example(name));
        let mut child = command.args(arguments).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let mut lines = BufReader::new(stderr).lines().map(Result::unwrap);
        let url = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned));
        Self { child, url: url.expect("the server prints its URL") }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn validating_client_example_rejects_calls_and_queries_the_server() {
    let server = example("wrap_a_server");
    let text = printed("validating_client", &[&server]);
    assert!(text.starts_with("4 tools, revision 2026-07-28\n[STK-107]"), "{text}");
    assert!(text.contains("did you mean `path` (string, required)?"), "{text}");
    assert!(text.contains("\nwrote 2 characters to a\n"), "{text}");
    assert!(text.contains("valid: false, decided by the server: "), "{text}");
    let text = printed("validating_client", &[&server, "--plain"]);
    assert!(text.contains("valid: false, decided by the schema alone: "), "{text}");
}

/// The official conformance suite needs Node; `cargo xtask interop` runs it.
#[tokio::test]
async fn conformance_server_gives_equal_results_plain_and_wrapped() {
    let mut plain = None;
    for options in [&["--plain"][..], &[], &["--raw"]] {
        let arguments = [&["--listen", "127.0.0.1:0"], options].concat();
        let server = Listening::start("conformance_server", &arguments);
        let mut client = McpClient::new(McpConfig::url("suite", &server.url)).unwrap();
        client.connect().await.unwrap();
        let mut seen = Vec::new();
        for (tool, arguments) in [
            ("test_simple_text", json!({})),
            ("test_tool_with_progress", json!({})),
            ("json_schema_2020_12_tool", json!({ "email": "a@b.c" })),
            ("test_error_handling", json!({})),
        ] {
            let response = client.call_tool(tool, arguments).await;
            seen.push(response.map(|one| one.text()).map_err(|error| error.to_string()));
        }
        client.close().await;
        assert_eq!(seen[0].as_deref(), Ok("This is a simple text response for testing."));
        assert_eq!(&seen, plain.get_or_insert_with(|| seen.clone()), "{options:?}");
    }
}

#[test]
fn deep_checks_example_reports_semantic_errors() {
    let text = printed("deep_checks", &["--show"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("valid false") && lines[0].contains("string"), "{text}");
    assert!(lines[1].ends_with(r#"valid false, ["there is no note at `lost`"]"#), "{text}");
    assert!(lines[2].ends_with(r#"valid false, ["`private/diary` is private"]"#), "{text}");
    assert!(lines[3].ends_with("valid true, []"), "{text}");
}

#[tokio::test]
async fn http_examples_work_with_and_without_the_raw_layer() {
    for (name, arguments) in [
        ("http_with_the_raw_layer", &[][..]),
        ("wrap_a_server", &["--listen", "127.0.0.1:0"]),
        ("wrap_a_server", &["--listen", "127.0.0.1:0", "--raw"]),
    ] {
        let server = Listening::start(name, arguments);
        let mut client = McpClient::new(McpConfig::url("notes", &server.url)).unwrap();
        client.enable_validation(ValidationConfig::default());
        client.connect().await.unwrap();
        let rejected = client.call_tool("read_note", json!({})).await.unwrap_err();
        assert_eq!(rejected.code(), Code::InvalidArguments);
        client.close().await;
    }
}
