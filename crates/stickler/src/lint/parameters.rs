//! What a model has to know about parameters.

use serde_json::Value;

use super::places::{Place, Role};
use super::report::Findings;
use crate::rules::{Severity, tools};
use crate::suggest::nearest;

/// Keywords that say what kind of value is wanted.
const TELLING: [&str; 11] = [
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

/// Keywords that say what becomes of fields that are not listed.
const CLOSING: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

/// Keywords by which others have a say about the same value.
const JOINING: [&str; 9] = [
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

pub(super) fn check(places: &[Place<'_>], findings: &mut Findings) {
    for place in places.iter().filter(|place| place.is_asserted && !place.is_conditional) {
        if let Role::Parameter(name) = place.role {
            parameter(place, name, findings);
        }
        let listed = place.get("properties").and_then(Value::as_object);
        if listed.is_some_and(|listed| !listed.is_empty()) && !place.has(&CLOSING) {
            let message = "it lists properties and does not say whether others are allowed";
            findings.add(&tools::OPEN_OBJECT, place.pointer.clone(), message);
        }
        if !place.has(&JOINING) {
            required(place, findings);
        }
    }
}

fn parameter(place: &Place<'_>, name: &str, findings: &mut Findings) {
    // `false` stands for a field that must not be there.
    if place.schema == &Value::Bool(false) {
        return;
    }
    let text = |keyword: &str| place.get(keyword).and_then(Value::as_str).unwrap_or_default();
    let is_described = !text("description").trim().is_empty();
    // A constant speaks for itself, and what is referred to may be described there.
    if !is_described && !place.has(&["const", "$ref"]) {
        let message = format!("the parameter `{name}` has no description");
        findings.add(&tools::UNDESCRIBED_PARAMETER, place.pointer.clone(), message);
    }
    if !place.has(&TELLING) {
        let message = format!("the parameter `{name}` has no type");
        let finding = findings.add(&tools::UNTYPED_PARAMETER, place.pointer.clone(), message);
        if place.has(&["properties", "additionalProperties"]) {
            finding.fix("Write `\"type\": \"object\"`.");
        } else if place.has(&["items"]) {
            finding.fix("Write `\"type\": \"array\"`.");
        }
    }
}

fn required(place: &Place<'_>, findings: &mut Findings) {
    let Some(Value::Array(required)) = place.get("required") else { return };
    let Some(Value::Object(listed)) = place.get("properties") else { return };
    if place.has(&["patternProperties"]) {
        return;
    }
    for (index, name) in required.iter().enumerate() {
        let Some(name) = name.as_str().filter(|name| !listed.contains_key(*name)) else { continue };
        let path = format!("{}/required/{index}", place.pointer);
        let candidates = nearest(name, listed.keys().map(String::as_str), 3);
        let meant = candidates
            .first()
            .map_or_else(String::new, |candidate| format!("; did you mean `{}`?", candidate.name));
        let message = format!("`{name}` is required, but `properties` does not list it{meant}");
        let finding = findings.add(&tools::REQUIRED_NOT_LISTED, path, message);
        if place.is_required && place.get("additionalProperties") == Some(&Value::Bool(false)) {
            finding.severity(Severity::Error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, found, one, tool, with_parameter};
    use serde_json::json;

    const PARAMETER: &str = "/inputSchema/properties/a";

    #[test]
    fn descriptions() {
        let bare = json!({ "type": "string", "description": " " });
        assert_eq!(found(with_parameter(bare)), one("undescribed-parameter", "note", PARAMETER));
        let constant = json!({ "const": 1, "description": "" });
        assert_eq!(found(with_parameter(constant)), []);
    }

    #[test]
    fn types() {
        for untyped in [json!({}), json!({ "format": "date" }), json!({ "minimum": 3 })] {
            let found = found(with_parameter(untyped));
            assert_eq!(found, one("untyped-parameter", "warning", PARAMETER));
        }
        let choice = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
        assert_eq!(found(with_parameter(choice)), []);
    }

    #[test]
    fn open_objects() {
        let mut open = with_parameter(json!({ "type": "string" }));
        open["inputSchema"].as_object_mut().unwrap().remove("additionalProperties");
        assert_eq!(found(open), one("open-object", "note", "/inputSchema"));
        let inner = json!({
            "type": "object", "properties": { "b": { "type": "string", "description": "b" } },
        });
        assert_eq!(found(with_parameter(inner)), one("open-object", "note", PARAMETER));
    }

    #[test]
    fn required_fields_that_are_not_listed() {
        let mut missing = with_parameter(json!({ "type": "string" }));
        missing["inputSchema"]["required"] = json!(["a", "aa_name"]);
        let found_here = found(missing.clone());
        let expected = one("required-not-listed", "error", "/inputSchema/required/1");
        assert!(found_here.contains(&expected[0]), "{found_here:?}");
        missing["inputSchema"]["additionalProperties"] = true.into();
        let expected = one("required-not-listed", "warning", "/inputSchema/required/1");
        assert_eq!(found(missing), expected);
        let misspelt = tool(&json!({
            "type": "object", "required": ["pth"], "additionalProperties": true,
            "properties": { "path": { "type": "string", "description": "p" } },
        }));
        assert!(findings(&json!([misspelt]))[0].message.ends_with("did you mean `path`?"));
    }

    #[test]
    fn branches_may_require_what_the_whole_lists() {
        let tool = tool(&json!({
            "type": "object", "additionalProperties": false,
            "properties": { "x": {
                "type": "object", "description": "x", "additionalProperties": true,
                "properties": { "a": { "type": "string", "description": "a" } },
                "anyOf": [{ "required": ["b"], "properties": { "c": {} } }],
            } },
        }));
        assert_eq!(found(tool), []);
    }
}
