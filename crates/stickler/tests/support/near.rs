//! Generates arguments that almost match a schema, with typical mistakes of callers.

use serde_json::{Map, Value, json};

/// A finite sequence of random bytes that is consumed one by one.
pub(crate) struct Dice<'d>(pub(crate) &'d [u8]);

impl Dice<'_> {
    fn roll(&mut self, sides: u8) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first % sides
    }
}

/// Generates the JSON text of arguments for a schema.
pub(crate) fn arguments(schema: &Value, dice: &mut Dice<'_>) -> String {
    let inner = object(schema, dice, 0);
    match dice.roll(12) {
        0 => format!("{{ \"arguments\": {inner} }}"),
        1 => json!(inner).to_string(),
        2 => format!("{{\"input\": {}}}", json!(inner)),
        _ => inner,
    }
}

fn object(schema: &Value, dice: &mut Dice<'_>, depth: u8) -> String {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let mut members = Vec::new();
    for (name, schema) in properties {
        let key = match dice.roll(10) {
            0 | 1 => continue,
            2 => name.to_uppercase(),
            3 => format!("{name}s"),
            4 => name.replace('_', "-"),
            _ => name.clone(),
        };
        members.push(format!("{}:{}", json!(key), value_or_mistake(schema, dice, depth + 1)));
    }
    if dice.roll(6) == 0 {
        members.push("\"task_progress\": \"none so far\"".to_owned());
    }
    let space = if dice.roll(3) == 0 { " \n" } else { "" };
    format!("{{{space}{}{space}}}", members.join(&format!("{space},{space}")))
}

/// A valid value for the schema or a typical mistake.
fn value_or_mistake(schema: &Value, dice: &mut Dice<'_>, depth: u8) -> String {
    let valid = valid_value(schema, dice, depth);
    match dice.roll(12) {
        0 => "null".to_owned(),
        1 | 2 => json!(valid).to_string(),
        3 => valid.trim_matches('"').to_owned().parse::<u32>().map_or(valid, |n| n.to_string()),
        4 => format!("[{valid}]"),
        5 => "\"a secret value\"".to_owned(),
        6 => valid.to_uppercase().replace("\\N", "\\n"),
        _ => valid,
    }
}

fn valid_value(schema: &Value, dice: &mut Dice<'_>, depth: u8) -> String {
    let given = schema.get("const").or_else(|| schema.get("enum")?.as_array()?.first());
    if let Some(given) = given {
        return given.to_string();
    }
    let wanted = schema["type"].as_str().unwrap_or("string");
    match (wanted, dice.roll(4)) {
        _ if depth > 4 => "{}".to_owned(),
        ("object", 0) => "{\"a\":1,\"a\":2}".to_owned(),
        ("object", _) => object(schema, dice, depth),
        ("array", 0) => "[1e999]".to_owned(),
        ("array", _) => format!("[{}]", value_or_mistake(&schema["items"], dice, depth + 1)),
        ("integer" | "number", 0) => "12345678901234567890123".to_owned(),
        ("integer" | "number", roll) => roll.to_string(),
        ("boolean", _) => "true".to_owned(),
        ("null", _) => "null".to_owned(),
        _ => "\"hidden text\"".to_owned(),
    }
}
