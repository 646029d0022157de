//! Measures the patterns of a schema and adapts the schema that is passed to the engine.
//!
//! [`Patterns`] measures each distinct pattern once and stops when the sum exceeds the limit per server.
//! [`Measured`] collects the changes to the schema: length bounds are split off from large patterns, and
//! patterns that are too large are removed. [`Measured::apply`] creates the changed schema. A pattern is
//! removed only if accepting more values in its place cannot make the schema reject more calls.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::SchemaRejection;
use super::pattern::{self, Measure, Split};
use crate::config::Limits;

/// The measured patterns of a schema.
pub(super) struct Patterns<'s> {
    limits: &'s Limits,
    known: HashMap<&'s str, Measure>,
    /// Sum of memory and work, weighted equally.
    total: usize,
}

impl<'s> Patterns<'s> {
    pub(super) fn new(limits: &'s Limits) -> Self {
        Self { limits, known: HashMap::new(), total: 0 }
    }

    /// Returns the size of a pattern. Returns an error if all patterns together are too large or take too
    /// long to measure.
    pub(super) fn measure(&mut self, pattern: &'s str) -> Result<Measure, SchemaRejection> {
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
            return Err(SchemaRejection::over_limit(format!(
                "its patterns are valid but need more than {} bytes when compiled \
                 (`limits.compiled_bytes_per_server`)",
                self.limits.compiled_bytes_per_server
            )));
        }
        self.known.insert(pattern, measure.clone());
        Ok(measure)
    }

    pub(super) fn too_large(&self, pattern: &str) -> SchemaRejection {
        SchemaRejection::over_limit(too_large(&shorten(pattern), self.limits))
    }
}

/// A change to a pattern in the schema for the engine.
#[derive(Debug)]
pub(super) enum Change {
    Remove,
    Split(Split),
}

/// Properties of the patterns of a schema, and the resulting changes.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Whether a pattern requires the backtracking engine.
    pub(super) backtracks: bool,
    /// Whether the schema has a keyword, for example `not`, that rejects more if a subschema accepts more.
    pub(super) widening_rejects: bool,
    /// Whether the schema has a format that a lenient check widens.
    pub(super) widens_formats: bool,
    changes: Vec<(String, Change)>,
}

/// The schema to pass to the engine.
#[derive(Debug, Default)]
pub(super) struct Adapted {
    /// `None` if the schema is unchanged.
    pub(super) schema: Option<Value>,
    /// Describes which pattern is not checked, and why.
    pub(super) unchecked: Option<String>,
}

impl Measured {
    pub(super) fn change(&mut self, pointer: &str, change: Change) {
        self.changes.push((pointer.to_owned(), change));
    }

    pub(super) fn apply(&self, raw: &Value, limits: &Limits) -> Result<Adapted, SchemaRejection> {
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
                    let min_keyword = bound("minLength");
                    let max_keyword = bound("maxLength");
                    let min_length = u64::from(split.min_length);
                    match min_keyword {
                        None => drop(keywords.insert("minLength".to_owned(), json!(min_length))),
                        Some(Some(known)) if known < min_length => {
                            keywords.insert("minLength".to_owned(), json!(min_length));
                        }
                        // The engine reports a value that is not a number.
                        Some(_) => {}
                    }
                    if let Some(max_length) = split.max_length.map(u64::from)
                        && max_keyword
                            .is_none_or(|known| known.is_some_and(|known| known > max_length))
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
    ) -> Result<Option<String>, SchemaRejection> {
        let Some(first) = removed.first() else { return Ok(None) };
        let reason = too_large(&format!("at `{first}/pattern`"), limits);
        if self.widening_rejects {
            return Err(SchemaRejection::over_limit(reason));
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

fn shorten(pattern: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 60;
    match pattern.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("`{}…`", pattern.get(..end).unwrap_or_default()),
        None => format!("`{pattern}`"),
    }
}

/// Returns the value of a length keyword; JSON Schema allows `5.0`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative and without fraction; a length beyond 2^53 is never reached"
)]
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|float| *float >= 0.0 && float.fract() == 0.0);
    value.as_u64().or_else(|| float().map(|float| float as u64))
}
