//! Builds a value for a schema node by offering candidates until one is valid.
//!
//! Candidates are passed, best first, to a callback that can stop the iteration, so no unused value
//! is built. The plan can skip candidates at one position; this is how the search tries variants.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use serde_json::Value;

use super::equality::contains_same;
use super::flat_schema::FlatSchema;
use super::partial_validator::PartialValidator;
use super::plan::Plan;

/// Maximum nesting of an example.
const MAX_DEPTH: usize = 16;

/// Maximum number of recorded paths. The search cannot vary more of them.
const MAX_VISITS: usize = 64;

/// Position in the example at which a value is built.
#[derive(Clone, Copy)]
pub(super) struct Position<'p> {
    pub(super) path: &'p str,
    pub(super) depth: usize,
    /// Number of valid candidates to skip.
    pub(super) skip: usize,
    /// Number of further values that a generator should offer.
    pub(super) variety: usize,
}

impl Position<'static> {
    pub(super) const ROOT: Self = Position { path: "", depth: 0, skip: 0, variety: 1 };
}

impl Position<'_> {
    pub(super) fn child<'q>(&self, path: &'q str) -> Position<'q> {
        Position { path, depth: self.depth + 1, skip: 0, variety: 1 }
    }
}

/// Builds one example by one plan.
pub(super) struct Builder<'a> {
    pub(super) validator: &'a PartialValidator<'a>,
    pub(super) plan: &'a Plan,
    /// Remaining number of nodes, which bounds the work for any schema.
    pub(super) nodes: &'a Cell<usize>,
    /// The references that are being built, innermost last.
    open_references: RefCell<Vec<String>>,
    /// The visited paths in order. A variant can differ at each of them.
    visited: RefCell<Vec<String>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        validator: &'a PartialValidator<'a>,
        plan: &'a Plan,
        nodes: &'a Cell<usize>,
    ) -> Self {
        Self {
            validator,
            plan,
            nodes,
            open_references: RefCell::new(vec!["#".to_owned()]),
            visited: RefCell::default(),
        }
    }

    /// Returns a value for `schema`, or `None` if none was found.
    pub(super) fn build(&self, schema: &Value, position: Position<'_>) -> Option<Value> {
        self.build_distinct(schema, position, &[])
    }

    /// Returns a value for `schema` that is not one of `taken`.
    pub(super) fn build_distinct(
        &self,
        schema: &Value,
        position: Position<'_>,
        taken: &[Value],
    ) -> Option<Value> {
        if position.depth > MAX_DEPTH || !self.spend_node() {
            return None;
        }
        self.record_visit(position.path);
        let flat = FlatSchema::of(schema, self.validator.refs)?;
        let mut remaining_skips = position.skip + self.plan.skip_at(position.path);
        let mut found = None;
        let _ = self.enter_references(&flat, 0, || {
            self.offer(&flat, position, &mut |candidate| {
                if contains_same(taken, &candidate)
                    || !self.validator.may_accept(schema, &candidate)
                {
                    return ControlFlow::Continue(false);
                }
                found = Some(candidate);
                if remaining_skips == 0 {
                    return ControlFlow::Break(());
                }
                remaining_skips -= 1;
                ControlFlow::Continue(true)
            })
        });
        found
    }

    /// Returns the visited paths in order, without duplicates.
    pub(super) fn into_visited(self) -> Vec<String> {
        self.visited.into_inner()
    }

    /// Takes one node from the budget; returns `false` if the budget is exhausted.
    pub(super) fn spend_node(&self) -> bool {
        let left = self.nodes.get();
        self.nodes.set(left.saturating_sub(1));
        left > 0
    }

    fn record_visit(&self, path: &str) {
        let mut visited = self.visited.borrow_mut();
        if visited.len() < MAX_VISITS && !visited.iter().any(|seen| seen == path) {
            visited.push(path.to_owned());
        }
    }

    /// Runs `offering` unless a reference that `flat` followed is already being built.
    ///
    /// The smallest value of a recursive schema does not nest a reference in itself, so skipping
    /// these candidates only prevents infinite recursion.
    pub(super) fn enter_references(
        &self,
        flat: &FlatSchema,
        already_open: usize,
        offering: impl FnOnce() -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let new_references = flat.followed.get(already_open..).unwrap_or_default();
        let before = self.open_references.borrow().len();
        let is_recursive = new_references
            .iter()
            .any(|reference| self.open_references.borrow().contains(reference));
        if is_recursive && !self.plan.allow_recursion {
            return ControlFlow::Continue(());
        }
        self.open_references.borrow_mut().extend_from_slice(new_references);
        let flow = offering();
        self.open_references.borrow_mut().truncate(before);
        flow
    }
}
