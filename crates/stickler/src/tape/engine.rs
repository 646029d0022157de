//! Adapter that lets the `jsonschema` engine validate a tape directly.
//!
//! Collecting all errors in the engine can take exponential time even for a small call (a recursive
//! `anyOf` is sufficient), and the engine cannot be interrupted. Every node therefore carries a
//! [`StepBudget`]. Each access to an array or object takes a step. When the budget is exhausted, arrays
//! and objects appear as values to which no keyword applies, iterators end, and the engine returns
//! promptly. The caller must check whether the budget is exhausted before it uses the result.

#![allow(clippy::inline_always, reason = "measured: the engine's passes take a sixth less")]

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, NodeIdentity};
use serde_json::Value;

use super::number::TapeNumber;
use super::token::Token;
use super::{Elements, Kind, Members, Node, StepBudget, Tape};

/// The tape as a JSON representation of the engine.
pub(crate) struct TapeJson;

/// A node with its budget, as passed to the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EngineNode<'t> {
    node: Node<'t>,
    budget: &'t StepBudget,
}

impl<'t> EngineNode<'t> {
    pub(crate) fn new(node: Node<'t>, budget: &'t StepBudget) -> Self {
        Self { node, budget }
    }

    fn with(self, node: Node<'t>) -> Self {
        Self { node, budget: self.budget }
    }

    fn container(self, kind: Kind) -> Option<Container<'t>> {
        (self.node.kind() == kind && self.budget.take(1)).then_some(Container(self))
    }
}

impl Json for TapeJson {
    type Node<'a> = EngineNode<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = String;

    // A lookup scans the keys, so one scan for several names is nearly always cheaper.
    const KEYS_PER_LOOKUP: usize = 16;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut String,
        string: &str,
        f: impl FnOnce(EngineNode<'_>) -> T,
    ) -> T {
        buffer.clear();
        buffer.push_str(string);
        let end = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        let tokens = [Token::new(Kind::String, false, 0, end, 1)];
        let tape = Tape { text: buffer, tokens: &tokens, overridden: &[], oversized: &[] };
        f(EngineNode::new(tape.root(), &StepBudget::new(u32::MAX)))
    }
}

impl<'a> json::Node<'a, TapeJson> for EngineNode<'a> {
    type Object = Container<'a>;
    type Array = Container<'a>;
    type Number = TapeNumber<'a>;

    fn as_object(&self) -> Option<Container<'a>> {
        self.container(Kind::Object)
    }

    fn as_array(&self) -> Option<Container<'a>> {
        self.container(Kind::Array)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.node.as_str()
    }

    fn as_number(&self) -> Option<TapeNumber<'a>> {
        self.node.number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.node.as_bool()
    }

    fn is_null(&self) -> bool {
        self.node.kind() == Kind::Null
    }

    fn is_number(&self) -> bool {
        self.node.kind() == Kind::Number
    }

    fn is_string(&self) -> bool {
        self.node.kind() == Kind::String
    }

    fn json_type(&self) -> JsonType {
        match self.node.kind() {
            Kind::Null => JsonType::Null,
            Kind::Boolean => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match expected {
            Value::Null => self.is_null(),
            Value::Bool(expected) => self.node.as_bool() == Some(*expected),
            Value::String(expected) => self.node.is_string(expected),
            Value::Number(expected) => {
                self.node.number().is_some_and(|number| number.equals(expected))
            }
            Value::Array(items) => {
                self.node.kind() == Kind::Array
                    && self.node.len() == items.len()
                    && self
                        .node
                        .elements()
                        .zip(items)
                        .all(|(element, item)| self.with(element).equals_value(item))
            }
            Value::Object(members) => {
                self.node.kind() == Kind::Object
                    && self.node.len() == members.len()
                    && members.iter().all(|(key, value)| {
                        self.node.get(key).is_some_and(|node| self.with(node).equals_value(value))
                    })
            }
        }
    }

    /// Returns the value that the engine stores in an error. The copy and the path of the error are
    /// charged to the budget. `null` marks an error created after the budget was exhausted.
    fn to_value(&self) -> Cow<'a, Value> {
        if let Some(whole) = self.budget.whole(self.node) {
            return Cow::Borrowed(whole);
        }
        let copied = u32::try_from(self.node.raw().len() / 16).unwrap_or(u32::MAX);
        let cost = copied.saturating_add(self.budget.per_error);
        Cow::Owned(match (self.budget.take(cost), self.budget.copies) {
            (true, true) => self.node.to_value(),
            (true, false) => Value::Bool(true),
            (false, _) => Value::Null,
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let (tape, index) = self.node.identity();
        Some(NodeIdentity::tagged(tape, index))
    }
}

/// An array or object as passed to the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container<'t>(EngineNode<'t>);

impl<'a> json::Object<'a, TapeJson> for Container<'a> {
    type Node = EngineNode<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = EngineMembers<'a>;

    fn len(&self) -> usize {
        self.0.node.len()
    }

    fn get(&self, key: &Box<str>) -> Option<EngineNode<'a>> {
        self.0.node.get(key).map(|node| self.0.with(node))
    }

    fn members(&self) -> EngineMembers<'a> {
        EngineMembers { members: self.0.node.members(), budget: self.0.budget }
    }
}

impl<'a> json::Array<'a, TapeJson> for Container<'a> {
    type Node = EngineNode<'a>;
    type ElementsIter = EngineElements<'a>;

    fn len(&self) -> usize {
        self.0.node.len()
    }

    fn elements(&self) -> EngineElements<'a> {
        EngineElements { elements: self.0.node.elements(), budget: self.0.budget }
    }
}

pub(crate) struct EngineMembers<'t> {
    members: Members<'t>,
    budget: &'t StepBudget,
}

impl<'t> Iterator for EngineMembers<'t> {
    type Item = (Cow<'t, str>, EngineNode<'t>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.budget.is_spent() {
            return None;
        }
        let (key, node) = self.members.next()?;
        Some((key, EngineNode::new(node, self.budget)))
    }
}

pub(crate) struct EngineElements<'t> {
    elements: Elements<'t>,
    budget: &'t StepBudget,
}

impl<'t> Iterator for EngineElements<'t> {
    type Item = EngineNode<'t>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.budget.is_spent() {
            return None;
        }
        let node = self.elements.next()?;
        Some(EngineNode::new(node, self.budget))
    }
}

#[cfg(test)]
mod tests {
    use super::{EngineNode, TapeJson};
    use crate::tape::{StepBudget, TapeBuffer};
    use jsonschema::json::{Node, conformance};

    #[test]
    fn tape_passes_the_conformance_test_of_the_engine() {
        let text = conformance::document().to_string();
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), 128).unwrap();
        let budget = StepBudget::new(u32::MAX);
        conformance::assert_conformance::<TapeJson>(&EngineNode::new(tape.root(), &budget));
    }

    #[test]
    fn exhausted_budget_hides_containers() {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(b"{\"a\": 1}", 128).unwrap();
        let budget = StepBudget::new(2);
        let node = EngineNode::new(tape.root(), &budget);
        assert!(node.as_object().is_some());
        assert!(!budget.is_spent());
        assert!(node.as_object().is_none());
        assert!(budget.is_spent());
    }
}
