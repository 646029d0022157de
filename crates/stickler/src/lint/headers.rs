//! `x-mcp-header`: parameters that are repeated in HTTP headers.

use std::collections::HashMap;

use serde_json::Value;

use super::places::{Place, Role};
use super::report::Findings;
use crate::rules::tools;

const KEYWORD: &str = "x-mcp-header";

pub(super) fn check(places: &[Place<'_>], findings: &mut Findings) {
    let mut names: HashMap<String, String> = HashMap::new();
    for place in places {
        let Some(annotation) = place.get(KEYWORD) else { continue };
        let path = format!("{}/{KEYWORD}", place.pointer);
        if let Some(problem) = problem(place, annotation) {
            findings.add(&tools::HEADER_ANNOTATION, path, problem);
            continue;
        }
        // Header names have no case.
        let name = annotation.as_str().unwrap_or_default().to_ascii_lowercase();
        if let Some(first) = names.get(&name) {
            let message = format!("{annotation} is also the header of `{first}`");
            findings.add(&tools::HEADER_ANNOTATION, path, message);
        } else {
            names.insert(name, place.pointer.clone());
        }
    }
}

fn problem(place: &Place<'_>, annotation: &Value) -> Option<String> {
    let Some(name) = annotation.as_str() else {
        return Some(format!("{annotation} is not a string"));
    };
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some(format!("{annotation} cannot be part of a header's name"));
    }
    if !matches!(place.role, Role::Parameter(_)) || !place.is_plain() {
        return Some("it stands elsewhere than on a plain parameter of the tool".to_owned());
    }
    let is_primitive = match place.get("type") {
        Some(Value::String(one)) => is_primitive(one),
        Some(Value::Array(several)) => {
            !several.is_empty()
                && several
                    .iter()
                    .all(|one| one.as_str().is_some_and(|one| is_primitive(one) || one == "null"))
        }
        _ => false,
    };
    (!is_primitive).then(|| "the parameter is no string, integer or boolean".to_owned())
}

fn is_primitive(name: &str) -> bool {
    matches!(name, "string" | "integer" | "boolean")
}

/// The characters of a header's name (RFC 9110).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, one, with_parameter};
    use serde_json::json;

    #[test]
    fn annotations_that_are_allowed() {
        for kind in ["string", "integer", "boolean"] {
            let parameter = json!({ "type": kind, "x-mcp-header": "Region" });
            assert_eq!(found(with_parameter(parameter)), [], "{kind}");
        }
    }

    #[test]
    fn annotations_that_are_not() {
        let path = "/inputSchema/properties/a/x-mcp-header";
        for parameter in [
            json!({ "type": "string", "x-mcp-header": "my region" }),
            json!({ "type": "string", "x-mcp-header": "" }),
            json!({ "type": "string", "x-mcp-header": true }),
            json!({ "type": "number", "x-mcp-header": "N" }),
            json!({ "type": "array", "items": { "type": "string" }, "x-mcp-header": "N" }),
        ] {
            let found = found(with_parameter(parameter.clone()));
            assert_eq!(found, one("header-annotation", "error", path), "{parameter}");
        }
        let inner = json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "N" } });
        let path = "/inputSchema/properties/a/items/x-mcp-header";
        assert_eq!(found(with_parameter(inner)), one("header-annotation", "error", path));
    }

    #[test]
    fn headers_given_twice() {
        let mut tool = with_parameter(json!({ "type": "string", "x-mcp-header": "N" }));
        tool["inputSchema"]["properties"]["b"] =
            json!({ "type": "string", "description": "b", "x-mcp-header": "n" });
        let path = "/inputSchema/properties/b/x-mcp-header";
        assert_eq!(found(tool), one("header-annotation", "error", path));
    }
}
