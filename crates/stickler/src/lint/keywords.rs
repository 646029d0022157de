//! Keywords that no dialect knows.

use serde_json::Value;

use super::places::Place;
use super::report::Findings;
use crate::rules::{Severity, tools};
use crate::suggest::nearest;
use crate::tape::escape_segment;

/// Everything that one of the dialects from draft-03 to 2020-12 knows.
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

/// Keywords of OpenAPI's that are often taken for JSON Schema's, with what to write instead.
const OPENAPI: &[(&str, &str)] = &[
    ("discriminator", "Give each branch a `const` in the field that tells them apart."),
    ("example", "Write `\"examples\": […]`."),
    ("externalDocs", "Put the link into the description."),
    ("nullable", "Write `\"type\": [\"string\", \"null\"]`, with the type that is meant."),
    ("xml", "Drop it."),
];

pub(super) fn check(places: &[Place<'_>], findings: &mut Findings) {
    for place in places {
        let Value::Object(keywords) = place.schema else { continue };
        for keyword in keywords.keys() {
            if KNOWN.contains(&keyword.as_str()) || keyword.starts_with("x-") {
                continue;
            }
            let path = format!("{}/{}", place.pointer, escape_segment(keyword));
            unknown(keyword, path, findings);
        }
    }
}

fn unknown(keyword: &str, path: String, findings: &mut Findings) {
    if let Some((_, instead)) = OPENAPI.iter().find(|(name, _)| *name == keyword) {
        let message = format!("`{keyword}` is OpenAPI's, and no keyword of JSON Schema");
        findings.add(&tools::UNKNOWN_KEYWORD, path, message).fix(*instead);
        return;
    }
    // Short words are near to everything.
    let reach = if keyword.chars().count() < 6 { 1 } else { 2 };
    let candidates = nearest(keyword, KNOWN.iter().copied(), reach);
    if let Some(meant) = candidates.first() {
        let message =
            format!("`{keyword}` is no keyword of JSON Schema; did you mean `{}`?", meant.name);
        let finding = findings.add(&tools::UNKNOWN_KEYWORD, path, message);
        finding.severity(Severity::Warning).fix(format!("Write `{}`.", meant.name));
    } else {
        let message = format!("`{keyword}` is no keyword of JSON Schema and is ignored");
        findings.add(&tools::UNKNOWN_KEYWORD, path, message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, found, one, with_parameter};
    use serde_json::json;

    #[test]
    fn misspelt_keywords() {
        let tool = with_parameter(json!({ "type": "string", "maxlenght": 3 }));
        let path = "/inputSchema/properties/a/maxlenght";
        assert_eq!(found(tool.clone()), one("unknown-keyword", "warning", path));
        assert!(findings(&json!([tool]))[0].message.ends_with("did you mean `maxLength`?"));
    }

    #[test]
    fn keywords_of_ones_own() {
        assert_eq!(found(with_parameter(json!({ "type": "string", "x-order": 3 }))), []);
        let path = "/inputSchema/properties/a/propertyOrdering";
        let tool = with_parameter(json!({ "type": "string", "propertyOrdering": [] }));
        assert_eq!(found(tool), one("unknown-keyword", "note", path));
    }

    #[test]
    fn keywords_of_openapi() {
        let tool = with_parameter(json!({ "type": "string", "nullable": true }));
        assert!(findings(&json!([tool]))[0].fix.contains("\"null\""));
    }
}
