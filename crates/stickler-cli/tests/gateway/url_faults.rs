//! Servers at a URL that fail or send invalid responses: every request gets an error.

use crate::support::http::{Gateway, call, initialize};
use crate::support::upstream::{Upstream, default_response, http, json_response};
use serde_json::{Value, json};

#[test]
fn truncated_stream_and_unreachable_url_become_errors() {
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| {
            let half = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n";
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{half}", half.len())
                .into_bytes()
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-protocol-version", "2025-11-25")];
    let events = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" }))).events();
    assert_eq!((events.len(), &events[1]["id"]), (2, &json!(3)), "{events:?}");
    assert!(events[1]["error"]["message"].as_str().unwrap().contains("STK-105"));
    let unreachable = format!("http://127.0.0.1:{}/mcp", crate::support::http::free_port());
    let gateway = Gateway::start(&["--url", &unreachable]);
    let response = gateway.post(&[], &initialize());
    assert_eq!((response.status, &response.json()["id"]), (502, &json!(0)));
    assert!(response.text().contains("STK-101"), "{}", response.text());
}

/// A gateway in front of a server that answers calls with these bytes.
fn server_answering(response: &'static [u8]) -> (Gateway, Upstream) {
    let upstream =
        Upstream::start(|message| default_response(message).unwrap_or_else(|| response.to_vec()));
    (Gateway::start(&["--url", &upstream.url()]), upstream)
}

#[test]
fn http_response_without_a_json_rpc_response_becomes_an_error() {
    let page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>";
    let without_message: [&[u8]; 4] = [
        b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n",
        page,
    ];
    for bytes in without_message {
        let (gateway, _upstream) = server_answering(bytes);
        let response = gateway.post(&[], &call(7, "echo", &json!({ "text": "x" })));
        assert_eq!((response.status, &response.json()["id"]), (200, &json!(7)), "{response:?}");
        let message = response.json()["error"]["message"].to_string();
        assert!(message.contains("[STK-103]") && message.contains("HTTP status 20"), "{message}");
    }
    // HTTP errors are forwarded to the client.
    let rejected =
        b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 2\r\n\r\nno";
    let (gateway, _upstream) = server_answering(rejected);
    let response = gateway.post(&[], &call(7, "echo", &json!({ "text": "x" })));
    assert_eq!((response.status, response.text().as_str()), (401, "no"));
    assert_eq!(response.header("www-authenticate"), Some("Bearer"));
}

#[test]
fn connection_closed_without_a_response_becomes_an_error() {
    let (gateway, _upstream) = server_answering(b"");
    let response = gateway.post(&[], &call(7, "echo", &json!({ "text": "x" })));
    assert_eq!(response.json()["id"], 7);
    let message = response.json()["error"]["message"].to_string();
    assert!(message.contains("[STK-105]"), "{message}");
}

#[test]
fn every_request_of_a_failed_batch_is_answered() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let unreachable = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let (closes, _one) = server_answering(b"");
    let (accepts, _other) = server_answering(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    for gateway in [Gateway::start(&["--url", &unreachable]), closes, accepts] {
        let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        let batch = json!([ping(1), { "jsonrpc": "2.0", "id": 2, "method": 5 }, ping(3)]);
        let response = gateway.post(&[("mcp-protocol-version", "2025-03-26")], &batch.to_string());
        let flatten = |one: Value| match one {
            Value::Array(several) => several,
            one => vec![one],
        };
        let mut responses: Vec<Value> = response.events().into_iter().flat_map(flatten).collect();
        responses.sort_by_key(|one| one["id"].as_u64());
        let ids: Vec<&Value> = responses.iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [1, 2, 3], "{response:?}");
        assert!(responses.iter().all(|one| one["error"]["code"].is_number()), "{responses:?}");
    }
}

#[test]
fn rejected_batch_items_are_answered_when_only_notifications_are_forwarded() {
    let accepted = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    let upstream = Upstream::start(move |message| {
        if message.is_array() { accepted.to_vec() } else { default_response(message).unwrap() }
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/x" });
    let invalid = json!({ "jsonrpc": "2.0", "id": 2, "method": 5 });
    let batch = json!([invalid, notification]).to_string();
    let response = gateway.post(&[("mcp-protocol-version", "2025-03-26")], &batch);
    assert_eq!((response.status, &response.json()[0]["id"]), (200, &json!(2)), "{response:?}");
}

/// Sends two requests in one batch from a stdio client to a server of 2025-03-26 with this batch handler, and
/// returns the responses.
fn batch_on_stdio(response: impl Fn(&Value) -> Vec<u8> + Send + Sync + 'static) -> Vec<Value> {
    let upstream = Upstream::start(move |message| {
        if message.is_array() {
            return response(message);
        }
        let old = |text: &[u8]| String::from_utf8_lossy(text).replace("2025-11-25", "2025-03-26");
        default_response(message).map(|text| old(&text).into_bytes()).unwrap()
    });
    let mut gateway =
        crate::support::stdio::Gateway::start(&["--grace", "1", "--url", &upstream.url()]);
    gateway.handshake();
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    gateway.send(&json!([ping(1), ping(2)]));
    let mut responses = Vec::new();
    while responses.len() < 2 {
        match gateway.receive() {
            Value::Array(several) => responses.extend(several),
            one => responses.push(one),
        }
    }
    responses.sort_by_key(|one| one["id"].as_u64());
    assert_eq!((&responses[0]["id"], &responses[1]["id"]), (&json!(1), &json!(2)));
    responses
}

#[test]
fn stdio_batches_to_a_url_are_answered() {
    let results = |message: &Value| {
        let result = |one: &Value| json!({ "jsonrpc": "2.0", "id": one["id"], "result": {} });
        Value::from(message.as_array().unwrap().iter().map(result).collect::<Vec<_>>())
    };
    let complete = batch_on_stdio(move |message| json_response(&results(message)));
    assert!(complete.iter().all(|one| one["result"].is_object()), "{complete:?}");
    let streamed = batch_on_stdio(move |message| {
        let events = format!("data: {}\n\n", results(message));
        http("text/event-stream", &events)
    });
    assert!(streamed.iter().all(|one| one["result"].is_object()), "{streamed:?}");
    let half = batch_on_stdio(move |message| {
        let events = format!("data: {}\n\n", results(message)[0]);
        http("text/event-stream", &events)
    });
    assert!(half[0]["result"].is_object() && half[1]["error"].is_object(), "{half:?}");
}

#[test]
fn stdio_batches_to_a_failing_url_are_answered() {
    let failures: [(&[u8], &str); 3] = [
        (b"", "[STK-105]"),
        (b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", "[STK-103]"),
        (
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 31\r\n\r\n{\"error\":{\"message\":\"not yet\"}}"
                .trim_ascii(),
            "[STK-103]",
        ),
    ];
    for (failure, code) in failures {
        for response in batch_on_stdio(move |_| failure.to_vec()) {
            let message = response["error"]["message"].as_str().unwrap();
            assert!(message.contains(code), "{message}");
            assert_eq!(failure.ends_with(b"}}"), message.contains(": not yet"), "{message}");
        }
    }
}

#[test]
fn pending_requests_of_a_half_closed_stdio_client_are_answered_after_the_drain_period() {
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| {
            // An event, and no response after it.
            let event = ": waiting\n\n";
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000\r\n\r\n{event}"
            )
            .into_bytes()
        })
    });
    let mut gateway =
        crate::support::stdio::Gateway::start(&["--grace", "0.1", "--url", &upstream.url()]);
    gateway.handshake();
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list" }));
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "prompts/list" }));
    let end = gateway.end();
    let mut ids: Vec<u64> = end
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|response| response["error"]["message"].as_str().unwrap().contains("STK-105"))
        .filter_map(|response| response["id"].as_u64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2], "{} {}", end.stdout, end.stderr);
}
