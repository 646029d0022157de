//! Examples and defaults: each must satisfy what it is an example of.

use serde_json::Value;

use super::places::{self, Place};
use super::report::{ExampleState, Findings};
use super::subject::Subject;
use crate::arguments::{literal, type_of};
use crate::config::Limits;
use crate::discovery::{CachedSchema, EXAMPLE_KEY, JsonText};
use crate::rules::{Rule, tools};
use crate::schema::{Answer, Parts};
use crate::tape::escape_segment;

const BASE: &str = "/inputSchema";

/// Places of one tool whose examples are looked at: each has to be compiled on its own.
const MOST: usize = 200;

pub(super) fn check(subject: &Subject, limits: &Limits, findings: &mut Findings) -> ExampleState {
    let (Some(cached), Some(schema)) = (subject.cached(), subject.input()) else {
        return ExampleState::Missing;
    };
    if let Ok(parts) = Parts::of_schema(cached.compiled.for_engine()) {
        let checker = Checker { parts, cached, limits };
        let places = places::of(schema, BASE);
        let places = places.iter().filter(|place| place.is_asserted);
        for place in places.filter(|place| place.has(&["default", "examples"])).take(MOST) {
            checker.check(place, findings);
        }
    }
    let given = given(subject, cached, findings);
    match cached.example() {
        Some(_) if given => ExampleState::Given,
        Some(_) => ExampleState::Made,
        None => {
            let message = "no arguments were found that its schema accepts";
            findings.add(&tools::NO_EXAMPLE, BASE, message);
            ExampleState::Missing
        }
    }
}

/// Whether the server gives a valid call itself; those that are not valid are told.
fn given(subject: &Subject, cached: &CachedSchema, findings: &mut Findings) -> bool {
    let registered = subject.definition.example.as_ref().map(JsonText::to_value);
    let registered = registered.iter();
    let registered =
        registered.map(|call| (format!("/_meta/{}", escape_segment(EXAMPLE_KEY)), call));
    let embedded = subject.input().and_then(|schema| schema.get("examples")?.as_array());
    let embedded = embedded.into_iter().flatten().enumerate();
    let embedded = embedded.map(|(index, call)| (format!("{BASE}/examples/{index}"), call));
    let mut is_given = false;
    for (path, call) in registered.chain(embedded).take(MOST) {
        if cached.accepts(call) {
            is_given = true;
        } else {
            let message = format!("the example {} is refused by the schema", literal(call));
            findings.add(&tools::INVALID_EXAMPLE, path, message);
        }
    }
    is_given
}

struct Checker<'s> {
    parts: Parts<'s>,
    cached: &'s CachedSchema,
    limits: &'s Limits,
}

impl Checker<'_> {
    /// The default and the examples of one subschema.
    fn check(&self, place: &Place<'_>, findings: &mut Findings) {
        let mut values: Vec<(&Value, String, &'static Rule)> = Vec::new();
        if let Some(default) = place.get("default") {
            values.push((default, format!("{}/default", place.pointer), &tools::BAD_DEFAULT));
        }
        // Those of the root are whole calls.
        if place.pointer != BASE {
            let examples = place.get("examples").and_then(Value::as_array);
            for (index, example) in examples.into_iter().flatten().enumerate() {
                let path = format!("{}/examples/{index}", place.pointer);
                values.push((example, path, &tools::INVALID_EXAMPLE));
            }
        }
        if values.is_empty() {
            return;
        }
        let within = place.pointer.strip_prefix(BASE).unwrap_or_default();
        let bare: Vec<&Value> = values.iter().map(|(value, ..)| *value).collect();
        let Some(answers) = self.parts.check(within, &bare, self.limits) else { return };
        for ((value, path, rule), answer) in values.into_iter().zip(answers) {
            if answer == Answer::Invalid {
                let what = if rule.id == tools::BAD_DEFAULT.id { "default" } else { "example" };
                let message = format!(
                    "the {what} {} is refused by its own schema, expected {}",
                    literal(value),
                    self.expected(within),
                );
                findings.add(rule, path, message);
            }
        }
    }

    fn expected(&self, pointer: &str) -> String {
        let schema = &self.cached.compiled;
        let node = schema.graph.at(pointer);
        let expected = node.map_or_else(|| "a value".to_owned(), |node| type_of(schema, node));
        match schema.at(pointer).and_then(|part| part.get("enum")?.as_array()) {
            Some(values) if values.len() <= 8 => {
                let values: Vec<String> = values.iter().map(literal).collect();
                format!("one of {}", values.join(", "))
            }
            _ if expected == "a value" => "something else".to_owned(),
            _ => self.described(pointer, expected),
        }
    }

    fn described(&self, pointer: &str, expected: String) -> String {
        const RULES: [&str; 8] = [
            "pattern",
            "format",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
        ];
        let part = self.cached.compiled.at(pointer);
        let rules: Vec<String> = RULES
            .iter()
            .filter_map(|rule| Some(format!("`{rule}` {}", literal(part?.get(rule)?))))
            .collect();
        if rules.is_empty() { expected } else { format!("{expected} with {}", rules.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, found, one, with_parameter};
    use super::super::{ExampleState, LintOptions, lint};
    use serde_json::json;

    #[test]
    fn defaults() {
        assert_eq!(found(with_parameter(json!({ "type": "integer", "default": 3 }))), []);
        let bad = with_parameter(json!({ "type": "integer", "minimum": 1, "default": 0 }));
        let path = "/inputSchema/properties/a/default";
        assert_eq!(found(bad.clone()), one("bad-default", "warning", path));
        assert_eq!(
            findings(&json!([bad]))[0].message,
            "the default 0 is refused by its own schema, expected integer with `minimum` 1"
        );
        assert_eq!(
            found(with_parameter(json!({ "type": "string", "default": null }))),
            one("bad-default", "warning", path)
        );
    }

    #[test]
    fn defaults_behind_references() {
        let mut tool = with_parameter(json!({ "$ref": "#/$defs/size", "default": "huge" }));
        tool["inputSchema"]["$defs"] = json!({ "size": { "enum": ["small", "large"] } });
        let found = found(tool);
        assert_eq!(found[0].0, "bad-default", "{found:?}");
    }

    #[test]
    fn embedded_examples() {
        let tool = with_parameter(json!({ "type": "string", "examples": ["a", 1] }));
        let path = "/inputSchema/properties/a/examples/1";
        assert_eq!(found(tool), one("invalid-example", "warning", path));
    }

    #[test]
    fn whole_calls() {
        let state = |tool: &serde_json::Value| {
            let list = json!([tool]).to_string();
            lint(list.as_bytes(), &LintOptions::default()).unwrap().tools[0].example
        };
        let mut tool = with_parameter(json!({ "type": "string" }));
        assert_eq!(state(&tool), ExampleState::Made);
        tool["inputSchema"]["examples"] = json!([{ "a": "x" }]);
        assert_eq!((state(&tool), found(tool.clone())), (ExampleState::Given, vec![]));
        tool["inputSchema"]["examples"] = json!([{ "b": "x" }]);
        assert_eq!(state(&tool), ExampleState::Made);
        let path = "/inputSchema/examples/0";
        assert_eq!(found(tool.clone()), one("invalid-example", "warning", path));
        tool["inputSchema"]["examples"] = json!([]);
        tool["_meta"] = json!({ "dev.stickler/example": { "a": "x" } });
        assert_eq!((state(&tool), found(tool)), (ExampleState::Given, vec![]));
    }

    #[test]
    fn no_valid_call() {
        let tool = with_parameter(json!({ "not": {} }));
        let found = found(tool);
        assert!(found.contains(&one("no-example", "warning", "/inputSchema")[0]), "{found:?}");
    }
}
