//! Layer 2: which calls are valid, and the errors of those that are not.

use serde_json::{Value, json};
use stickler::{
    McpError, McpValidator, ToolDefinition, ValidationConfig, ValidationError, ValidationErrorKind,
};

fn validator(schema: Value) -> McpValidator {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("t").with_input_schema(schema);
    validator.cache().populate("s", &[tool]);
    assert_eq!(validator.cache().compile_all("s"), []);
    validator
}

fn errors(schema: Value, arguments: Value) -> Vec<ValidationError> {
    validator(schema).validate("s", "t", &arguments).errors
}

/// Kind and path of each error.
fn kinds_and_paths(errors: &[ValidationError]) -> Vec<(&str, &str)> {
    errors.iter().map(|error| (error.kind.name(), error.path.as_str())).collect()
}

fn entity_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "entity": { "type": "string" }, "locale": { "type": "string" } },
        "required": ["entity"]
    })
}

#[test]
fn missing_required_field_is_named() {
    let errors = errors(entity_schema(), json!({ "locale": "fr-FR" }));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].kind, ValidationErrorKind::MissingRequired { field: "entity".into() });
    assert_eq!(errors[0].path, "/entity");
    assert_eq!(errors[0].expected, "string");
}

#[test]
fn valid_arguments_pass_without_errors() {
    let result = validator(entity_schema()).validate("s", "t", &json!({ "entity": "qr-code" }));
    assert!(result.is_valid);
    assert!(result.errors.is_empty());
    assert!(result.arguments().is_none(), "the caller's arguments are used unchanged");
}

#[test]
fn disabled_validation_accepts_every_call() {
    let config = ValidationConfig { pre_validate: false, ..Default::default() };
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("t").with_input_schema(entity_schema());
    validator.cache().populate("s", &[tool]);
    assert!(validator.validate("s", "t", &json!({})).is_valid);
    assert!(validator.validate("s", "none", &json!({})).is_valid);
}

#[test]
fn calls_of_an_unknown_server_are_accepted() {
    let validator = McpValidator::new(ValidationConfig::default());
    assert!(validator.validate("unknown", "tool", &json!({ "anything": "goes" })).is_valid);
}

#[test]
fn type_error_names_both_types() {
    let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    let errors = errors(schema, json!({ "count": "not-an-integer" }));
    assert_eq!(
        errors[0].kind,
        ValidationErrorKind::TypeMismatch { expected: "integer".into(), actual: "string".into() }
    );
    assert_eq!(errors[0].schema_path, "/properties/count/type");
    assert_eq!(errors[0].received, "string \"not-an-integer\"");
}

#[test]
fn suggestions_are_found_for_known_names() {
    let validator = validator(json!({ "properties": { "entity": {}, "locale": {}, "forms": {} } }));
    let known = validator.cache().get("s", "t").unwrap().properties.clone();
    assert_eq!(validator.find_suggestions("entiy", &known), ["entity"]);
}

#[test]
fn default_config_enables_all_layers_with_edit_distance_three() {
    let config = ValidationConfig::default();
    assert!(config.pre_validate);
    assert!(config.enhance_errors);
    assert_eq!(config.suggestion_distance, 3);
}

#[test]
fn suggestion_distance_is_configurable() {
    let known = ["entity".to_owned()];
    for (distance, found) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
        let mut config = ValidationConfig::default();
        config.suggestion_distance = distance;
        let validator = McpValidator::new(config);
        assert_eq!(validator.find_suggestions("enty", &known).len(), found, "{distance}");
    }
}

#[test]
fn all_errors_of_a_call_are_reported() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "count": { "type": "integer", "minimum": 1 },
            "mode": { "enum": ["fast", "slow"] }
        },
        "required": ["path"]
    });
    let errors = errors(schema, json!({ "pth": "x", "count": 0, "mode": "fsat" }));
    assert_eq!(
        kinds_and_paths(&errors),
        [
            // The missing `path` is the field that `pth` stands for: one problem.
            ("unknown_field", "/pth"),
            ("invalid_enum", "/mode"),
            ("invalid_value", "/count"),
        ]
    );
    assert_eq!(errors[0].suggestions(), ["path"]);
    assert_eq!(errors[1].suggestions(), ["fast"]);
    assert_eq!(errors[2].message, "`count` must be at least 1, but is 0.");
}

#[test]
fn enum_error_contains_the_value_and_the_allowed_values() {
    let schema = json!({ "properties": { "mode": { "enum": ["a", 1, null] } } });
    let errors = errors(schema, json!({ "mode": "b" }));
    assert_eq!(
        errors[0].kind,
        ValidationErrorKind::InvalidEnum {
            value: "b".into(),
            allowed: vec!["a".into(), "1".into(), "null".into()]
        }
    );
}

#[test]
fn field_that_is_already_present_is_not_suggested() {
    let schema = json!({ "properties": { "path": {}, "paths": {} } });
    let errors = errors(schema, json!({ "path": 1, "pathz": 2 }));
    assert_eq!(errors[0].suggestions(), ["paths"]);
}

#[test]
fn nested_errors_have_full_pointers() {
    let schema = json!({
        "properties": { "items": { "type": "array", "items": {
            "type": "object", "properties": { "na/me": { "type": "string" } }, "required": ["na/me"]
        } } }
    });
    let errors = errors(schema, json!({ "items": [{ "na/me": "x" }, { "na/me": 5 }, {}] }));
    assert_eq!(
        kinds_and_paths(&errors),
        [("type_mismatch", "/items/1/na~1me"), ("missing_required", "/items/2/na~1me")]
    );
}

#[test]
fn validation_error_is_a_standard_error() {
    let errors = errors(entity_schema(), json!({}));
    let error: &dyn std::error::Error = &errors[0];
    assert!(error.to_string().contains(&errors[0].message), "{error}");
}

#[test]
fn absent_arguments_count_as_an_empty_object() {
    let validator = validator(entity_schema());
    let result = validator.validate_text("s", "t", None).unwrap();
    assert_eq!(kinds_and_paths(&result.errors), [("missing_required", "/entity")]);
}

#[test]
fn non_object_arguments_have_one_error() {
    for (arguments, expected) in [
        (json!(null), "but are null; pass an object with the required fields"),
        (json!([1]), "the arguments must be an object, but are an array"),
        (json!("{'entity': 'x'}"), "pass the object itself, not its JSON text"),
        (json!("x"), "pass an object with the required fields"),
        (json!(5), "the arguments must be an object, but are an integer (5)"),
    ] {
        // Also if the schema does not require an object. `null` counts as absent where nothing is required.
        let open = json!({ "properties": { "entity": {} }, "required": ["entity"] });
        for schema in [entity_schema(), open] {
            let errors = errors(schema, arguments.clone());
            assert_eq!(kinds_and_paths(&errors), [("type_mismatch", "")], "{arguments}");
            assert!(errors[0].message.contains(expected), "{}", errors[0].message);
        }
    }
}

#[test]
fn unknown_tool_error_lists_the_closest_names() {
    let validator = validator(entity_schema());
    let result = validator.validate("s", "tt", &json!({}));
    assert_eq!(
        result.errors[0].kind,
        ValidationErrorKind::UnknownTool { name: "tt".into(), suggestions: vec!["t".into()] }
    );
    let error = validator.require_tool("s", "tt").unwrap_err();
    assert_eq!(error.to_string(), "[STK-106] Unknown tool: tt. Did you mean `t`?");
    assert!(validator.require_tool("s", "t").is_ok());
}

#[test]
fn rejection_error_lists_missing_fields_and_suggestions() {
    let error = validator(entity_schema()).ensure_valid("s", "t", &json!({ "entty": "x" }));
    let Err(McpError::Validation(failed)) = error else { panic!("rejected") };
    assert_eq!(failed.missing(), ["entity"]);
    assert_eq!(failed.suggestions(), ["entity"]);
    assert!(failed.help.contains("did you mean `entity`"), "{}", failed.help);
    let text = "[STK-107] parameter validation failed for `t`:\n  \
                `entty` is not a known field; did you mean `entity` (string, required)?\n  \
                Required fields: [entity].\n  Available fields: [entity, locale].";
    assert_eq!(failed.to_string(), text);
    let error = validator(entity_schema()).ensure_valid("s", "t", &json!({ "locale": 5 }));
    let Err(McpError::Validation(failed)) = error else { panic!("rejected") };
    assert_eq!(failed.errors.len(), 2);
    for error in &failed.errors {
        assert!(failed.to_string().contains(&error.message), "{failed}");
        assert!(failed.details().contains(&error.message), "{}", failed.details());
    }
}

#[test]
fn call_of_a_quarantined_tool_is_accepted_with_the_reason() {
    let validator = McpValidator::new(ValidationConfig::default());
    let bad = ToolDefinition::new("bad").with_input_schema(json!({ "type": 5 }));
    validator.cache().populate("s", &[bad]);
    let result = validator.validate("s", "bad", &json!({ "x": 1 }));
    assert!(result.is_valid);
    assert!(result.unchecked.unwrap().starts_with("[STK-108]"));
}

#[test]
fn known_formats_are_asserted_and_others_ignored() {
    let schema = json!({ "properties": {
        "day": { "type": "string", "format": "date" },
        "size": { "type": "integer", "format": "int32" },
        "file": { "type": "string", "format": "path" }
    } });
    let errors = errors(schema, json!({ "day": "tomorrow", "size": 1, "file": "x" }));
    assert_eq!(kinds_and_paths(&errors), [("invalid_value", "/day")]);
    assert!(errors[0].message.contains("format `date`"));
}

#[test]
fn duplicate_keys_and_out_of_range_numbers_are_rejected() {
    let validator = validator(json!({ "properties": { "a": {}, "b": {} } }));
    let text = br#"{"a":1,"b":[1e400],"a":2}"#;
    let result = validator.validate_text("s", "t", Some(text)).unwrap();
    assert_eq!(
        kinds_and_paths(&result.errors),
        [("invalid_value", "/a"), ("invalid_value", "/b/0")]
    );
    assert!(result.errors[0].message.contains("give it only once"));
    assert!(result.errors[1].message.contains("range of a double"));
}

#[test]
fn overridden_duplicate_members_are_not_validated() {
    let validator = validator(json!({ "properties": { "a": {} } }));
    let text = br#"{"a":{"b":1,"b":[1e400]},"a":"x"}"#;
    let result = validator.validate_text("s", "t", Some(text)).unwrap();
    assert_eq!(kinds_and_paths(&result.errors), [("invalid_value", "/a")]);
}

#[test]
fn numbers_beyond_64_bits_are_valid_numbers() {
    let validator = validator(json!({ "properties": { "n": { "type": "integer" } } }));
    let text = br#"{"n":123456789012345678901234567890}"#;
    assert!(validator.validate_text("s", "t", Some(text)).unwrap().is_valid);
}

#[test]
fn validation_of_a_recursive_choice_stops_and_reports_it() {
    let branch = |name: &str| json!({ "properties": { name: { "$ref": "#" } }, "required": ["x"] });
    let schema = json!({ "anyOf": [branch("a"), branch("a")], "type": "object" });
    let mut arguments = json!({});
    for _ in 0..60 {
        arguments = json!({ "a": arguments });
    }
    let result = validator(schema).validate("s", "t", &arguments);
    assert!(!result.is_valid);
    assert!(result.truncated);
    assert!(!result.errors.is_empty());
}

#[test]
fn catastrophic_pattern_terminates() {
    let schema = json!({ "properties": {
        "linear": { "pattern": "^(a+)+$" },
        "lookahead": { "pattern": "^(?=(a+)+$)x" }
    } });
    let long = "a".repeat(20_000) + "!";
    let errors = errors(schema, json!({ "linear": long, "lookahead": long }));
    assert_eq!(
        kinds_and_paths(&errors),
        [("invalid_value", "/linear"), ("invalid_value", "/lookahead")]
    );
}

#[test]
fn empty_enum_rejects_every_value() {
    let errors = errors(json!({ "properties": { "a": { "enum": [] } } }), json!({ "a": 1 }));
    assert_eq!(kinds_and_paths(&errors), [("invalid_enum", "/a")]);
    assert!(errors[0].message.contains("no value at all"));
}

#[test]
fn errors_have_a_short_expectation_and_a_full_sentence() {
    let schema = json!({ "type": "object", "properties": {
        "count": { "type": "integer", "minimum": 3 },
        "name": { "type": "string", "minLength": 3 },
    } });
    let errors = errors(schema, json!({ "count": 1, "name": "x" }));
    let texts: Vec<_> = errors.iter().map(|one| (&*one.message, &*one.expected)).collect();
    assert_eq!(
        texts,
        [
            ("`count` must be at least 3, but is 1.", "at least 3"),
            ("`name` must have at least 3 characters, but is \"x\".", "at least 3 characters"),
        ]
    );
    let reason = "must be at least 3".to_owned();
    assert_eq!(errors[0].kind, ValidationErrorKind::InvalidValue { reason });
}

#[test]
fn forbidden_field_error_lists_the_allowed_fields() {
    let schema = json!({
        "type": "object",
        "properties": { "n": false, "path": { "type": "string" }, "color": {} },
    });
    let found = errors(schema.clone(), json!({ "n": 1 }));
    assert_eq!(kinds_and_paths(&found), [("unknown_field", "/n")]);
    assert_eq!(
        found[0].message,
        "`n` is not allowed here; no field corresponds to it; valid fields: `path`, `color`."
    );
    assert_eq!(found[0].expected, "one of `path`, `color`");
    let found = errors(schema, json!({ "zzz": 1 }));
    assert_eq!(found[0].expected, "one of `path`, `color`", "the forbidden field is not suggested");
    // Here the rejecting subschema lists no other field.
    let schema = json!({
        "type": "object",
        "properties": { "n": {}, "path": {} },
        "if": { "required": ["path"] },
        "then": { "properties": { "n": false } },
    });
    let found = errors(schema, json!({ "n": 1, "path": "a" }));
    assert_eq!(found[0].message, "`n` is not allowed here; leave it out.");
}

#[test]
fn property_names_error_states_the_constraint() {
    let found = errors(
        json!({ "type": "object", "propertyNames": { "pattern": "^z" } }),
        json!({ "abc": 1 }),
    );
    assert_eq!(kinds_and_paths(&found), [("unknown_field", "/abc")]);
    assert_eq!(
        found[0].message,
        "`abc` is not a known field: names here must match the pattern `^z`; \
         rename it or leave it out."
    );
    assert_eq!(found[0].expected, "a field whose name must match the pattern `^z`");
    let found = errors(
        json!({ "type": "object", "propertyNames": { "enum": ["left", "right"] } }),
        json!({ "up": 1 }),
    );
    assert_eq!(
        found[0].message,
        "`up` is not a known field; no field corresponds to it; valid fields: `left`, `right`."
    );
}

#[test]
fn tool_name_without_its_prefix_is_corrected() {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("mcp_srv_entity_search").with_input_schema(entity_schema());
    let other = ToolDefinition::new("mcp_srv_entity_delete").with_input_schema(entity_schema());
    validator.cache().populate("s", &[tool, other]);
    let result = validator.validate("s", "entity_search", &json!({ "entity": "x" }));
    assert_eq!(result.errors[0].suggestions()[0], "mcp_srv_entity_search");
    assert_eq!(result.corrected.unwrap().name, "mcp_srv_entity_search");
    assert_eq!(validator.tools_resembling("s", "entity_search"), ["mcp_srv_entity_search"]);
}

#[test]
fn tool_that_means_the_same_is_suggested_but_not_resembled() {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("entity_search")
        .with_description("Finds entities by name.")
        .with_input_schema(entity_schema());
    validator.cache().populate("s", &[tool]);
    let result = validator.validate("s", "lookup_entities_by_name", &json!({ "entity": "x" }));
    assert_eq!(result.errors[0].suggestions(), ["entity_search"]);
    assert!(result.corrected.is_none(), "meaning does not select a tool");
    assert_eq!(validator.tools_resembling("s", "lookup_entities_by_name"), [""; 0]);
}
