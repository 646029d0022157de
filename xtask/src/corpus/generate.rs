//! Generates valid calls from a schema.

use serde_json::{Map, Value, json};
use stickler::CachedSchema;

use super::locations::{ToolUnderTest, reference};
use crate::random::Random;

/// Returns up to `count` distinct calls that the plain engine accepts, starting with the example.
pub(super) fn calls(
    subject: &ToolUnderTest,
    cached: &CachedSchema,
    count: usize,
    random: &mut Random,
) -> Vec<Value> {
    let mut calls: Vec<Value> = cached.example().into_iter().cloned().collect();
    for attempt in 0..count * 8 {
        if calls.len() >= count {
            break;
        }
        let mut generator = Generator { subject, random, richness: 30 + (attempt % 4) * 20 };
        let call = generator.value(&subject.schema, 0);
        if call.is_object() && subject.accepts(&call) && !calls.contains(&call) {
            calls.push(call);
        }
    }
    calls
}

struct Generator<'g> {
    subject: &'g ToolUnderTest,
    random: &'g mut Random,
    /// The percentage of optional fields to include.
    richness: usize,
}

const WORDS: [&str; 12] = [
    "alpha",
    "main",
    "report.txt",
    "2024",
    "hello world",
    "a/b/c",
    "Überblick",
    "x",
    "true",
    "42",
    "{\"a\":1}",
    "line one\nline two",
];

impl Generator<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > 8 {
            return Value::Null;
        }
        if let Some(target) = reference(&self.subject.schema, schema) {
            return self.value(&target.clone(), depth + 1);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            return self.random.pick(options).cloned().unwrap_or(Value::Null);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                let branch = self.random.pick(branches).cloned().unwrap_or(Value::Null);
                let mut value = self.value(&branch, depth + 1);
                if schema.get("properties").is_some() {
                    merge(&mut value, self.object(schema, depth));
                }
                return value;
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let mut value = self.typed(schema, depth);
            for part in parts {
                let part = self.value(part, depth + 1);
                merge(&mut value, part);
            }
            return value;
        }
        self.typed(schema, depth)
    }

    fn typed(&mut self, schema: &Value, depth: usize) -> Value {
        let kind = match schema.get("type") {
            Some(Value::String(one)) => one.clone(),
            Some(Value::Array(several)) => {
                self.random.pick(several).and_then(Value::as_str).unwrap_or("null").to_owned()
            }
            _ if schema.get("properties").is_some() => "object".to_owned(),
            _ => "string".to_owned(),
        };
        match kind.as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "boolean" => json!(self.random.chance(50)),
            "integer" => self.number(schema),
            "number" if self.random.chance(50) => self.number(schema),
            "number" => json!(bound(schema, "minimum").unwrap_or(0.0) + 0.5),
            "null" => Value::Null,
            _ => self.string(schema),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
            if is_required || (depth < 5 && self.random.chance(self.richness)) {
                object.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let min = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let min = usize::try_from(min).unwrap_or(0).min(20);
        let count = min.max(1) + usize::from(self.random.chance(30));
        let items = schema.get("items").cloned().unwrap_or(json!({"type": "string"}));
        Value::Array((0..count).map(|_| self.value(&items, depth + 1)).collect())
    }

    fn number(&mut self, schema: &Value) -> Value {
        let min =
            bound(schema, "minimum").or_else(|| bound(schema, "exclusiveMinimum").map(|b| b + 1.0));
        let max =
            bound(schema, "maximum").or_else(|| bound(schema, "exclusiveMaximum").map(|b| b - 1.0));
        let min = min.unwrap_or_else(|| max.map_or(0.0, |max| max - 50.0)).ceil();
        let max = max.unwrap_or(min + 50.0).floor();
        #[allow(clippy::cast_possible_truncation)]
        let (min, max) = (min as i64, max as i64);
        let span = usize::try_from(max.saturating_sub(min).clamp(0, 1_000)).unwrap_or(0);
        json!(min.saturating_add(i64::try_from(self.random.below(span + 1)).unwrap_or(0)))
    }

    fn string(&mut self, schema: &Value) -> Value {
        if let Some(example) = schema.get("examples").and_then(|all| all.get(0)) {
            return example.clone();
        }
        if let Some(default) = schema.get("default").filter(|value| value.is_string()) {
            return default.clone();
        }
        match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => json!("2024-05-06T07:08:09Z"),
            Some("date") => json!("2024-05-06"),
            Some("email") => json!("user@example.com"),
            Some("uri" | "url") => json!("https://example.com/a?b=c"),
            Some("uuid") => json!("123e4567-e89b-42d3-a456-426614174000"),
            _ => json!(self.random.pick(&WORDS)),
        }
    }
}

fn bound(schema: &Value, keyword: &str) -> Option<f64> {
    schema.get(keyword).and_then(Value::as_f64)
}

fn merge(value: &mut Value, part: Value) {
    if let (Value::Object(members), Value::Object(more)) = (value, part) {
        members.extend(more);
    }
}
