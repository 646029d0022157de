//! Answers of the server that match no request, with a simulated clock: every request is answered once, at the latest 60
//! seconds after such an answer, and a second answer never reaches the client.

use std::time::Duration;

use crate::support::link::{Link, Sent, messages, sent};
use serde_json::{Value, json};
use stickler::Mode;
use stickler_protocol::{Policy, RequestContext, Side};

/// Time after which a request is answered.
const TIMEOUT: u64 = 60;

fn ping(id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn result(id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": {} })
}

impl Link {
    fn server_text(&mut self, text: &str) -> Sent {
        sent(self.connection.handle_server(text.as_bytes(), self.time()))
    }

    fn wait(&mut self, seconds: u64) -> Sent {
        self.now += seconds;
        sent(self.connection.handle_timeout(self.time()))
    }
}

/// The errors for the client.
fn errors(sent: &Sent) -> Vec<&Value> {
    let errors = sent.client.iter().filter(|one| one["error"]["message"].is_string());
    errors.map(|one| &one["id"]).collect()
}

#[test]
fn request_is_answered_within_60_seconds_after_an_answer_that_matches_no_request() {
    for answer in [
        // An error without an id, and with null.
        r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}"#,
        // The id is given twice, the right one first.
        r#"{"jsonrpc":"2.0","id":7,"result":{},"id":99}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
        // Text before the JSON, on the same line.
        r#"INFO answering {"jsonrpc":"2.0","id":7,"result":{}}"#,
        // Another id, of no known request.
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        // A Python server reads 1E400 as infinity.
        r#"{"jsonrpc":"2.0","id":Infinity,"result":{}}"#,
    ] {
        let mut link = Link::with_known_tools();
        link.client(ping(json!(7)));
        link.wait(1000);
        link.server_text(answer);
        assert_eq!(link.connection.poll_timeout(), Some(Duration::from_secs(1000 + TIMEOUT)));
        assert_eq!(link.wait(TIMEOUT - 1).client, Vec::<Value>::new(), "{answer}");
        let late = link.wait(1);
        assert_eq!(errors(&late), [&json!(7)], "{answer}");
        assert_eq!(late.server[0]["params"]["requestId"], 7, "{answer}");
        assert_eq!(link.connection.poll_timeout(), None);
        let second = link.server(result(json!(7)));
        assert!(second.client.is_empty(), "{answer}: answered twice");
    }
}

#[test]
fn request_with_an_id_that_its_server_cannot_represent_is_answered() {
    let mut link = Link::with_known_tools();
    let request = r#"{"jsonrpc":"2.0","id":1E400,"method":"ping"}"#;
    let context = RequestContext::default();
    let actions = link.connection.handle_client(request.as_bytes(), &context, link.time());
    assert_eq!(messages(&actions, Side::Server), [request.as_bytes()]);
    drop(actions);
    link.server_text(r#"{"jsonrpc":"2.0","id":Infinity,"result":{}}"#);
    link.now += TIMEOUT;
    let actions = link.connection.handle_timeout(link.time());
    let answers = messages(&actions, Side::Client);
    let answer = String::from_utf8_lossy(answers.first().unwrap());
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":1E400,"error""#), "{answer}");
}

#[test]
fn right_response_that_follows_an_unmatched_answer_is_forwarded() {
    let mut link = Link::with_known_tools();
    link.client(ping(json!(7)));
    link.server(result(json!(99)));
    link.wait(TIMEOUT - 1);
    assert_eq!(link.server(result(json!(7))).client, [result(json!(7))]);
    assert!(link.wait(TIMEOUT).client.is_empty());
    // A request that is sent afterwards is not affected.
    link.client(ping(json!(8)));
    assert!(link.wait(10 * TIMEOUT).client.is_empty());
}

#[test]
fn unmatched_answer_with_the_id_of_a_request_affects_no_other_request() {
    let mut link = Link::with_known_tools();
    link.client(ping(json!(7)));
    link.client(ping(json!(8)));
    link.server_text(r#"INFO {"jsonrpc":"2.0","id":7,"result":{}}"#);
    assert_eq!(errors(&link.wait(TIMEOUT)), [&json!(7)]);
    assert!(link.wait(TIMEOUT).client.is_empty());
    // Without an id, each of them may have been meant.
    link.client(ping(json!(9)));
    link.server_text(r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}"#);
    assert_eq!(errors(&link.wait(TIMEOUT)), [&json!(8), &json!(9)]);
}

#[test]
fn noise_without_an_answer_affects_no_request() {
    let mut link = Link::with_known_tools();
    link.client(ping(json!(7)));
    for noise in ["Server is ready!", r#"{"level":"info","result":"ok"}"#, "[1,2", "{\"error\":1}"]
    {
        link.server_text(noise);
    }
    assert_eq!(link.connection.poll_timeout(), None);
}

#[test]
fn id_of_the_wrong_type_is_corrected() {
    for (id, wrong) in [(json!(7), json!("7")), (json!("7"), json!(7)), (json!(-3), json!("-3"))] {
        let mut link = Link::with_known_tools();
        link.client(ping(id.clone()));
        assert_eq!(link.server(result(wrong.clone())).client, [result(id.clone())]);
        assert!(link.server(result(id)).client.is_empty(), "answered twice");
        assert_eq!(link.connection.poll_timeout(), None);
    }
    // Both are pending: each response has its own request.
    let mut link = Link::with_known_tools();
    link.client(ping(json!(7)));
    link.client(ping(json!("7")));
    for id in [json!("7"), json!(7)] {
        assert_eq!(link.server(result(id.clone())).client, [result(id)]);
    }
}

#[test]
fn second_answer_never_reaches_the_client() {
    for mode in [Mode::Enforce, Mode::Assist, Mode::Observe] {
        let mut link = Link::with(|connection| connection.with_policy(Policy::in_mode(mode)));
        link.handshake();
        link.client(ping(json!(7)));
        assert_eq!(link.server(result(json!(7))).client.len(), 1);
        for answer in [
            result(json!(7)),
            json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": 1, "message": "x" } }),
        ] {
            assert!(link.server(answer).client.is_empty(), "{mode:?}");
        }
    }
}
