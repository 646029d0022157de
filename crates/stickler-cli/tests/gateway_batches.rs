//! Batches over HTTP: whoever posted one gets all its answers and nobody else's.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod upstream;
}

use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use support::http::{Gateway, call, initialize};
use support::upstream::{Upstream, http, json_answer, usual};

fn ping(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn is_refusal_without_id(answer: &Value) -> bool {
    answer["error"]["code"] == -32600 && answer.get("id").is_none_or(Value::is_null)
}

#[test]
fn a_batch_where_there_are_none_is_answered_at_once() {
    let batch = json!([ping(1), ping(2)]).to_string();
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let answer = gateway.post(&[("mcp-session-id", &session)], &batch);
    assert!(is_refusal_without_id(&answer.json()), "{answer:?}");

    let upstream = Upstream::start(|message| usual(message).unwrap());
    let gateway = Gateway::quietly(&["--url", &upstream.url()]);
    assert_eq!(gateway.post(&[], &initialize()).status, 200);
    let answer = gateway.post(&[("mcp-protocol-version", "2025-11-25")], &batch);
    assert!(is_refusal_without_id(&answer.json()), "{answer:?}");
    assert!(!upstream.seen.lock().unwrap().iter().any(|(_, body)| body.starts_with('[')));
}

#[test]
fn a_batch_whose_calls_are_all_refused_is_answered_like_one_call() {
    let gateway = Gateway::scripted(&[]);
    let opening = initialize().replace("2025-11-25", "2025-03-26");
    let opened = gateway.post(&[], &opening);
    let session = opened.header("mcp-session-id").unwrap();
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-03-26")];
    let call = |id: u32| serde_json::from_str(&call(id, "echo", &json!({ "txt": "" }))).unwrap();
    let calls = |ids: [u32; 2]| Value::Array(ids.map(call).to_vec()).to_string();
    // The first may still have to wait for the tools.
    gateway.post(&headers, &calls([1, 2]));
    let answer = gateway.post(&headers, &calls([3, 4]));
    assert_eq!((answer.status, answer.json().as_array().unwrap().len()), (200, 2), "{answer:?}");
}

#[test]
fn every_call_of_a_batch_that_waits_for_the_tools_of_a_url_is_answered() {
    let upstream = Upstream::start(|message| match message.as_array() {
        Some(calls) => {
            let answer = |one: &Value| {
                json!({ "jsonrpc": "2.0", "id": one["id"], "result": {
                "content": [] } })
            };
            json_answer(&calls.iter().map(answer).collect())
        }
        None => usual(message).unwrap(),
    });
    let gateway = Gateway::quietly(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-03-26")];
    let call = |id: u32, arguments: Value| -> Value {
        serde_json::from_str(&call(id, "echo", &arguments)).unwrap()
    };
    let batch = json!([call(1, json!({ "text": "" })), call(2, json!({ "txt": "" }))]);
    let answer = gateway.post(&headers, &batch.to_string()).text();
    for id in ["\"id\":1", "\"id\":2"] {
        assert_eq!(answer.matches(id).count(), 1, "{answer}");
    }
}

#[test]
fn a_batch_does_not_answer_for_a_request_of_another_post_that_has_the_same_id() {
    let (go_on, gone_on) = channel();
    let gone_on = Mutex::new(gone_on);
    // The first request is answered when it is told so; what comes of the batch ends without a word.
    let upstream = Upstream::start(move |message| {
        if message.is_array() {
            return http("text/event-stream", "");
        }
        usual(message).unwrap_or_else(|| {
            let _ = gone_on.lock().unwrap_or_else(PoisonError::into_inner).recv();
            json_answer(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }))
        })
    });
    let gateway = Gateway::quietly(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-03-26")];
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gateway.post(&headers, &ping(7).to_string()).json());
        upstream.wait_for("\"id\":7");
        let batch = json!([ping(7), ping(8)]).to_string();
        let batch = gateway.post(&headers, &batch).text();
        assert!(!batch.contains("\"id\":7"), "{batch}");
        assert!(batch.contains("\"id\":8") && batch.contains("[STK-105]"), "{batch}");
        go_on.send(()).unwrap();
        assert_eq!(first.join().unwrap(), json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
    });
}
