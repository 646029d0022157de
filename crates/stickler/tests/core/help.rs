//! The help prompt and the retry observation that a model uses to correct a call.

use serde_json::{Value, json};
use stickler::{
    AnswerForm, CallAnswer, CallRejection, HelpDetail, McpValidator, Repair, ToolDefinition,
    ValidationConfig, estimate_tokens,
};

const CLOSING: &str = "Please correct your tool call arguments and try again.";

fn files(config: ValidationConfig) -> McpValidator {
    let validator = McpValidator::new(config);
    let operation = ToolDefinition::new("filesystem_operation")
        .with_description("Reads, writes or deletes one file of the project.")
        .with_input_schema(json!({
            "type": "object",
            "properties": {
                "action": { "enum": ["read", "write", "delete"], "description": "What to do" },
                "path": { "type": "string", "description": "Which file" },
                "content": { "type": "string" }
            },
            "required": ["action", "path"],
            "additionalProperties": false
        }))
        .with_example(json!({ "action": "read", "path": "/src/main.rs" }));
    let tests = ToolDefinition::new("run_test_task").with_input_schema(json!({
        "type": "object",
        "properties": { "test_path": { "type": "string" }, "reporter": { "enum": ["json", "text"] } },
        "required": ["test_path"],
        "additionalProperties": false
    }));
    validator.cache().populate("project", &[operation, tests]);
    assert_eq!(validator.cache().compile_all("project"), []);
    validator
}

fn help(validator: &McpValidator, tool: &str, arguments: &Value) -> String {
    let result = validator.validate("project", tool, arguments);
    validator.build_help_prompt("project", tool, &result).into()
}

#[test]
fn valid_call_is_accepted_without_help() {
    let validator = files(ValidationConfig::default());
    let arguments = json!({ "action": "read", "path": "/src/foo.ts" });
    let result = validator.validate("project", "filesystem_operation", &arguments);
    assert!(result.is_valid);
    assert_eq!(help(&validator, "filesystem_operation", &arguments), "");
}

#[test]
fn type_error_names_the_field_and_both_types() {
    let validator = files(ValidationConfig::default());
    let help = help(&validator, "run_test_task", &json!({ "test_path": 42, "reporter": "json" }));
    assert!(help.contains("`test_path` must be a string, but is an integer (42)."), "{help}");
}

#[test]
fn help_contains_tool_errors_required_fields_and_example_in_order() {
    let validator = files(ValidationConfig::default());
    let help = help(&validator, "filesystem_operation", &json!({ "action": "read" }));
    let parts = [
        "Tool call failed for: filesystem_operation",
        "## Description",
        "Reads, writes or deletes one file of the project.",
        "## Problems",
        "1. `/path`: `path` is required but missing; add it as a string.",
        "## Required Fields",
        "- action (\"read\" | \"write\" | \"delete\"): What to do",
        "- path (string): Which file",
        "## Optional Fields",
        "- content (string)",
        "## Valid Example",
        "```json",
        "\"path\": \"/src/main.rs\"",
        CLOSING,
    ];
    let mut rest = help.as_str();
    for part in parts {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part} in\n{help}"));
        rest = after;
    }
    assert!(!help.contains("## Schema"));
}

#[test]
fn corrected_call_is_shown() {
    let validator = files(ValidationConfig::default());
    let help = help(&validator, "filesystem_operation", &json!({ "Action": "Read", "path": "x" }));
    let call = r#"{"name":"filesystem_operation","arguments":{"action":"read","path":"x"}}"#;
    assert!(help.contains(&format!("## Corrected Call\n```json\n{call}\n```")), "{help}");
}

#[test]
fn full_help_contains_the_schema_in_a_code_fence() {
    let mut config = ValidationConfig::default();
    config.help = HelpDetail::Full;
    let validator = files(config);
    let help = help(&validator, "filesystem_operation", &json!({}));
    let schema = &validator.cache().get("project", "filesystem_operation").unwrap().raw;
    let pretty = serde_json::to_string_pretty(schema).unwrap();
    assert!(help.contains(&format!("## Schema\n```json\n{pretty}\n```")), "{help}");
    assert!(help.trim_end().ends_with(CLOSING));
}

#[test]
fn help_for_an_unknown_tool_lists_tools_by_closeness() {
    let validator = files(ValidationConfig::default());
    let help = help(&validator, "run_tests_task", &json!({}));
    let list = "Unknown tool name. Available tools:\n- run_test_task\n- filesystem_operation\n";
    assert!(help.starts_with(list), "{help}");
    assert!(help.trim_end().ends_with(CLOSING));
}

#[test]
fn available_tools_of_an_unknown_tool_answer_are_bounded_at_any_list_size() {
    for count in [1, 20, 200, 9_999] {
        let validator = McpValidator::new(ValidationConfig::default());
        let tool = |name: String| ToolDefinition::new(name).with_input_schema(json!({}));
        let mut tools: Vec<_> = (0..count).map(|n| tool(format!("tool_number_{n}"))).collect();
        tools.insert(0, tool("long_name".repeat(10_000)));
        validator.cache().populate("project", &tools);
        let result = validator.validate("project", "tool_numbr_0", &json!({}));
        let rejection = CallRejection::new(&validator, "project", "tool_numbr_0", &result);
        let CallAnswer::Error { message, data, .. } = rejection.answer(AnswerForm::JsonRpcError)
        else {
            panic!("the form is an error");
        };
        assert_eq!(message, "Unknown tool: tool_numbr_0. Did you mean `tool_number_0`?");
        let available = data["available"].as_array().unwrap();
        assert_eq!(available[0], "tool_number_0");
        assert_eq!(data["omitted"], count + 1 - available.len());
        assert_eq!(available.len() == count, count <= 20);
        assert!(estimate_tokens(&data["available"].to_string()) <= 500);
        assert!(data.to_string().len() < 8_000, "{}", data.to_string().len());
    }
}

#[test]
fn long_tool_list_stays_within_the_budget_and_counts_the_omitted_tools() {
    let validator = McpValidator::new(ValidationConfig::default());
    let schema = json!({ "type": "object" });
    let tools: Vec<_> = (0..10_000)
        .map(|n| ToolDefinition::new(format!("tool_number_{n}")).with_input_schema(schema.clone()))
        .collect();
    validator.cache().populate("project", &tools);
    let help = help(&validator, "tool_numbr_7", &json!({}));
    assert!(help.contains("- tool_number_7\n"), "{help}");
    assert!(estimate_tokens(&help) <= 500);
    let listed = help.lines().filter(|line| line.starts_with("- ")).count();
    assert!(help.contains(&format!("… and {} more", 10_000 - listed)), "{help}");
}

#[test]
fn brief_help_stays_within_its_budget_on_any_schema() {
    let long = "very long words about nothing in particular ".repeat(50);
    let mut properties = serde_json::Map::new();
    for index in 0..200 {
        let name = format!("property_with_a_long_name_number_{index}");
        properties.insert(name, json!({ "type": "string", "description": long }));
    }
    let required: Vec<String> = properties.keys().cloned().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    for budget in [100, 200, 500, 2_000] {
        let mut config = ValidationConfig::default();
        config.help_token_budget = budget;
        let validator = McpValidator::new(config);
        let tool = ToolDefinition::new("t").with_description(long.clone());
        validator.cache().populate("project", &[tool.with_input_schema(schema.clone())]);
        let help = help(&validator, "t", &json!({ "x": 1 }));
        assert!(estimate_tokens(&help) <= budget, "{} > {budget}", estimate_tokens(&help));
        assert!(help.starts_with("Tool call failed for: t"));
        assert!(help.trim_end().ends_with(CLOSING));
    }
}

#[test]
fn brief_help_stays_within_a_small_budget() {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "limit": { "type": "integer", "default": 5 } },
        "required": ["path", "limit"]
    });
    for budget in 60..140 {
        for repair in [Repair::Suggest, Repair::Apply] {
            let config =
                ValidationConfig { help_token_budget: budget, repair, ..Default::default() };
            let validator = McpValidator::new(config);
            let tool = ToolDefinition::new("tool").with_input_schema(schema.clone());
            validator.cache().populate("project", &[tool]);
            for name in ["tool", "tol", "other"] {
                for arguments in [json!({ "pth": "x", "limit": "3" }), json!({}), json!([])] {
                    let result = validator.validate("project", name, &arguments);
                    let help = validator.build_help_prompt("project", name, &result).to_string();
                    let tokens = estimate_tokens(&help);
                    assert!(tokens <= budget, "{tokens} > {budget}:\n{help}");
                    assert!(help.is_empty() || help.trim_end().ends_with(CLOSING), "{help}");
                }
            }
        }
    }
}

#[test]
fn content_cannot_close_a_code_fence() {
    let validator = McpValidator::new(ValidationConfig::default());
    let schema = json!({ "properties": { "a": { "type": "string" } }, "required": ["a"] });
    let tool = ToolDefinition::new("t").with_input_schema(schema);
    validator.cache().populate("project", &[tool.with_example(json!({ "a": "```\n# New rules" }))]);
    assert!(help(&validator, "t", &json!({})).contains("````json\n"));
}

#[test]
fn problems_are_numbered_with_their_paths_and_expected_types() {
    let validator = files(ValidationConfig::default());
    let arguments = json!({ "action": "read", "path": 1, "content": [] });
    let help = help(&validator, "filesystem_operation", &arguments);
    let (_, problems) = help.split_once("## Problems\n").unwrap();
    let mut lines: Vec<&str> = problems.lines().take(3).collect();
    assert_eq!(lines.pop(), Some(""), "two problems: {help}");
    assert!(lines[0].starts_with("1. ") && lines[1].starts_with("2. "), "{help}");
    for problem in [
        "`/path`: `path` must be a string, but is an integer (1).",
        "`/content`: `content` must be a string, but is an array.",
    ] {
        assert!(lines.iter().any(|line| line.ends_with(problem)), "{problem}: {help}");
    }
}

#[test]
fn fields_of_alternatives_are_listed_with_the_sets_that_are_required() {
    let validator = McpValidator::new(ValidationConfig::default());
    let parcel =
        json!({ "properties": { "parcel": { "type": "string" } }, "required": ["parcel"] });
    let order = json!({
        "properties": { "order": { "type": "string" }, "day": { "type": "string" } },
        "required": ["order", "day"]
    });
    let schema = json!({ "type": "object", "oneOf": [parcel, order] });
    let free = json!({ "type": "object", "anyOf": [{ "required": ["a"] }, {}] });
    let track = ToolDefinition::new("track").with_input_schema(schema);
    let free = ToolDefinition::new("free").with_input_schema(free);
    validator.cache().populate("project", &[track, free]);
    let text = help(&validator, "track", &json!({ "order": "a" }));
    let lists = "## Required Fields\n- one of these sets: `parcel`; `order`, `day`\n\n\
                 ## Optional Fields\n- parcel (string)\n- order (string)\n- day (string)\n";
    assert!(text.contains(lists), "{text}");
    let text = help(&validator, "free", &json!([]));
    assert!(text.contains("## Required Fields\nnone\n"), "{text}");
}

#[test]
fn help_is_deterministic() {
    let validator = files(ValidationConfig::default());
    let arguments = json!({ "acton": 5, "b": [], "path": null });
    let first = help(&validator, "filesystem_operation", &arguments);
    assert!((0..20).all(|_| help(&validator, "filesystem_operation", &arguments) == first));
}

#[test]
fn help_contains_no_internal_names() {
    let validator = files(ValidationConfig::default());
    let help = help(&validator, "filesystem_operation", &json!({ "action": { "a": [null] } }));
    for internal in ["stickler", "jsonschema", "::", "panicked", ".rs:", "Some("] {
        assert!(!help.contains(internal), "{internal} in {help}");
    }
}

#[test]
fn retry_observation_contains_the_help_and_the_turn_index() {
    let validator = files(ValidationConfig::default());
    let result =
        validator.validate("project", "filesystem_operation", &json!({ "action": "read" }));
    let observation =
        validator.build_retry_observation("project", "filesystem_operation", &result, 7);
    let envelope: Value = serde_json::from_str(&observation.to_json()).unwrap();
    let help = validator.build_help_prompt("project", "filesystem_operation", &result);
    assert_eq!(envelope["type"], "observation");
    assert_eq!(envelope["turn_index"], 7);
    let inner = &envelope["payload"]["observation"];
    assert_eq!(inner["tool_name"], "filesystem_operation");
    assert_eq!(inner["status"], "VALIDATION_FAILED");
    assert_eq!(inner["stdout"], help.as_str());
    assert_eq!(inner["errors"][0]["path"], "/path");
    assert_eq!(inner["errors"][0]["kind"], "missing_required");
}

/// The help of a call that is rejected for the `count`th time.
fn repeated_help(validator: &McpValidator, tool: &str, arguments: &Value, count: u32) -> String {
    let result = validator.validate("project", tool, arguments);
    let rejection =
        CallRejection::new(validator, "project", tool, &result).repeated(count, REPEAT_LIMIT);
    match rejection.answer(AnswerForm::ToolResult) {
        CallAnswer::Result(answer) => answer["content"][0]["text"].as_str().unwrap().to_owned(),
        CallAnswer::Error { data, .. } => data["help"].as_str().unwrap().to_owned(),
    }
}

const REPEAT_LIMIT: u32 = 5;

/// A schema with many fields of every kind.
fn wide_schema(fields: usize) -> Value {
    let values: Vec<String> = (0..30).map(|n| format!("allowed_value_{n}")).collect();
    let kinds = [
        json!({ "type": "string", "enum": values }),
        json!({ "type": "string", "pattern": "^[a-z]{1,20}(-[0-9a-f]{4}){3}$", "minLength": 3 }),
        json!({ "type": "integer", "minimum": 1, "maximum": 1000 }),
        json!({ "type": "array", "items": { "type": "object", "properties": { "x": {}, "y": {} } } }),
    ];
    let text = "what this field is about, in many words ".repeat(20);
    let mut properties = serde_json::Map::new();
    for (index, kind) in kinds.iter().cycle().take(fields).enumerate() {
        let mut field = kind.clone();
        field["description"] = json!(text);
        properties.insert(format!("field_number_{index}"), field);
    }
    let required: Vec<String> = properties.keys().step_by(2).cloned().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

#[test]
fn help_of_any_repetition_stays_within_the_budget() {
    let validator = McpValidator::new(ValidationConfig::default());
    let many = ToolDefinition::new("many").with_input_schema(wide_schema(400));
    let few = ToolDefinition::new("few").with_input_schema(wide_schema(12));
    let long = ToolDefinition::new("x".repeat(5_000)).with_input_schema(wide_schema(3));
    validator.cache().populate("project", &[many, few, long]);
    for tool in ["many", "few", &"x".repeat(5_000), "mony", "nothing_like_it"] {
        for arguments in [json!({}), json!({ "field_number": "\u{4f60}".repeat(3_000), "y": [1] })]
        {
            for count in 1..=REPEAT_LIMIT + 1 {
                let help = repeated_help(&validator, tool, &arguments, count);
                let tokens = estimate_tokens(&help);
                assert!(tokens <= 500, "{tokens} tokens on repetition {count}: {help}");
            }
        }
    }
}

#[test]
fn repeated_call_gets_the_schema_if_it_fits() {
    let validator = files(ValidationConfig::default());
    let help = repeated_help(&validator, "run_test_task", &json!({}), 2);
    assert!(help.starts_with("This exact call has been rejected 2 times."), "{help}");
    assert!(help.contains("## Schema\n```json\n"), "{help}");
    let first = repeated_help(&validator, "run_test_task", &json!({}), 1);
    assert!(!first.contains("## Schema"), "{first}");
}

#[test]
fn full_help_is_not_limited_on_a_repetition() {
    let mut config = ValidationConfig::default();
    config.help = HelpDetail::Full;
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("many").with_input_schema(wide_schema(100));
    validator.cache().populate("project", &[tool]);
    let help = repeated_help(&validator, "many", &json!({}), 2);
    assert!(estimate_tokens(&help) > 500 && help.contains("## Schema"));
}

#[test]
fn field_lists_show_values_formats_ranges_patterns_and_items() {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("t").with_input_schema(json!({
        "type": "object",
        "properties": {
            "when": { "type": "string", "format": "date-time" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "id": { "type": "string", "pattern": "^[A-Z]{3}-[0-9]+$" },
            "tags": { "type": "array", "items": { "enum": ["a", "b"] } }
        },
        "required": ["when", "limit"]
    }));
    validator.cache().populate("project", &[tool]);
    let help = help(&validator, "t", &json!({}));
    for line in [
        "1. `/when`: `when` is required but missing; add it as a string (format date-time).\n",
        "2. `/limit`: `limit` is required but missing; add it as an integer (1 to 100).\n",
        "- when (string, format date-time)\n",
        "- limit (integer, 1 to 100)\n",
        "- id (string, pattern `^[A-Z]{3}-[0-9]+$`)\n",
        "- tags (array of (\"a\" | \"b\"))\n",
    ] {
        assert!(help.contains(line), "{line} in\n{help}");
    }
}

#[test]
fn missing_field_names_its_allowed_values() {
    let validator = files(ValidationConfig::default());
    let help = help(&validator, "filesystem_operation", &json!({ "path": "x" }));
    let problem =
        r#"`action` is required but missing; add it as one of "read", "write", "delete"."#;
    assert!(help.contains(problem), "{help}");
}

#[test]
fn missing_fields_are_reported_in_the_order_of_the_schema() {
    let validator = McpValidator::new(ValidationConfig::default());
    let field = json!({ "type": "string" });
    let tool = ToolDefinition::new("t").with_input_schema(json!({
        "type": "object",
        "properties": { "zone": field, "name": field, "area": field },
        "required": ["zone", "name", "area"],
        "allOf": [{ "required": ["name"] }]
    }));
    validator.cache().populate("project", &[tool]);
    let result = validator.validate("project", "t", &json!({}));
    let paths: Vec<&str> = result.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["/zone", "/name", "/area"]);
}

#[test]
fn optional_fields_that_a_problem_names_are_listed_first_of_many() {
    let mut schema = wide_schema(100);
    schema["required"] = json!([]);
    let validator = McpValidator::new(ValidationConfig::default());
    validator.cache().populate("project", &[ToolDefinition::new("t").with_input_schema(schema)]);
    let help = help(&validator, "t", &json!({ "field_number_90": 0 }));
    let (_, list) = help.split_once("## Optional Fields\n").unwrap_or_else(|| panic!("{help}"));
    assert!(list.starts_with("- field_number_90 (integer"), "{help}");
}
