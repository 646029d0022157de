//! Reports constraints that no value can satisfy.

use serde_json::Value;

use super::report::Findings;
use super::subschemas::Subschema;
use crate::arguments::literal;
use crate::rules::{Severity, tools};

/// A lower bound and the upper bound that must not be below it.
const PAIRS: [(&str, &str); 9] = [
    ("minimum", "maximum"),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minContains", "maxContains"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxItems"),
];

pub(super) fn check(subschemas: &[Subschema<'_>], findings: &mut Findings) {
    for subschema in subschemas.iter().filter(|subschema| subschema.is_asserted) {
        for problem in [bounds(subschema), values(subschema)].into_iter().flatten() {
            // A tool that requires this value cannot be called.
            let is_fatal = subschema.is_required && subschema.pointer.starts_with("/inputSchema");
            let severity = if is_fatal { Severity::Error } else { Severity::Warning };
            findings
                .add(&tools::UNSATISFIABLE, subschema.pointer.clone(), problem)
                .severity(severity);
        }
    }
}

fn bounds(subschema: &Subschema<'_>) -> Option<String> {
    PAIRS.iter().find_map(|(lower, upper)| {
        let (low, high) = (subschema.get(lower)?.as_f64()?, subschema.get(upper)?.as_f64()?);
        let excludes = lower.starts_with("exclusive") || upper.starts_with("exclusive");
        (low > high || (excludes && low >= high))
            .then(|| format!("`{lower}` {low} and `{upper}` {high} exclude each other"))
    })
}

fn values(subschema: &Subschema<'_>) -> Option<String> {
    if subschema.get("type").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Some("`type` is an empty list".to_owned());
    }
    let constant = subschema.get("const");
    let listed = subschema.get("enum").and_then(Value::as_array);
    if listed.is_some_and(Vec::is_empty) {
        return Some("`enum` is empty".to_owned());
    }
    subschema.get("type")?;
    let has_allowed_type = |value: &Value| types(value).iter().any(|name| subschema.has_type(name));
    if let Some(constant) = constant.filter(|constant| !has_allowed_type(constant)) {
        return Some(format!("the `const` {} does not have the required type", literal(constant)));
    }
    listed
        .filter(|values| !values.iter().any(has_allowed_type))
        .map(|_| "no value of the `enum` has the required type".to_owned())
}

/// Returns the JSON Schema types of a value.
fn types(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(number) if number.as_f64().is_some_and(|one| one.fract() == 0.0) => {
            &["integer", "number"]
        }
        Value::Number(_) => &["number"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{tool_findings, with_parameter};
    use serde_json::{Value, json};

    fn severities(parameter: Value, is_required: bool) -> Vec<String> {
        let mut tool = with_parameter(parameter);
        if !is_required {
            tool["inputSchema"]["required"] = json!([]);
        }
        let found = tool_findings(tool).into_iter().filter(|(rule, ..)| *rule == "unsatisfiable");
        found.map(|(_, severity, path)| format!("{severity} {path}")).collect()
    }

    #[test]
    fn unsatisfiable_constraints_are_reported() {
        for bad in [
            json!({ "type": "integer", "minimum": 5, "maximum": 4 }),
            json!({ "type": "number", "exclusiveMinimum": 5, "maximum": 5 }),
            json!({ "type": "string", "minLength": 3, "maxLength": 2 }),
            json!({ "type": "string", "enum": [] }),
            json!({ "type": "string", "enum": [1, 2] }),
            json!({ "type": "string", "const": 1 }),
        ] {
            let path = "/inputSchema/properties/a";
            assert_eq!(severities(bad.clone(), true), [format!("error {path}")], "{bad}");
            assert_eq!(severities(bad.clone(), false), [format!("warning {path}")], "{bad}");
        }
    }

    #[test]
    fn satisfiable_constraints_are_accepted() {
        for good in [
            json!({ "type": "integer", "minimum": 5, "maximum": 5 }),
            json!({ "type": "number", "enum": [1, null] }),
            json!({ "type": ["string", "null"], "const": null }),
            json!({ "type": "integer", "const": 1.0 }),
        ] {
            assert_eq!(severities(good.clone(), true), [""; 0], "{good}");
        }
    }
}
