//! Every request is answered exactly once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::support::middleware::{PING, answer, handle, middleware, rules};
use proptest::prelude::*;
use serde_json::{Value, json};
use stickler::{Code, McpValidator, ValidationConfig};
use stickler_protocol::{Decision, Policy, Side, ValidationMiddleware};

#[test]
fn oversized_response_is_replaced_by_an_error() {
    let mut middleware = middleware();
    handle(&mut middleware, Side::Client, PING);
    let beginning = br#"{"jsonrpc":"2.0","id":1,"result":{"x":"aaaa"#;
    let partial = stickler_protocol::envelope::PartialHeader::of(beginning);
    let verdict = middleware.handle_oversized(Side::Server, partial);
    let Decision::Rewrite(bytes) = &verdict.decision else { panic!("{verdict:?}") };
    let error: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(1), &json!(-32603)));
    assert_eq!(middleware.pending_requests(Side::Client), 0);
}

#[test]
fn too_deep_batch_response_completes_all_its_requests() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for policy in [Policy::default(), Policy::strict()] {
        let mut middleware = middleware().with_policy(policy);
        for id in [1, 2] {
            let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            handle(&mut middleware, Side::Client, &ping);
        }
        let batch = format!(
            r#"[{{"jsonrpc":"2.0","id":1,"result":{{"a":{deep}}}}},{{"jsonrpc":"2.0","id":2,"result":{{}}}}]"#
        );
        let verdict = handle(&mut middleware, Side::Server, &batch);
        assert_eq!(rules(&verdict), ["too-deep"]);
        let responses = match &verdict.decision {
            Decision::Forward => batch.as_bytes(),
            Decision::Rewrite(bytes) => bytes,
            other => panic!("{other:?}"),
        };
        let responses = String::from_utf8_lossy(responses);
        assert_eq!(
            (responses.matches("\"id\":1").count(), responses.matches("\"id\":2").count()),
            (1, 1)
        );
        assert_eq!(middleware.pending_requests(Side::Client), 0);
    }
}

#[test]
fn too_long_batch_response_completes_all_its_requests() {
    let long = "x".repeat(2000);
    let mut config = ValidationConfig::default();
    config.limits.message_bytes = 1000;
    config.limits.requests_in_flight = 4;
    let result = |id: usize, text: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":"{text}"}}}}"#)
    };
    let too_many: Vec<String> = (1..=6).map(|id| result(id, "")).collect();
    for batch in
        [format!("[{},{}]", result(1, &long), result(2, "")), format!("[{}]", too_many.join(","))]
    {
        let validator = Arc::new(McpValidator::new(config.clone()));
        let mut middleware =
            ValidationMiddleware::new("s", validator).with_policy(Policy::strict());
        for id in [1, 2] {
            let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            handle(&mut middleware, Side::Client, &ping);
        }
        let verdict = handle(&mut middleware, Side::Server, &batch);
        let Decision::Rewrite(responses) = &verdict.decision else {
            panic!("{:?}", verdict.decision)
        };
        let responses: Vec<Value> = serde_json::from_slice(responses).unwrap();
        let ids: Vec<_> =
            responses.iter().map(|one| (&one["id"], one["error"].is_object())).collect();
        assert_eq!(ids, [(&json!(1), true), (&json!(2), true)], "{batch}");
        assert_eq!(middleware.pending_requests(Side::Client), 0);
    }
}

#[test]
fn pending_requests_are_answered_when_the_server_exits() {
    let mut middleware = middleware();
    for id in ["1", "\"a\\u0062\"", "2.0"] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        handle(&mut middleware, Side::Client, &ping);
    }
    let replies = middleware.abandon(Side::Client, Code::ServerGone, "the server exited");
    let mut replies: Vec<String> =
        replies.into_iter().map(|reply| String::from_utf8(reply.bytes).unwrap()).collect();
    replies.sort();
    let reply = |id: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"[STK-105] \
             the server exited\",\"data\":{{\"method\":\"ping\"}}}}}}"
        )
    };
    assert_eq!(replies, [reply("\"a\\u0062\""), reply("1"), reply("2.0")]);
    assert!(middleware.abandon(Side::Client, Code::ServerGone, "again").is_empty());
}

/// One step of a random session; messages may be malformed.
#[derive(Debug, Clone)]
enum Step {
    Send(String),
    ServerAnswers,
    ServerAnswersTwice,
    ServerSendsUnknownId(u8),
    ServerSends(String),
}

fn step() -> impl Strategy<Value = Step> {
    let id = prop_oneof![(0_u8..6).prop_map(|id| id.to_string()), Just("\"a\"".to_owned())];
    let method =
        prop::sample::select(vec!["ping", "tools/list", "tools/call", "x/y", "initialize"]);
    let params = prop::sample::select(vec![
        "{}",
        "null",
        "[]",
        r#"{"name":"t"}"#,
        r#"{"name":"t","arguments":{"a":1}}"#,
        r#"{"name":"t","arguments":7}"#,
        r#"{"name":"t","name":"u"}"#,
    ]);
    let request = (id, method, params).prop_map(|(id, method, params)| {
        Step::Send(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ))
    });
    let garbage = prop::sample::select(vec!["", "{", "[]", "7", "{}", r#"{"jsonrpc":"2.0"}"#]);
    prop_oneof![
        6 => request,
        1 => garbage.clone().prop_map(|text| Step::Send(text.to_owned())),
        4 => Just(Step::ServerAnswers),
        1 => Just(Step::ServerAnswersTwice),
        1 => (0_u8..6).prop_map(Step::ServerSendsUnknownId),
        1 => garbage.prop_map(|text| Step::ServerSends(text.to_owned())),
    ]
}

/// A client and a server with the middleware between them.
struct Pair {
    middleware: ValidationMiddleware,
    /// The ids of requests that the server has received and not answered.
    at_server: Vec<Value>,
    /// Requests minus responses by id, as seen by the client.
    waiting: HashMap<String, i32>,
}

impl Pair {
    fn step(&mut self, step: Step) {
        match step {
            Step::Send(text) => self.client_sends(&text),
            Step::ServerAnswers => self.server_answers(1),
            Step::ServerAnswersTwice => self.server_answers(2),
            Step::ServerSendsUnknownId(id) => {
                self.server_sends(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            }
            Step::ServerSends(text) => self.server_sends(&text),
        }
    }

    fn client_sends(&mut self, text: &str) {
        let verdict = handle(&mut self.middleware, Side::Client, text);
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        let id = message.get("id").map(Value::to_string);
        let duplicate = rules(&verdict).contains(&"duplicate-id");
        if let Some(id) = id.filter(|_| !duplicate) {
            *self.waiting.entry(id).or_default() += 1;
        }
        match verdict.decision {
            Decision::Forward => self.at_server.extend(message.get("id").cloned()),
            Decision::Answer(bytes) => self.client_receives(&bytes),
            Decision::Drop => {}
            other => panic!("{other:?}"),
        }
    }

    fn server_answers(&mut self, times: usize) {
        let Some(id) = self.at_server.pop() else { return };
        for _ in 0..times {
            self.server_sends(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string());
        }
    }

    fn server_sends(&mut self, text: &str) {
        let verdict = handle(&mut self.middleware, Side::Server, text);
        match verdict.decision {
            Decision::Forward => self.client_receives(text.as_bytes()),
            Decision::Rewrite(bytes) => self.client_receives(&bytes),
            _ => {}
        }
    }

    fn client_receives(&mut self, bytes: &[u8]) {
        let message: Value = serde_json::from_slice(bytes).unwrap();
        if let Some(id) = message.get("id").filter(|id| !id.is_null()) {
            *self.waiting.entry(id.to_string()).or_default() -= 1;
        }
    }
}

proptest! {
    #[test]
    fn every_request_is_answered_exactly_once(steps in prop::collection::vec(step(), 0..60)) {
        // With the strict policy, no other server message reaches the client as a response.
        let middleware = middleware().with_policy(Policy::strict());
        let mut pair = Pair { middleware, at_server: Vec::new(), waiting: HashMap::new() };
        for step in steps {
            pair.step(step);
            prop_assert!(pair.waiting.values().all(|open| (0..=1).contains(open)), "{:?}", pair.waiting);
        }
        for reply in pair.middleware.abandon(Side::Client, Code::ServerGone, "gone") {
            pair.client_receives(&reply);
        }
        prop_assert!(pair.waiting.values().all(|open| *open == 0), "{:?}", pair.waiting);
    }

    #[test]
    fn arbitrary_bytes_always_get_a_verdict(
        messages in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..40)), 0..20),
    ) {
        let mut middleware = middleware();
        for (client, bytes) in messages {
            let side = if client { Side::Client } else { Side::Server };
            let verdict = middleware.handle(side, &bytes, Duration::ZERO);
            prop_assert!(!verdict.is_forward() || serde_json::from_slice::<Value>(&bytes).is_ok());
        }
        let next = handle(&mut middleware, Side::Client, PING);
        prop_assert!(next.is_forward());
    }
}

/// A middleware with two pending requests.
fn pending_requests() -> ValidationMiddleware {
    let mut middleware = middleware();
    for id in [2, 3] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert!(handle(&mut middleware, Side::Client, &ping).is_forward());
    }
    middleware
}

#[test]
fn id_of_a_pending_request_is_not_used_in_other_responses() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"x","params":{}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    for message in [
        r#"{"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":9,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":2}"#,
        r#"{"id":2,"foo":1}"#,
        &deep,
    ] {
        let mut middleware = pending_requests();
        assert_eq!(
            answer(&handle(&mut middleware, Side::Client, message)).get("id"),
            None,
            "{message}"
        );
        assert_eq!(middleware.pending_requests(Side::Client), 2);
    }
}

#[test]
fn unreadable_response_completes_its_request_with_an_error() {
    for message in [r#"{"jsonrpc":"2.0","id":3,"result":{"x":NaN}}"#, r#"{"result":{"x":"#] {
        let mut middleware = pending_requests();
        let verdict = handle(&mut middleware, Side::Server, message);
        let is_answered = matches!(&verdict.decision, Decision::Rewrite(bytes) if bytes.starts_with(br#"{"jsonrpc":"2.0","id":3,"error""#));
        assert_eq!(is_answered, message.contains("NaN"), "{message}: {verdict:?}");
    }
    // A response without a result still completes the request.
    let mut middleware = pending_requests().with_policy(Policy::strict());
    let verdict = handle(&mut middleware, Side::Server, r#"{"jsonrpc":"2.0","id":3}"#);
    assert!(matches!(verdict.decision, Decision::Rewrite(_)), "{verdict:?}");
    assert_eq!(middleware.pending_requests(Side::Client), 1);
}

#[test]
fn response_to_an_abandoned_request_is_dropped() {
    let mut middleware = pending_requests();
    assert_eq!(middleware.abandon(Side::Client, Code::Timeout, "too late").len(), 2);
    let verdict = handle(&mut middleware, Side::Server, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(
        (verdict.decision.clone(), rules(&verdict)),
        (Decision::Drop, vec!["unpaired-response"])
    );
}
