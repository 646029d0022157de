//! Whatever a server complains of, its words stay, and a reply stays a reply.
//!
//! Random tools and complaints, in the shapes of real servers and in none.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::{Value, json};
use stickler::{ErrorEnhancer, McpValidator, ToolDefinition, ValidationConfig};

#[path = "support/calls.rs"]
mod calls;
#[path = "support/times.rs"]
mod times;

const SERVER: &str = "server";

/// The beginnings and pieces of complaints, put together at random.
fn complaint() -> impl Strategy<Value = String> {
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

fn tool() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["search", "search", "serch", ""])
}

proptest! {
    #![proptest_config(times::times(2))]

    #[test]
    fn the_servers_own_words_come_first(
        config in calls::config(), schema in calls::schema(), tool in tool(), text in complaint(),
    ) {
        let enhances = config.enhance_errors;
        let validator = validator(config, schema);
        let enhanced = ErrorEnhancer::of(&validator).enhance_text(SERVER, tool, &text);
        prop_assert!(enhanced.starts_with(&text));
        prop_assert!(enhances || matches!(enhanced, Cow::Borrowed(_)));
    }

    #[test]
    fn a_reply_stays_json_and_keeps_everything_but_the_words_added_to(
        config in calls::config(), schema in calls::schema(), tool in tool(), text in complaint(),
        more in calls::value(),
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
        prop_assert_eq!(enhanced, result);
    }

    #[test]
    fn a_reply_without_an_error_is_returned_as_it_came(
        schema in calls::schema(), reply in calls::arguments(), text in complaint(),
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
