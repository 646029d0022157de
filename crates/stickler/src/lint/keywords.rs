//! Reports keywords that no dialect of JSON Schema defines.

use serde_json::Value;

use super::report::Findings;
use super::subschemas::Subschema;
use crate::rules::{Severity, tools};
use crate::suggest::nearest;
use crate::tape::escape_segment;

/// All keywords of the dialects from draft-03 to 2020-12.
const KNOWN: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "disallow",
    "divisibleBy",
    "else",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "extends",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];

/// OpenAPI keywords that are often confused with JSON Schema, with the replacement.
const OPENAPI: &[(&str, &str)] = &[
    ("discriminator", "Add a `const` to the distinguishing field of each branch."),
    ("example", "Write `\"examples\": […]`."),
    ("externalDocs", "Put the link into the description."),
    ("nullable", "Write `\"type\": [\"string\", \"null\"]`, with the intended type."),
    ("xml", "Remove it."),
];

pub(super) fn check(subschemas: &[Subschema<'_>], findings: &mut Findings) {
    for subschema in subschemas {
        let Value::Object(keywords) = subschema.schema else { continue };
        for keyword in keywords.keys() {
            if KNOWN.contains(&keyword.as_str()) || keyword.starts_with("x-") {
                continue;
            }
            let path = format!("{}/{}", subschema.pointer, escape_segment(keyword));
            unknown(keyword, path, findings);
        }
    }
}

fn unknown(keyword: &str, path: String, findings: &mut Findings) {
    if let Some((_, replacement)) = OPENAPI.iter().find(|(name, _)| *name == keyword) {
        let message =
            format!("`{keyword}` is an OpenAPI keyword, which JSON Schema does not define");
        findings.add(&tools::UNKNOWN_KEYWORD, path, message).fix(*replacement);
        return;
    }
    // Short words are similar to too many keywords.
    let max_distance = if keyword.chars().count() < 6 { 1 } else { 2 };
    let candidates = nearest(keyword, KNOWN.iter().copied(), max_distance);
    if let Some(nearest) = candidates.first() {
        let message = format!(
            "`{keyword}` is not a keyword of JSON Schema; did you mean `{}`?",
            nearest.name
        );
        let finding = findings.add(&tools::UNKNOWN_KEYWORD, path, message);
        finding.severity(Severity::Warning).fix(format!("Write `{}`.", nearest.name));
    } else {
        let message = format!("`{keyword}` is not a keyword of JSON Schema and is ignored");
        findings.add(&tools::UNKNOWN_KEYWORD, path, message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{list_findings, single, tool_findings, with_parameter};
    use serde_json::json;

    #[test]
    fn misspelt_keywords_are_reported_with_a_suggestion() {
        let tool = with_parameter(json!({ "type": "string", "maxlenght": 3 }));
        let path = "/inputSchema/properties/a/maxlenght";
        assert_eq!(tool_findings(tool.clone()), single("unknown-keyword", "warning", path));
        assert!(list_findings(&json!([tool]))[0].message.ends_with("did you mean `maxLength`?"));
    }

    #[test]
    fn custom_keywords_need_the_x_prefix() {
        assert_eq!(tool_findings(with_parameter(json!({ "type": "string", "x-order": 3 }))), []);
        let path = "/inputSchema/properties/a/propertyOrdering";
        let tool = with_parameter(json!({ "type": "string", "propertyOrdering": [] }));
        assert_eq!(tool_findings(tool), single("unknown-keyword", "note", path));
    }

    #[test]
    fn openapi_keywords_are_reported_with_a_replacement() {
        let tool = with_parameter(json!({ "type": "string", "nullable": true }));
        assert!(list_findings(&json!([tool]))[0].fix.contains("\"null\""));
    }
}
