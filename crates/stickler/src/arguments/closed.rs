//! Closed objects: a misspelt field must not be dropped in silence.
//!
//! Most tool schemas list their properties and say nothing about others, which JSON Schema reads as
//! "anything goes". We read it as a closed list, at every depth: once per place in the arguments,
//! after all subschemas that apply to that place (`allOf`, `$ref`, the branches of `anyOf` and
//! `oneOf` that hold, `then`, `else`) have had their say. It is what `unevaluatedProperties: false`
//! would do, in every dialect. What a schema says itself (`additionalProperties`,
//! `patternProperties`, `unevaluatedProperties`) is obeyed as written; nothing inside `not`, `if`
//! or `contains` closes anything.
//!
//! Contract: a walk that explains a rejected call takes its steps from a budget and ends when that is
//! spent. The walk that decides about a call ends at the first unknown field.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use super::choices::Choices;
use super::place::Place;
use crate::schema::{Choice, CompiledSchema, NodeId, SchemaGraph, SchemaNode};
use crate::tape::{Kind, Node, StepBudget};

/// Subschemas that are asked about a member for one step.
const NODES_PER_STEP: usize = 16;

/// More names than this are looked for in one pass over an object.
const FEW_NAMES: usize = 8;

/// The subschemas that apply to one place.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// Those that all do.
    pub(crate) nodes: Vec<NodeId>,
    /// Groups of which one or more do.
    pub(crate) alternatives: Vec<Vec<Applied>>,
}

/// What a walk tells on the way.
pub(crate) trait Visitor<'v> {
    /// An object and what applies to it.
    fn object(
        &mut self,
        _place: &Place<'_>,
        _object: Node<'v>,
        _applied: &Applied,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// A member that nothing mentions, in an object that counts as closed.
    fn unknown(
        &mut self,
        place: &Place<'_>,
        object: Node<'v>,
        key: &str,
        applied: &Applied,
    ) -> ControlFlow<()>;
}

/// Whether every member of every object is one that the schema mentions.
pub(crate) fn is_clean(schema: &CompiledSchema, root: Node<'_>, budget: &StepBudget) -> bool {
    if !schema.graph.node(SchemaGraph::ROOT).closes_something {
        return true;
    }
    let choices = Choices::default();
    Walk { schema, choices: &choices, budget }.is_clean(SchemaGraph::ROOT, root)
}

/// A way through the arguments along the schema.
pub(crate) struct Walk<'w> {
    pub(crate) schema: &'w CompiledSchema,
    /// Which branch to follow where none holds.
    pub(crate) choices: &'w Choices,
    pub(crate) budget: &'w StepBudget,
}

struct Stop;

impl Visitor<'_> for Stop {
    fn unknown(&mut self, _: &Place<'_>, _: Node<'_>, _: &str, _: &Applied) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

impl Walk<'_> {
    /// The quick way: as long as subschemas stand alone there is nothing to collect.
    fn is_clean(&self, id: NodeId, value: Node<'_>) -> bool {
        let node = self.node(id);
        if !node.closes_something {
            return true;
        }
        if !node.stands_alone() {
            let applied = self.expand(id, value);
            return self.visit(&applied, value, &Place::Root, true, &mut Stop).is_continue();
        }
        match value.kind() {
            Kind::Object => value.members().all(|(key, member)| match node.member(&key) {
                Some(child) => self.is_clean(child, member),
                None => !node.is_closed(),
            }),
            Kind::Array => value.elements().enumerate().all(|(index, element)| {
                node.element(index).is_none_or(|child| self.is_clean(child, element))
            }),
            _ => true,
        }
    }

    /// The thorough way: everything that applies to every object.
    pub(crate) fn run<'v>(&self, root: Node<'v>, visitor: &mut impl Visitor<'v>) {
        let applied = self.expand(SchemaGraph::ROOT, root);
        let _ = self.visit(&applied, root, &Place::Root, false, visitor);
    }

    fn visit<'v>(
        &self,
        applied: &Applied,
        value: Node<'v>,
        place: &Place<'_>,
        only_where_closed: bool,
        visitor: &mut impl Visitor<'v>,
    ) -> ControlFlow<()> {
        if only_where_closed && !self.closes_something(applied) {
            return ControlFlow::Continue(());
        }
        match value.kind() {
            Kind::Object => {
                visitor.object(place, value, applied)?;
                let closed = self.is_closed(applied);
                // Asking many subschemas about each member is work, too.
                let per_member = applied.nodes.len() / NODES_PER_STEP;
                for (key, member) in value.members() {
                    if !only_where_closed && !self.budget.pays(per_member) {
                        return ControlFlow::Break(());
                    }
                    if closed && !self.evaluates(applied, &key) {
                        visitor.unknown(place, value, &key, applied)?;
                        continue;
                    }
                    let place = Place::Member(place, &key);
                    let child = self.child(applied, member, &|node| node.member(&key));
                    self.visit(&child, member, &place, only_where_closed, visitor)?;
                }
            }
            Kind::Array => {
                for (index, element) in value.elements().enumerate() {
                    if !only_where_closed && !self.budget.pays(0) {
                        return ControlFlow::Break(());
                    }
                    let place = Place::Element(place, index);
                    let child = self.child(applied, element, &|node| node.element(index));
                    self.visit(&child, element, &place, only_where_closed, visitor)?;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn expand(&self, id: NodeId, value: Node<'_>) -> Applied {
        let mut applied = Applied::default();
        self.add(id, value, &mut applied, &mut Seen::default());
        applied
    }

    /// Adds a subschema and what it brings along for the same place. `seen` are those on the way
    /// here: a reference may lead back.
    fn add(&self, id: NodeId, value: Node<'_>, applied: &mut Applied, seen: &mut Seen) {
        if !seen.insert(id) || !self.budget.take(1) {
            return;
        }
        applied.nodes.push(id);
        let node = self.node(id);
        for also in &node.all_of {
            self.add(*also, value, applied, seen);
        }
        for choice in node.choices.iter().filter(|choice| choice.matters) {
            self.add_choice(choice, value, applied, seen);
        }
        let present = present(&node.dependent, value);
        for (_, dependent) in node.dependent.iter().filter(|(name, _)| present(name)) {
            self.add(*dependent, value, applied, seen);
        }
        if let Some(condition) = &node.condition {
            if self.schema.branches.holds(condition.when, value, self.budget) {
                // What a condition looked at counts as seen, but it closes nothing.
                let looked_at = self.alternative(condition.when, value, seen);
                applied.alternatives.push(vec![looked_at, Applied::default()]);
                condition.then.iter().for_each(|id| self.add(*id, value, applied, seen));
            } else {
                let otherwise = condition.otherwise.iter();
                otherwise.for_each(|id| self.add(*id, value, applied, seen));
            }
        }
    }

    fn add_choice(&self, choice: &Choice, value: Node<'_>, applied: &mut Applied, seen: &mut Seen) {
        if let Some(closest) = self.choices.get(value, &choice.pointer) {
            if let Some(branch) = choice.branches.get(closest) {
                self.add(*branch, value, applied, seen);
            }
            return;
        }
        let holding: Vec<NodeId> = choice
            .branches
            .iter()
            .copied()
            .filter(|branch| self.schema.branches.holds(*branch, value, self.budget))
            .collect();
        match holding.as_slice() {
            [] => {}
            [only] => self.add(*only, value, applied, seen),
            several => {
                let group = several.iter().map(|id| self.alternative(*id, value, seen)).collect();
                applied.alternatives.push(group);
            }
        }
    }

    fn alternative(&self, id: NodeId, value: Node<'_>, seen: &Seen) -> Applied {
        let mut applied = Applied::default();
        self.add(id, value, &mut applied, &mut seen.clone());
        applied
    }

    fn child(
        &self,
        applied: &Applied,
        value: Node<'_>,
        step: &dyn Fn(&SchemaNode) -> Option<NodeId>,
    ) -> Applied {
        let mut child = Applied::default();
        let mut seen = Seen::default();
        for id in applied.nodes.iter().filter_map(|id| step(self.node(*id))) {
            self.add(id, value, &mut child, &mut seen);
        }
        for group in &applied.alternatives {
            let group = group.iter().map(|one| self.child(one, value, step)).collect();
            child.alternatives.push(group);
        }
        child
    }

    /// Some subschema lists properties and is silent about others. Of alternatives, all must: one
    /// that leaves an object free leaves it free.
    fn is_closed(&self, applied: &Applied) -> bool {
        applied.nodes.iter().any(|id| self.node(*id).is_closed())
            || applied
                .alternatives
                .iter()
                .any(|group| !group.is_empty() && group.iter().all(|one| self.is_closed(one)))
    }

    fn evaluates(&self, applied: &Applied, key: &str) -> bool {
        applied.nodes.iter().any(|id| self.node(*id).evaluates(key))
            || applied.alternatives.iter().flatten().any(|one| self.evaluates(one, key))
    }

    fn closes_something(&self, applied: &Applied) -> bool {
        applied.nodes.iter().any(|id| self.node(*id).closes_something)
            || applied.alternatives.iter().flatten().any(|one| self.closes_something(one))
    }

    fn node(&self, id: NodeId) -> &SchemaNode {
        self.schema.graph.node(id)
    }
}

impl Applied {
    /// All subschemas, alternatives included.
    pub(crate) fn all(&self) -> Vec<NodeId> {
        let mut all = self.nodes.clone();
        for one in self.alternatives.iter().flatten() {
            all.extend(one.all());
        }
        all
    }
}

/// Subschemas that were met already, a bit for each.
#[derive(Debug, Default, Clone)]
struct Seen(Vec<u64>);

impl Seen {
    /// Whether it is met for the first time.
    fn insert(&mut self, id: NodeId) -> bool {
        let (word, bit) = (id.index() / 64, 1_u64 << (id.index() % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let Some(word) = self.0.get_mut(word) else { return false };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Which of some names an object has.
fn present<'v>(names: &[(String, NodeId)], object: Node<'v>) -> impl Fn(&str) -> bool + use<'v> {
    let keys: Option<HashSet<Cow<'v, str>>> =
        (names.len() > FEW_NAMES).then(|| object.members().map(|(key, _)| key).collect());
    move |name| match &keys {
        Some(keys) => keys.contains(name),
        None => object.get(name).is_some(),
    }
}
