//! The cost of a tool list: nothing is compiled before a call, and what is compiled is bounded.

use serde_json::{Value, json};
use stickler::{
    CompileSchemas, Limits, McpValidator, MessageRule, Revision, ToolDefinition, ToolSchemaCache,
    ValidationConfig,
};
use stickler_protocol::{Policy, Side, ValidationMiddleware};

fn tool(name: impl Into<String>, schema: Value) -> ToolDefinition {
    ToolDefinition::new(name).with_input_schema(schema)
}

fn with_pattern(pattern: impl Into<String>) -> Value {
    json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": pattern.into() } } })
}

fn validator(schema: Value) -> McpValidator {
    let validator = McpValidator::new(ValidationConfig::default());
    validator.cache().populate("s", &[tool("t", schema)]);
    validator
}

fn accepts(validator: &McpValidator, text: &str) -> bool {
    validator.validate("s", "t", &json!({ "a": text })).is_valid
}

/// Tool lists with patterns that are expensive to compile.
fn costly_lists() -> [Vec<ToolDefinition>; 3] {
    let five = |index: usize| -> Value {
        let property = |n: usize| {
            let pattern = format!(r"\p{{L}}{{1,{}}}", 300 + 5 * index + n);
            (format!("p{n}"), json!({ "type": "string", "pattern": pattern }))
        };
        json!({ "type": "object", "properties": (0..5).map(property).collect::<serde_json::Map<_, _>>() })
    };
    [
        (0..200).map(|n| tool(format!("t{n}"), with_pattern(r"\p{L}{1,300}"))).collect(),
        (0..500).map(|n| tool(format!("t{n}"), five(n))).collect(),
        (0..3_000)
            .map(|n| tool(format!("t{n}"), with_pattern(format!(r"\w{{200,1{n:03}}}"))))
            .collect(),
    ]
}

#[test]
fn learning_a_list_compiles_nothing() {
    for list in costly_lists() {
        let cache = ToolSchemaCache::new();
        let discovery = cache.populate("s", &list);
        assert_eq!((discovery.usable, discovery.quarantined.len()), (list.len(), 0));
        let stats = cache.stats();
        assert_eq!((stats.compilations, stats.compiled_schemas, stats.compiled_bytes), (0, 0, 0));
        assert_eq!(stats.tool_count, list.len());
    }
}

#[test]
fn compiled_schemas_of_a_server_stay_within_the_budget() {
    let mut limits = Limits::default();
    limits.compiled_bytes_per_server = 4 << 20;
    let [_, _, list] = costly_lists();
    let cache = ToolSchemaCache::with_limits(limits);
    cache.populate("s", &list);
    let quarantined = cache.compile_all("s");
    let stats = cache.stats();
    assert!(stats.compiled_bytes <= limits.compiled_bytes_per_server, "{stats:?}");
    assert!(stats.compiled_schemas >= 10, "{stats:?}");
    assert_eq!(quarantined.len() + stats.compiled_schemas, list.len());
    let reason = quarantined[0].to_string();
    assert!(reason.contains("more than 4194304 bytes"), "{reason}");
    assert!(reason.contains("`limits.compiled_bytes_per_server`"), "{reason}");
    // A tool over the budget is compiled as soon as the budget allows it.
    cache.populate("s", &list[2_999..]);
    assert!(cache.get("s", "t2999").is_some());
    assert_eq!(cache.stats().compiled_schemas, 1, "the others are dropped with their list");
}

#[test]
fn compile_budget_is_released_with_the_list() {
    let mut limits = Limits::default();
    limits.compiled_bytes = 1 << 20;
    let cache = ToolSchemaCache::with_limits(limits);
    let list = |extra: u32| vec![tool("t", with_pattern(format!(r"\w{{200,3{extra}00}}x")))];
    cache.populate("a", &list(1));
    cache.populate("b", &list(2));
    assert!(cache.get("a", "t").is_some());
    assert!(cache.get("b", "t").is_none());
    assert!(cache.compile_all("b")[0].reason.contains("`limits.compiled_bytes`"));
    assert!(cache.remove_server("a"));
    assert!(cache.get("b", "t").is_some());
}

#[test]
fn branches_that_reach_a_large_pattern_are_counted_one_by_one() {
    let branch = |n: usize| {
        let properties = json!({ format!("p{n}"): {}, "a": { "$ref": "#/$defs/large" } });
        json!({ "type": "object", "properties": properties })
    };
    let schema = json!({
        "anyOf": (0..100).map(branch).collect::<Vec<_>>(),
        "$defs": { "large": { "type": "string", "pattern": r"\p{L}{1,90}x" } }
    });
    let cache = ToolSchemaCache::new();
    cache.populate("s", &[tool("t", schema)]);
    let quarantined = cache.compile_all("s");
    assert!(quarantined[0].reason.contains("`limits.compiled_bytes_per_server`"));
    assert_eq!(cache.stats().compilations, 0);
}

#[test]
fn too_large_pattern_is_skipped_and_reported() {
    let mut schema = with_pattern(r"\p{L}{1,300}");
    schema["properties"]["n"] = json!({ "type": "integer" });
    let validator = validator(schema);
    let result = validator.validate("s", "t", &json!({ "a": "1" }));
    assert!(result.is_valid);
    let reason = result.unchecked.unwrap();
    assert!(
        reason.starts_with("[STK-108] the schema of tool `t` is only partially checked: "),
        "{reason}"
    );
    assert!(reason.contains("the pattern at `/properties/a/pattern` is too large"), "{reason}");
    assert!(reason.contains("10485760 bytes when compiled (`limits.pattern_bytes`)"), "{reason}");
    assert!(!reason.contains("not a"), "{reason}");
    let wrong = validator.validate("s", "t", &json!({ "a": "x", "n": "y" }));
    assert_eq!(wrong.errors[0].path, "/n", "the rest of the schema is checked");
}

#[test]
fn schema_that_would_reject_more_without_its_pattern_is_quarantined() {
    let large = json!({ "pattern": r"\p{L}{1,300}" });
    for schema in [
        json!({ "properties": { "a": { "not": large } } }),
        json!({ "properties": { "a": { "oneOf": [large, { "maxLength": 3 }] } } }),
        json!({ "if": { "properties": { "a": large } }, "then": { "required": ["b"] } }),
        json!({ "patternProperties": { r"\p{L}{1,300}": {} }, "additionalProperties": false }),
    ] {
        let result = validator(schema.clone()).validate("s", "t", &json!({ "a": "x" }));
        assert!(result.is_valid, "{schema}");
        let reason = result.unchecked.unwrap();
        assert!(reason.contains("cannot be used: the pattern"), "{schema}: {reason}");
        assert!(reason.contains("is too large"), "{schema}: {reason}");
    }
}

#[test]
fn many_patterns_that_are_too_large_are_not_measured_one_by_one() {
    let property =
        |n: u32| (format!("p{n}"), json!({ "pattern": format!(r"\p{{L}}{{1,{}}}", 300 + n) }));
    let properties: serde_json::Map<_, _> = (0..10_000).map(property).collect();
    let mut limits = Limits::default();
    limits.schema_nodes = 20_000;
    let cache = ToolSchemaCache::with_limits(limits);
    cache.populate("s", &[tool("t", json!({ "properties": properties }))]);
    let reason = cache.compile_all("s")[0].to_string();
    assert!(reason.contains("`limits.compiled_bytes_per_server`"), "{reason}");
}

/// The translation from ECMA-262 takes time quadratic in the number of class escapes, longer for `\s`.
#[test]
fn patterns_are_charged_for_their_translation() {
    for (escape, count) in [(r"\d", 200), (r"\s", 80)] {
        let list: Vec<_> = (0..100)
            .map(|n| tool(format!("t{n}"), with_pattern(format!("{}{n}", escape.repeat(count)))))
            .collect();
        let mut limits = Limits::default();
        limits.compiled_bytes_per_server = 8 << 20;
        let cache = ToolSchemaCache::with_limits(limits);
        cache.populate("s", &list);
        let quarantined = cache.compile_all("s");
        assert!(quarantined.len() > 90, "{escape}: {} of 100", quarantined.len());
        assert!(cache.stats().compiled_schemas > 0, "{escape}");
    }
}

#[test]
fn long_bounds_of_one_class_are_checked() {
    let names = validator(with_pattern(r"^[\p{L}\p{N}_ .-]{1,255}$"));
    assert!(accepts(&names, "Ärger in Straße 7.b") && accepts(&names, &"é".repeat(255)));
    assert!(!accepts(&names, "") && !accepts(&names, &"é".repeat(256)) && !accepts(&names, "a/b"));
    let words = validator(with_pattern(r"^\S{1,10000}$"));
    assert!(accepts(&words, &"x".repeat(10_000)) && !accepts(&words, &"x".repeat(10_001)));
    assert!(!accepts(&words, "a b") && !accepts(&words, ""));
    assert!(names.cache().stats().compiled_bytes < 1 << 20);
    assert!(names.validate("s", "t", &json!({ "a": "x" })).unchecked.is_none());
}

#[test]
fn length_keywords_and_pattern_bounds_are_both_enforced() {
    let mut schema = with_pattern(r"^\S{3,1000}$");
    schema["properties"]["a"]["maxLength"] = json!(5);
    schema["properties"]["a"]["minLength"] = json!(1.0);
    let validator = validator(schema);
    let lengths: Vec<usize> =
        (0..8).filter(|length| accepts(&validator, &"x".repeat(*length))).collect();
    assert_eq!(lengths, [3, 4, 5]);
}

#[test]
fn patterns_with_lookaround_are_measured_and_enforced() {
    let password = validator(with_pattern(r"^(?=.*[A-Z])(?=.*\d).{8,64}$"));
    assert!(accepts(&password, "Passw0rd") && !accepts(&password, "password"));
    let large = validator(with_pattern(r"(?!x)\p{L}{1,300}"));
    let reason = large.validate("s", "t", &json!({ "a": "x" })).unchecked.unwrap();
    assert!(reason.contains("is too large"), "{reason}");
}

#[test]
fn schemas_are_compiled_with_the_list_when_configured() {
    let mut config = ValidationConfig::default();
    config.compile_schemas = CompileSchemas::WhenListed;
    let validator = McpValidator::new(config);
    let broken = tool("broken", json!({ "type": "strin" }));
    let discovery = validator.cache().populate("s", &[tool("good", json!({})), broken]);
    assert_eq!((discovery.usable, discovery.quarantined.len()), (1, 1));
    assert_eq!(discovery.quarantined[0].tool, "broken");
}

#[test]
fn call_of_a_broken_tool_is_forwarded_with_a_warning_and_rejected_when_strict() {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "t", "arguments": {} } });
    for (policy, forwarded) in [(Policy::default(), true), (Policy::strict(), false)] {
        let validator = std::sync::Arc::new(validator(json!({ "type": "strin" })));
        let mut middleware = ValidationMiddleware::new("s", validator)
            .with_revision(Revision::V2025_11_25)
            .with_policy(policy);
        let verdict =
            middleware.handle(Side::Client, call.to_string().as_bytes(), std::time::Duration::ZERO);
        assert_eq!(verdict.findings[0].rule, MessageRule::UnusableSchema);
        assert_eq!(matches!(verdict.decision, stickler_protocol::Decision::Forward), forwarded);
    }
}

#[test]
fn threads_that_need_a_schema_at_once_compile_it_once() {
    let validator = validator(with_pattern(r"^\p{L}{1,40}x$"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(accepts(&validator, "äöüx")));
        }
    });
    assert_eq!(validator.cache().stats().compilations, 1);
}
