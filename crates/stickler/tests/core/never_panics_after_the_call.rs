//! Property tests of error enhancement: the server's message is kept, and the response stays valid.
//!
//! Random tools and error messages, in the formats of real servers and in arbitrary ones.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::{Value, json};
use stickler::{ENHANCED_KEY, ErrorEnhancer, McpValidator, ToolDefinition, ValidationConfig};

const SERVER: &str = "server";

/// Random combinations of fragments of server error messages.
fn error_message() -> impl Strategy<Value = String> {
    let pieces = vec![
        "Error: ",
        "missing field `path`",
        "unknown field `pth`, expected one of `path`, `limit`",
        " at line 1 column 9",
        "Input validation error: ",
        "'path' is a required property",
        "Additional properties are not allowed ('pth' was unexpected)",
        "1 validation error for call[search]\npath\n  Field required [type=missing]",
        "MCP error -32602: Invalid arguments for tool search: [",
        "{\"code\":\"invalid_type\",\"path\":[\"path\"],\"message\":\"Required\"}",
        "]",
        "must have required property 'path'",
        "missing required parameter: path",
        "Unknown tool: serch",
        "data/path must be string",
        "`",
        "'",
        "\"",
        "\n",
        "[",
        "{",
        ": ",
        "é",
        "\u{0}",
    ];
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(pieces), 0..6)
            .prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

fn validator(config: ValidationConfig, schema: Value) -> McpValidator {
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("search").with_input_schema(schema);
    validator.cache().populate(SERVER, &[tool]);
    validator
}

/// Removes the mark of an enhanced response.
fn remove_mark(marks: &mut Value) {
    if let Some(marks) = marks.as_object_mut() {
        marks.remove(ENHANCED_KEY);
    }
}

fn tool() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["search", "search", "serch", ""])
}

proptest! {
    #![proptest_config(crate::support::times::times(2))]

    #[test]
    fn enhanced_error_starts_with_the_server_message(
        config in crate::support::calls::config(), schema in crate::support::calls::schema(), tool in tool(), text in error_message(),
    ) {
        let enhances = config.enhance_errors;
        let validator = validator(config, schema);
        let enhanced = ErrorEnhancer::of(&validator).enhance_text(SERVER, tool, &text);
        prop_assert!(enhanced.starts_with(&text));
        prop_assert!(enhances || matches!(enhanced, Cow::Borrowed(_)));
    }

    #[test]
    fn enhanced_response_is_json_and_changes_only_message_and_mark(
        config in crate::support::calls::config(), schema in crate::support::calls::schema(), tool in tool(), text in error_message(),
        more in crate::support::calls::value(),
    ) {
        let validator = validator(config, schema);
        let enhancer = ErrorEnhancer::of(&validator);
        let error = json!({ "id": 1, "error": { "code": 1, "message": text, "data": more } });
        let bytes = error.to_string().into_bytes();
        let enhanced = enhancer.enhance_reply(SERVER, tool, &bytes);
        let mut enhanced: Value = serde_json::from_slice(&enhanced).unwrap_or_default();
        let message = enhanced["error"]["message"].take();
        prop_assert!(message.as_str().is_some_and(|message| message.starts_with(&text)));
        enhanced["error"]["message"] = json!(text);
        remove_mark(&mut enhanced["error"]["data"]);
        prop_assert_eq!(enhanced, error);

        let result = json!({ "id": "x", "result": {
            "isError": true, "content": [{ "type": "text", "text": text }, more], "more": more
        } });
        let bytes = result.to_string().into_bytes();
        let enhanced = enhancer.enhance_reply(SERVER, tool, &bytes);
        let mut enhanced: Value = serde_json::from_slice(&enhanced).unwrap_or_default();
        if let Some(content) = enhanced["result"]["content"].as_array_mut() {
            prop_assert!(content.len() == 2 || content.len() == 3);
            content.truncate(2);
        }
        remove_mark(&mut enhanced["result"]["_meta"]);
        if let Some(result) = enhanced["result"].as_object_mut() {
            result.remove("_meta");
        }
        prop_assert_eq!(enhanced, result);
    }

    #[test]
    fn response_without_an_error_is_returned_unchanged(
        schema in crate::support::calls::schema(), reply in crate::support::calls::arguments(), text in error_message(),
    ) {
        let validator = validator(ValidationConfig::default(), schema);
        let enhancer = ErrorEnhancer::of(&validator);
        let good = json!({ "result": { "isError": false, "content": [{ "text": text }] } });
        for reply in [reply, good.to_string().into_bytes(), text.into_bytes()] {
            let enhanced = enhancer.enhance_reply(SERVER, "search", &reply);
            prop_assert_eq!(enhanced.as_ref(), reply.as_slice());
        }
    }
}
