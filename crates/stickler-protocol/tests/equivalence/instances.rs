//! Generates values that a definition accepts: the smallest, the largest, and one for each branch.

use serde_json::{Map, Value, json};

use super::official::Official;

/// Beyond this depth only the smallest values are generated, so that recursion ends.
const MAX_REFERENCE_DEPTH: usize = 6;

/// The maximum number of values generated for a subschema at a depth.
fn max_values(depth: usize) -> usize {
    match depth {
        0 => 120,
        1 => 24,
        2 => 8,
        3 => 3,
        _ => 1,
    }
}

pub(crate) fn of(official: &Official, name: &str) -> Vec<Value> {
    Generator { official }.values(official.definition(name), 0)
}

/// The values that the definition of the same name in the previous and next revision accepts and
/// that are not in `own`, completed with the required members of this revision: members that were
/// removed or not yet added must not be checked.
pub(crate) fn of_neighbours(
    all: &[Official],
    official: &Official,
    name: &str,
    own: &[Value],
) -> Vec<Value> {
    let smallest = Generator { official }.smallest(official.definition(name), 0);
    let mut foreign = Vec::new();
    let has = |other: &&Official| other.names().any(|known| known == name);
    let before = all.iter().rev().filter(|other| other.revision < official.revision).find(has);
    let after = all.iter().filter(|other| other.revision > official.revision).find(has);
    for mut value in before.into_iter().chain(after).flat_map(|other| of(other, name)) {
        complete(&mut value, &smallest);
        if !own.contains(&value) && !foreign.contains(&value) {
            foreign.push(value);
        }
    }
    foreign
}

fn complete(value: &mut Value, with: &Value) {
    if let (Value::Object(members), Value::Object(missing)) = (value, with) {
        for (key, member) in missing {
            complete(members.entry(key.clone()).or_insert_with(|| member.clone()), member);
        }
    }
}

struct Generator<'o> {
    official: &'o Official,
}

impl Generator<'_> {
    /// Generates values for a schema; the first is the smallest.
    fn values(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let mut values = self.all_values(schema, depth);
        let limit = max_values(depth);
        if values.len() > limit {
            // The first, the last and evenly spaced values between them.
            let last = values.len() - 1;
            let picked = (0..limit).map(|at| values[at * last / (limit - 1).max(1)].clone());
            values = picked.collect();
        }
        values
    }

    fn all_values(&self, schema: &Value, depth: usize) -> Vec<Value> {
        if depth > MAX_REFERENCE_DEPTH {
            return vec![self.smallest(schema, depth)];
        }
        if let Some(reference) = schema["$ref"].as_str() {
            return self.all_values(self.official.resolve(reference), depth + 1);
        }
        if let Some(constant) = schema.get("const") {
            return vec![constant.clone()];
        }
        if let Some(options) = schema["enum"].as_array() {
            return options.clone();
        }
        if let Some(branches) = schema["anyOf"].as_array() {
            return branches.iter().flat_map(|branch| self.values(branch, depth)).collect();
        }
        if let Some(parts) = schema["allOf"].as_array() {
            return self.merged(parts, depth);
        }
        types(schema).into_iter().flat_map(|name| self.of_type(schema, name, depth)).collect()
    }

    fn of_type(&self, schema: &Value, name: &str, depth: usize) -> Vec<Value> {
        match name {
            "object" => self.objects(schema, depth),
            "array" => self.arrays(schema, depth),
            "string" => vec![json!("text"), json!("")],
            "boolean" => vec![json!(false), json!(true)],
            "null" => vec![Value::Null],
            number => numbers(schema, number == "integer"),
        }
    }

    fn objects(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let none = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let smallest: Map<String, Value> = required
            .iter()
            .map(|name| {
                let schema = properties.get(*name).unwrap_or(&Value::Bool(true));
                ((*name).to_owned(), self.smallest(schema, depth + 1))
            })
            .collect();
        let mut largest = smallest.clone();
        let mut objects = Vec::new();
        for (name, schema) in properties {
            let values = self.values(schema, depth + 1);
            largest.insert(name.clone(), values.last().unwrap().clone());
            objects.extend(values.into_iter().map(|value| with(&smallest, name, value)));
        }
        if let Some(others) = schema.get("additionalProperties") {
            for value in self.values(others, depth + 1) {
                largest.insert("another".to_owned(), value.clone());
                objects.push(with(&smallest, "another", value));
            }
        }
        objects.insert(0, Value::Object(smallest));
        objects.push(Value::Object(largest));
        objects
    }

    fn arrays(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let elements = self.values(schema.get("items").unwrap_or(&Value::Bool(true)), depth + 1);
        let mut arrays = vec![json!([])];
        arrays.extend(elements.iter().map(|element| json!([element])));
        arrays.push(json!([elements.first(), elements.last()]));
        arrays
    }

    /// Objects that satisfy all parts: the union of their members.
    fn merged(&self, parts: &[Value], depth: usize) -> Vec<Value> {
        let parts: Vec<Vec<Value>> = parts.iter().map(|part| self.values(part, depth)).collect();
        let longest = parts.iter().map(Vec::len).max().unwrap_or_default();
        (0..longest)
            .map(|at| {
                let members =
                    parts.iter().filter_map(|values| values[at % values.len()].as_object());
                Value::Object(members.flat_map(Map::clone).collect())
            })
            .collect()
    }

    fn smallest(&self, schema: &Value, depth: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.smallest(self.official.resolve(reference), depth);
        }
        if let Some(branches) = schema["anyOf"].as_array() {
            return self.smallest(branches.last().unwrap(), depth);
        }
        if schema["type"] == "object" && schema["allOf"].is_null() {
            let names =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let member =
                |name: &str| (name.to_owned(), self.smallest(&schema["properties"][name], depth));
            return Value::Object(names.map(member).collect());
        }
        if schema["type"] == "array" {
            return json!([]);
        }
        self.all_values(schema, depth.min(MAX_REFERENCE_DEPTH)).swap_remove(0)
    }
}

fn with(object: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut object = object.clone();
    object.insert(name.to_owned(), value);
    Value::Object(object)
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec!["string", "null", "number", "object"],
    }
}

fn numbers(schema: &Value, whole: bool) -> Vec<Value> {
    let mut numbers: Vec<Value> =
        ["minimum", "maximum"].iter().filter_map(|bound| schema.get(*bound).cloned()).collect();
    numbers.push(json!(1));
    numbers.push(json!(1.0));
    if !whole {
        numbers.push(json!(0.5));
    }
    numbers
}
