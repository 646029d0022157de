//! One server process for many clients: what it ends, ends for the right one, and nobody is left without a
//! word.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod modern;
    pub(crate) mod stdio;
}

use serde_json::{Value, json};
use support::http::{Gateway, Open, initialize, scripted_server};
use support::modern::{BOTH, ask};
use support::stdio::until;

fn subscribe(gateway: &Gateway, accept: &str) -> Open {
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    ask(gateway, ("my-sub", "subscriptions/listen"), wanted, (accept, &json!({})))
}

/// A server that says this about its first request.
fn saying(message: &str) -> Gateway {
    Gateway::start(&["--", "sh", "-c", &format!("read -r line; echo '{message}'; cat >&2")])
}

#[test]
fn a_subscription_that_the_server_ends_is_over() {
    let gateway =
        saying(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let mut stream = subscribe(&gateway, BOTH);
    let told = stream.event().unwrap();
    assert_eq!(told["params"]["requestId"], "my-sub", "{told}");
    assert!(stream.is_over());
}

#[test]
fn a_request_that_the_server_cancels_still_has_its_answer_to_come() {
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}"#;
    let gateway = saying(&format!("{cancelled}\n{result}"));
    let mut answer = ask(&gateway, ("mine", "prompts/list"), json!({}), (BOTH, &json!({})));
    assert_eq!(answer.event().unwrap()["params"]["requestId"], "mine");
    let result = answer.event().unwrap();
    assert_eq!((&result["id"], result["result"].is_object()), (&json!("mine"), true));
}

#[test]
fn a_subscription_needs_a_client_that_takes_streams() {
    let gateway =
        Gateway::start(&["--", scripted_server().to_str().unwrap(), "--mode", "changing"]);
    let refused = subscribe(&gateway, "application/json").finish();
    assert_eq!((refused.status, &refused.json()["id"]), (406, &json!("my-sub")));
    let mut stream = subscribe(&gateway, "*/*");
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.event().unwrap()["method"], "notifications/subscriptions/acknowledged");
}

#[test]
fn what_a_server_logs_is_read_though_others_have_subscribed_or_left() {
    let gateway =
        Gateway::start(&["--", scripted_server().to_str().unwrap(), "--mode", "changing"]);
    let open = subscribe(&gateway, BOTH);
    assert_eq!(open.header("content-type"), Some("text/event-stream"));
    drop(subscribe(&gateway, BOTH));
    until("the server's log is read", || {
        let call = json!({ "name": "notify", "arguments": { "text": "x" } });
        let mut answer = ask(&gateway, ("mine", "tools/call"), call, (BOTH, &json!({})));
        let first = answer.event().unwrap();
        first["method"] == "notifications/message"
    });
}

#[test]
fn a_client_that_reads_too_slowly_is_told_so() {
    let long = "x".repeat(3 << 20);
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":1,"message":"{long}"}}}}"#
    );
    let folder = std::env::temp_dir().join(format!("stickler-slow-{}", std::process::id()));
    std::fs::write(&folder, format!("{progress}\n")).unwrap();
    let file = folder.to_str().unwrap();
    let script = format!("read -r line; for i in 1 2 3 4 5 6 7 8 9; do cat {file}; done; cat >&2");
    let gateway = Gateway::start(&["--", "sh", "-c", &script]);
    let params = json!({ "_meta": { "progressToken": "t" } });
    let mut answer = ask(&gateway, ("mine", "prompts/list"), params, (BOTH, &json!({})));
    // Others have an answer in time to come, and this one does not read.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let mut last = Value::Null;
    while let Some(event) = answer.event() {
        last = event;
    }
    assert_eq!(last["id"], "mine", "{last}");
    assert!(last["error"]["message"].as_str().unwrap().contains("[STK-104]"), "{last}");
    let _ = std::fs::remove_file(folder);
}

#[test]
fn a_session_of_a_version_that_is_not_known_here_goes_on() {
    let script = r#"
        while read -r line; do case "$line" in
            *initialize\"*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-10-07","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}' ;;
            *ping*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
        esac; done"#;
    let gateway = Gateway::start(&["--", "sh", "-c", script]);
    let answer = gateway.post(&[], &initialize());
    let session = answer.header("mcp-session-id").unwrap();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let agreed = [("mcp-session-id", session), ("mcp-protocol-version", "2024-10-07")];
    assert_eq!(gateway.post(&agreed, &ping).status, 200);
    let known = Gateway::scripted(&[]);
    let session = known.session();
    let other = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2024-10-07")];
    assert_eq!(known.post(&other, &ping).status, 400);
}
