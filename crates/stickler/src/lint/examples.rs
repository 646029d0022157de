//! Validates examples and defaults against the subschemas that contain them.

use serde_json::Value;

use super::report::{ExampleState, Findings};
use super::subject::Subject;
use super::subschemas::{self, Subschema};
use crate::arguments::{literal, type_of};
use crate::config::{Formats, Limits};
use crate::discovery::{CachedSchema, EXAMPLE_KEY, JsonText};
use crate::rules::{Rule, tools};
use crate::schema::{Answer, Parts};
use crate::tape::escape_segment;

const BASE: &str = "/inputSchema";

/// Maximum number of subschemas with examples that are checked per tool. Each is compiled
/// separately.
const MAX_CHECKED_SUBSCHEMAS: usize = 200;

pub(super) fn check(subject: &Subject, limits: &Limits, findings: &mut Findings) -> ExampleState {
    let (Some(cached), Some(schema)) = (subject.cached(), subject.input()) else {
        return ExampleState::Missing;
    };
    if let Ok(parts) = Parts::of_schema(cached.compiled.for_engine()) {
        let checker = Checker { parts, cached, limits };
        let subschemas = subschemas::collect(schema, BASE);
        let subschemas = subschemas.iter().filter(|subschema| subschema.is_asserted);
        for subschema in subschemas
            .filter(|subschema| subschema.has(&["default", "examples"]))
            .take(MAX_CHECKED_SUBSCHEMAS)
        {
            checker.check(subschema, findings);
        }
    }
    let is_given = check_given(subject, cached, findings);
    match cached.example() {
        Some(_) if is_given => ExampleState::Given,
        Some(_) => ExampleState::Made,
        None => {
            let message = "no arguments were found that the schema accepts";
            findings.add(&tools::NO_EXAMPLE, BASE, message);
            ExampleState::Missing
        }
    }
}

/// Reports invalid example calls of the server and returns whether a valid one exists.
fn check_given(subject: &Subject, cached: &CachedSchema, findings: &mut Findings) -> bool {
    let registered = subject.definition.example.as_ref().map(JsonText::to_value);
    let registered = registered.iter();
    let registered =
        registered.map(|call| (format!("/_meta/{}", escape_segment(EXAMPLE_KEY)), call));
    let embedded = subject.input().and_then(|schema| schema.get("examples")?.as_array());
    let embedded = embedded.into_iter().flatten().enumerate();
    let embedded = embedded.map(|(index, call)| (format!("{BASE}/examples/{index}"), call));
    let mut is_given = false;
    for (path, call) in registered.chain(embedded).take(MAX_CHECKED_SUBSCHEMAS) {
        if cached.accepts(call) {
            is_given = true;
        } else {
            let message = format!("the schema rejects the example {}", literal(call));
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
    /// Validates the default and the examples of one subschema.
    fn check(&self, subschema: &Subschema<'_>, findings: &mut Findings) {
        let mut values: Vec<(&Value, String, &'static Rule)> = Vec::new();
        if let Some(default) = subschema.get("default") {
            values.push((default, format!("{}/default", subschema.pointer), &tools::BAD_DEFAULT));
        }
        // The examples at the root are whole calls, which `check_given` validates.
        if subschema.pointer != BASE {
            let examples = subschema.get("examples").and_then(Value::as_array);
            for (index, example) in examples.into_iter().flatten().enumerate() {
                let path = format!("{}/examples/{index}", subschema.pointer);
                values.push((example, path, &tools::INVALID_EXAMPLE));
            }
        }
        if values.is_empty() {
            return;
        }
        let pointer = subschema.pointer.strip_prefix(BASE).unwrap_or_default();
        let instances: Vec<&Value> = values.iter().map(|(value, ..)| *value).collect();
        let Some(answers) = self.parts.check(pointer, &instances, Formats::default(), self.limits)
        else {
            return;
        };
        for ((value, path, rule), answer) in values.into_iter().zip(answers) {
            if answer == Answer::Invalid {
                let kind = if rule.id == tools::BAD_DEFAULT.id { "default" } else { "example" };
                let message = format!(
                    "the schema rejects the {kind} {}, expected {}",
                    literal(value),
                    self.expected(pointer),
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
            _ if expected == "a value" => "another value".to_owned(),
            _ => self.with_constraints(pointer, expected),
        }
    }

    fn with_constraints(&self, pointer: &str, expected: String) -> String {
        const CONSTRAINTS: [&str; 8] = [
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
        let constraints: Vec<String> = CONSTRAINTS
            .iter()
            .filter_map(|keyword| Some(format!("`{keyword}` {}", literal(part?.get(keyword)?))))
            .collect();
        if constraints.is_empty() {
            expected
        } else {
            format!("{expected} with {}", constraints.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{lint, list_findings, single, tool_findings, with_parameter};
    use super::super::{ExampleState, LintOptions};
    use serde_json::json;

    #[test]
    fn invalid_defaults_are_reported() {
        assert_eq!(tool_findings(with_parameter(json!({ "type": "integer", "default": 3 }))), []);
        let bad = with_parameter(json!({ "type": "integer", "minimum": 1, "default": 0 }));
        let path = "/inputSchema/properties/a/default";
        assert_eq!(tool_findings(bad.clone()), single("bad-default", "warning", path));
        assert_eq!(
            list_findings(&json!([bad]))[0].message,
            "the schema rejects the default 0, expected integer with `minimum` 1"
        );
        assert_eq!(
            tool_findings(with_parameter(json!({ "type": "string", "default": null }))),
            single("bad-default", "warning", path)
        );
    }

    #[test]
    fn invalid_defaults_behind_references_are_reported() {
        let mut tool = with_parameter(json!({ "$ref": "#/$defs/size", "default": "huge" }));
        tool["inputSchema"]["$defs"] = json!({ "size": { "enum": ["small", "large"] } });
        let found = tool_findings(tool);
        assert_eq!(found[0].0, "bad-default", "{found:?}");
    }

    #[test]
    fn invalid_embedded_examples_are_reported() {
        let tool = with_parameter(json!({ "type": "string", "examples": ["a", 1] }));
        let path = "/inputSchema/properties/a/examples/1";
        assert_eq!(tool_findings(tool), single("invalid-example", "warning", path));
    }

    #[test]
    fn example_calls_are_classified_as_given_or_made() {
        let state = |tool: &serde_json::Value| {
            let list = json!([tool]).to_string();
            lint(list.as_bytes(), &LintOptions::default()).unwrap().tools[0].example
        };
        let mut tool = with_parameter(json!({ "type": "string" }));
        assert_eq!(state(&tool), ExampleState::Made);
        tool["inputSchema"]["examples"] = json!([{ "a": "x" }]);
        assert_eq!((state(&tool), tool_findings(tool.clone())), (ExampleState::Given, vec![]));
        tool["inputSchema"]["examples"] = json!([{ "b": "x" }]);
        assert_eq!(state(&tool), ExampleState::Made);
        let path = "/inputSchema/examples/0";
        assert_eq!(tool_findings(tool.clone()), single("invalid-example", "warning", path));
        tool["inputSchema"]["examples"] = json!([]);
        tool["_meta"] = json!({ "dev.stickler/example": { "a": "x" } });
        assert_eq!((state(&tool), tool_findings(tool)), (ExampleState::Given, vec![]));
    }

    #[test]
    fn unsatisfiable_schema_has_no_example() {
        let tool = with_parameter(json!({ "not": {} }));
        let found = tool_findings(tool);
        assert!(found.contains(&single("no-example", "warning", "/inputSchema")[0]), "{found:?}");
    }
}
