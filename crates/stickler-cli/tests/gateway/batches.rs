//! Batches over HTTP: a POST gets the responses to all of its requests and no others.

use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};

use crate::support::http::{Gateway, call, initialize};
use crate::support::upstream::{Upstream, default_response, http, json_response};
use serde_json::{Value, json};

fn ping(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn is_rejection_without_id(response: &Value) -> bool {
    response["error"]["code"] == -32600 && response.get("id").is_none_or(Value::is_null)
}

#[test]
fn batch_is_rejected_where_the_revision_has_no_batches() {
    let batch = json!([ping(1), ping(2)]).to_string();
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let response = gateway.post(&[("mcp-session-id", &session)], &batch);
    assert!(is_rejection_without_id(&response.json()), "{response:?}");

    let upstream = Upstream::start(|message| default_response(message).unwrap());
    let gateway = Gateway::start_with_hidden_log(&["--url", &upstream.url()]);
    assert_eq!(gateway.post(&[], &initialize()).status, 200);
    let response = gateway.post(&[("mcp-protocol-version", "2025-11-25")], &batch);
    assert!(is_rejection_without_id(&response.json()), "{response:?}");
    assert!(!upstream.seen.lock().unwrap().iter().any(|(_, body)| body.starts_with('[')));
}

#[test]
fn batch_with_only_rejected_calls_gets_one_response_array() {
    let gateway = Gateway::scripted(&[]);
    let opening = initialize().replace("2025-11-25", "2025-03-26");
    let opened = gateway.post(&[], &opening);
    let session = opened.header("mcp-session-id").unwrap();
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-03-26")];
    let call = |id: u32| serde_json::from_str(&call(id, "echo", &json!({ "txt": "" }))).unwrap();
    let calls = |ids: [u32; 2]| Value::Array(ids.map(call).to_vec()).to_string();
    // The first batch may be held until the tool list is known.
    gateway.post(&headers, &calls([1, 2]));
    let response = gateway.post(&headers, &calls([3, 4]));
    assert_eq!(
        (response.status, response.json().as_array().unwrap().len()),
        (200, 2),
        "{response:?}"
    );
}

#[test]
fn batch_held_for_the_tool_list_of_a_url_is_answered_once_per_call() {
    let upstream = Upstream::start(|message| match message.as_array() {
        Some(calls) => {
            let response = |one: &Value| {
                json!({ "jsonrpc": "2.0", "id": one["id"], "result": {
                "content": [] } })
            };
            json_response(&calls.iter().map(response).collect())
        }
        None => default_response(message).unwrap(),
    });
    let gateway = Gateway::start_with_hidden_log(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-03-26")];
    let call = |id: u32, arguments: Value| -> Value {
        serde_json::from_str(&call(id, "echo", &arguments)).unwrap()
    };
    let batch = json!([call(1, json!({ "text": "" })), call(2, json!({ "txt": "" }))]);
    let response = gateway.post(&headers, &batch.to_string()).text();
    for id in ["\"id\":1", "\"id\":2"] {
        assert_eq!(response.matches(id).count(), 1, "{response}");
    }
}

#[test]
fn batch_does_not_answer_a_pending_request_of_another_post_with_the_same_id() {
    let (release, released) = channel();
    let released = Mutex::new(released);
    // The first request is answered on `release`; the stream of the batch ends without a message.
    let upstream = Upstream::start(move |message| {
        if message.is_array() {
            return http("text/event-stream", "");
        }
        default_response(message).unwrap_or_else(|| {
            let _ = released.lock().unwrap_or_else(PoisonError::into_inner).recv();
            json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }))
        })
    });
    let gateway = Gateway::start_with_hidden_log(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-03-26")];
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gateway.post(&headers, &ping(7).to_string()).json());
        upstream.wait_for("\"id\":7");
        let batch = json!([ping(7), ping(8)]).to_string();
        let batch = gateway.post(&headers, &batch).text();
        assert!(!batch.contains("\"id\":7"), "{batch}");
        assert!(batch.contains("\"id\":8") && batch.contains("[STK-105]"), "{batch}");
        release.send(()).unwrap();
        assert_eq!(first.join().unwrap(), json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
    });
}
