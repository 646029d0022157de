//! Generates a valid example instance from a JSON Schema of any draft.
//!
//! A model corrects its arguments more easily with a valid example than with a list of constraints.
//! An invalid example would mislead it, so the compiled schema validates each one, and the result
//! is `None` if no candidate is valid.
//!
//! [`flat_schema`] merges the constraints that apply to one node, [`builder`] offers candidates for
//! it, best first, [`partial_validator`] drops candidates that are known to be invalid, and the
//! search in this module tries further [`plan`]s until the real validator accepts. The result
//! depends only on the schema, not on time, randomness or the environment.

mod array;
mod assertions;
mod builder;
mod candidates;
mod date_template;
mod decimal;
mod ecma;
mod equality;
mod flat_schema;
mod format;
mod matching;
mod merge;
mod number;
mod object;
mod partial_validator;
mod pattern;
mod plan;
mod realistic;
mod refs;
mod sampling;
mod string;
mod three_valued;

use std::cell::Cell;

use serde_json::Value;

use builder::{Builder, Position};
use partial_validator::PartialValidator;
use pattern::PatternCache;
use plan::{Plan, base_plans};
use refs::Refs;

/// Maximum number of calls of `accepts` per schema.
const MAX_CHECKS: usize = 64;

/// Maximum number of attempts per schema. Many attempts build the same value.
const MAX_ATTEMPTS: usize = 128;

/// Maximum cost of one attempt: built nodes, and evaluated subschemas (fuel).
const MAX_NODES_PER_ATTEMPT: usize = 2_000;
const MAX_FUEL_PER_ATTEMPT: usize = 50_000;

/// Maximum cost of all attempts together.
const MAX_TOTAL_NODES: usize = 4_000;
const MAX_TOTAL_FUEL: usize = 150_000;

/// Maximum length of a string that is generated to satisfy `minLength`, in characters.
const MAX_TEXT_CHARS: usize = 10_000;

/// Returns a value that `accepts` confirms to be valid for `schema`, or `None` if none was found.
///
/// `accepts` validates against the compiled schema. It is called at most 64 times.
pub(crate) fn generate(schema: &Value, accepts: &dyn Fn(&Value) -> bool) -> Option<Value> {
    let refs = Refs::new(schema);
    let mut search = Search {
        schema,
        accepts,
        refs: &refs,
        patterns: PatternCache::default(),
        rejected: Vec::new(),
        attempts_left: MAX_ATTEMPTS,
        nodes_left: MAX_TOTAL_NODES,
        fuel_left: MAX_TOTAL_FUEL,
    };
    search.run()
}

/// Translates an ECMA-262 pattern into the syntax of `regex-syntax`, without lookaround.
pub(crate) fn to_regex_syntax(pattern: &str) -> String {
    ecma::translate(pattern).pattern
}

struct Search<'a> {
    schema: &'a Value,
    accepts: &'a dyn Fn(&Value) -> bool,
    refs: &'a Refs<'a>,
    patterns: PatternCache,
    /// Values that `accepts` has rejected, so that none is validated twice.
    rejected: Vec<Value>,
    attempts_left: usize,
    nodes_left: usize,
    fuel_left: usize,
}

impl Search<'_> {
    fn run(&mut self) -> Option<Value> {
        let mut visited_by_plan = Vec::new();
        for plan in base_plans() {
            let (found, visited) = self.attempt(&plan);
            if found.is_some() {
                return found;
            }
            visited_by_plan.push((plan, visited));
        }
        // Errors at a single position are corrected by varying one position at a time.
        for (plan, visited) in &visited_by_plan {
            for variation in plan.variations(visited) {
                if self.is_exhausted() {
                    return None;
                }
                let (found, _) = self.attempt(&variation);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn is_exhausted(&self) -> bool {
        self.attempts_left == 0 || self.nodes_left == 0 || self.rejected.len() >= MAX_CHECKS
    }

    /// Returns a valid value built by `plan`, and the positions that could be varied.
    fn attempt(&mut self, plan: &Plan) -> (Option<Value>, Vec<String>) {
        if self.is_exhausted() {
            return (None, Vec::new());
        }
        self.attempts_left -= 1;
        let nodes = Cell::new(MAX_NODES_PER_ATTEMPT.min(self.nodes_left));
        let fuel = MAX_FUEL_PER_ATTEMPT.min(self.fuel_left);
        let (nodes_before, fuel_before) = (nodes.get(), fuel);
        let validator =
            PartialValidator { refs: self.refs, patterns: &self.patterns, fuel: Cell::new(fuel) };
        let builder = Builder::new(&validator, plan, &nodes);
        let draft = builder.build(self.schema, Position::ROOT);
        // If a plan does not yield a value, varying one position of it does not help.
        let visited = match draft {
            Some(_) => builder.into_visited(),
            None => Vec::new(),
        };
        self.nodes_left = self.nodes_left.saturating_sub(nodes_before - nodes.get());
        self.fuel_left = self.fuel_left.saturating_sub(fuel_before - validator.fuel.get());
        (draft.and_then(|draft| self.validate(draft)), visited)
    }

    fn validate(&mut self, draft: Value) -> Option<Value> {
        if self.rejected.contains(&draft) {
            return None;
        }
        if (self.accepts)(&draft) {
            return Some(draft);
        }
        self.rejected.push(draft);
        None
    }
}

#[cfg(test)]
mod tests;
