//! Layer 3: server errors are extended with information from the schema.

use std::borrow::Cow;

use serde_json::{Value, json};
use stickler::{
    Code, ErrorEnhancer, McpError, McpToolError, McpValidator, ToolDefinition, ValidationConfig,
};

fn validator(config: ValidationConfig) -> McpValidator {
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("novanet_generate").with_input_schema(json!({
        "type": "object",
        "properties": { "entity": { "type": "string" }, "locale": { "type": "string" } },
        "required": ["entity"]
    }));
    validator.cache().populate("novanet", &[tool]);
    validator
}

fn tool_error(reason: &str) -> McpError {
    McpError::Tool(McpToolError { tool: "novanet_generate".into(), reason: reason.into() })
}

fn enhanced(reason: &str) -> String {
    let validator = validator(ValidationConfig::default());
    let enhancer = ErrorEnhancer::of(&validator);
    match enhancer.enhance("novanet", "novanet_generate", tool_error(reason)) {
        McpError::Tool(error) => error.reason,
        other => panic!("{other}"),
    }
}

#[test]
fn missing_field_error_is_extended_with_required_and_valid_fields() {
    let reason = enhanced("missing field `entity`");
    assert!(reason.starts_with("missing field `entity`\n\n"), "{reason}");
    assert!(reason.contains("Required: [entity]"), "{reason}");
    assert!(reason.contains("Valid fields: [entity, locale]"), "{reason}");
    assert!(reason.contains("Valid example: {\"entity\":"), "{reason}");
}

#[test]
fn unknown_field_error_is_extended_with_a_suggestion() {
    let reason =
        enhanced("failed to deserialize parameters: unknown field `entiy`, expected `entity`");
    assert!(reason.contains("Did you mean `entity` instead of `entiy`?"), "{reason}");
}

#[test]
fn zod_and_pydantic_errors_are_recognized() {
    for text in [
        "MCP error -32602: Input validation error: Invalid arguments for tool x: [{\"code\":\
         \"invalid_type\",\"expected\":\"string\",\"path\":[\"entity\"],\"message\":\"Required\"}]",
        "1 validation error for novanet_generateArguments\nentity\n  Field required \
         [type=missing, input_value={}, input_type=dict]",
    ] {
        assert!(enhanced(text).contains("Required: [entity]"), "{text}");
    }
}

#[test]
fn ordinary_failures_are_returned_unchanged() {
    for text in ["ENOENT: no such file", "fetch failed", "Project 'x' already exists", ""] {
        assert_eq!(enhanced(text), text);
    }
}

#[test]
fn errors_not_from_the_server_are_returned_unchanged() {
    let validator = validator(ValidationConfig::default());
    let original = McpError::Other { code: Code::Timeout, message: "missing field `x`".into() };
    let enhanced = ErrorEnhancer::of(&validator).enhance("novanet", "t", original.clone());
    assert_eq!(enhanced, original);
}

#[test]
fn error_of_a_tool_without_a_schema_is_returned_unchanged() {
    let validator = McpValidator::new(ValidationConfig::default());
    let enhancer = ErrorEnhancer::of(&validator);
    let original = tool_error("missing field `entity`");
    assert_eq!(enhancer.enhance("s", "unknown", original.clone()), original);
}

#[test]
fn disabled_enhancement_adds_nothing() {
    let mut config = ValidationConfig::default();
    config.enhance_errors = false;
    let validator = validator(config);
    let text = ErrorEnhancer::of(&validator).enhance_text(
        "novanet",
        "novanet_generate",
        "missing field `entity`",
    );
    assert!(matches!(text, Cow::Borrowed(_)));
}

#[test]
fn enhanced_json_rpc_error_gets_a_longer_message_and_a_mark() {
    let validator = validator(ValidationConfig::default());
    let reply = br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"missing field `entity`","data":{"big":12345678901234567890}}}"#;
    let enhanced =
        ErrorEnhancer::of(&validator).enhance_reply("novanet", "novanet_generate", reply);
    let text = std::str::from_utf8(&enhanced).unwrap();
    assert!(
        text.starts_with(
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"missing field"#
        )
    );
    assert!(
        text.ends_with(r#","data":{"big":12345678901234567890,"dev.stickler/enhanced":true}}}"#)
    );
    let value: Value = serde_json::from_str(text).unwrap();
    assert!(value["error"]["message"].as_str().unwrap().contains("Required: [entity]"));
}

#[test]
fn failed_result_gets_an_additional_text_block() {
    let validator = validator(ValidationConfig::default());
    let reply = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"missing field `entity`"}],"isError":true}}"#;
    let enhanced =
        ErrorEnhancer::of(&validator).enhance_reply("novanet", "novanet_generate", reply);
    let value: Value = serde_json::from_slice(&enhanced).unwrap();
    let content = value["result"]["content"].as_array().unwrap();
    assert_eq!(content.len(), 2);
    assert_eq!(content[0]["text"], "missing field `entity`");
    assert!(content[1]["text"].as_str().unwrap().contains("Required: [entity]"));
}

#[test]
fn enhanced_responses_are_not_enhanced_again() {
    let validator = validator(ValidationConfig::default());
    let enhancer = ErrorEnhancer::of(&validator);
    for reply in [
        r#"{"id":7,"error":{"code":-32602,"message":"missing field `entity`"}}"#,
        r#"{"id":7,"error":{"code":-32602,"message":"missing field `entity`","data":[1]}}"#,
        r#"{"id":7,"result":{"content":[{"type":"text","text":"missing field `entity`"}],"isError":true}}"#,
        r#"{"id":7,"result":{"_meta":{},"content":[{"type":"text","text":"missing field `entity`"}],"isError":true}}"#,
    ] {
        let once = enhancer.enhance_reply("novanet", "novanet_generate", reply.as_bytes());
        assert_ne!(&*once, reply.as_bytes(), "{reply}");
        let twice = enhancer.enhance_reply("novanet", "novanet_generate", &once);
        assert!(matches!(twice, Cow::Borrowed(_)), "{reply}");
    }
}

#[test]
fn errors_of_python_functions_are_recognised_if_the_schema_agrees() {
    let validator = validator(ValidationConfig::default());
    let enhancer = ErrorEnhancer::of(&validator);
    let is_enhanced = |text: &str| {
        let text = enhancer.enhance_text("novanet", "novanet_generate", text);
        text.contains("Required: [entity]")
    };
    assert!(is_enhanced("generate() missing 1 required positional argument: 'entity'"));
    assert!(is_enhanced("generate() got an unexpected keyword argument 'entiy'"));
    assert!(!is_enhanced("Client.get() missing 1 required positional argument: 'self'"));
}

#[test]
fn other_responses_are_returned_unchanged() {
    let validator = validator(ValidationConfig::default());
    let enhancer = ErrorEnhancer::of(&validator);
    for reply in [
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"missing field `entity`"}]}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"disk full"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":5}}"#,
        "not json at all",
    ] {
        let same = enhancer.enhance_reply("novanet", "novanet_generate", reply.as_bytes());
        assert!(matches!(same, Cow::Borrowed(_)), "{reply}");
    }
}

#[test]
fn known_documentation_link_is_added() {
    let mut config = ValidationConfig::default();
    config.documentation_url = Some("https://docs.example/{server}/{tool}".into());
    let validator = validator(config);
    let enhancer = ErrorEnhancer::of(&validator);
    let text = enhancer.enhance_text("novanet", "novanet_generate", "missing field `entity`");
    assert!(
        text.contains("Documentation: https://docs.example/novanet/novanet_generate"),
        "{text}"
    );
    let own = ToolDefinition::new("novanet_generate")
        .with_input_schema(json!({ "properties": { "entity": {} } }))
        .with_documentation("https://own.example/generate");
    validator.cache().populate("novanet", &[own]);
    let text = enhancer.enhance_text("novanet", "novanet_generate", "missing field `entity`");
    assert!(text.contains("Documentation: https://own.example/generate"), "{text}");
}

#[test]
fn unknown_tool_error_is_extended_with_the_closest_name() {
    let validator = validator(ValidationConfig::default());
    let enhancer = ErrorEnhancer::of(&validator);
    let text = enhancer.enhance_text("novanet", "novanet_genrate", "Unknown tool: novanet_genrate");
    assert!(text.ends_with("Did you mean the tool `novanet_generate`?"), "{text}");
}
