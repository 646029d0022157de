//! Rules that no value can satisfy.

use serde_json::Value;

use super::places::Place;
use super::report::Findings;
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

pub(super) fn check(places: &[Place<'_>], findings: &mut Findings) {
    for place in places.iter().filter(|place| place.is_asserted) {
        for problem in [bounds(place), values(place)].into_iter().flatten() {
            // Nobody can call a tool that requires such a value.
            let is_fatal = place.is_required && place.pointer.starts_with("/inputSchema");
            let severity = if is_fatal { Severity::Error } else { Severity::Warning };
            findings.add(&tools::UNSATISFIABLE, place.pointer.clone(), problem).severity(severity);
        }
    }
}

fn bounds(place: &Place<'_>) -> Option<String> {
    PAIRS.iter().find_map(|(lower, upper)| {
        let (low, high) = (place.get(lower)?.as_f64()?, place.get(upper)?.as_f64()?);
        let excludes = lower.starts_with("exclusive") || upper.starts_with("exclusive");
        (low > high || (excludes && low >= high))
            .then(|| format!("`{lower}` {low} and `{upper}` {high} exclude each other"))
    })
}

fn values(place: &Place<'_>) -> Option<String> {
    if place.get("type").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Some("its list of types is empty".to_owned());
    }
    let constant = place.get("const");
    let listed = place.get("enum").and_then(Value::as_array);
    if listed.is_some_and(Vec::is_empty) {
        return Some("its `enum` is empty".to_owned());
    }
    place.get("type")?;
    let is_wanted = |value: &Value| kinds(value).iter().any(|kind| place.has_type(kind));
    if let Some(constant) = constant.filter(|constant| !is_wanted(constant)) {
        return Some(format!("its `const` {} is not of its type", literal(constant)));
    }
    listed
        .filter(|values| !values.iter().any(is_wanted))
        .map(|_| "no value of its `enum` is of its type".to_owned())
}

/// The types that a value has.
fn kinds(value: &Value) -> &'static [&'static str] {
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
    use super::super::testing::{found, with_parameter};
    use serde_json::{Value, json};

    fn severities(parameter: Value, is_required: bool) -> Vec<String> {
        let mut tool = with_parameter(parameter);
        if !is_required {
            tool["inputSchema"]["required"] = json!([]);
        }
        let found = found(tool).into_iter().filter(|(rule, ..)| *rule == "unsatisfiable");
        found.map(|(_, severity, path)| format!("{severity} {path}")).collect()
    }

    #[test]
    fn what_nothing_can_satisfy() {
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
    fn what_something_can_satisfy() {
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
