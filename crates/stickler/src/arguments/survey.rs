//! The walk over a rejected call: unknown fields, and what applies to the objects with problems.
//!
//! Contract: it notes at most as many unknown fields as asked for, and then looks no further than it
//! needs to; only objects in which something is wrong are noted.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use super::closed::{Applied, Visitor, Walk};
use super::explain::Explainer;
use super::place::{Place, join};
use super::problem::{Form, Problem, Unwanted};
use crate::schema::NodeId;
use crate::tape::{Node, StepBudget};

/// Bytes of a path that are built for one step.
const BYTES_PER_STEP: usize = 64;

/// What the walk found.
#[derive(Debug, Default)]
pub(super) struct Found<'e> {
    pub(super) unknown: Vec<Problem<'e>>,
    /// The subschemas that apply to the objects with problems, by their paths.
    pub(super) objects: HashMap<String, Vec<NodeId>>,
    /// False when there may be more.
    pub(super) complete: bool,
}

/// Walks over the arguments once. `most` is the number of unknown fields to note; `None` when they
/// are no problem.
pub(super) fn run<'e>(
    explainer: &Explainer<'e>,
    problems: &[Problem<'e>],
    most: Option<usize>,
    budget: &StepBudget,
) -> Found<'e> {
    let wanted = problems
        .iter()
        .filter_map(|one| explainer.value(one.error.parent_path()))
        .map(Node::token_index)
        .collect();
    let mut survey = Survey {
        explainer,
        wanted,
        most: most.unwrap_or(0),
        full: most.is_none(),
        is_strict: most.is_some(),
        budget,
        here: None,
        found: Found { complete: true, ..Found::default() },
    };
    let walk = Walk { schema: explainer.schema, choices: &explainer.choices, budget };
    walk.run(explainer.root, &mut survey);
    let mut found = survey.found;
    found.complete &= !budget.is_spent();
    found
}

struct Survey<'s, 'e> {
    explainer: &'s Explainer<'e>,
    /// Objects with problems that the walk has not come to.
    wanted: HashSet<u32>,
    most: usize,
    /// No unknown field has to be noted any more.
    full: bool,
    is_strict: bool,
    budget: &'s StepBudget,
    /// The object in which the last unknown field was.
    here: Option<Here<'e>>,
    found: Found<'e>,
}

/// What the unknown fields of one object have in common.
struct Here<'e> {
    object: Node<'e>,
    path: String,
    schema_path: String,
    names: Rc<[&'e str]>,
}

impl<'e> Survey<'_, 'e> {
    /// Notes an object with a problem; its path.
    fn note(&mut self, place: &Place<'_>, nodes: Vec<NodeId>) -> String {
        let path = place.pointer();
        self.charge(path.len());
        self.found.objects.insert(path.clone(), nodes);
        path
    }

    fn enter(&mut self, place: &Place<'_>, object: Node<'e>, applied: &Applied) -> Here<'e> {
        let schema = self.explainer.schema;
        let nodes = applied.all();
        let names = self.explainer.names_of(&nodes);
        let schema_path = nodes
            .iter()
            .map(|id| schema.graph.node(*id))
            .find(|node| node.is_closed())
            .map_or_else(String::new, |node| join(&node.pointer, "properties"));
        let path = self.note(place, nodes);
        Here { object, path, schema_path, names }
    }

    /// Takes the steps for a path of so many bytes.
    fn charge(&self, bytes: usize) {
        self.budget.take(u32::try_from(bytes / BYTES_PER_STEP).unwrap_or(u32::MAX));
    }

    /// Whether anything is left to look for.
    fn go_on(&self) -> ControlFlow<()> {
        if self.full && self.wanted.is_empty() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl<'e> Visitor<'e> for Survey<'_, 'e> {
    fn object(
        &mut self,
        place: &Place<'_>,
        object: Node<'e>,
        applied: &Applied,
    ) -> ControlFlow<()> {
        if self.wanted.remove(&object.token_index()) {
            self.note(place, applied.all());
        }
        self.go_on()
    }

    fn unknown(
        &mut self,
        place: &Place<'_>,
        object: Node<'e>,
        key: &str,
        applied: &Applied,
    ) -> ControlFlow<()> {
        if !self.is_strict {
            return ControlFlow::Continue(());
        }
        if self.found.unknown.len() >= self.most {
            self.found.complete = false;
            self.full = true;
            return self.go_on();
        }
        let here = match self.here.take().filter(|here| here.object == object) {
            Some(here) => here,
            None => self.enter(place, object, applied),
        };
        self.charge(here.path.len() + key.len());
        let unwanted =
            Unwanted { object: Some(object), names: Rc::clone(&here.names), form: Form::Unknown };
        let problem = Problem::unwanted(&here.path, key, here.schema_path.clone(), unwanted);
        self.found.unknown.push(problem);
        self.here = Some(here);
        ControlFlow::Continue(())
    }
}
