//! The patterns of one schema, measured, and what follows from their sizes.
//!
//! [`Patterns`] measures each distinct pattern once and stops when their sum is more than a server
//! may take. [`Measured`] collects what the engine must be given instead of the schema itself:
//! length bounds apart from their class, and no pattern that is too large. [`Measured::apply`] makes
//! that schema. A pattern is only removed where a wider schema cannot reject more calls.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::SchemaRefusal;
use super::pattern::{self, Measure, Split};
use crate::config::Limits;

/// The patterns that were met so far.
pub(super) struct Patterns<'s> {
    limits: &'s Limits,
    known: HashMap<&'s str, Measure>,
    /// Memory and work together; a byte of each weighs the same.
    total: usize,
}

impl<'s> Patterns<'s> {
    pub(super) fn new(limits: &'s Limits) -> Self {
        Self { limits, known: HashMap::new(), total: 0 }
    }

    /// The size of a pattern; an error when all of them together are too large, or take too long to
    /// measure.
    pub(super) fn measure(&mut self, pattern: &'s str) -> Result<Measure, SchemaRefusal> {
        if let Some(known) = self.known.get(pattern) {
            return Ok(known.clone());
        }
        let measure = pattern::measure(pattern, self.limits.pattern_bytes);
        let memory = match &measure {
            Measure::Fits(program) => program.bytes,
            Measure::TooLarge | Measure::Unreadable => 0,
        };
        let cost = memory.saturating_add(pattern::measuring_work(pattern));
        self.total = self.total.saturating_add(cost);
        if self.total > self.limits.compiled_bytes_per_server {
            return Err(SchemaRefusal::over_limit(format!(
                "its patterns are valid but need more than {} bytes when compiled \
                 (`limits.compiled_bytes_per_server`)",
                self.limits.compiled_bytes_per_server
            )));
        }
        self.known.insert(pattern, measure.clone());
        Ok(measure)
    }

    pub(super) fn too_large(&self, pattern: &str) -> SchemaRefusal {
        SchemaRefusal::over_limit(too_large(&shown(pattern), self.limits))
    }
}

/// What the engine is given in the place of a pattern.
#[derive(Debug)]
pub(super) enum Change {
    Remove,
    Split(Split),
}

/// What was found out about the patterns of a schema.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// One of them needs the backtracking engine.
    pub(super) backtracks: bool,
    /// The schema has a keyword by which a subschema that accepts more makes the whole reject more.
    pub(super) widening_rejects: bool,
    changes: Vec<(String, Change)>,
}

/// The schema for the engine.
#[derive(Debug, Default)]
pub(super) struct Adapted {
    /// `None` where it is the schema itself.
    pub(super) schema: Option<Value>,
    /// Which pattern is not checked, and why.
    pub(super) unchecked: Option<String>,
}

impl Measured {
    pub(super) fn change(&mut self, pointer: &str, change: Change) {
        self.changes.push((pointer.to_owned(), change));
    }

    pub(super) fn apply(&self, raw: &Value, limits: &Limits) -> Result<Adapted, SchemaRefusal> {
        if self.changes.is_empty() {
            return Ok(Adapted::default());
        }
        let mut schema = raw.clone();
        let mut removed = Vec::new();
        for (pointer, change) in &self.changes {
            let Some(Value::Object(keywords)) = schema.pointer_mut(pointer) else { continue };
            match change {
                Change::Remove => {
                    keywords.shift_remove("pattern");
                    removed.push(pointer);
                }
                Change::Split(split) => {
                    keywords.insert("pattern".to_owned(), json!(split.pattern));
                    let bound = |keyword: &str| keywords.get(keyword).map(whole);
                    let least = bound("minLength");
                    let most = bound("maxLength");
                    let min_length = u64::from(split.min_length);
                    match least {
                        None => drop(keywords.insert("minLength".to_owned(), json!(min_length))),
                        Some(Some(known)) if known < min_length => {
                            keywords.insert("minLength".to_owned(), json!(min_length));
                        }
                        // One that is not a number is for the engine to report.
                        Some(_) => {}
                    }
                    if let Some(max_length) = split.max_length.map(u64::from)
                        && most.is_none_or(|known| known.is_some_and(|known| known > max_length))
                    {
                        keywords.insert("maxLength".to_owned(), json!(max_length));
                    }
                }
            }
        }
        let unchecked = self.unchecked(&removed, limits)?;
        Ok(Adapted { schema: Some(schema), unchecked })
    }

    fn unchecked(
        &self,
        removed: &[&String],
        limits: &Limits,
    ) -> Result<Option<String>, SchemaRefusal> {
        let Some(first) = removed.first() else { return Ok(None) };
        let reason = too_large(&format!("at `{first}/pattern`"), limits);
        if self.widening_rejects {
            return Err(SchemaRefusal::over_limit(reason));
        }
        let others = match removed.len() - 1 {
            0 => String::new(),
            1 => ", and so is another one".to_owned(),
            more => format!(", and so are {more} others"),
        };
        Ok(Some(format!("{reason}{others}")))
    }
}

fn too_large(pattern: &str, limits: &Limits) -> String {
    format!(
        "the pattern {pattern} is too large: it is valid but needs more than {} bytes when compiled \
         (`limits.pattern_bytes`)",
        limits.pattern_bytes
    )
}

fn shown(pattern: &str) -> String {
    const SHOWN: usize = 60;
    match pattern.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", pattern.get(..end).unwrap_or_default()),
        None => format!("`{pattern}`"),
    }
}

/// The value of a length keyword; JSON Schema allows `5.0`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, not negative, and a length beyond 2^53 bounds nothing"
)]
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|float| *float >= 0.0 && float.fract() == 0.0);
    value.as_u64().or_else(|| float().map(|float| float as u64))
}
