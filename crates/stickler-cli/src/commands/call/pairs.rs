//! Arguments in the form `key=value`, converted to the types in the schema of the tool.

use serde_json::Value;

/// Maximum depth of references and alternatives.
const MAX_DEPTH: usize = 8;

/// Splits each argument into name and value.
pub(super) fn read(pairs: &[String]) -> Result<Vec<(String, String)>, String> {
    let cut = |pair: &String| match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{pair}` is not a valid argument: use `key=value` or `--args JSON`")),
    };
    pairs.iter().map(cut).collect()
}

/// Converts a text to a value: a string if the schema accepts one or has no type, otherwise the parsed JSON
/// if its type is accepted. Any other text stays a string, and validation reports the expected type.
pub(super) fn typed(schema: &Value, name: &str, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    let Some(property) = schema.get("properties").and_then(|all| all.get(name)) else {
        return as_text();
    };
    let mut types = Vec::new();
    collect_types(schema, property, MAX_DEPTH, &mut types);
    if types.is_empty() || types.contains(&"string") {
        return as_text();
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if types.iter().any(|kind| is_of(kind, &value)) => value,
        _ => as_text(),
    }
}

/// Collects the types that a schema mentions for a value.
fn collect_types<'s>(root: &'s Value, schema: &'s Value, depth: usize, types: &mut Vec<&'s str>) {
    if depth == 0 {
        return;
    }
    match schema.get("type") {
        Some(Value::String(one)) => types.push(one),
        Some(Value::Array(several)) => types.extend(several.iter().filter_map(Value::as_str)),
        _ => {}
    }
    let constants = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    for constant in constants.chain(schema.get("const")) {
        types.push(type_of(constant));
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().filter_map(|name| schema.get(name));
    for part in alternatives.filter_map(Value::as_array).flatten() {
        collect_types(root, part, depth - 1, types);
    }
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|one| root.pointer(one.strip_prefix('#')?));
    if let Some(target) = target {
        collect_types(root, target, depth - 1, types);
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    // Validation checks whether a number is an integer.
    type_of(value) == kind || (kind == "integer" && value.is_number())
}

#[cfg(test)]
mod tests {
    use super::{read, typed};
    use serde_json::json;

    #[test]
    fn values_are_converted_to_the_schema_types() {
        let schema = json!({
            "properties": {
                "text": { "type": "string" },
                "count": { "type": "integer" },
                "flag": { "type": "boolean" },
                "list": { "type": "array" },
                "maybe": { "anyOf": [{ "type": "number" }, { "type": "null" }] },
                "mode": { "$ref": "#/$defs/Mode" },
                "level": { "enum": [1, 2] },
                "any": {}
            },
            "$defs": { "Mode": { "type": "object" } }
        });
        let cases = [
            ("text", "5", json!("5")),
            ("text", "true", json!("true")),
            ("count", "5", json!(5)),
            ("count", "5.5", json!(5.5)),
            ("count", "five", json!("five")),
            ("flag", "true", json!(true)),
            ("flag", "1", json!("1")),
            ("list", "[1,\"a\"]", json!([1, "a"])),
            ("maybe", "1.5", json!(1.5)),
            ("maybe", "null", json!(null)),
            ("mode", "{\"a\":1}", json!({ "a": 1 })),
            ("level", "2", json!(2)),
            ("any", "5", json!("5")),
            ("unknown", "5", json!("5")),
        ];
        for (name, text, expected) in cases {
            assert_eq!(typed(&schema, name, text), expected, "{name}={text}");
        }
    }

    #[test]
    fn argument_without_a_name_is_rejected() {
        let pair = |text: &str| read(&[text.to_owned()]);
        assert_eq!(pair("a=b=c"), Ok(vec![("a".to_owned(), "b=c".to_owned())]));
        assert_eq!(pair("a="), Ok(vec![("a".to_owned(), String::new())]));
        assert!(pair("=b").is_err() && pair("a").is_err());
    }
}
