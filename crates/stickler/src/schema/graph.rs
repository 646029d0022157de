//! A schema as a graph: what may stand where, references resolved.
//!
//! The engine answers yes or no and says which keyword failed. Everything else that Stickler has to
//! know about a schema (which names an object may have, what a missing field could be filled with,
//! where an object counts as closed) is asked of this graph.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::Regex;

/// One subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(super) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All subschemas that the root reaches.
#[derive(Debug)]
pub(crate) struct SchemaGraph {
    pub(super) nodes: Vec<SchemaNode>,
    pub(super) by_pointer: HashMap<String, NodeId>,
}

/// What one subschema says about the value in its place.
#[derive(Debug, Default)]
pub(crate) struct SchemaNode {
    /// Where it stands in the raw schema, as a JSON Pointer.
    pub(crate) pointer: String,
    /// `properties`; `None` when it does not list any.
    pub(crate) properties: Option<Members>,
    /// `patternProperties`, those whose pattern the linear engine can read.
    pub(crate) patterns: Vec<(NamePattern, NodeId)>,
    /// Estimated memory of its own compiled patterns.
    pub(crate) pattern_bytes: usize,
    /// It says itself what becomes of names it does not list.
    pub(crate) explicit: bool,
    /// `additionalProperties` or `unevaluatedProperties` with a schema of its own.
    pub(crate) additional: Option<NodeId>,
    /// `items` in its array form, or `prefixItems`.
    pub(crate) prefix: Vec<NodeId>,
    /// The schema of the other elements.
    pub(crate) items: Option<NodeId>,
    /// Also true of the value in this place: `allOf`, `$ref`.
    pub(crate) all_of: Vec<NodeId>,
    /// One or some of these are true of it: `anyOf`, `oneOf`.
    pub(crate) choices: Vec<Choice>,
    /// `if`, `then`, `else`.
    pub(crate) condition: Option<Condition>,
    /// `dependentSchemas`, and `dependencies` with schemas.
    pub(crate) dependent: Vec<(String, NodeId)>,
    /// Reached by the engine only: counted, never asked.
    pub(crate) unasked: Vec<NodeId>,
    /// In this place or below it some object schema lists properties.
    pub(crate) closes_something: bool,
}

/// A key of `patternProperties`, measured before and compiled when the first name is matched.
#[derive(Debug)]
pub(crate) struct NamePattern {
    source: Box<str>,
    regex: OnceLock<Option<Regex>>,
}

impl NamePattern {
    pub(super) fn new(source: &str) -> Self {
        Self { source: source.into(), regex: OnceLock::new() }
    }

    pub(crate) fn is_match(&self, name: &str) -> bool {
        let compile = || Regex::new(&jsonschema_regex::to_rust_regex(&self.source).ok()?).ok();
        self.regex.get_or_init(compile).as_ref().is_some_and(|regex| regex.is_match(name))
    }
}

/// `anyOf` or `oneOf`.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Where the keyword stands.
    pub(crate) pointer: String,
    pub(crate) branches: Vec<NodeId>,
    /// Which branch holds makes a difference to what may stand in this place.
    pub(crate) matters: bool,
}

/// `if` with what follows from it.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) when: NodeId,
    pub(crate) then: Option<NodeId>,
    pub(crate) otherwise: Option<NodeId>,
}

/// Property names with their subschemas, in the order of the schema.
#[derive(Debug, Default)]
pub(crate) struct Members {
    list: Vec<(String, NodeId)>,
    /// Only for many names; few are found faster by looking.
    index: HashMap<String, NodeId>,
}

impl Members {
    const FEW: usize = 12;

    pub(super) fn new(list: Vec<(String, NodeId)>) -> Self {
        let index =
            if list.len() > Self::FEW { list.iter().cloned().collect() } else { HashMap::new() };
        Self { list, index }
    }

    pub(crate) fn get(&self, name: &str) -> Option<NodeId> {
        if self.index.is_empty() {
            return self.list.iter().find(|(key, _)| key == name).map(|(_, node)| *node);
        }
        self.index.get(name).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, NodeId)> {
        self.list.iter().map(|(name, node)| (name.as_str(), *node))
    }
}

impl SchemaGraph {
    /// The schema itself.
    pub(crate) const ROOT: NodeId = NodeId(0);

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, id: NodeId) -> &SchemaNode {
        static NOTHING: std::sync::LazyLock<SchemaNode> =
            std::sync::LazyLock::new(SchemaNode::default);
        self.nodes.get(id.index()).unwrap_or(&NOTHING)
    }

    pub(crate) fn at(&self, pointer: &str) -> Option<NodeId> {
        self.by_pointer.get(pointer).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SchemaNode> {
        self.nodes.iter()
    }
}

impl SchemaNode {
    /// An object schema that lists properties and is silent about others.
    pub(crate) fn is_closed(&self) -> bool {
        self.properties.is_some() && !self.explicit
    }

    /// Nothing else applies to the same place.
    pub(crate) fn stands_alone(&self) -> bool {
        self.all_of.is_empty()
            && self.condition.is_none()
            && self.dependent.is_empty()
            && !self.choices.iter().any(|choice| choice.matters)
    }

    /// The subschema for a member with that name.
    pub(crate) fn member(&self, name: &str) -> Option<NodeId> {
        self.properties
            .as_ref()
            .and_then(|properties| properties.get(name))
            .or_else(|| {
                self.patterns.iter().find(|(pattern, _)| pattern.is_match(name)).map(|(_, id)| *id)
            })
            .or(self.additional)
    }

    /// The subschema for the element at that position.
    pub(crate) fn element(&self, index: usize) -> Option<NodeId> {
        self.prefix.get(index).copied().or(self.items)
    }

    /// Whether it has a word to say on a member with that name.
    pub(crate) fn evaluates(&self, name: &str) -> bool {
        self.explicit
            || self.properties.as_ref().is_some_and(|properties| properties.get(name).is_some())
    }

    /// Subschemas for the value in the same place.
    pub(crate) fn in_place(&self) -> impl Iterator<Item = NodeId> {
        let condition = self.condition.iter().flat_map(|condition| {
            [Some(condition.when), condition.then, condition.otherwise].into_iter().flatten()
        });
        self.all_of
            .iter()
            .copied()
            .chain(self.choices.iter().flat_map(|choice| choice.branches.iter().copied()))
            .chain(condition)
            .chain(self.dependent.iter().map(|(_, id)| *id))
    }

    /// Subschemas for the values inside this one.
    pub(crate) fn inside(&self) -> impl Iterator<Item = NodeId> {
        let properties =
            self.properties.iter().flat_map(|members| members.iter().map(|(_, id)| id));
        properties
            .chain(self.patterns.iter().map(|(_, id)| *id))
            .chain(self.additional)
            .chain(self.prefix.iter().copied())
            .chain(self.items)
    }

    /// All subschemas one step away.
    pub(crate) fn children(&self) -> impl Iterator<Item = NodeId> {
        self.in_place().chain(self.inside()).chain(self.unasked.iter().copied())
    }
}
