//! Verdicts of the middleware on single messages: limits, policies and findings.

use std::sync::Arc;

use crate::support::middleware::{PING, answer, handle, middleware, rules, with_limits};
use serde_json::{Value, json};
use stickler::{Limits, McpValidator, MessageRule, Revision, ValidationConfig};
use stickler_protocol::{Decision, Policy, RuleAction, Side, ValidationMiddleware};

/// Asserts that the next valid message is forwarded without findings.
fn assert_unaffected(middleware: &mut ValidationMiddleware) {
    let verdict = handle(middleware, Side::Client, PING);
    assert_eq!((verdict.decision, verdict.findings.len()), (Decision::Forward, 0));
}

#[test]
fn message_over_the_size_limit_is_answered_with_its_id() {
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
fn message_over_the_depth_limit_is_answered_with_its_id() {
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
fn number_of_pending_requests_is_limited() {
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
fn batch_of_ten_thousand_requests_is_forwarded() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware =
        ValidationMiddleware::new("server", validator).with_revision(Revision::V2025_03_26);
    let ids = 0..10_000;
    let batch = |make: &dyn Fn(i32) -> Value| Value::Array(ids.clone().map(make).collect());
    let requests = batch(&|id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
    let verdict = handle(&mut middleware, Side::Client, &requests.to_string());
    assert_eq!((verdict.decision, verdict.findings.len()), (Decision::Forward, 0));
    assert_eq!(middleware.pending_requests(Side::Client), 10_000);
    let responses = batch(&|id| json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    let verdict = handle(&mut middleware, Side::Server, &responses.to_string());
    assert_eq!((verdict.decision, verdict.findings.len()), (Decision::Forward, 0));
    assert_eq!(middleware.pending_requests(Side::Client), 0);
}

#[test]
fn finding_about_a_megabyte_method_is_short() {
    let mut middleware = middleware();
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(1 << 20));
    let verdict = handle(&mut middleware, Side::Client, &message);
    assert!(verdict.is_forward());
    assert_eq!(rules(&verdict), ["unknown-method"]);
    assert!(verdict.findings[0].message.len() < 300);
    assert!(verdict.header.method.as_ref().unwrap().len() < 300);
}

#[test]
fn id_of_a_megabyte_is_rejected() {
    let mut middleware = middleware();
    let message = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(1 << 20));
    assert_eq!(rules(&handle(&mut middleware, Side::Client, &message)), ["too-large"]);
    assert_eq!(middleware.pending_requests(Side::Client), 0);
}

#[test]
fn each_rule_can_be_enforced_warned_about_or_switched_off() {
    let bad = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    let verdict = |action| {
        let policy = Policy::default().with(Side::Client, MessageRule::BadParams, action);
        handle(&mut middleware().with_policy(policy), Side::Client, bad)
    };
    let enforced = verdict(RuleAction::Enforce);
    assert!(!enforced.is_forward() && enforced.findings.len() == 1);
    let warned = verdict(RuleAction::Warn);
    assert!(warned.is_forward() && warned.findings.len() == 1);
    let off = verdict(RuleAction::Off);
    assert!(off.is_forward() && off.findings.is_empty());
    // The override applies to one side only.
    let policy = Policy::default().with(Side::Server, MessageRule::BadParams, RuleAction::Off);
    assert!(!handle(&mut middleware().with_policy(policy), Side::Client, bad).is_forward());
}

#[test]
fn findings_carry_schema_paths_that_responses_omit() {
    let bad = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#;
    let verdict = handle(&mut middleware(), Side::Client, bad);
    let finding = &verdict.findings[0];
    assert_eq!(finding.path, "/params/name");
    assert_eq!(finding.keyword(), Some("type"));
    assert!(finding.schema_path.ends_with("/properties/name/type"), "{}", finding.schema_path);
    assert!(!answer(&verdict).to_string().contains("properties"));
}

#[test]
fn empty_method_name_is_an_unknown_method() {
    let mut middleware = middleware();
    let message = r#"{"jsonrpc":"2.0","id":1,"method":""}"#;
    let verdict = handle(&mut middleware, Side::Client, message);
    assert_eq!((verdict.is_forward(), rules(&verdict)), (true, vec!["unknown-method"]));
    assert_eq!(middleware.pending_requests(Side::Client), 1);
}

#[test]
fn initialize_without_params_is_rejected() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware = ValidationMiddleware::new("server", validator);
    let verdict =
        handle(&mut middleware, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#);
    assert_eq!(answer(&verdict)["error"]["code"], -32602);
}

#[test]
fn non_string_protocol_version_does_not_disable_checks() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware = ValidationMiddleware::new("server", validator);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": 7, "_meta": { "io.modelcontextprotocol/protocolVersion": null },
    } });
    assert_eq!(
        answer(&handle(&mut middleware, Side::Client, &message.to_string()))["error"]["code"],
        -32602
    );
    // A rejected request does not change the assumed revision.
    assert_eq!(middleware.revision(), Some(Revision::V2025_11_25));
}

#[test]
fn policy_overrides_apply_to_notifications() {
    let bad = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let decision =
        |policy: Policy, side| handle(&mut middleware().with_policy(policy), side, bad).decision;
    let rule = MessageRule::BadParams;
    assert_eq!(decision(Policy::default(), Side::Client), Decision::Forward);
    assert_eq!(decision(Policy::strict(), Side::Client), Decision::Drop);
    let lenient = Policy::strict().with(Side::Client, rule, RuleAction::Warn);
    assert_eq!(decision(lenient, Side::Client), Decision::Forward);
    let severe = Policy::default().with(Side::Server, rule, RuleAction::Enforce);
    assert_eq!(decision(severe, Side::Server), Decision::Drop);
}

#[test]
fn number_of_findings_per_message_is_limited() {
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
fn deeply_nested_noise_is_dropped() {
    let noise = format!("{} 50% done", "[".repeat(140));
    let verdict = handle(&mut middleware(), Side::Server, &noise);
    assert_eq!((verdict.decision.clone(), rules(&verdict)), (Decision::Drop, vec!["stdout-noise"]));
}

#[test]
fn result_with_a_null_error_is_a_result() {
    let mut middleware = middleware();
    handle(&mut middleware, Side::Client, PING);
    let verdict = handle(
        &mut middleware,
        Side::Server,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
    );
    assert_eq!((verdict.is_forward(), rules(&verdict)), (true, vec!["bad-envelope"]));
}

#[test]
fn unknown_discriminator_error_lists_the_known_values() {
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
fn repeated_rejections_are_counted_and_then_shortened() {
    let mut middleware = middleware();
    let tools =
        json!([{ "name": "t", "inputSchema": { "type": "object", "properties": { "a": {} } } }]);
    handle(&mut middleware, Side::Client, r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#);
    let list = json!({ "jsonrpc": "2.0", "id": 0, "result": { "tools": tools } });
    handle(&mut middleware, Side::Server, &list.to_string());
    let mut reject = |key: &str| {
        let params = json!({ "name": "t", "arguments": { key: 1 } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer = answer(&handle(&mut middleware, Side::Client, &call.to_string()));
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(reject("b").starts_with("Tool call failed for: t"));
    let second = reject("b");
    assert!(second.starts_with("This exact call has been rejected 2 times."), "{second}");
    assert!(second.contains("\"inputSchema\"") || second.contains("\"properties\""), "{second}");
    assert!(
        reject("c").starts_with("Tool call failed for: t"),
        "a different call resets the count"
    );
    reject("b");
    reject("b");
    let fifth = reject("b");
    assert!(fifth.starts_with("Rejected again: `t` has been called 5 times"), "{fifth}");
    assert!(fifth.len() < 250);
}

#[test]
fn modern_request_needs_no_handshake() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list = |params: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params }).to_string()
    };
    let modern = list(json!({ "_meta": meta }));
    let first = |message: &str| {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let mut middleware = ValidationMiddleware::new("server", validator);
        rules(&handle(&mut middleware, Side::Client, message))
    };
    assert!(first(&modern).is_empty());
    assert_eq!(first(&list(json!({}))), ["lifecycle"]);
}

#[test]
fn call_of_a_quarantined_tool_has_one_finding() {
    let validator = McpValidator::new(ValidationConfig::default());
    let broken = stickler::ToolDefinition::new("t").with_input_schema(json!({ "type": "strin" }));
    validator.cache().populate("server", &[broken]);
    let mut middleware = ValidationMiddleware::new("server", Arc::new(validator))
        .with_revision(Revision::V2025_11_25);
    let call = json!({ "name": "t", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let verdict = handle(&mut middleware, Side::Client, &call.to_string());
    assert_eq!(rules(&verdict), ["STK-108"]);
    let line = verdict.findings[0].masked();
    assert!(line.starts_with("[STK-108] the schema of tool `t` cannot be used: "), "{line}");
}

#[test]
fn second_initialize_is_reported() {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    let mut middleware = ValidationMiddleware::new("server", validator);
    let initialize = |id: u32| {
        let info = json!({ "name": "c", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params });
        request.to_string()
    };
    assert_eq!(handle(&mut middleware, Side::Client, &initialize(1)).findings, []);
    let verdict = handle(&mut middleware, Side::Client, &initialize(2));
    assert_eq!(
        verdict.findings[0].masked(),
        "[lifecycle] /method: expected only one handshake, received another `initialize`"
    );
}

#[test]
fn null_arguments_are_forwarded_to_a_tool_that_requires_none() {
    let validator = Arc::new(McpValidator::default());
    let none = stickler::ToolDefinition::new("none").with_input_schema(json!({ "type": "object" }));
    let one = stickler::ToolDefinition::new("one")
        .with_input_schema(json!({ "properties": { "a": {} }, "required": ["a"] }));
    validator.cache().populate("server", &[none, one]);
    let mut middleware =
        ValidationMiddleware::new("server", validator).with_revision(Revision::V2025_11_25);
    let call = |id: u8, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":null}}}}"#
        )
    };
    let verdict = handle(&mut middleware, Side::Client, &call(1, "none"));
    assert_eq!((rules(&verdict), &verdict.decision), (vec![], &Decision::Forward));
    let verdict = handle(&mut middleware, Side::Client, &call(2, "one"));
    assert_eq!(answer(&verdict)["result"]["isError"], true);
}
