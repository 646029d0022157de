//! Collects the unknown fields of a rejected call and the subschemas that apply to the objects with
//! problems, in one walk over the arguments.
//!
//! Contract: the walk collects at most the requested number of unknown fields and stops as soon as
//! nothing is left to find. Only objects with a problem are recorded.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use super::closed::{Applied, Visitor, Walk};
use super::explain::Explainer;
use super::location::{Location, join};
use super::problem::{Problem, Reason, UnexpectedField};
use crate::config::ValidationConfig;
use crate::schema::NodeId;
use crate::tape::{Node, StepBudget};

/// Bytes of a path that can be built for one step of the budget.
const BYTES_PER_STEP: usize = 64;

/// The result of the walk.
#[derive(Debug, Default)]
pub(super) struct Found<'e> {
    pub(super) unknown: Vec<Problem<'e>>,
    /// The subschemas that apply to each object with a problem, by the path of the object.
    pub(super) objects: HashMap<String, Vec<NodeId>>,
    /// Whether every unknown field was collected.
    pub(super) complete: bool,
}

/// Walks the arguments once. `max_unknown` limits the number of unknown fields to collect; with `None`
/// unknown fields are accepted.
pub(super) fn collect<'e>(
    explainer: &Explainer<'e>,
    config: &ValidationConfig,
    problems: &[Problem<'e>],
    max_unknown: Option<usize>,
    budget: &StepBudget,
) -> Found<'e> {
    let pending_objects = problems
        .iter()
        .filter_map(|problem| explainer.value(problem.error.parent_path()))
        .map(Node::token_index)
        .collect();
    let mut collector = Collector {
        explainer,
        pending_objects,
        max_unknown: max_unknown.unwrap_or(0),
        is_full: max_unknown.is_none(),
        is_strict: max_unknown.is_some(),
        budget,
        current: None,
        found: Found { complete: true, ..Found::default() },
    };
    let Explainer { schema, root, selected_branches, .. } = explainer;
    let walk = Walk { schema, root: *root, config, selected_branches, budget };
    walk.run(explainer.root, &mut collector);
    let mut found = collector.found;
    found.complete &= !budget.is_spent();
    found
}

struct Collector<'s, 'e> {
    explainer: &'s Explainer<'e>,
    /// Objects with problems that the walk has not reached yet.
    pending_objects: HashSet<u32>,
    max_unknown: usize,
    /// Whether no further unknown field needs to be collected.
    is_full: bool,
    is_strict: bool,
    budget: &'s StepBudget,
    /// The object that contains the most recent unknown field.
    current: Option<CurrentObject<'e>>,
    found: Found<'e>,
}

/// The data that the unknown fields of one object share.
struct CurrentObject<'e> {
    object: Node<'e>,
    path: String,
    schema_path: String,
    names: Rc<[&'e str]>,
}

impl<'e> Collector<'_, 'e> {
    /// Records an object with a problem and returns its path.
    fn record_object(&mut self, location: &Location<'_>, nodes: Vec<NodeId>) -> String {
        let path = location.pointer();
        self.budget.take_usize(path.len() / BYTES_PER_STEP);
        self.found.objects.insert(path.clone(), nodes);
        path
    }

    fn enter(
        &mut self,
        location: &Location<'_>,
        object: Node<'e>,
        applied: &Applied,
    ) -> CurrentObject<'e> {
        let schema = self.explainer.schema;
        let nodes = applied.all();
        let names = self.explainer.names_of(&nodes);
        let schema_path = nodes
            .iter()
            .map(|id| schema.graph.node(*id))
            .find(|node| node.is_closed())
            .map_or_else(String::new, |node| join(&node.pointer, "properties"));
        let path = self.record_object(location, nodes);
        CurrentObject { object, path, schema_path, names }
    }

    /// Ends the walk if nothing is left to find.
    fn stop_if_done(&self) -> ControlFlow<()> {
        if self.is_full && self.pending_objects.is_empty() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl<'e> Visitor<'e> for Collector<'_, 'e> {
    fn object(
        &mut self,
        location: &Location<'_>,
        object: Node<'e>,
        applied: &Applied,
    ) -> ControlFlow<()> {
        if self.pending_objects.remove(&object.token_index()) {
            self.record_object(location, applied.all());
        }
        self.stop_if_done()
    }

    fn unknown(
        &mut self,
        location: &Location<'_>,
        object: Node<'e>,
        key: &str,
        applied: &Applied,
    ) -> ControlFlow<()> {
        if !self.is_strict {
            return ControlFlow::Continue(());
        }
        let has_room = self.found.unknown.len() < self.max_unknown
            && self.explainer.take_problem(location.pointer_length() + key.len());
        if !has_room {
            self.found.complete = false;
            self.is_full = true;
            return self.stop_if_done();
        }
        let current = match self.current.take().filter(|current| current.object == object) {
            Some(current) => current,
            None => self.enter(location, object, applied),
        };
        let (names, reason) = (Rc::clone(&current.names), Reason::Unknown);
        let field = UnexpectedField { object: Some(object), names, reason };
        let schema_path = current.schema_path.clone();
        let problem = Problem::unexpected_field(&current.path, key, schema_path, field);
        self.found.unknown.push(problem);
        self.current = Some(current);
        ControlFlow::Continue(())
    }
}
