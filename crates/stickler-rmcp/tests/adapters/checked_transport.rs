//! `CheckedTransport`: validation for an unmodified rmcp client.

use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use stickler_rmcp::{CheckedTransport, ValidationConfig};

use crate::notes::Notes;

async fn client() -> RunningService<RoleClient, ()> {
    let (client_end, server_end) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move {
        if let Ok(running) = Notes::default().serve(server_end).await {
            let _ = running.waiting().await;
        }
    });
    let (reader, writer) = tokio::io::split(client_end);
    let transport = rmcp::transport::async_rw::AsyncRwTransport::new(reader, writer);
    ().serve(CheckedTransport::new(transport, ValidationConfig::default())).await.unwrap()
}

fn call(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let mut call = CallToolRequestParams::new(tool);
    call.arguments = arguments.as_object().cloned();
    call
}

#[tokio::test]
async fn checked_transport_validates_calls_of_an_unmodified_client() {
    let client = client().await;
    // The client has not listed the tools.
    let rejected = client.call_tool(call("write_note", json!({ "pth": "a" }))).await.unwrap();
    assert_eq!(rejected.is_error, Some(true));
    let text = &rejected.content[0].as_text().unwrap().text;
    assert!(text.contains("did you mean `path` (string, required)?"), "{text}");
    let note = json!({ "path": "a", "content": "hi" });
    let written = client.call_tool(call("write_note", note)).await.unwrap();
    assert_eq!(written.content[0].as_text().unwrap().text, "wrote 2 characters to a");
    let rejected = client.call_tool(call("write_nte", json!({}))).await.unwrap();
    let text = &rejected.content[0].as_text().unwrap().text;
    assert!(text.contains("Unknown tool: write_nte. Did you mean `write_note`?"), "{text}");
    assert_eq!(client.list_all_tools().await.unwrap().len(), 3);
}
