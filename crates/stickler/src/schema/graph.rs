//! A schema as a graph of subschemas with resolved references.
//!
//! The engine reports whether a value is valid and which keyword failed. The graph provides everything else: which
//! names an object may have, what a missing field may contain, and where an object counts as closed.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::Regex;

/// Id of a subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(super) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All subschemas reachable from the root.
#[derive(Debug)]
pub(crate) struct SchemaGraph {
    pub(super) nodes: Vec<SchemaNode>,
    pub(super) by_pointer: HashMap<String, NodeId>,
}

/// A subschema.
#[derive(Debug, Default)]
pub(crate) struct SchemaNode {
    /// JSON Pointer in the raw schema.
    pub(crate) pointer: String,
    /// `properties`, if present.
    pub(crate) properties: Option<Members>,
    /// `patternProperties` whose pattern the linear engine supports.
    pub(crate) patterns: Vec<(NamePattern, NodeId)>,
    /// Estimated memory of its compiled patterns, and the work of translating them in the same unit.
    pub(crate) pattern_bytes: usize,
    /// Whether it states how unlisted names are treated.
    pub(crate) explicit: bool,
    /// The schema of `additionalProperties` or `unevaluatedProperties`.
    pub(crate) additional: Option<NodeId>,
    /// `items` in its array form, or `prefixItems`.
    pub(crate) prefix: Vec<NodeId>,
    /// Schema of the remaining elements.
    pub(crate) items: Option<NodeId>,
    /// Subschemas that apply to the same value: `allOf`, `$ref`.
    pub(crate) all_of: Vec<NodeId>,
    /// Alternatives for the same value: `anyOf`, `oneOf`.
    pub(crate) choices: Vec<Choice>,
    /// `if`, `then`, `else`.
    pub(crate) condition: Option<Condition>,
    /// `dependentSchemas`, and `dependencies` with schemas.
    pub(crate) dependent: Vec<(String, NodeId)>,
    /// Subschemas that only the engine uses; they are counted.
    pub(crate) engine_only: Vec<NodeId>,
    /// Whether this subschema or one below it lists properties.
    pub(crate) closes_something: bool,
}

/// A key of `patternProperties`, measured at first and compiled when the first name is matched.
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
    /// JSON Pointer of the keyword.
    pub(crate) pointer: String,
    pub(crate) branches: Vec<NodeId>,
    /// Whether the satisfied branch affects the allowed names.
    pub(crate) matters: bool,
}

/// `if` with `then` and `else`.
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
    /// Index, only for many names; a few are found faster by a linear search.
    index: HashMap<String, NodeId>,
}

impl Members {
    const MAX_LINEAR_SEARCH: usize = 12;

    pub(super) fn new(list: Vec<(String, NodeId)>) -> Self {
        let index = if list.len() > Self::MAX_LINEAR_SEARCH {
            list.iter().cloned().collect()
        } else {
            HashMap::new()
        };
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
    /// The root schema.
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
    /// Whether the schema lists properties and does not mention others.
    pub(crate) fn is_closed(&self) -> bool {
        self.properties.is_some() && !self.explicit
    }

    /// Whether no other subschema applies to the same value.
    pub(crate) fn stands_alone(&self) -> bool {
        self.all_of.is_empty()
            && self.condition.is_none()
            && self.dependent.is_empty()
            && !self.choices.iter().any(|choice| choice.matters)
    }

    /// Returns the subschema for a member.
    pub(crate) fn member(&self, name: &str) -> Option<NodeId> {
        self.properties
            .as_ref()
            .and_then(|properties| properties.get(name))
            .or_else(|| {
                self.patterns.iter().find(|(pattern, _)| pattern.is_match(name)).map(|(_, id)| *id)
            })
            .or(self.additional)
    }

    /// Returns the subschema for an element.
    pub(crate) fn element(&self, index: usize) -> Option<NodeId> {
        self.prefix.get(index).copied().or(self.items)
    }

    /// Whether the subschema evaluates a member.
    pub(crate) fn evaluates(&self, name: &str) -> bool {
        self.explicit
            || self.properties.as_ref().is_some_and(|properties| properties.get(name).is_some())
    }

    /// Returns the subschemas for the same value.
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

    /// Returns the subschemas for contained values.
    pub(crate) fn inside(&self) -> impl Iterator<Item = NodeId> {
        let properties =
            self.properties.iter().flat_map(|members| members.iter().map(|(_, id)| id));
        properties
            .chain(self.patterns.iter().map(|(_, id)| *id))
            .chain(self.additional)
            .chain(self.prefix.iter().copied())
            .chain(self.items)
    }

    /// Returns all direct subschemas.
    pub(crate) fn children(&self) -> impl Iterator<Item = NodeId> {
        self.in_place().chain(self.inside()).chain(self.engine_only.iter().copied())
    }
}
