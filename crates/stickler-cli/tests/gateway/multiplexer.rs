//! The multiplexer, which shares one server process among clients: cancellations reach the right client, and every
//! request is answered.

use crate::support::http::{Gateway, StreamingResponse, initialize, scripted_server};
use crate::support::modern::{ACCEPT_BOTH, send_modern};
use crate::support::stdio::wait_until;
use serde_json::{Value, json};

fn subscribe(gateway: &Gateway, accept: &str) -> StreamingResponse {
    let params = json!({ "notifications": { "toolsListChanged": true } });
    send_modern(gateway, ("my-sub", "subscriptions/listen"), params, (accept, &json!({})))
}

/// A gateway in front of a server that sends this text after its first request.
fn with_server_output(message: &str) -> Gateway {
    Gateway::start(&["--", "sh", "-c", &format!("read -r line; echo '{message}'; cat >&2")])
}

#[test]
fn subscription_cancelled_by_the_server_ends_its_stream() {
    let gateway = with_server_output(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    );
    let mut stream = subscribe(&gateway, ACCEPT_BOTH);
    let cancelled = stream.event().unwrap();
    assert_eq!(cancelled["params"]["requestId"], "my-sub", "{cancelled}");
    assert!(stream.ends_without_event());
}

#[test]
fn request_cancelled_by_the_server_still_gets_its_response() {
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}"#;
    let gateway = with_server_output(&format!("{cancelled}\n{result}"));
    let mut response =
        send_modern(&gateway, ("mine", "prompts/list"), json!({}), (ACCEPT_BOTH, &json!({})));
    assert_eq!(response.event().unwrap()["params"]["requestId"], "mine");
    let result = response.event().unwrap();
    assert_eq!((&result["id"], result["result"].is_object()), (&json!("mine"), true));
}

#[test]
fn subscription_requires_a_client_that_accepts_streams() {
    let gateway =
        Gateway::start(&["--", scripted_server().to_str().unwrap(), "--mode", "mutable-tools"]);
    let rejected = subscribe(&gateway, "application/json").finish();
    assert_eq!((rejected.status, &rejected.json()["id"]), (406, &json!("my-sub")));
    let mut stream = subscribe(&gateway, "*/*");
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.event().unwrap()["method"], "notifications/subscriptions/acknowledged");
}

#[test]
fn log_messages_reach_the_only_active_request_despite_subscriptions() {
    let gateway =
        Gateway::start(&["--", scripted_server().to_str().unwrap(), "--mode", "mutable-tools"]);
    let open = subscribe(&gateway, ACCEPT_BOTH);
    assert_eq!(open.header("content-type"), Some("text/event-stream"));
    drop(subscribe(&gateway, ACCEPT_BOTH));
    wait_until("the log message is delivered", || {
        let call = json!({ "name": "notify", "arguments": { "text": "x" } });
        let mut response =
            send_modern(&gateway, ("mine", "tools/call"), call, (ACCEPT_BOTH, &json!({})));
        let first = response.event().unwrap();
        first["method"] == "notifications/message"
    });
}

#[test]
fn slow_reader_of_a_shared_process_gets_an_error() {
    let long = "x".repeat(3 << 20);
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":1,"message":"{long}"}}}}"#
    );
    let path = std::env::temp_dir().join(format!("stickler-slow-{}", std::process::id()));
    std::fs::write(&path, format!("{progress}\n")).unwrap();
    let file = path.to_str().unwrap();
    let marker = path.with_extension("written");
    let script = format!(
        "read -r line; for i in 1 2 3 4 5 6 7 8 9; do cat {file}; done; : > {}; cat >&2",
        marker.display()
    );
    let gateway = Gateway::start(&["--", "sh", "-c", &script]);
    let params = json!({ "_meta": { "progressToken": "t" } });
    let mut response =
        send_modern(&gateway, ("mine", "prompts/list"), params, (ACCEPT_BOTH, &json!({})));
    // The multiplexer reads the rest of the output only after it has given up on this client.
    wait_until("the server has written everything", || marker.exists());
    let mut last = Value::Null;
    while let Some(event) = response.event() {
        last = event;
    }
    assert_eq!(last["id"], "mine", "{last}");
    assert!(last["error"]["message"].as_str().unwrap().contains("[STK-104]"), "{last}");
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_file(marker);
}

#[test]
fn slow_reader_of_a_shared_process_delays_no_other_client_and_loses_nothing() {
    const MESSAGES: usize = 9;
    let long = "x".repeat(1 << 20);
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":1,"message":"{long}"}}}}"#
    );
    let path = std::env::temp_dir().join(format!("stickler-others-{}", std::process::id()));
    std::fs::write(&path, format!("{progress}\n")).unwrap();
    let script = format!(
        r#"read -r line; for i in $(seq {MESSAGES}); do cat {}; done; read -r line
        echo '{{"jsonrpc":"2.0","id":2,"result":{{"prompts":[]}}}}'
        echo '{{"jsonrpc":"2.0","id":1,"result":{{"prompts":[]}}}}'; cat >&2"#,
        path.display()
    );
    let gateway = Gateway::start(&["--", "sh", "-c", &script]);
    let params = json!({ "_meta": { "progressToken": "t" } });
    let mut slow =
        send_modern(&gateway, ("slow", "prompts/list"), params, (ACCEPT_BOTH, &json!({})));
    // The server reads this request only after it has written everything for the slow client.
    let other =
        send_modern(&gateway, ("other", "prompts/list"), json!({}), (ACCEPT_BOTH, &json!({})));
    let other = other.finish().json();
    assert!(other["result"].is_object(), "{other}");
    let (mut events, mut last) = (0, Value::Null);
    while let Some(event) = slow.event() {
        events += 1;
        last = event;
    }
    let _ = std::fs::remove_file(path);
    assert_eq!((events, &last["id"]), (MESSAGES + 1, &json!("slow")), "{last}");
    assert!(last["result"].is_object(), "{last}");
}

#[test]
fn session_with_an_unknown_negotiated_version_continues() {
    let script = r#"
        while read -r line; do case "$line" in
            *initialize\"*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-10-07","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}' ;;
            *ping*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
        esac; done"#;
    let gateway = Gateway::start(&["--", "sh", "-c", script]);
    let response = gateway.post(&[], &initialize());
    let session = response.header("mcp-session-id").unwrap();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let agreed = [("mcp-session-id", session), ("mcp-protocol-version", "2024-10-07")];
    assert_eq!(gateway.post(&agreed, &ping).status, 200);
    let known = Gateway::scripted(&[]);
    let session = known.session();
    let other = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2024-10-07")];
    assert_eq!(known.post(&other, &ping).status, 400);
}
