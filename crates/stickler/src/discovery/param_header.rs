//! Tool parameters that HTTP headers repeat: properties with `x-mcp-header`.

use std::borrow::Cow;

use serde_json::Value;

use crate::tape::{Kind, Node};

/// Nesting depth up to which properties are searched.
const MAX_DEPTH: usize = 64;

/// A property that an HTTP header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeader {
    path: Vec<Box<str>>,
    /// The header name after `Mcp-Param-`.
    header: Box<str>,
}

impl ParamHeader {
    /// Returns the annotated properties of a schema. Returns none if an annotation is invalid, because a
    /// client then cannot determine which headers to send.
    pub fn of(schema: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        let all_valid = collect(schema, &mut Vec::new(), &mut found).is_some();
        let mut names: Vec<String> =
            found.iter().map(|one| one.header.to_ascii_lowercase()).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        if all_valid && names.len() == before { found } else { Vec::new() }
    }

    /// Returns the value of the property in a call, formatted for the header.
    fn value(&self, arguments: Node<'_>) -> Option<String> {
        let value = self.path.iter().try_fold(arguments, |node, name| node.get(name))?;
        text(value)
    }
}

/// Collects the annotated properties; returns `None` if an annotation is invalid.
fn collect(schema: &Value, path: &mut Vec<Box<str>>, found: &mut Vec<ParamHeader>) -> Option<()> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Some(());
    };
    if path.len() >= MAX_DEPTH {
        return Some(());
    }
    for (name, property) in properties {
        path.push(name.as_str().into());
        match property.get("x-mcp-header") {
            Some(header) => {
                let header = header.as_str().filter(|header| is_token(header))?.into();
                if !is_primitive(property) {
                    return None;
                }
                found.push(ParamHeader { path: path.clone(), header });
            }
            None => collect(property, path, found)?,
        }
        path.pop();
    }
    Some(())
}

/// Whether the name is an HTTP token.
fn is_token(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

/// Whether headers can repeat the property. Excludes `number`, which has no canonical text form.
fn is_primitive(property: &Value) -> bool {
    matches!(
        property.get("type").and_then(Value::as_str),
        None | Some("string" | "integer" | "boolean")
    )
}

/// Returns the header names and values for the arguments of a call.
pub fn param_header_values(
    param_headers: &[ParamHeader],
    params: Option<Node<'_>>,
) -> Vec<(String, String)> {
    let Some(arguments) = params.and_then(|params| params.get("arguments")) else {
        return Vec::new();
    };
    let repeated = param_headers.iter().filter(|_| arguments.kind() == Kind::Object);
    repeated.filter_map(|one| Some((one.header.to_string(), one.value(arguments)?))).collect()
}

fn text(value: Node<'_>) -> Option<String> {
    match value.kind() {
        Kind::String => value.as_str().map(Cow::into_owned),
        Kind::Number | Kind::Boolean => Some(value.raw().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::ParamHeader;
    use serde_json::{Value, json};

    fn headers(properties: &Value) -> Vec<String> {
        let schema = json!({ "type": "object", "properties": properties });
        ParamHeader::of(&schema).into_iter().map(|one| one.header.into()).collect()
    }

    #[test]
    fn invalid_annotation_disables_all_param_headers() {
        let string = |header: Value| json!({ "type": "string", "x-mcp-header": header });
        let inner = json!({ "type": "object", "properties": { "b": string("B".into()) } });
        assert_eq!(headers(&json!({ "a": string("A".into()), "in": inner })), ["A", "B"]);
        for invalid in [json!("Bad Name"), json!(""), json!(7), json!("ä")] {
            assert!(
                headers(&json!({ "a": string("A".into()), "b": string(invalid.clone()) }))
                    .is_empty()
            );
        }
        assert!(headers(&json!({ "a": string("D".into()), "b": string("d".into()) })).is_empty());
        assert!(headers(&json!({ "a": { "type": "number", "x-mcp-header": "A" } })).is_empty());
        assert!(headers(&json!({ "a": { "type": "array", "x-mcp-header": "A" } })).is_empty());
    }
}
