//! Log events of the adapters: tool names and findings, but no argument values.

use std::fmt::{Debug, Write as _};
use std::sync::{Mutex, Once};

use serde_json::json;
use stickler_rmcp::{McpClient, McpConfig, Validated, ValidationConfig};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::check_tools::Listing;
use crate::client::example;
use crate::notes::Notes;
use crate::support::Wire;

/// All events that the tests of this binary have logged.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Collector;

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("stickler_rmcp")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        LINES.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn collect() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Collector).unwrap());
}

/// The lines that contain all of these words.
fn lines(words: &[&str]) -> Vec<String> {
    let lines = LINES.lock().unwrap();
    lines.iter().filter(|line| words.iter().all(|word| line.contains(word))).cloned().collect()
}

#[tokio::test]
async fn rejection_is_logged_with_tool_and_findings_but_without_values() {
    collect();
    let server = Validated::new(Notes::default(), ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server).await;
    let arguments = json!({ "path": 987_654, "content": "a-very-secret-text", "logged": "me-too" });
    wire.call("write_note", arguments).await;
    let logged = lines(&["WARN", "call of `write_note` rejected", "/params/arguments/logged: "]);
    assert_eq!(logged.len(), 1, "{logged:?}");
    assert!(logged[0].contains(", and 1 more problem"), "{logged:?}");
    for value in ["987654", "a-very-secret-text", "me-too"] {
        assert!(lines(&[value]).is_empty(), "{value} was logged");
    }
}

#[tokio::test]
async fn client_logs_the_tool_count_and_the_schema_fallback() {
    collect();
    let config = McpConfig::new("logging-client", example("wrap_a_server")).args(["--plain"]);
    let mut client = McpClient::new(config).unwrap();
    client.enable_validation(ValidationConfig::default());
    client.connect().await.unwrap();
    client.validate_tool("read_note", &json!({})).await.unwrap();
    assert_eq!(lines(&["INFO", "logging-client", "connected", "validates=false"]).len(), 1);
    assert_eq!(lines(&["INFO", "logging-client", "tools cached", "tools=3"]).len(), 1);
    assert_eq!(lines(&["INFO", "logging-client", "using the tool's schema"]).len(), 1);
}

#[tokio::test]
async fn tools_without_a_usable_schema_are_logged_once_at_the_start() {
    collect();
    let server = Listing(vec![
        ("log_good", json!({ "type": "object", "properties": {} })),
        ("log_open", json!({ "type": "object" })),
        ("log_broken", json!({ "type": "object", "properties": { "a": { "type": "strin" } } })),
    ]);
    let server = Validated::new(server, ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server).await;
    let logged = || lines(&["WARN", "calls of `log_", "cannot be checked"]);
    assert_eq!(logged().len(), 2, "{:?}", logged());
    for tool in ["log_open", "log_broken"] {
        assert_eq!(lines(&["WARN", &format!("calls of `{tool}` cannot be checked")]).len(), 1);
    }
    wire.request("tools/list", json!({})).await;
    assert_eq!(logged().len(), 2, "they are not logged again");
}
