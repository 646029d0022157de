//! Checks that parameters have the type and description that a model needs.

use serde_json::Value;

use super::report::Findings;
use super::subschemas::{Role, Subschema};
use crate::rules::{Severity, tools};
use crate::suggest::nearest;

/// Keywords that restrict the type of a value.
const TYPE_KEYWORDS: [&str; 11] = [
    "type",
    "enum",
    "const",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
];

/// Keywords that define whether unlisted fields are allowed.
const UNLISTED_FIELD_KEYWORDS: [&str; 3] =
    ["additionalProperties", "unevaluatedProperties", "patternProperties"];

/// Keywords that apply other schemas to the same value.
const IN_PLACE_KEYWORDS: [&str; 9] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "anyOf",
    "oneOf",
    "allOf",
    "if",
    "dependentSchemas",
    "dependencies",
];

pub(super) fn check(subschemas: &[Subschema<'_>], findings: &mut Findings) {
    for subschema in
        subschemas.iter().filter(|subschema| subschema.is_asserted && !subschema.is_conditional)
    {
        if let Role::Parameter(name) = subschema.role {
            parameter(subschema, name, findings);
        }
        let listed = subschema.get("properties").and_then(Value::as_object);
        if listed.is_some_and(|listed| !listed.is_empty())
            && !subschema.has(&UNLISTED_FIELD_KEYWORDS)
        {
            let message =
                "the object does not define whether fields outside `properties` are allowed";
            findings.add(&tools::OPEN_OBJECT, subschema.pointer.clone(), message);
        }
        if !subschema.has(&IN_PLACE_KEYWORDS) {
            required(subschema, findings);
        }
    }
}

fn parameter(subschema: &Subschema<'_>, name: &str, findings: &mut Findings) {
    // `false` forbids the field.
    if subschema.schema == &Value::Bool(false) {
        return;
    }
    let text = |keyword: &str| subschema.get(keyword).and_then(Value::as_str).unwrap_or_default();
    let is_described = !text("description").trim().is_empty();
    // A constant needs no description, and a referenced schema may contain one.
    if !is_described && !subschema.has(&["const", "$ref"]) {
        let message = format!("the parameter `{name}` does not have a description");
        findings.add(&tools::UNDESCRIBED_PARAMETER, subschema.pointer.clone(), message);
    }
    if !subschema.has(&TYPE_KEYWORDS) {
        let message = format!("the parameter `{name}` does not have a type");
        let finding = findings.add(&tools::UNTYPED_PARAMETER, subschema.pointer.clone(), message);
        if subschema.has(&["properties", "additionalProperties"]) {
            finding.fix("Write `\"type\": \"object\"`.");
        } else if subschema.has(&["items"]) {
            finding.fix("Write `\"type\": \"array\"`.");
        }
    }
}

fn required(subschema: &Subschema<'_>, findings: &mut Findings) {
    let Some(Value::Array(required)) = subschema.get("required") else { return };
    let Some(Value::Object(listed)) = subschema.get("properties") else { return };
    if subschema.has(&["patternProperties"]) {
        return;
    }
    for (index, name) in required.iter().enumerate() {
        let Some(name) = name.as_str().filter(|name| !listed.contains_key(*name)) else { continue };
        let path = format!("{}/required/{index}", subschema.pointer);
        let candidates = nearest(name, listed.keys().map(String::as_str), 3);
        let hint = candidates
            .first()
            .map_or_else(String::new, |candidate| format!("; did you mean `{}`?", candidate.name));
        let message = format!("`{name}` is required, but `properties` does not list it{hint}");
        let finding = findings.add(&tools::REQUIRED_NOT_LISTED, path, message);
        if subschema.is_required
            && subschema.get("additionalProperties") == Some(&Value::Bool(false))
        {
            finding.severity(Severity::Error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{list_findings, single, tool, tool_findings, with_parameter};
    use serde_json::json;

    const PARAMETER: &str = "/inputSchema/properties/a";

    #[test]
    fn undescribed_parameters_are_reported() {
        let bare = json!({ "type": "string", "description": " " });
        assert_eq!(
            tool_findings(with_parameter(bare)),
            single("undescribed-parameter", "note", PARAMETER)
        );
        let constant = json!({ "const": 1, "description": "" });
        assert_eq!(tool_findings(with_parameter(constant)), []);
    }

    #[test]
    fn untyped_parameters_are_reported() {
        for untyped in [json!({}), json!({ "format": "date" }), json!({ "minimum": 3 })] {
            let found = tool_findings(with_parameter(untyped));
            assert_eq!(found, single("untyped-parameter", "warning", PARAMETER));
        }
        let choice = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
        assert_eq!(tool_findings(with_parameter(choice)), []);
    }

    #[test]
    fn open_objects_are_reported() {
        let mut open = with_parameter(json!({ "type": "string" }));
        open["inputSchema"].as_object_mut().unwrap().remove("additionalProperties");
        assert_eq!(tool_findings(open), single("open-object", "note", "/inputSchema"));
        let inner = json!({
            "type": "object", "properties": { "b": { "type": "string", "description": "b" } },
        });
        assert_eq!(tool_findings(with_parameter(inner)), single("open-object", "note", PARAMETER));
    }

    #[test]
    fn required_fields_missing_from_properties_are_reported() {
        let mut missing = with_parameter(json!({ "type": "string" }));
        missing["inputSchema"]["required"] = json!(["a", "aa_name"]);
        let findings = tool_findings(missing.clone());
        let expected = single("required-not-listed", "error", "/inputSchema/required/1");
        assert!(findings.contains(&expected[0]), "{findings:?}");
        missing["inputSchema"]["additionalProperties"] = true.into();
        let expected = single("required-not-listed", "warning", "/inputSchema/required/1");
        assert_eq!(tool_findings(missing), expected);
        let misspelt = tool(&json!({
            "type": "object", "required": ["pth"], "additionalProperties": true,
            "properties": { "path": { "type": "string", "description": "p" } },
        }));
        assert!(list_findings(&json!([misspelt]))[0].message.ends_with("did you mean `path`?"));
    }

    #[test]
    fn branches_may_require_fields_of_the_parent() {
        let tool = tool(&json!({
            "type": "object", "additionalProperties": false,
            "properties": { "x": {
                "type": "object", "description": "x", "additionalProperties": true,
                "properties": { "a": { "type": "string", "description": "a" } },
                "anyOf": [{ "required": ["b"], "properties": { "c": {} } }],
            } },
        }));
        assert_eq!(tool_findings(tool), []);
    }
}
