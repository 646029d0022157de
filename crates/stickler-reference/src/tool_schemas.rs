//! The schemas of all reference tools, for programs that validate calls of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::Suite;

/// The JSON Schema of each tool of all suites, by the name of the tool.
///
/// ```
/// use stickler_reference::TOOL_SCHEMAS;
///
/// assert_eq!(TOOL_SCHEMAS["read_file"]["required"], serde_json::json!(["path"]));
/// ```
pub static TOOL_SCHEMAS: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(|| {
    let suites = Suite::WITHOUT_SCHEDULER.into_iter().chain([Suite::Scheduler]);
    let tools = suites.flat_map(Suite::tools);
    tools.map(|tool| (tool.name, Value::Object(tool.schema().clone()))).collect()
});

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use stickler::{McpValidator, ToolDefinition, ValidationConfig};

    use super::TOOL_SCHEMAS;

    fn validator() -> McpValidator {
        let validator = McpValidator::new(ValidationConfig::default());
        for (name, schema) in TOOL_SCHEMAS.iter() {
            let tool = ToolDefinition::new(*name).with_input_schema(schema.clone());
            assert_eq!(validator.register_tool_schema("suites", &tool), Ok(()), "{name}");
        }
        validator
    }

    #[test]
    fn wrong_type_is_reported_with_the_expected_one() {
        let result = validator().validate("suites", "read_file", &json!({ "path": 123 }));
        assert!(!result.is_valid);
        assert_eq!(result.errors[0].path, "/path");
        assert!(result.errors[0].expected.starts_with("string"), "{:?}", result.errors);
    }

    #[test]
    fn valid_call_passes() {
        let call = json!({ "path": "/tmp/a.txt", "content": "hello" });
        assert!(validator().validate("suites", "write_file", &call).is_valid);
    }

    #[test]
    fn every_schema_is_strict() {
        assert!(TOOL_SCHEMAS.len() >= 25, "{}", TOOL_SCHEMAS.len());
        for name in ["read_file", "write_file", "run_tests", "db_query", "git_commit"] {
            assert!(TOOL_SCHEMAS.contains_key(name), "{name}");
        }
        for (name, schema) in TOOL_SCHEMAS.iter() {
            assert_eq!(schema["type"], "object", "{name}");
            assert_eq!(schema["additionalProperties"], false, "{name}");
            assert!(schema["properties"].is_object(), "{name}");
            let required = schema["required"].as_array().unwrap();
            assert!(required.iter().all(Value::is_string), "{name}");
        }
    }
}
