//! Finds the schema of a field in the schema of a tool.

use serde_json::Value;

/// Maximum number of subschemas visited; schemas come from a peer.
const MAX_VISITED: usize = 2000;
const COMBINERS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Returns the schema of the value at a JSON Pointer within the arguments.
pub(crate) fn find<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut visited = 0;
    let mut found = vec![root];
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let mut next = Vec::new();
        while let Some(schema) = found.pop() {
            visited += 1;
            if visited > MAX_VISITED {
                return None;
            }
            next.extend(child(schema, &token));
            found.extend(alternatives(root, schema));
        }
        found = next;
        found.reverse();
    }
    found.into_iter().next_back().map(|schema| resolve(root, schema))
}

/// Returns the schema that applies to a member or element.
fn child<'s>(schema: &'s Value, token: &str) -> Option<&'s Value> {
    let by_name = schema.get("properties").and_then(|properties| properties.get(token));
    let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    let element = || schema.get("items").filter(|items| is_index && items.is_object());
    let other = || schema.get("additionalProperties").filter(|other| other.is_object());
    by_name.or_else(element).or_else(other)
}

fn alternatives<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let lists = COMBINERS.iter().filter_map(|name| schema.get(name)?.as_array());
    let mut all: Vec<&Value> = lists.flatten().collect();
    let target = resolve(root, schema);
    if !std::ptr::eq(target, schema) {
        all.push(target);
    }
    all
}

/// Follows one local reference.
fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let reference =
        schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    reference.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::find;
    use serde_json::json;

    #[test]
    fn field_is_found_through_references_and_combiners() {
        let schema = json!({
            "$defs": { "place": { "properties": { "city": { "type": "string" } } } },
            "properties": { "list": { "type": "array", "items": { "$ref": "#/$defs/place" } } },
            "anyOf": [{ "properties": { "a/b": { "const": 1 } } }]
        });
        assert_eq!(find(&schema, "/list/0/city"), Some(&json!({ "type": "string" })));
        assert_eq!(find(&schema, "/a~1b"), Some(&json!({ "const": 1 })));
        assert_eq!(find(&schema, "/missing"), None);
        assert_eq!(find(&schema, ""), Some(&schema));
    }

    #[test]
    fn circular_schema_ends() {
        let schema = json!({ "$ref": "#", "anyOf": [{ "$ref": "#" }] });
        assert_eq!(find(&schema, "/a"), None);
    }
}
