//! Detects unknown fields: members that no applicable subschema mentions, in objects that count as
//! closed.
//!
//! Most tool schemas list their properties and do not mention `additionalProperties`; JSON Schema then
//! allows any other field, and a misspelt field would be dropped silently. Stickler treats these
//! objects as closed at every depth. The decision is made once per location in the arguments, over all
//! subschemas that apply there (`allOf`, `$ref`, the matching branches of `anyOf` and `oneOf`, `then`,
//! `else`), which is the semantics of `unevaluatedProperties: false` in every dialect. An explicit
//! `additionalProperties`, `patternProperties` or `unevaluatedProperties` is applied as written, and
//! nothing inside `not`, `if` or `contains` closes an object.
//!
//! Keys that clients inject into the arguments are known at their top level.
//!
//! Contract: a walk that explains a rejected call takes its steps from a budget and ends when the
//! budget is spent. The walk that decides whether a call is valid ends at the first unknown field.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use super::location::Location;
use super::selected_branches::SelectedBranches;
use crate::config::ValidationConfig;
use crate::schema::{Choice, CompiledSchema, NodeId, SchemaGraph, SchemaNode};
use crate::tape::{Kind, Node, StepBudget};

/// Number of subschemas that can be consulted about a member for one step of the budget.
const NODES_PER_STEP: usize = 16;

/// With more names than this, the keys of an object are collected into a set before the lookup.
const MAX_LINEAR_LOOKUPS: usize = 8;

/// The subschemas that apply to one location.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// Subschemas that apply unconditionally.
    pub(crate) nodes: Vec<NodeId>,
    /// Groups of alternatives; at least one alternative of each group applies.
    pub(crate) alternatives: Vec<Vec<Applied>>,
}

/// Receives the objects and unknown fields that a walk encounters. `Break` ends the walk.
pub(crate) trait Visitor<'v> {
    /// Called for each object with the subschemas that apply to it.
    fn object(
        &mut self,
        _location: &Location<'_>,
        _object: Node<'v>,
        _applied: &Applied,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called for each member of a closed object that no subschema mentions.
    fn unknown(
        &mut self,
        location: &Location<'_>,
        object: Node<'v>,
        key: &str,
        applied: &Applied,
    ) -> ControlFlow<()>;
}

/// Returns whether the schema mentions every member of every closed object.
pub(crate) fn all_fields_known(
    schema: &CompiledSchema,
    root: Node<'_>,
    config: &ValidationConfig,
    budget: &StepBudget,
) -> bool {
    if !schema.graph.node(SchemaGraph::ROOT).closes_something {
        return true;
    }
    let selected_branches = SelectedBranches::default();
    let walk = Walk { schema, root, config, selected_branches: &selected_branches, budget };
    walk.all_fields_known(SchemaGraph::ROOT, root)
}

/// Walks the arguments and the schema in parallel.
pub(crate) struct Walk<'w> {
    pub(crate) schema: &'w CompiledSchema,
    /// The arguments.
    pub(crate) root: Node<'w>,
    pub(crate) config: &'w ValidationConfig,
    /// The branch to follow where no branch matches.
    pub(crate) selected_branches: &'w SelectedBranches,
    pub(crate) budget: &'w StepBudget,
}

/// Ends the walk at the first unknown field.
struct StopAtFirst;

impl Visitor<'_> for StopAtFirst {
    fn unknown(&mut self, _: &Location<'_>, _: Node<'_>, _: &str, _: &Applied) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

impl Walk<'_> {
    /// Fast path: a subschema without in-place applicators needs no [`Applied`].
    fn all_fields_known(&self, id: NodeId, value: Node<'_>) -> bool {
        let node = self.node(id);
        if !node.closes_something {
            return true;
        }
        if !node.stands_alone() {
            let applied = self.expand(id, value);
            let root = &Location::Root;
            return self.visit(&applied, value, root, true, &mut StopAtFirst).is_continue();
        }
        match value.kind() {
            Kind::Object => value.members().all(|(key, member)| match node.member(&key) {
                Some(child) => self.all_fields_known(child, member),
                None => !node.is_closed() || self.is_injected(value, &key),
            }),
            Kind::Array => value.elements().enumerate().all(|(index, element)| {
                node.element(index).is_none_or(|child| self.all_fields_known(child, element))
            }),
            _ => true,
        }
    }

    /// Full walk: reports every object with all subschemas that apply to it.
    pub(crate) fn run<'v>(&self, root: Node<'v>, visitor: &mut impl Visitor<'v>) {
        let applied = self.expand(SchemaGraph::ROOT, root);
        let _ = self.visit(&applied, root, &Location::Root, false, visitor);
    }

    fn visit<'v>(
        &self,
        applied: &Applied,
        value: Node<'v>,
        location: &Location<'_>,
        only_where_closed: bool,
        visitor: &mut impl Visitor<'v>,
    ) -> ControlFlow<()> {
        if only_where_closed && !self.closes_something(applied) {
            return ControlFlow::Continue(());
        }
        match value.kind() {
            Kind::Object => {
                visitor.object(location, value, applied)?;
                let closed = self.is_closed(applied);
                // Consulting many subschemas about each member counts as work.
                let per_member = applied.nodes.len() / NODES_PER_STEP;
                for (key, member) in value.members() {
                    if !only_where_closed && !self.budget.take_usize(per_member) {
                        return ControlFlow::Break(());
                    }
                    if closed && !self.evaluates(applied, &key) {
                        if self.is_injected(value, &key) {
                            continue;
                        }
                        visitor.unknown(location, value, &key, applied)?;
                        continue;
                    }
                    let location = Location::Member(location, &key);
                    let child = self.child(applied, member, &|node| node.member(&key));
                    self.visit(&child, member, &location, only_where_closed, visitor)?;
                }
            }
            Kind::Array => {
                for (index, element) in value.elements().enumerate() {
                    if !only_where_closed && !self.budget.take_usize(0) {
                        return ControlFlow::Break(());
                    }
                    let location = Location::Element(location, index);
                    let child = self.child(applied, element, &|node| node.element(index));
                    self.visit(&child, element, &location, only_where_closed, visitor)?;
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

    /// Adds a subschema and all subschemas that it applies to the same location. `seen` holds the
    /// subschemas on the current path, because references can be cyclic.
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
                // Properties that a condition evaluates are known, but a condition closes nothing.
                let evaluated = self.alternative(condition.when, value, seen);
                applied.alternatives.push(vec![evaluated, Applied::default()]);
                condition.then.iter().for_each(|id| self.add(*id, value, applied, seen));
            } else {
                let otherwise = condition.otherwise.iter();
                otherwise.for_each(|id| self.add(*id, value, applied, seen));
            }
        }
    }

    fn add_choice(&self, choice: &Choice, value: Node<'_>, applied: &mut Applied, seen: &mut Seen) {
        if let Some(closest) = self.selected_branches.get(value, &choice.pointer) {
            if let Some(branch) = choice.branches.get(closest) {
                self.add(*branch, value, applied, seen);
            }
            return;
        }
        let matching: Vec<NodeId> = choice
            .branches
            .iter()
            .copied()
            .filter(|branch| self.schema.branches.holds(*branch, value, self.budget))
            .collect();
        match matching.as_slice() {
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
            let group =
                group.iter().map(|alternative| self.child(alternative, value, step)).collect();
            child.alternatives.push(group);
        }
        child
    }

    /// Returns whether a subschema lists properties without a keyword about additional ones. A group
    /// of alternatives closes an object only if every alternative does.
    fn is_closed(&self, applied: &Applied) -> bool {
        applied.nodes.iter().any(|id| self.node(*id).is_closed())
            || applied.alternatives.iter().any(|group| {
                !group.is_empty() && group.iter().all(|alternative| self.is_closed(alternative))
            })
    }

    fn evaluates(&self, applied: &Applied, key: &str) -> bool {
        applied.nodes.iter().any(|id| self.node(*id).evaluates(key))
            || applied
                .alternatives
                .iter()
                .flatten()
                .any(|alternative| self.evaluates(alternative, key))
    }

    /// Returns whether a member is a key that the client added to the arguments.
    fn is_injected(&self, object: Node<'_>, key: &str) -> bool {
        object.token_index() == self.root.token_index() && self.config.is_injected(key)
    }

    fn closes_something(&self, applied: &Applied) -> bool {
        applied.nodes.iter().any(|id| self.node(*id).closes_something)
            || applied
                .alternatives
                .iter()
                .flatten()
                .any(|alternative| self.closes_something(alternative))
    }

    fn node(&self, id: NodeId) -> &SchemaNode {
        self.schema.graph.node(id)
    }
}

impl Applied {
    /// Returns all subschemas, including alternatives.
    pub(crate) fn all(&self) -> Vec<NodeId> {
        let mut all = self.nodes.clone();
        for alternative in self.alternatives.iter().flatten() {
            all.extend(alternative.all());
        }
        all
    }
}

/// Set of subschemas that have been visited, as a bit set.
#[derive(Debug, Default, Clone)]
struct Seen(Vec<u64>);

impl Seen {
    /// Returns whether the subschema was not in the set.
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

/// Returns a predicate that reports whether the object has a member of the given name.
fn present<'v>(names: &[(String, NodeId)], object: Node<'v>) -> impl Fn(&str) -> bool + use<'v> {
    let keys: Option<HashSet<Cow<'v, str>>> =
        (names.len() > MAX_LINEAR_LOOKUPS).then(|| object.members().map(|(key, _)| key).collect());
    move |name| match &keys {
        Some(keys) => keys.contains(name),
        None => object.get(name).is_some(),
    }
}
