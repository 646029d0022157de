//! What a gateway keeps in memory while it waits.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod stdio;
}

use serde_json::json;
use support::http::scripted_server;
use support::stdio::{Gateway, until};

#[test]
fn what_only_the_start_needed_is_given_back_once_the_tools_are_known() {
    let mut gateway = Gateway::start(&["--", scripted_server().to_str().unwrap()]);
    gateway.shake_hands();
    let started = gateway.resident_bytes();
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    assert!(gateway.receive()["result"]["tools"].is_array());
    until("less memory is taken than right after the start", || {
        gateway.resident_bytes() < started * 3 / 4
    });
    // And what is needed again is there again.
    let answer = gateway.call(2, "echo", &json!({ "text": "still there" }));
    assert_eq!(answer["result"]["content"][0]["text"], "still there");
    assert_eq!(gateway.call(3, "echo", &json!({ "txt": "no" }))["result"]["isError"], true);
}
