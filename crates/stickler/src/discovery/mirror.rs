//! Properties of a tool's schema that HTTP headers repeat: those with `x-mcp-header`.

use std::borrow::Cow;

use serde_json::Value;

use crate::tape::{Kind, Node};

/// Deeper schemas have no parameters that are mirrored.
const DEEPEST: usize = 64;

/// A property that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    path: Vec<Box<str>>,
    /// The header's own part of its name.
    header: Box<str>,
}

impl Mirror {
    /// Those of a schema; none where one of them is not what the protocol lets it be, because then no
    /// client can know what to send.
    pub fn of(schema: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        let are_sound = collect(schema, &mut Vec::new(), &mut found).is_some();
        let mut names: Vec<String> =
            found.iter().map(|one| one.header.to_ascii_lowercase()).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        if are_sound && names.len() == before { found } else { Vec::new() }
    }

    /// The value that the header repeats, where the call has one.
    fn value(&self, arguments: Node<'_>) -> Option<String> {
        let value = self.path.iter().try_fold(arguments, |node, name| node.get(name))?;
        text(value)
    }
}

/// `None` when something is annotated that cannot be.
fn collect(schema: &Value, path: &mut Vec<Box<str>>, found: &mut Vec<Mirror>) -> Option<()> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Some(());
    };
    if path.len() >= DEEPEST {
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
                found.push(Mirror { path: path.clone(), header });
            }
            None => collect(property, path, found)?,
        }
        path.pop();
    }
    Some(())
}

/// What the name of a header can be made of.
fn is_token(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

/// Numbers are none: they have no one way to be written.
fn is_primitive(property: &Value) -> bool {
    matches!(
        property.get("type").and_then(Value::as_str),
        None | Some("string" | "integer" | "boolean")
    )
}

/// The arguments of a call that headers repeat, with the names of those headers.
pub fn mirrored(mirrors: &[Mirror], params: Option<Node<'_>>) -> Vec<(String, String)> {
    let Some(arguments) = params.and_then(|params| params.get("arguments")) else {
        return Vec::new();
    };
    let repeated = mirrors.iter().filter(|_| arguments.kind() == Kind::Object);
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
    use super::Mirror;
    use serde_json::{Value, json};

    fn headers(properties: &Value) -> Vec<String> {
        let schema = json!({ "type": "object", "properties": properties });
        Mirror::of(&schema).into_iter().map(|one| one.header.into()).collect()
    }

    #[test]
    fn only_what_a_client_can_send_is_wanted() {
        let string = |header: Value| json!({ "type": "string", "x-mcp-header": header });
        let inner = json!({ "type": "object", "properties": { "b": string("B".into()) } });
        assert_eq!(headers(&json!({ "a": string("A".into()), "in": inner })), ["A", "B"]);
        for odd in [json!("Bad Name"), json!(""), json!(7), json!("ä")] {
            assert!(
                headers(&json!({ "a": string("A".into()), "b": string(odd.clone()) })).is_empty()
            );
        }
        assert!(headers(&json!({ "a": string("D".into()), "b": string("d".into()) })).is_empty());
        assert!(headers(&json!({ "a": { "type": "number", "x-mcp-header": "A" } })).is_empty());
        assert!(headers(&json!({ "a": { "type": "array", "x-mcp-header": "A" } })).is_empty());
    }
}
