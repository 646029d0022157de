//! Closed objects: a misspelt field must not be dropped in silence.
//!
//! Most tool schemas list their properties and say nothing about others, which JSON Schema reads as
//! "anything goes". We read it as a closed list, at every depth: once per place in the arguments,
//! after all subschemas that apply to that place (`allOf`, `$ref`, the branches of `anyOf` and
//! `oneOf` that hold, `then`, `else`) have had their say. It is what `unevaluatedProperties: false`
//! would do, in every dialect. What a schema says itself (`additionalProperties`,
//! `patternProperties`, `unevaluatedProperties`) is obeyed as written; nothing inside `not`, `if`
//! or `contains` closes anything.

use std::ops::ControlFlow;

use super::choices::Choices;
use super::place::Place;
use crate::schema::{Choice, CompiledSchema, NodeId, SchemaGraph, SchemaNode};
use crate::tape::{Kind, Node, StepBudget};

/// The subschemas that apply to one place.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// Those that all do.
    pub(crate) nodes: Vec<NodeId>,
    /// Groups of which one or more do.
    pub(crate) alternatives: Vec<Vec<Applied>>,
}

/// What a walk tells on the way.
pub(crate) trait Visitor {
    /// An object and what applies to it.
    fn object(&mut self, _place: &Place<'_>, _object: Node<'_>, _applied: &Applied) {}

    /// A member that nothing mentions, in an object that counts as closed.
    fn unknown(&mut self, place: &Place<'_>, key: &str, applied: &Applied) -> ControlFlow<()>;
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

impl Visitor for Stop {
    fn unknown(&mut self, _: &Place<'_>, _: &str, _: &Applied) -> ControlFlow<()> {
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
            let applied = self.expand(id, value, &Place::Root);
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
    pub(crate) fn run(&self, root: Node<'_>, visitor: &mut impl Visitor) {
        let applied = self.expand(SchemaGraph::ROOT, root, &Place::Root);
        let _ = self.visit(&applied, root, &Place::Root, false, visitor);
    }

    fn visit(
        &self,
        applied: &Applied,
        value: Node<'_>,
        place: &Place<'_>,
        only_where_closed: bool,
        visitor: &mut impl Visitor,
    ) -> ControlFlow<()> {
        if only_where_closed && !self.closes_something(applied) {
            return ControlFlow::Continue(());
        }
        match value.kind() {
            Kind::Object => {
                visitor.object(place, value, applied);
                let closed = self.is_closed(applied);
                for (key, member) in value.members() {
                    if closed && !self.evaluates(applied, &key) {
                        visitor.unknown(place, &key, applied)?;
                        continue;
                    }
                    let place = Place::Member(place, &key);
                    let child = self.child(applied, member, &place, &|node| node.member(&key));
                    self.visit(&child, member, &place, only_where_closed, visitor)?;
                }
            }
            Kind::Array => {
                for (index, element) in value.elements().enumerate() {
                    let place = Place::Element(place, index);
                    let child = self.child(applied, element, &place, &|node| node.element(index));
                    self.visit(&child, element, &place, only_where_closed, visitor)?;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn expand(&self, id: NodeId, value: Node<'_>, place: &Place<'_>) -> Applied {
        let mut applied = Applied::default();
        self.add(id, value, place, &mut applied, &mut Vec::new());
        applied
    }

    /// Adds a subschema and what it brings along for the same place. `seen` are those on the way
    /// here: a reference may lead back.
    fn add(
        &self,
        id: NodeId,
        value: Node<'_>,
        place: &Place<'_>,
        applied: &mut Applied,
        seen: &mut Vec<NodeId>,
    ) {
        if seen.contains(&id) || !self.budget.take(1) {
            return;
        }
        seen.push(id);
        applied.nodes.push(id);
        let node = self.node(id);
        for also in &node.all_of {
            self.add(*also, value, place, applied, seen);
        }
        for choice in node.choices.iter().filter(|choice| choice.matters) {
            self.add_choice(choice, value, place, applied, seen);
        }
        for (name, dependent) in &node.dependent {
            if value.get(name).is_some() {
                self.add(*dependent, value, place, applied, seen);
            }
        }
        if let Some(condition) = &node.condition {
            if self.schema.branches.holds(condition.when, value, self.budget) {
                // What a condition looked at counts as seen, but it closes nothing.
                let looked_at = self.alternative(condition.when, value, place, seen);
                applied.alternatives.push(vec![looked_at, Applied::default()]);
                condition.then.iter().for_each(|id| self.add(*id, value, place, applied, seen));
            } else {
                let otherwise = condition.otherwise.iter();
                otherwise.for_each(|id| self.add(*id, value, place, applied, seen));
            }
        }
    }

    fn add_choice(
        &self,
        choice: &Choice,
        value: Node<'_>,
        place: &Place<'_>,
        applied: &mut Applied,
        seen: &mut Vec<NodeId>,
    ) {
        if let Some(closest) = self.choices.get(place, &choice.pointer) {
            if let Some(branch) = choice.branches.get(closest) {
                self.add(*branch, value, place, applied, seen);
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
            [only] => self.add(*only, value, place, applied, seen),
            several => {
                let group =
                    several.iter().map(|id| self.alternative(*id, value, place, seen)).collect();
                applied.alternatives.push(group);
            }
        }
    }

    fn alternative(
        &self,
        id: NodeId,
        value: Node<'_>,
        place: &Place<'_>,
        seen: &[NodeId],
    ) -> Applied {
        let mut applied = Applied::default();
        self.add(id, value, place, &mut applied, &mut seen.to_vec());
        applied
    }

    fn child(
        &self,
        applied: &Applied,
        value: Node<'_>,
        place: &Place<'_>,
        step: &dyn Fn(&SchemaNode) -> Option<NodeId>,
    ) -> Applied {
        let mut child = Applied::default();
        let mut seen = Vec::new();
        for id in applied.nodes.iter().filter_map(|id| step(self.node(*id))) {
            self.add(id, value, place, &mut child, &mut seen);
        }
        for group in &applied.alternatives {
            let group = group.iter().map(|one| self.child(one, value, place, step)).collect();
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
