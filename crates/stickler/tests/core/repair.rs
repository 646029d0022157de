//! Repair: every kind of edit, the values it does not touch, and which edits are applied.

use serde_json::{Value, json};
use stickler::{
    EditKind, McpValidator, Repair, ToolDefinition, ValidationConfig, ValidationResult,
};

fn validate_with(config: ValidationConfig, schema: Value, arguments: &str) -> ValidationResult {
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("t").with_input_schema(schema);
    validator.cache().populate("s", &[tool]);
    assert_eq!(validator.cache().compile_all("s"), []);
    validator.validate_text("s", "t", Some(arguments.as_bytes())).unwrap()
}

fn validate(schema: Value, arguments: &str) -> ValidationResult {
    validate_with(ValidationConfig::default(), schema, arguments)
}

/// The corrected arguments and the kinds of the edits.
fn corrected(schema: Value, arguments: &str) -> Option<(String, Vec<EditKind>)> {
    let result = validate(schema, arguments);
    assert!(!result.is_valid);
    let kinds = result.edits.iter().map(|edit| edit.kind).collect();
    result.corrected.map(|call| (call.arguments.get().to_owned(), kinds))
}

fn properties(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[track_caller]
fn assert_corrected(schema: Value, arguments: &str, expected: &str, kinds: &[EditKind]) {
    assert_eq!(corrected(schema, arguments), Some((expected.to_owned(), kinds.to_vec())));
}

#[test]
fn stringified_values_are_unquoted() {
    for (kind, text, value) in [
        ("object", r#""{\"a\": [1]}""#, r#"{"a": [1]}"#),
        ("array", r#""[1, 2]""#, "[1, 2]"),
        ("integer", r#""42""#, "42"),
        ("number", r#""-1.5""#, "-1.5"),
        ("boolean", r#""true""#, "true"),
    ] {
        let schema = properties(json!({ "v": { "type": kind } }));
        let (before, after) = (format!("{{\"v\":{text}}}"), format!("{{\"v\":{value}}}"));
        assert_corrected(schema, &before, &after, &[EditKind::Unstringify]);
    }
}

#[test]
fn non_canonical_numbers_stay_strings() {
    for text in ["007", "1e3", "1.50", " 1", "0x10"] {
        let schema = properties(json!({ "v": { "type": "number" } }));
        assert_eq!(corrected(schema, &format!("{{\"v\":\"{text}\"}}")), None, "{text}");
    }
}

#[test]
fn number_or_boolean_is_stringified_for_a_string_field() {
    let schema = || properties(json!({ "v": { "type": "string" } }));
    assert_corrected(schema(), r#"{"v":12.50}"#, r#"{"v":"12.50"}"#, &[EditKind::Stringify]);
    assert_corrected(schema(), r#"{"v":true}"#, r#"{"v":"true"}"#, &[EditKind::Stringify]);
}

#[test]
fn null_is_dropped_from_optional_fields_only() {
    let schema = || json!({ "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "required": ["b"] });
    let drop = [EditKind::DropNull];
    assert_corrected(schema(), r#"{"a":null,"b":"x"}"#, r#"{"b":"x"}"#, &drop);
    assert_corrected(schema(), r#"{ "b":"x", "a":null }"#, r#"{ "b":"x" }"#, &drop);
    assert_eq!(corrected(schema(), r#"{"b":null}"#), None);
}

#[test]
fn misspelt_field_is_renamed_to_the_missing_one() {
    let schema = json!({ "properties": { "path": {}, "content": {} }, "required": ["path"] });
    let expected = r#"{"path":"x","content":1}"#;
    assert_corrected(schema, r#"{"pth":"x","content":1}"#, expected, &[EditKind::RenameField]);
}

#[test]
fn field_is_not_renamed_when_two_names_are_equally_close() {
    let schema = properties(json!({ "field1": {}, "field2": {} }));
    assert_eq!(corrected(schema, r#"{"fieldx":1}"#), None);
}

#[test]
fn two_fields_do_not_get_the_same_name() {
    let schema = properties(json!({ "name": {}, "other": {} }));
    assert_eq!(corrected(schema, r#"{"nam":1,"nme":2}"#), None);
}

#[test]
fn misspelt_enum_value_is_replaced_by_the_closest() {
    let schema = properties(json!({ "mode": { "enum": ["append", "truncate"] } }));
    let kinds = [EditKind::ReplaceValue];
    assert_corrected(schema, r#"{"mode":"trunacte"}"#, r#"{"mode":"truncate"}"#, &kinds);
}

#[test]
fn enum_value_of_another_type_is_converted() {
    let schema = properties(json!({ "n": { "enum": [1, 2] } }));
    assert_corrected(schema, r#"{"n":"2"}"#, r#"{"n":2}"#, &[EditKind::Unstringify]);
}

#[test]
fn scalar_is_wrapped_for_an_array_field() {
    let schema = properties(json!({ "tags": { "type": "array", "items": { "type": "string" } } }));
    assert_corrected(schema, r#"{"tags":"x"}"#, r#"{"tags":["x"]}"#, &[EditKind::WrapInArray]);
}

#[test]
fn missing_fields_with_defaults_are_filled_in_together() {
    let mut fields = serde_json::Map::new();
    for index in 0..12 {
        fields.insert(format!("f{index}"), json!({ "default": index }));
    }
    let required: Vec<String> = fields.keys().cloned().collect();
    let schema = json!({ "properties": fields, "required": required });
    let (text, kinds) = corrected(schema, "{}").unwrap();
    assert!(text.starts_with(r#"{"f0":0,"f1":1,"#), "{text}");
    assert_eq!(kinds, [EditKind::FillDefault; 12]);
    let schema = json!({ "properties": { "kind": { "const": "x" } }, "required": ["kind"] });
    assert_corrected(schema, "{ }", r#"{ "kind":"x"}"#, &[EditKind::FillDefault]);
}

#[test]
fn wrapped_arguments_are_unwrapped() {
    let schema = || json!({ "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    let kinds = [EditKind::UnwrapArguments];
    for key in ["arguments", "input", "params"] {
        assert_corrected(schema(), &format!("{{\"{key}\":{{\"a\":1}}}}"), r#"{"a":1}"#, &kinds);
        assert_corrected(
            schema(),
            &format!("{{\"{key}\":\"{{\\\"a\\\":1}}\"}}"),
            r#"{"a":1}"#,
            &kinds,
        );
    }
    assert_corrected(schema(), r#""{\"a\":1}""#, r#"{"a":1}"#, &[EditKind::Unstringify]);
    let own =
        json!({ "properties": { "input": { "type": "object" }, "a": {} }, "required": ["a"] });
    assert_eq!(corrected(own, r#"{"input":{"a":1}}"#), None, "the tool has a field of that name");
}

#[test]
fn null_for_no_arguments_becomes_an_empty_object_where_calls_are_repaired() {
    let config = ValidationConfig { repair: Repair::Apply, ..ValidationConfig::default() };
    let result = validate_with(config, properties(json!({ "a": {} })), "null");
    assert!(result.repaired);
    assert_eq!(result.arguments().map(serde_json::value::RawValue::get), Some("{}"));
}

#[test]
fn several_mistakes_are_corrected_together() {
    let schema = json!({
        "properties": {
            "path": { "type": "string" }, "lines": { "type": "array", "items": { "type": "integer" } }
        },
        "required": ["path"]
    });
    let kinds =
        [EditKind::RenameField, EditKind::WrapInArray, EditKind::Stringify, EditKind::Unstringify];
    assert_corrected(schema, r#"{"Path":7,"lines":"5"}"#, r#"{"path":"7","lines":[5]}"#, &kinds);
}

#[test]
fn text_outside_the_edits_is_preserved() {
    let schema = properties(json!({ "big": {}, "count": { "type": "integer" } }));
    let text = "{ \"big\" : 12345678901234567890.10 ,\n\t\"count\":\"5\" }";
    let expected = "{ \"big\" : 12345678901234567890.10 ,\n\t\"count\":5 }";
    assert_corrected(schema, text, expected, &[EditKind::Unstringify]);
}

#[test]
fn correction_that_stays_invalid_is_not_suggested() {
    let schema = properties(json!({ "n": { "type": "integer", "minimum": 10 } }));
    assert_eq!(corrected(schema, r#"{"n":"5"}"#), None);
    let schema = properties(json!({ "a": { "type": "integer" } }));
    assert_eq!(corrected(schema, r#"{"a":"5","zzz":1}"#), None);
}

#[test]
fn misspelt_tool_is_suggested_with_its_arguments_and_never_applied() {
    let mut config = ValidationConfig::default();
    config.repair = Repair::Apply;
    let validator = McpValidator::new(config);
    let schema = properties(json!({ "path": { "type": "string" } }));
    let tools = [
        ToolDefinition::new("read_file").with_input_schema(schema.clone()),
        ToolDefinition::new("write_file").with_input_schema(schema),
    ];
    validator.cache().populate("s", &tools);
    let result = validator.validate("s", "readFile", &json!({ "Path": "x" }));
    assert!(!result.is_valid);
    let call = result.corrected.unwrap();
    assert_eq!((call.name.as_str(), call.arguments.get()), ("read_file", r#"{"path":"x"}"#));
    assert_eq!(result.edits[0].kind, EditKind::RenameTool);
}

#[test]
fn disabled_repair_suggests_nothing() {
    let mut config = ValidationConfig::default();
    config.repair = Repair::Off;
    let result =
        validate_with(config, properties(json!({ "a": { "type": "integer" } })), r#"{"a":"1"}"#);
    assert!(result.corrected.is_none() && result.edits.is_empty());
}

#[test]
fn apply_mode_applies_unambiguous_edits_and_suggests_the_others() {
    let mut config = ValidationConfig::default();
    config.repair = Repair::Apply;
    let schema =
        || properties(json!({ "dryRun": { "type": "boolean" }, "mode": { "enum": ["fast"] } }));
    let clear = validate_with(config.clone(), schema(), r#"{"dry_run":"true","mode":"FAST"}"#);
    assert!(clear.is_valid && clear.repaired);
    assert_eq!(clear.arguments().unwrap().get(), r#"{"dryRun":true,"mode":"fast"}"#);
    assert_eq!(clear.edits.len(), 3, "every edit is reported");
    let fuzzy = validate_with(config, schema(), r#"{"dryRnu":true}"#);
    assert!(!fuzzy.is_valid && !fuzzy.repaired);
    assert!(fuzzy.arguments().is_none());
    assert_eq!(fuzzy.corrected.unwrap().arguments.get(), r#"{"dryRun":true}"#);
}

/// Whether `Apply` changes the call instead of rejecting it.
fn is_applied(schema: Value, arguments: &str) -> bool {
    let config = ValidationConfig { repair: Repair::Apply, ..ValidationConfig::default() };
    validate_with(config, schema, arguments).repaired
}

#[test]
fn text_that_may_be_a_list_or_no_value_is_not_wrapped_automatically() {
    let items = json!({ "type": "array", "items": { "type": "string" } });
    let list = || json!({ "properties": { "v": items }, "required": ["v"] });
    for text in
        ["", " ", "null", "None", "undefined", "a,b", "a; b", "a\nb", "[", "[a", "{\"a\"", "'a'"]
    {
        let arguments = json!({ "v": text }).to_string();
        assert!(!is_applied(list(), &arguments), "{arguments}");
    }
    for text in ["a", "two words", "src/main.rs", "C:\\x", "2024-01-01", "a.b@c.de"] {
        let arguments = json!({ "v": text }).to_string();
        assert!(is_applied(list(), &arguments), "{arguments}");
    }
}

#[test]
fn value_that_could_become_one_of_two_types_is_not_converted_automatically() {
    let either = || properties(json!({ "v": { "type": ["integer", "string"] } }));
    assert!(!is_applied(either(), r#"{"v":true}"#));
    let optional = || properties(json!({ "v": { "type": ["string", "null"] } }));
    assert!(is_applied(optional(), r#"{"v":true}"#));
}
