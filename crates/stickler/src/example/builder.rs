//! Builds one value for one schema node, by offering candidates until one fits.
//!
//! Candidates are offered best first to a callback that may stop the offering,
//! so nothing is built that nobody asked for. A node's choice can be moved on to
//! a later candidate by the plan, which is how the search tries variants.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use serde_json::Value;

use super::equality::contains_same;
use super::fits::Judge;
use super::flat::Flat;
use super::plan::Plan;

const MAX_DEPTH: usize = 16;

/// More places than the search could ever vary need not be remembered.
const MAX_VISITS: usize = 64;

/// Where in the example a value is built.
#[derive(Clone, Copy)]
pub(super) struct Spot<'p> {
    pub(super) path: &'p str,
    pub(super) depth: usize,
    /// How many fitting candidates to pass over.
    pub(super) skip: usize,
    /// How many values beyond the first a generator should be able to offer.
    pub(super) variety: usize,
}

impl Spot<'static> {
    pub(super) const ROOT: Self = Spot { path: "", depth: 0, skip: 0, variety: 1 };
}

impl Spot<'_> {
    pub(super) fn below<'q>(&self, path: &'q str) -> Spot<'q> {
        Spot { path, depth: self.depth + 1, skip: 0, variety: 1 }
    }
}

/// One attempt at an example, made after one plan.
pub(super) struct Builder<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) plan: &'a Plan,
    /// How many more nodes may be built, so that no schema takes for ever.
    pub(super) nodes: &'a Cell<usize>,
    /// The references being built, innermost last.
    open: RefCell<Vec<String>>,
    /// The places visited, in order: the places where a variant can differ.
    visited: RefCell<Vec<String>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(judge: &'a Judge<'a>, plan: &'a Plan, nodes: &'a Cell<usize>) -> Self {
        Self {
            judge,
            plan,
            nodes,
            open: RefCell::new(vec!["#".to_owned()]),
            visited: RefCell::default(),
        }
    }

    /// A value for `schema`, or `None` when none was found.
    pub(super) fn build(&self, schema: &Value, spot: Spot<'_>) -> Option<Value> {
        self.build_distinct(schema, spot, &[])
    }

    /// A value for `schema` that is not among `taken`.
    pub(super) fn build_distinct(
        &self,
        schema: &Value,
        spot: Spot<'_>,
        taken: &[Value],
    ) -> Option<Value> {
        if spot.depth > MAX_DEPTH || !self.spend_node() {
            return None;
        }
        self.note_visit(spot.path);
        let flat = Flat::of(schema, self.judge.refs)?;
        let mut left_to_skip = spot.skip + self.plan.skip_at(spot.path);
        let mut found = None;
        let _ = self.entering(&flat, 0, || {
            self.offer(&flat, spot, &mut |candidate| {
                if contains_same(taken, &candidate) || !self.judge.may_fit(schema, &candidate) {
                    return ControlFlow::Continue(false);
                }
                found = Some(candidate);
                if left_to_skip == 0 {
                    return ControlFlow::Break(());
                }
                left_to_skip -= 1;
                ControlFlow::Continue(true)
            })
        });
        found
    }

    /// The places visited so far, each once, in order.
    pub(super) fn into_visited(self) -> Vec<String> {
        self.visited.into_inner()
    }

    /// Takes one node from the budget; `false` when it is used up.
    pub(super) fn spend_node(&self) -> bool {
        let left = self.nodes.get();
        self.nodes.set(left.saturating_sub(1));
        left > 0
    }

    fn note_visit(&self, path: &str) {
        let mut visited = self.visited.borrow_mut();
        if visited.len() < MAX_VISITS && !visited.iter().any(|seen| seen == path) {
            visited.push(path.to_owned());
        }
    }

    /// Runs `offering` unless a reference that `flat` followed is already being built.
    ///
    /// The smallest value of a recursive schema never nests a reference in itself,
    /// so refusing to do that loses nothing but endless descents.
    pub(super) fn entering(
        &self,
        flat: &Flat,
        already_open: usize,
        offering: impl FnOnce() -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let fresh = flat.followed.get(already_open..).unwrap_or_default();
        let before = self.open.borrow().len();
        let recursive = fresh.iter().any(|reference| self.open.borrow().contains(reference));
        if recursive && !self.plan.allow_recursion {
            return ControlFlow::Continue(());
        }
        self.open.borrow_mut().extend_from_slice(fresh);
        let flow = offering();
        self.open.borrow_mut().truncate(before);
        flow
    }
}
