//! Checks `x-mcp-header`, the annotation of parameters that are repeated in HTTP headers.

use std::collections::HashMap;

use serde_json::Value;

use super::report::Findings;
use super::subschemas::{Role, Subschema};
use crate::rules::tools;

const KEYWORD: &str = "x-mcp-header";

pub(super) fn check(subschemas: &[Subschema<'_>], findings: &mut Findings) {
    let mut names: HashMap<String, String> = HashMap::new();
    for subschema in subschemas {
        let Some(annotation) = subschema.get(KEYWORD) else { continue };
        let path = format!("{}/{KEYWORD}", subschema.pointer);
        if let Some(problem) = problem(subschema, annotation) {
            findings.add(&tools::HEADER_ANNOTATION, path, problem);
            continue;
        }
        // Header names are case-insensitive.
        let name = annotation.as_str().unwrap_or_default().to_ascii_lowercase();
        if let Some(first) = names.get(&name) {
            let message = format!("`{first}` has the same header, {annotation}");
            findings.add(&tools::HEADER_ANNOTATION, path, message);
        } else {
            names.insert(name, subschema.pointer.clone());
        }
    }
}

fn problem(subschema: &Subschema<'_>, annotation: &Value) -> Option<String> {
    let Some(name) = annotation.as_str() else {
        return Some(format!("{annotation} is not a string"));
    };
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some(format!("{annotation} is not a valid header name"));
    }
    if !matches!(subschema.role, Role::Parameter(_)) || !subschema.is_reached_through_properties() {
        return Some(
            "only parameters that are reached through `properties` alone can have a header"
                .to_owned(),
        );
    }
    let is_primitive = match subschema.get("type") {
        Some(Value::String(one)) => is_primitive(one),
        Some(Value::Array(several)) => {
            !several.is_empty()
                && several
                    .iter()
                    .all(|one| one.as_str().is_some_and(|one| is_primitive(one) || one == "null"))
        }
        _ => false,
    };
    (!is_primitive).then(|| "the parameter is not a string, integer or boolean".to_owned())
}

fn is_primitive(name: &str) -> bool {
    matches!(name, "string" | "integer" | "boolean")
}

/// Whether a byte may occur in a header name (RFC 9110).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{single, tool_findings, with_parameter};
    use serde_json::json;

    #[test]
    fn valid_header_annotations_are_accepted() {
        for kind in ["string", "integer", "boolean"] {
            let parameter = json!({ "type": kind, "x-mcp-header": "Region" });
            assert_eq!(tool_findings(with_parameter(parameter)), [], "{kind}");
        }
    }

    #[test]
    fn invalid_header_annotations_are_reported() {
        let path = "/inputSchema/properties/a/x-mcp-header";
        for parameter in [
            json!({ "type": "string", "x-mcp-header": "my region" }),
            json!({ "type": "string", "x-mcp-header": "" }),
            json!({ "type": "string", "x-mcp-header": true }),
            json!({ "type": "number", "x-mcp-header": "N" }),
            json!({ "type": "array", "items": { "type": "string" }, "x-mcp-header": "N" }),
        ] {
            let found = tool_findings(with_parameter(parameter.clone()));
            assert_eq!(found, single("header-annotation", "error", path), "{parameter}");
        }
        let inner = json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "N" } });
        let path = "/inputSchema/properties/a/items/x-mcp-header";
        assert_eq!(
            tool_findings(with_parameter(inner)),
            single("header-annotation", "error", path)
        );
    }

    #[test]
    fn duplicate_headers_are_reported() {
        let mut tool = with_parameter(json!({ "type": "string", "x-mcp-header": "N" }));
        tool["inputSchema"]["properties"]["b"] =
            json!({ "type": "string", "description": "b", "x-mcp-header": "n" });
        let path = "/inputSchema/properties/b/x-mcp-header";
        assert_eq!(tool_findings(tool), single("header-annotation", "error", path));
    }
}
