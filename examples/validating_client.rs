//! A client that validates its calls before sending them, and validates a call without making it.
//!
//! ```text
//! validating_client CMD…     the server's command, such as the example `wrap_a_server`
//! ```
#![allow(clippy::print_stdout, reason = "the example prints its results")]

use serde_json::json;
use stickler_rmcp::{DecidedBy, Error, McpClient, McpConfig, ValidationConfig};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut command = std::env::args().skip(1);
    let program = command.next().ok_or("missing argument: the command of a server")?;
    let mut client = McpClient::new(McpConfig::new("notes", program).args(command))?;
    client.enable_validation(ValidationConfig::default());
    client.connect().await?;
    let tools = client.validation_stats().map_or(0, |stats| stats.tool_count);
    println!("{tools} tools, revision {}", client.revision().unwrap_or_default());

    let rejected = client.call_tool("write_note", json!({ "pth": "a", "content": "hi" })).await;
    println!("{}", rejected.err().map_or_else(String::new, |error| error.to_string()));

    let note = json!({ "path": "a", "content": "hi" });
    println!("{}", client.call_tool("notes:write_note", note).await?.text());

    validate_only(&client).await?;
    client.close().await;
    Ok(())
}

/// Validates a call without making it.
async fn validate_only(client: &McpClient) -> Result<(), Error> {
    let validation = client.validate_tool("read_note", &json!({ "path": 5 })).await?;
    let by = match validation.decided_by {
        DecidedBy::Server => "the server",
        DecidedBy::Schema => "the schema alone",
    };
    println!(
        "valid: {}, decided by {by}: {}",
        validation.report.valid,
        validation.report.errors.join("; ")
    );
    Ok(())
}
