//! Makes a valid example instance from a JSON Schema of any draft.
//!
//! A model that sent wrong arguments learns more from one right example than
//! from a list of rules. An example that is itself wrong would do harm, so each
//! one is checked with the compiled schema, and none is given if none passes.
//!
//! The work is split so: [`flat`] merges what must hold together at one node,
//! [`builder`] offers candidates for it best first, [`fits`] drops those that are
//! known to be wrong, and the search here tries other [`plan`]s until the real
//! validator accepts. Nothing depends on time, chance or surroundings.

mod array;
mod assertions;
mod builder;
mod candidates;
mod decimal;
mod ecma;
mod equality;
mod fits;
mod flat;
mod format;
mod matching;
mod merge;
mod number;
mod object;
mod pattern;
mod plan;
mod refs;
mod sampling;
mod string;
mod verdict;

use std::cell::Cell;

use serde_json::Value;

use builder::{Builder, Spot};
use fits::Judge;
use pattern::PatternCache;
use plan::{Plan, broad_plans};
use refs::Refs;

/// How often `accepts` may be asked for one schema.
const MAX_CHECKS: usize = 64;

/// How many attempts may be built in all, since many build the same value.
const MAX_ATTEMPTS: usize = 128;

/// What one attempt may cost, in nodes built and in subschemas judged.
const NODES_PER_ATTEMPT: usize = 2_000;
const FUEL_PER_ATTEMPT: usize = 50_000;

/// What all attempts together may cost.
const NODES_IN_ALL: usize = 4_000;
const FUEL_IN_ALL: usize = 150_000;

/// The longest filler text that is written to satisfy a minimum length.
const MAX_TEXT: usize = 10_000;

/// A value that `schema` allows and `accepts` confirms, or `None` when none was found.
///
/// `accepts` is the compiled schema's own yes or no; it is asked at most 64 times.
pub(crate) fn generate(schema: &Value, accepts: &dyn Fn(&Value) -> bool) -> Option<Value> {
    let refs = Refs::new(schema);
    let mut search = Search {
        schema,
        accepts,
        refs: &refs,
        patterns: PatternCache::default(),
        refused: Vec::new(),
        attempts_left: MAX_ATTEMPTS,
        nodes_left: NODES_IN_ALL,
        fuel_left: FUEL_IN_ALL,
    };
    search.run()
}

/// An ECMA-262 pattern in the dialect of `regex-syntax`, without its lookaround.
pub(crate) fn to_regex_syntax(pattern: &str) -> String {
    ecma::translate(pattern).pattern
}

struct Search<'a> {
    schema: &'a Value,
    accepts: &'a dyn Fn(&Value) -> bool,
    refs: &'a Refs<'a>,
    patterns: PatternCache,
    /// What `accepts` has refused, so that it is not asked the same twice.
    refused: Vec<Value>,
    attempts_left: usize,
    nodes_left: usize,
    fuel_left: usize,
}

impl Search<'_> {
    fn run(&mut self) -> Option<Value> {
        let mut visits = Vec::new();
        for plan in broad_plans() {
            let (found, visited) = self.attempt(&plan);
            if found.is_some() {
                return found;
            }
            visits.push((plan, visited));
        }
        // What is wrong in one place only is found by changing one place at a time.
        for (plan, visited) in &visits {
            for detour in plan.detours(visited) {
                if self.is_exhausted() {
                    return None;
                }
                let (found, _) = self.attempt(&detour);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn is_exhausted(&self) -> bool {
        self.attempts_left == 0 || self.nodes_left == 0 || self.refused.len() >= MAX_CHECKS
    }

    /// An accepted value made after `plan`, and the places where it could differ.
    fn attempt(&mut self, plan: &Plan) -> (Option<Value>, Vec<String>) {
        if self.is_exhausted() {
            return (None, Vec::new());
        }
        self.attempts_left -= 1;
        let nodes = Cell::new(NODES_PER_ATTEMPT.min(self.nodes_left));
        let fuel = FUEL_PER_ATTEMPT.min(self.fuel_left);
        let (nodes_before, fuel_before) = (nodes.get(), fuel);
        let judge = Judge { refs: self.refs, patterns: &self.patterns, fuel: Cell::new(fuel) };
        let builder = Builder::new(&judge, plan, &nodes);
        let draft = builder.build(self.schema, Spot::ROOT);
        // A plan that leads nowhere is not mended by a change in one place.
        let visited = match draft {
            Some(_) => builder.into_visited(),
            None => Vec::new(),
        };
        self.nodes_left = self.nodes_left.saturating_sub(nodes_before - nodes.get());
        self.fuel_left = self.fuel_left.saturating_sub(fuel_before - judge.fuel.get());
        (draft.and_then(|draft| self.confirmed(draft)), visited)
    }

    fn confirmed(&mut self, draft: Value) -> Option<Value> {
        if self.refused.contains(&draft) {
            return None;
        }
        if (self.accepts)(&draft) {
            return Some(draft);
        }
        self.refused.push(draft);
        None
    }
}

#[cfg(test)]
mod tests;
