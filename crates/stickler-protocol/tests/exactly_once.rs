//! No request is left without an answer, and none is answered twice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

#[path = "support/talk.rs"]
mod talk;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use stickler::{Code, McpValidator, ValidationConfig};
use stickler_protocol::{Decision, Policy, Side, ValidationMiddleware};
use talk::{PING, answer, handle, middleware, rules};

#[test]
fn a_response_beyond_a_limit_is_replaced_so_that_its_request_is_answered() {
    let mut middleware = middleware();
    handle(&mut middleware, Side::Client, PING);
    let beginning = br#"{"jsonrpc":"2.0","id":1,"result":{"x":"aaaa"#;
    let glimpse = stickler_protocol::envelope::Glimpse::of(beginning);
    let verdict = middleware.handle_overlong(Side::Server, glimpse);
    let Decision::Rewrite(bytes) = &verdict.decision else { panic!("{verdict:?}") };
    let error: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(1), &json!(-32603)));
    assert_eq!(middleware.in_flight(Side::Client), 0);
}

#[test]
fn a_batch_that_is_too_deep_answers_all_the_same() {
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
        let told = match &verdict.decision {
            Decision::Forward => batch.as_bytes(),
            Decision::Rewrite(bytes) => bytes,
            other => panic!("{other:?}"),
        };
        let told = String::from_utf8_lossy(told);
        assert_eq!((told.matches("\"id\":1").count(), told.matches("\"id\":2").count()), (1, 1));
        assert_eq!(middleware.in_flight(Side::Client), 0);
    }
}

#[test]
fn a_batch_that_is_too_long_answers_all_the_same() {
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
        let Decision::Rewrite(told) = &verdict.decision else { panic!("{:?}", verdict.decision) };
        let told: Vec<Value> = serde_json::from_slice(told).unwrap();
        let ids: Vec<_> = told.iter().map(|one| (&one["id"], one["error"].is_object())).collect();
        assert_eq!(ids, [(&json!(1), true), (&json!(2), true)], "{batch}");
        assert_eq!(middleware.in_flight(Side::Client), 0);
    }
}

#[test]
fn whoever_waits_is_told_when_the_server_goes() {
    let mut middleware = middleware();
    for id in ["1", "\"a\\u0062\"", "2.0"] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        handle(&mut middleware, Side::Client, &ping);
    }
    let replies = middleware.abandon(Side::Client, Code::ServerGone, "the server exited");
    let mut replies: Vec<String> =
        replies.into_iter().map(|reply| String::from_utf8(reply).unwrap()).collect();
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

/// What a client may do next, sound or not.
#[derive(Debug, Clone)]
enum Step {
    Send(String),
    ServerAnswers,
    ServerAnswersTwice,
    ServerInvents(u8),
    ServerSays(String),
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
        1 => (0_u8..6).prop_map(Step::ServerInvents),
        1 => garbage.prop_map(|text| Step::ServerSays(text.to_owned())),
    ]
}

/// A client and a server with the middleware between them.
struct Pair {
    middleware: ValidationMiddleware,
    /// Requests that reached the server and wait there, by their ids.
    at_server: Vec<Value>,
    /// Requests minus answers, by id, as the client counts them.
    waiting: HashMap<String, i32>,
}

impl Pair {
    fn step(&mut self, step: Step) {
        match step {
            Step::Send(text) => self.client_sends(&text),
            Step::ServerAnswers => self.server_answers(1),
            Step::ServerAnswersTwice => self.server_answers(2),
            Step::ServerInvents(id) => {
                self.server_sends(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            }
            Step::ServerSays(text) => self.server_sends(&text),
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
        // Strict: whatever else the server says does not reach the client as an answer.
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
    fn whatever_is_sent_there_is_a_verdict(
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

/// Two requests in flight, as most of what follows needs them.
fn in_flight() -> ValidationMiddleware {
    let mut middleware = middleware();
    for id in [2, 3] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert!(handle(&mut middleware, Side::Client, &ping).is_forward());
    }
    middleware
}

#[test]
fn nothing_else_is_answered_with_the_id_of_a_request_in_flight() {
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
        let mut middleware = in_flight();
        assert_eq!(
            answer(&handle(&mut middleware, Side::Client, message)).get("id"),
            None,
            "{message}"
        );
        assert_eq!(middleware.in_flight(Side::Client), 2);
    }
}

#[test]
fn whoever_waits_for_an_answer_that_cannot_be_read_is_told() {
    for message in [r#"{"jsonrpc":"2.0","id":3,"result":{"x":NaN}}"#, r#"{"result":{"x":"#] {
        let mut middleware = in_flight();
        let verdict = handle(&mut middleware, Side::Server, message);
        let told = matches!(&verdict.decision, Decision::Rewrite(bytes) if bytes.starts_with(br#"{"jsonrpc":"2.0","id":3,"error""#));
        assert_eq!(told, message.contains("NaN"), "{message}: {verdict:?}");
    }
    // An answer without a result is still the answer.
    let mut middleware = in_flight().with_policy(Policy::strict());
    let verdict = handle(&mut middleware, Side::Server, r#"{"jsonrpc":"2.0","id":3}"#);
    assert!(matches!(verdict.decision, Decision::Rewrite(_)), "{verdict:?}");
    assert_eq!(middleware.in_flight(Side::Client), 1);
}

#[test]
fn what_was_given_up_is_not_answered_after_all() {
    let mut middleware = in_flight();
    assert_eq!(middleware.abandon(Side::Client, Code::Timeout, "too late").len(), 2);
    let verdict = handle(&mut middleware, Side::Server, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(
        (verdict.decision.clone(), rules(&verdict)),
        (Decision::Drop, vec!["unpaired-response"])
    );
}
