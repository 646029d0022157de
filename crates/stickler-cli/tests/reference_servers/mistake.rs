//! Calls with one mistake each, made from a tool's schema and its example.

use regex::Regex;
use serde_json::{Map, Value, json};

/// A call that must be refused.
pub(crate) struct Mistake {
    pub(crate) arguments: Value,
    /// Where the problem is, within the arguments.
    pub(crate) place: String,
    /// What the caller must be told about it.
    pub(crate) says: String,
}

/// Everything that a schema of a suite may say. A mistake is made against each of them.
const KEYWORDS: [&str; 16] = [
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
    // These refuse nothing.
    "description",
    "default",
    "examples",
    "title",
];

/// One mistake of every kind in every place.
pub(crate) fn all(schema: &Value) -> Vec<Mistake> {
    let example = &schema["examples"][0];
    let mut mistakes = Mistakes { example, made: Vec::new() };
    mistakes.of(schema, "");
    mistakes.made
}

struct Mistakes<'e> {
    example: &'e Value,
    made: Vec<Mistake>,
}

impl Mistakes<'_> {
    fn of(&mut self, schema: &Value, place: &str) {
        for keyword in schema.as_object().unwrap().keys() {
            assert!(KEYWORDS.contains(&keyword.as_str()), "who breaks `{keyword}`?");
        }
        self.of_type(schema, place);
        self.of_value(schema, place);
        self.of_list(schema, place);
        if let Some(properties) = schema["properties"].as_object() {
            self.of_fields(schema, properties, place);
        }
    }

    fn of_type(&mut self, schema: &Value, place: &str) {
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
        let verb = if place.is_empty() { "the arguments must be " } else { "must be " };
        self.plant(place, wrong, verb);
        if place.is_empty() {
            self.plant(place, json!(["a", "list"]), verb);
            self.plant(place, json!(7), verb);
        }
    }

    fn of_value(&mut self, schema: &Value, place: &str) {
        if let Some(choices) = schema["enum"].as_array() {
            let first = choices[0].as_str().unwrap();
            self.plant(place, json!("no_such_choice"), &format!("must be one of \"{first}\""));
            let loud = first.to_uppercase();
            self.plant(place, json!(loud), &format!("did you mean \"{first}\"?"));
        }
        if let Some(least) = schema["minimum"].as_i64() {
            self.plant(place, json!(least - 1), &format!("must be at least {least}"));
        }
        if let Some(most) = schema["maximum"].as_i64() {
            self.plant(place, json!(most + 1), &format!("must be at most {most}"));
        }
        if let Some(least) = schema["minLength"].as_u64() {
            let says = format!("must have at least {least} character");
            self.plant(place, json!(""), &says);
        }
        if let Some(pattern) = schema["pattern"].as_str() {
            let matcher = Regex::new(pattern).unwrap();
            let wrong = ["-x", "no such thing!"].into_iter().find(|text| !matcher.is_match(text));
            self.plant(
                place,
                json!(wrong.unwrap()),
                &format!("must match the pattern `{pattern}`"),
            );
        }
    }

    fn of_list(&mut self, schema: &Value, place: &str) {
        if let Some(least) = schema["minItems"].as_u64() {
            self.plant(place, json!([]), &format!("must have at least {least} item"));
        }
        if schema["uniqueItems"] == true {
            let item = &self.example.pointer(place).unwrap()[0];
            self.plant(place, json!([item, item]), "must have no two equal items");
        }
        if schema["items"].is_object() {
            self.of(&schema["items"], &format!("{place}/0"));
        }
    }

    fn of_fields(&mut self, schema: &Value, properties: &Map<String, Value>, place: &str) {
        let required = schema["required"].as_array().into_iter().flatten();
        for field in required.map(|field| field.as_str().unwrap()) {
            let says = "is required but missing";
            self.change(place, says, field, |object| drop(object.remove(field)));
        }
        let says = "is not a known field";
        self.change(place, says, "no_such_field", |object| {
            object.insert("no_such_field".to_owned(), json!(1));
        });
        for (field, about) in properties {
            let misspelt = format!("{field}{}", &field[field.len() - 1..]);
            let says = format!("is not a known field; did you mean `{field}`?");
            self.change(place, &says, &misspelt, |object| {
                let value = object.remove(field).unwrap_or(Value::Null);
                object.insert(misspelt.clone(), value);
            });
            self.of(about, &format!("{place}/{field}"));
        }
    }

    /// The example with another value at that place.
    fn plant(&mut self, place: &str, value: Value, says: &str) {
        let mut arguments = self.example.clone();
        let (holder, name) = place.rsplit_once('/').unwrap_or_default();
        if place.is_empty() {
            arguments = value;
        } else if name == "0" && arguments.pointer(holder).is_none() {
            // A list that the example goes without.
            arguments[holder.trim_start_matches('/')] = json!([value]);
        } else {
            match arguments.pointer_mut(holder).unwrap() {
                Value::Object(object) => drop(object.insert(name.to_owned(), value)),
                list => list[0] = value,
            }
        }
        self.made.push(Mistake { arguments, place: place.to_owned(), says: says.to_owned() });
    }

    /// The example with one object changed; the problem is with a field of it.
    fn change(
        &mut self,
        place: &str,
        says: &str,
        field: &str,
        change: impl FnOnce(&mut Map<String, Value>),
    ) {
        let mut arguments = self.example.clone();
        change(arguments.pointer_mut(place).unwrap().as_object_mut().unwrap());
        let place = format!("{place}/{field}");
        self.made.push(Mistake { arguments, place, says: says.to_owned() });
    }
}
