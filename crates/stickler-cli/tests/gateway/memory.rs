//! Resident memory of an idle gateway.
#![cfg(target_os = "linux")]

use crate::support::http::scripted_server;
use crate::support::stdio::{Gateway, wait_until};
use serde_json::json;

#[test]
fn startup_memory_is_released_after_the_first_tool_list() {
    let mut gateway = Gateway::start(&["--", scripted_server().to_str().unwrap()]);
    gateway.handshake();
    let started = gateway.resident_bytes();
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    assert!(gateway.receive()["result"]["tools"].is_array());
    wait_until("memory falls below three quarters of its startup size", || {
        gateway.resident_bytes() < started * 3 / 4
    });
    // The gateway still validates and forwards calls.
    let response = gateway.call(2, "echo", &json!({ "text": "still there" }));
    assert_eq!(response["result"]["content"][0]["text"], "still there");
    assert_eq!(gateway.call(3, "echo", &json!({ "txt": "no" }))["result"]["isError"], true);
}
