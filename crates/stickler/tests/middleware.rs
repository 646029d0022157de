//! The middleware's promises: limits, bytes untouched, every request answered exactly once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use stickler::{
    Action, Code, Decision, Limits, McpValidator, MessageRule, Policy, Revision, Side,
    ValidationConfig, ValidationMiddleware, Verdict,
};

fn middleware() -> ValidationMiddleware {
    with_limits(Limits::default())
}

fn with_limits(limits: Limits) -> ValidationMiddleware {
    let mut config = ValidationConfig::default();
    config.limits = limits;
    ValidationMiddleware::new("server", Arc::new(McpValidator::new(config)))
        .with_revision(Revision::V2025_11_25)
}

fn handle(middleware: &mut ValidationMiddleware, side: Side, message: &str) -> Verdict {
    middleware.handle(side, message.as_bytes(), Duration::ZERO)
}

fn rules(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.rule.as_str()).collect()
}

fn answer(verdict: &Verdict) -> Value {
    match &verdict.decision {
        Decision::Answer(bytes) => serde_json::from_slice(bytes).unwrap(),
        other => panic!("not an answer: {other:?}"),
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// After anything bad, the next message is handled as if it had not been there.
fn assert_unaffected(middleware: &mut ValidationMiddleware) {
    let verdict = handle(middleware, Side::Client, PING);
    assert_eq!((verdict.decision, verdict.findings.len()), (Decision::Forward, 0));
}

#[test]
fn a_message_of_one_byte_too_many_is_answered_with_its_id() {
    let limit = Limits::default().message_bytes;
    let mut middleware = middleware();
    let head = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":""#;
    let message = format!("{head}{}\"}}}}", "a".repeat(limit + 1 - head.len() - 3));
    assert_eq!(message.len(), limit + 1);
    let verdict = handle(&mut middleware, Side::Client, &message);
    assert_eq!(rules(&verdict), ["too-large"]);
    let answer = answer(&verdict);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("x"), &json!(-32600)));
    assert_unaffected(&mut middleware);
}

#[test]
fn a_response_beyond_a_limit_is_replaced_so_that_its_request_is_answered() {
    let mut middleware = middleware();
    handle(&mut middleware, Side::Client, PING);
    let beginning = br#"{"jsonrpc":"2.0","id":1,"result":{"x":"aaaa"#;
    let glimpse = stickler::envelope::Glimpse::of(beginning);
    let verdict = middleware.handle_overlong(Side::Server, glimpse);
    let Decision::Rewrite(bytes) = &verdict.decision else { panic!("{verdict:?}") };
    let error: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(1), &json!(-32603)));
    assert_eq!(middleware.in_flight(Side::Client), 0);
}

#[test]
fn nesting_beyond_the_limit_is_answered_with_its_id() {
    let mut middleware = middleware();
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let message = |levels: usize| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":{}}}}}"#, deep(levels))
    };
    let verdict = handle(&mut middleware, Side::Client, &message(126));
    assert_eq!(rules(&verdict), ["unknown-method"]);
    for levels in [127, 5_000, 1_000_000] {
        let mut middleware = with_limits(Limits::default());
        let verdict = handle(&mut middleware, Side::Client, &message(levels));
        assert_eq!(rules(&verdict), ["too-deep"]);
        let answer = answer(&verdict);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
        assert_unaffected(&mut middleware);
    }
}

#[test]
fn requests_in_flight_are_bounded() {
    let mut limits = Limits::default();
    limits.requests_in_flight = 3;
    let mut middleware = with_limits(limits);
    let ping = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    for id in 1..=3 {
        assert!(handle(&mut middleware, Side::Client, &ping(id)).is_forward());
    }
    let verdict = handle(&mut middleware, Side::Client, &ping(4));
    assert_eq!(rules(&verdict), ["too-many-requests"]);
    assert_eq!(answer(&verdict)["id"], 4);
    handle(&mut middleware, Side::Server, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert!(handle(&mut middleware, Side::Client, &ping(4)).is_forward());
}

#[test]
fn a_batch_of_ten_thousand() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware =
        ValidationMiddleware::new("server", validator).with_revision(Revision::V2025_03_26);
    let ids = 0..10_000;
    let batch = |make: &dyn Fn(i32) -> Value| Value::Array(ids.clone().map(make).collect());
    let requests = batch(&|id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
    let verdict = handle(&mut middleware, Side::Client, &requests.to_string());
    assert_eq!((verdict.decision, verdict.findings.len()), (Decision::Forward, 0));
    assert_eq!(middleware.in_flight(Side::Client), 10_000);
    let responses = batch(&|id| json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    let verdict = handle(&mut middleware, Side::Server, &responses.to_string());
    assert_eq!((verdict.decision, verdict.findings.len()), (Decision::Forward, 0));
    assert_eq!(middleware.in_flight(Side::Client), 0);
}

#[test]
fn a_method_of_a_megabyte_is_a_note_of_a_line() {
    let mut middleware = middleware();
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(1 << 20));
    let verdict = handle(&mut middleware, Side::Client, &message);
    assert!(verdict.is_forward());
    assert_eq!(rules(&verdict), ["unknown-method"]);
    assert!(verdict.findings[0].message.len() < 300);
    assert!(verdict.subject.method.unwrap().len() < 300);
}

#[test]
fn an_id_of_a_megabyte_is_refused() {
    let mut middleware = middleware();
    let message = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(1 << 20));
    assert_eq!(rules(&handle(&mut middleware, Side::Client, &message)), ["too-large"]);
    assert_eq!(middleware.in_flight(Side::Client), 0);
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

#[test]
fn each_rule_can_be_enforced_warned_about_or_switched_off() {
    let bad = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    let verdict = |action| {
        let policy = Policy::default().with(Side::Client, MessageRule::BadParams, action);
        handle(&mut middleware().with_policy(policy), Side::Client, bad)
    };
    let enforced = verdict(Action::Enforce);
    assert!(!enforced.is_forward() && enforced.findings.len() == 1);
    let warned = verdict(Action::Warn);
    assert!(warned.is_forward() && warned.findings.len() == 1);
    let off = verdict(Action::Off);
    assert!(off.is_forward() && off.findings.is_empty());
    // The other side's rule is another one.
    let policy = Policy::default().with(Side::Server, MessageRule::BadParams, Action::Off);
    assert!(!handle(&mut middleware().with_policy(policy), Side::Client, bad).is_forward());
}

#[test]
fn findings_know_more_than_the_wire_tells() {
    let bad = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#;
    let verdict = handle(&mut middleware(), Side::Client, bad);
    let finding = &verdict.findings[0];
    assert_eq!(finding.path, "/params/name");
    assert_eq!(finding.keyword(), Some("type"));
    assert!(finding.schema_path.ends_with("/properties/name/type"), "{}", finding.schema_path);
    assert!(!answer(&verdict).to_string().contains("properties"));
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

#[test]
fn a_method_without_a_name_is_unknown_and_answered_like_others() {
    let mut middleware = middleware();
    let message = r#"{"jsonrpc":"2.0","id":1,"method":""}"#;
    let verdict = handle(&mut middleware, Side::Client, message);
    assert_eq!((verdict.is_forward(), rules(&verdict)), (true, vec!["unknown-method"]));
    assert_eq!(middleware.in_flight(Side::Client), 1);
}

#[test]
fn a_handshake_without_parameters_is_refused() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware = ValidationMiddleware::new("server", validator);
    let verdict =
        handle(&mut middleware, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#);
    assert_eq!(answer(&verdict)["error"]["code"], -32602);
}

#[test]
fn a_version_that_is_no_string_does_not_switch_the_checks_off() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware = ValidationMiddleware::new("server", validator);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": 7, "_meta": { "io.modelcontextprotocol/protocolVersion": null },
    } });
    assert_eq!(
        answer(&handle(&mut middleware, Side::Client, &message.to_string()))["error"]["code"],
        -32602
    );
    // Nor does a refused request change what is assumed of others.
    assert_eq!(middleware.revision(), Some(Revision::V2025_11_25));
}

#[test]
fn exceptions_hold_for_notifications_too() {
    let bad = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let decision =
        |policy: Policy, side| handle(&mut middleware().with_policy(policy), side, bad).decision;
    let rule = MessageRule::BadParams;
    assert_eq!(decision(Policy::default(), Side::Client), Decision::Forward);
    assert_eq!(decision(Policy::strict(), Side::Client), Decision::Drop);
    let lenient = Policy::strict().with(Side::Client, rule, Action::Warn);
    assert_eq!(decision(lenient, Side::Client), Decision::Forward);
    let severe = Policy::default().with(Side::Server, rule, Action::Enforce);
    assert_eq!(decision(severe, Side::Server), Decision::Drop);
}

#[test]
fn what_is_told_of_one_message_is_bounded() {
    let many = |piece: &str, count: usize| vec![piece; count].join(",");
    let repeated = format!(r#"{{"jsonrpc":"2.0","method":"ping",{}}}"#, many(r#""id":1"#, 50_000));
    let verdict = handle(&mut middleware(), Side::Client, &repeated);
    assert_eq!(rules(&verdict), ["bad-envelope"]);
    let others =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping",{}}}"#, many(r#""a":1"#, 50_000));
    let verdict = handle(&mut middleware(), Side::Client, &others);
    assert_eq!(rules(&verdict), ["duplicate-key"]);
    assert_eq!(verdict.findings[0].path, "/a");
    let batch = format!("[{}]", many("1", 20_000));
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware =
        ValidationMiddleware::new("server", validator).with_revision(Revision::V2025_03_26);
    let verdict = handle(&mut middleware, Side::Client, &batch);
    assert_eq!(rules(&verdict), ["bad-envelope"]);
    assert!(matches!(verdict.decision, Decision::Answer(bytes) if bytes.len() < 1000));
}

#[test]
fn deep_noise_stays_off_the_wire() {
    let noise = format!("{} 50% done", "[".repeat(140));
    let verdict = handle(&mut middleware(), Side::Server, &noise);
    assert_eq!((verdict.decision.clone(), rules(&verdict)), (Decision::Drop, vec!["stdout-noise"]));
}

#[test]
fn a_result_with_a_null_error_beside_it_is_a_result() {
    let mut middleware = in_flight();
    let verdict = handle(
        &mut middleware,
        Side::Server,
        r#"{"jsonrpc":"2.0","id":3,"result":{},"error":null}"#,
    );
    assert_eq!((verdict.is_forward(), rules(&verdict)), (true, vec!["bad-envelope"]));
}

#[test]
fn an_unknown_discriminator_names_all_that_are_known() {
    let mut middleware = middleware();
    handle(
        &mut middleware,
        Side::Client,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#,
    );
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"video","url":"x"}]}}"#;
    let verdict = handle(&mut middleware, Side::Server, result);
    let finding = &verdict.findings[0];
    assert_eq!(finding.path, "/result/content/0/type");
    for kind in ["text", "image", "audio", "resource_link", "resource"] {
        assert!(finding.expected.contains(kind), "{}", finding.expected);
    }
}

#[test]
fn the_same_bad_call_again_and_again_is_told_so_and_then_briefly() {
    let mut middleware = middleware();
    let tools =
        json!([{ "name": "t", "inputSchema": { "type": "object", "properties": { "a": {} } } }]);
    handle(&mut middleware, Side::Client, r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#);
    let list = json!({ "jsonrpc": "2.0", "id": 0, "result": { "tools": tools } });
    handle(&mut middleware, Side::Server, &list.to_string());
    let mut refuse = |key: &str| {
        let params = json!({ "name": "t", "arguments": { key: 1 } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer = answer(&handle(&mut middleware, Side::Client, &call.to_string()));
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(refuse("b").starts_with("Tool call failed for: t"));
    let second = refuse("b");
    assert!(second.starts_with("This exact call has been refused 2 times."), "{second}");
    assert!(second.contains("\"inputSchema\"") || second.contains("\"properties\""), "{second}");
    assert!(refuse("c").starts_with("Tool call failed for: t"), "another call starts anew");
    refuse("b");
    refuse("b");
    let fifth = refuse("b");
    assert!(fifth.starts_with("Refused again: `t` has been called 5 times"), "{fifth}");
    assert!(fifth.len() < 250);
}
