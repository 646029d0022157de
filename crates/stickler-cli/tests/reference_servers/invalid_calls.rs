//! Generates invalid calls from a tool's schema and its example, each with one violation.

use regex::Regex;
use serde_json::{Map, Value, json};

/// A call that must be rejected.
pub(crate) struct InvalidCall {
    pub(crate) arguments: Value,
    /// JSON Pointer of the violation within the arguments.
    pub(crate) path: String,
    /// Text that the error message must contain.
    pub(crate) expected: String,
}

/// Keywords that the schemas of the suites may use; each validating one gets an invalid call.
const KEYWORDS: [&str; 19] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "uniqueItems",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "pattern",
    "if",
    "then",
    "else",
    // Annotations, which cannot be violated.
    "description",
    "default",
    "examples",
    "title",
];

/// One violation of every keyword at every location of a schema.
pub(crate) fn all(schema: &Value) -> Vec<InvalidCall> {
    let example = &schema["examples"][0];
    let mut generator = Generator { example, calls: Vec::new() };
    generator.violate(schema, "");
    generator.calls
}

struct Generator<'e> {
    example: &'e Value,
    calls: Vec<InvalidCall>,
}

impl Generator<'_> {
    fn violate(&mut self, schema: &Value, path: &str) {
        for keyword in schema.as_object().unwrap().keys() {
            assert!(
                KEYWORDS.contains(&keyword.as_str()),
                "no invalid call is generated for `{keyword}`"
            );
        }
        self.violate_type(schema, path);
        self.violate_value(schema, path);
        self.violate_list(schema, path);
        self.violate_conditions(schema);
        if let Some(properties) = schema["properties"].as_object() {
            self.violate_fields(schema, properties, path);
        }
    }

    fn violate_type(&mut self, schema: &Value, path: &str) {
        let types =
            schema["type"].as_array().map_or(vec![&schema["type"]], |all| all.iter().collect());
        let wrong = match types[0].as_str().unwrap() {
            "string" => json!({ "not": "text" }),
            "integer" => json!("many"),
            "boolean" => json!("perhaps"),
            "array" => json!({ "not": "a list" }),
            "object" => json!("not an object"),
            other => panic!("{other}"),
        };
        let verb = if path.is_empty() { "the arguments must be " } else { "must be " };
        self.replace_value(path, wrong, verb);
        if path.is_empty() {
            self.replace_value(path, json!(["a", "list"]), verb);
            self.replace_value(path, json!(7), verb);
        }
    }

    fn violate_value(&mut self, schema: &Value, path: &str) {
        if let Some(choices) = schema["enum"].as_array() {
            let first = choices[0].as_str().unwrap();
            self.replace_value(
                path,
                json!("no_such_choice"),
                &format!("must be one of \"{first}\""),
            );
            let upper = first.to_uppercase();
            self.replace_value(path, json!(upper), &format!("did you mean \"{first}\"?"));
        }
        if let Some(minimum) = schema["minimum"].as_i64() {
            self.replace_value(path, json!(minimum - 1), &format!("must be at least {minimum}"));
        }
        if let Some(maximum) = schema["maximum"].as_i64() {
            self.replace_value(path, json!(maximum + 1), &format!("must be at most {maximum}"));
        }
        if let Some(minimum) = schema["minLength"].as_u64() {
            let expected = format!("must have at least {minimum} character");
            self.replace_value(path, json!(""), &expected);
        }
        if let Some(pattern) = schema["pattern"].as_str() {
            let matcher = Regex::new(pattern).unwrap();
            let wrong = ["-x", "no such thing!"].into_iter().find(|text| !matcher.is_match(text));
            self.replace_value(
                path,
                json!(wrong.unwrap()),
                &format!("must match the pattern `{pattern}`"),
            );
        }
    }

    fn violate_list(&mut self, schema: &Value, path: &str) {
        if let Some(minimum) = schema["minItems"].as_u64() {
            self.replace_value(path, json!([]), &format!("must have at least {minimum} item"));
        }
        if schema["uniqueItems"] == true {
            let item = &self.example.pointer(path).unwrap()[0];
            self.replace_value(path, json!([item, item]), "must have no duplicate items");
        }
        if schema["items"].is_object() {
            self.violate(&schema["items"], &format!("{path}/0"));
        }
    }

    /// Omits the field that an action requires. The conditions are nested in `else`.
    fn violate_conditions(&mut self, schema: &Value) {
        let actions = schema["if"]["properties"]["action"]["enum"].as_array();
        for action in actions.into_iter().flatten() {
            let field = schema["then"]["required"][0].as_str().unwrap();
            self.change_object("", "is required but missing; add it as a string", field, |call| {
                call.insert("action".to_owned(), action.clone());
                call.remove(field);
            });
        }
        if schema["else"].is_object() {
            self.violate_conditions(&schema["else"]);
        }
    }

    fn violate_fields(&mut self, schema: &Value, properties: &Map<String, Value>, path: &str) {
        let required = schema["required"].as_array().into_iter().flatten();
        for field in required.map(|field| field.as_str().unwrap()) {
            let expected = "is required but missing";
            self.change_object(path, expected, field, |object| drop(object.remove(field)));
        }
        let expected = "is not a known field";
        self.change_object(path, expected, "no_such_field", |object| {
            object.insert("no_such_field".to_owned(), json!(1));
        });
        for (field, field_schema) in properties {
            let misspelt = format!("{field}{}", &field[field.len() - 1..]);
            // A required field follows with its type: it is missing, too.
            let expected = format!("is not a known field; did you mean `{field}`");
            self.change_object(path, &expected, &misspelt, |object| {
                let value = object.remove(field).unwrap_or(Value::Null);
                object.insert(misspelt.clone(), value);
            });
            self.violate(field_schema, &format!("{path}/{field}"));
        }
    }

    /// Adds the example with another value at a path.
    fn replace_value(&mut self, path: &str, value: Value, expected: &str) {
        let mut arguments = self.example.clone();
        let (holder, name) = path.rsplit_once('/').unwrap_or_default();
        if path.is_empty() {
            arguments = value;
        } else if name == "0" && arguments.pointer(holder).is_none() {
            // The example does not have this list.
            arguments[holder.trim_start_matches('/')] = json!([value]);
        } else {
            match arguments.pointer_mut(holder).unwrap() {
                Value::Object(object) => drop(object.insert(name.to_owned(), value)),
                list => list[0] = value,
            }
        }
        self.calls.push(InvalidCall {
            arguments,
            path: path.to_owned(),
            expected: expected.to_owned(),
        });
    }

    /// Adds the example with one object changed; the violation is at a field of it.
    fn change_object(
        &mut self,
        path: &str,
        expected: &str,
        field: &str,
        change: impl FnOnce(&mut Map<String, Value>),
    ) {
        let mut arguments = self.example.clone();
        change(arguments.pointer_mut(path).unwrap().as_object_mut().unwrap());
        let path = format!("{path}/{field}");
        self.calls.push(InvalidCall { arguments, path, expected: expected.to_owned() });
    }
}
