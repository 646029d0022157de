//! Validates both sides of a session and prints the decision and the findings for each message.

use std::sync::Arc;
use std::time::Duration;

use stickler::{McpValidator, ValidationConfig};
use stickler_protocol::{Decision, Side, ValidationMiddleware};

const CONVERSATION: [(Side, &str); 7] = [
    (
        Side::Client,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}"#,
    ),
    (
        Side::Server,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}}"#,
    ),
    (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    (Side::Client, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#),
    (
        Side::Server,
        r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"stat","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}}"#,
    ),
    (
        Side::Client,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"stat","arguments":{"pth":"a"}}}"#,
    ),
    (Side::Server, "Listening on stdio"),
];

#[allow(clippy::print_stdout)]
fn main() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware = ValidationMiddleware::new("files", validator);
    for (sender, message) in CONVERSATION {
        let verdict = middleware.handle(sender, message.as_bytes(), Duration::ZERO);
        let what = verdict.header.method.as_deref().unwrap_or("?");
        match verdict.decision {
            Decision::Forward => println!("{sender} {what}: forwarded"),
            Decision::Answer(_) => {
                println!("{sender} {what}: rejected, the {sender} receives an error");
            }
            _ => println!("{sender} {what}: dropped"),
        }
        for finding in verdict.findings {
            println!("  {}: {}", finding.rule.as_str(), finding.message);
        }
    }
}
