//! Generates mutants of a value: one change at a time, at every position.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Returns at most `limit` different mutants of the values, chosen deterministically.
pub(crate) fn sample(values: &[Value], limit: usize, seed: &str) -> Vec<Value> {
    let mut picked: BTreeMap<u64, Value> = BTreeMap::new();
    for value in values {
        for_each_mutant(value, &mut |mutant| {
            let rank = hash(seed, &mutant.to_string());
            let last = picked.keys().next_back().copied().unwrap_or_default();
            if picked.len() < limit || rank < last {
                picked.insert(rank, mutant);
                if picked.len() > limit {
                    picked.pop_last();
                }
            }
        });
    }
    picked.into_values().collect()
}

/// FNV-1a: a deterministic rank for sampling.
fn hash(seed: &str, text: &str) -> u64 {
    let bytes = seed.bytes().chain(text.bytes());
    let mixed = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Calls `found` with every mutant of a value.
fn for_each_mutant(value: &Value, found: &mut dyn FnMut(Value)) {
    for mutant in replacements(value) {
        found(mutant);
    }
    match value {
        Value::Object(members) => {
            for (key, inner) in members {
                for_each_mutant(inner, &mut |mutant| {
                    let mut changed = members.clone();
                    changed.insert(key.clone(), mutant);
                    found(Value::Object(changed));
                });
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                for_each_mutant(inner, &mut |mutant| {
                    let mut changed = items.clone();
                    changed[index] = mutant;
                    found(Value::Array(changed));
                });
            }
        }
        _ => {}
    }
}

/// The replacements of the value itself, without changes inside it.
fn replacements(value: &Value) -> Vec<Value> {
    let types =
        [json!(null), json!(true), json!(7), json!(1.5), json!("other"), json!([]), json!({})];
    let mut changed: Vec<Value> = types.into_iter().filter(|other| other != value).collect();
    changed.push(json!([value]));
    match value {
        Value::Object(members) => {
            for key in members.keys() {
                let mut fewer = members.clone();
                fewer.shift_remove(key);
                changed.push(Value::Object(fewer));
            }
            let mut more = members.clone();
            more.insert("unknown_member".to_owned(), json!({ "x": 1 }));
            changed.push(Value::Object(more));
            changed.push(members.values().cloned().collect());
        }
        Value::Array(items) => {
            for extra in [json!(null), json!({}), json!("other")] {
                changed.push(items.iter().cloned().chain([extra]).collect());
            }
        }
        Value::Number(number) => {
            if let Some(whole) = number.as_i64() {
                changed.extend([
                    json!(whole + 1),
                    json!(whole - 1),
                    json!(-whole),
                    json!(i64::MAX),
                ]);
            }
            let close = number.as_f64().unwrap_or_default();
            changed.extend([json!(close + 0.5), json!(close * 1e9), json!(close)]);
        }
        Value::String(text) => {
            changed.push(json!(""));
            changed.push(json!(format!("{text} ")));
            changed.push(json!(text.to_uppercase()));
        }
        Value::Null | Value::Bool(_) => {}
    }
    changed
}
