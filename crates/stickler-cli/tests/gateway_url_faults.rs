//! Servers at a URL that answer badly, or not at all: whoever asked is told.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod stdio;
    pub(crate) mod upstream;
}

use serde_json::{Value, json};
use support::http::{Gateway, call, initialize};
use support::upstream::{Upstream, http, json_answer, usual};

#[test]
fn a_server_that_breaks_off_or_is_not_there_is_an_answer() {
    let upstream = Upstream::start(|message| {
        usual(message).unwrap_or_else(|| {
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
    let nobody = format!("http://127.0.0.1:{}/mcp", support::http::free_port());
    let gateway = Gateway::start(&["--url", &nobody]);
    let answer = gateway.post(&[], &initialize());
    assert_eq!((answer.status, &answer.json()["id"]), (502, &json!(0)));
    assert!(answer.text().contains("STK-101"), "{}", answer.text());
}

/// A gateway in front of a server that answers calls so.
fn answering(answer: &'static [u8]) -> (Gateway, Upstream) {
    let upstream = Upstream::start(|message| usual(message).unwrap_or_else(|| answer.to_vec()));
    (Gateway::start(&["--url", &upstream.url()]), upstream)
}

#[test]
fn a_request_is_answered_though_the_server_says_nothing_that_is_an_answer() {
    let page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>";
    let nothings: [&[u8]; 4] = [
        b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n",
        page,
    ];
    for nothing in nothings {
        let (gateway, _upstream) = answering(nothing);
        let answer = gateway.post(&[], &call(7, "echo", &json!({ "text": "x" })));
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(7)), "{answer:?}");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains("[STK-103]") && message.contains("HTTP status 20"), "{message}");
    }
    // What HTTP itself tells is for the client to read.
    let refused =
        b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 2\r\n\r\nno";
    let (gateway, _upstream) = answering(refused);
    let answer = gateway.post(&[], &call(7, "echo", &json!({ "text": "x" })));
    assert_eq!((answer.status, answer.text().as_str()), (401, "no"));
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
}

#[test]
fn a_server_that_dies_over_a_request_has_gone_away() {
    let (gateway, _upstream) = answering(b"");
    let answer = gateway.post(&[], &call(7, "echo", &json!({ "text": "x" })));
    assert_eq!(answer.json()["id"], 7);
    let message = answer.json()["error"]["message"].to_string();
    assert!(message.contains("[STK-105]"), "{message}");
}

#[test]
fn every_request_of_a_batch_is_answered_whatever_becomes_of_it() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let (dies, _one) = answering(b"");
    let (says_nothing, _other) = answering(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    for gateway in [Gateway::start(&["--url", &nowhere]), dies, says_nothing] {
        let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        let batch = json!([ping(1), { "jsonrpc": "2.0", "id": 2, "method": 5 }, ping(3)]);
        let answer = gateway.post(&[("mcp-protocol-version", "2025-03-26")], &batch.to_string());
        let flatten = |one: Value| match one {
            Value::Array(several) => several,
            one => vec![one],
        };
        let mut answers: Vec<Value> = answer.events().into_iter().flat_map(flatten).collect();
        answers.sort_by_key(|one| one["id"].as_u64());
        let ids: Vec<&Value> = answers.iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [1, 2, 3], "{answer:?}");
        assert!(answers.iter().all(|one| one["error"]["code"].is_number()), "{answers:?}");
    }
}

#[test]
fn what_is_refused_of_a_batch_is_answered_though_only_notifications_go_on() {
    let accepted = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    let upstream = Upstream::start(move |message| {
        if message.is_array() { accepted.to_vec() } else { usual(message).unwrap() }
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/x" });
    let wrong = json!({ "jsonrpc": "2.0", "id": 2, "method": 5 });
    let batch = json!([wrong, notification]).to_string();
    let answer = gateway.post(&[("mcp-protocol-version", "2025-03-26")], &batch);
    assert_eq!((answer.status, &answer.json()[0]["id"]), (200, &json!(2)), "{answer:?}");
}

/// A server of 2025-03-26 that answers batches so, with a client on stdio in front of it. Gives the answers to
/// two requests in one batch.
fn batch_on_stdio(answer: impl Fn(&Value) -> Vec<u8> + Send + Sync + 'static) -> Vec<Value> {
    let upstream = Upstream::start(move |message| {
        if message.is_array() {
            return answer(message);
        }
        let old = |text: &[u8]| String::from_utf8_lossy(text).replace("2025-11-25", "2025-03-26");
        usual(message).map(|text| old(&text).into_bytes()).unwrap()
    });
    let mut gateway = support::stdio::Gateway::start(&["--grace", "1", "--url", &upstream.url()]);
    gateway.shake_hands();
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    gateway.send(&json!([ping(1), ping(2)]));
    let mut answers = Vec::new();
    while answers.len() < 2 {
        match gateway.receive() {
            Value::Array(several) => answers.extend(several),
            one => answers.push(one),
        }
    }
    answers.sort_by_key(|one| one["id"].as_u64());
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(1), &json!(2)));
    answers
}

#[test]
fn batches_of_a_client_on_stdio_are_answered() {
    let results = |message: &Value| {
        let result = |one: &Value| json!({ "jsonrpc": "2.0", "id": one["id"], "result": {} });
        Value::from(message.as_array().unwrap().iter().map(result).collect::<Vec<_>>())
    };
    let good = batch_on_stdio(move |message| json_answer(&results(message)));
    assert!(good.iter().all(|one| one["result"].is_object()), "{good:?}");
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
fn and_so_they_are_when_the_server_fails() {
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
        for answer in batch_on_stdio(move |_| failure.to_vec()) {
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(code), "{message}");
            assert_eq!(failure.ends_with(b"}}"), message.contains(": not yet"), "{message}");
        }
    }
}
