//! Builds the graph of a raw schema.

use std::collections::HashMap;

use jsonschema::Draft;
use referencing::{Registry, Resolver};
use serde_json::{Map, Value};

use super::dialect::reference_stands_alone;
use super::graph::{Choice, Condition, Members, NamePattern, NodeId, SchemaGraph, SchemaNode};
use super::measuring::{Change, Measured, Patterns};
use super::pattern::Measure;
use super::{SchemaRejection, formats};
use crate::config::Limits;
use crate::tape::escape_segment;

/// Base URI of a schema without `$id`.
pub(super) const BASE: &str = "json-schema:///";

/// Builds the graph and collects the adaptations that its patterns require.
pub(super) fn map(
    schema: &Value,
    dialect: Draft,
    limits: &Limits,
) -> Result<(SchemaGraph, Measured), SchemaRejection> {
    let resource = dialect.create_resource_ref(schema);
    let base = resource.id().unwrap_or(BASE);
    let unresolved = |error: referencing::Error| SchemaRejection::from_reference(&error);
    let registry = Registry::new()
        .draft(dialect)
        .add(base, resource)
        .and_then(referencing::RegistryBuilder::prepare)
        .map_err(unresolved)?;
    let base = referencing::uri::from_str(base.trim_end_matches('#')).map_err(unresolved)?;
    let mut mapper = Mapper {
        dialect,
        pointers: HashMap::new(),
        ids: HashMap::new(),
        nodes: Vec::new(),
        pending: Vec::new(),
        patterns: Patterns::new(limits),
        measured: Measured::default(),
    };
    mapper.note_pointers(schema, String::new());
    mapper.id_of(schema, &registry.resolver(base));
    while let Some((id, schema, resolver)) = mapper.pending.pop() {
        let node = mapper.node(schema, &resolver)?;
        if let Some(slot) = mapper.nodes.get_mut(id.index()) {
            *slot = node;
        }
    }
    Ok((finish(mapper.nodes), mapper.measured))
}

struct Mapper<'s> {
    dialect: Draft,
    /// JSON Pointer of each value of the raw schema by its memory address: a resolved reference borrows from the same
    /// tree.
    pointers: HashMap<*const Value, String>,
    ids: HashMap<*const Value, NodeId>,
    nodes: Vec<SchemaNode>,
    pending: Vec<(NodeId, &'s Value, Resolver<'s>)>,
    patterns: Patterns<'s>,
    measured: Measured,
}

impl<'s> Mapper<'s> {
    fn note_pointers(&mut self, value: &Value, pointer: String) {
        match value {
            Value::Object(members) => {
                for (key, inner) in members {
                    self.note_pointers(inner, format!("{pointer}/{}", escape_segment(key)));
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter().enumerate() {
                    self.note_pointers(inner, format!("{pointer}/{index}"));
                }
            }
            _ => {}
        }
        self.pointers.insert(std::ptr::from_ref(value), pointer);
    }

    fn id_of(&mut self, schema: &'s Value, resolver: &Resolver<'s>) -> NodeId {
        let address = std::ptr::from_ref(schema);
        if let Some(id) = self.ids.get(&address) {
            return *id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let pointer = self.pointers.get(&address).cloned().unwrap_or_default();
        self.nodes.push(SchemaNode { pointer, ..SchemaNode::default() });
        self.ids.insert(address, id);
        self.pending.push((id, schema, resolver.clone()));
        id
    }

    fn node(
        &mut self,
        schema: &'s Value,
        outer: &Resolver<'s>,
    ) -> Result<SchemaNode, SchemaRejection> {
        let pointer = self.pointers.get(&std::ptr::from_ref(schema)).cloned().unwrap_or_default();
        let mut node = SchemaNode { pointer, ..SchemaNode::default() };
        let Value::Object(keywords) = schema else {
            return Ok(node);
        };
        let unresolved = |error: referencing::Error| SchemaRejection::from_reference(&error);
        let resolver =
            outer.in_subresource(self.dialect.create_resource_ref(schema)).map_err(unresolved)?;
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(Value::String(reference)) = keywords.get(keyword) {
                let found = resolver.lookup(reference).map_err(unresolved)?;
                let (target, scope, _) = found.into_inner();
                // A reference to a meta-schema leaves this document; the engine resolves it.
                if self.pointers.contains_key(&std::ptr::from_ref(target)) {
                    node.all_of.push(self.id_of(target, &scope));
                } else {
                    node.explicit = true;
                }
            }
        }
        if keywords.contains_key("$ref") && reference_stands_alone(self.dialect) {
            return Ok(node);
        }
        self.string_keywords(&mut node, keywords)?;
        self.object_keywords(&mut node, keywords, &resolver)?;
        self.array_keywords(&mut node, keywords, &resolver);
        self.in_place_keywords(&mut node, keywords, &resolver);
        Ok(node)
    }

    fn string_keywords(
        &mut self,
        node: &mut SchemaNode,
        keywords: &'s Map<String, Value>,
    ) -> Result<(), SchemaRejection> {
        const WIDENING_REJECTS: [&str; 4] = ["not", "oneOf", "if", "maxContains"];
        self.measured.widening_rejects |=
            WIDENING_REJECTS.iter().any(|keyword| keywords.contains_key(*keyword));
        if let Some(Value::String(format)) = keywords.get("format") {
            self.measured.widens_formats |= formats::is_widened(format);
        }
        let Some(Value::String(pattern)) = keywords.get("pattern") else { return Ok(()) };
        match self.patterns.measure(pattern)? {
            Measure::Unreadable => {}
            Measure::TooLarge => self.measured.change(&node.pointer, Change::Remove),
            Measure::Fits(program) => {
                node.pattern_bytes = program.cost();
                self.measured.backtracks |= program.backtracks;
                if let Some(split) = program.split {
                    self.measured.change(&node.pointer, Change::Split(split));
                }
            }
        }
        Ok(())
    }

    fn object_keywords(
        &mut self,
        node: &mut SchemaNode,
        keywords: &'s Map<String, Value>,
        resolver: &Resolver<'s>,
    ) -> Result<(), SchemaRejection> {
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            let list = properties
                .iter()
                .map(|(name, schema)| (name.clone(), self.id_of(schema, resolver)))
                .collect();
            node.properties = Some(Members::new(list));
        }
        if let Some(Value::Object(patterns)) = keywords.get("patternProperties") {
            node.explicit = true;
            for (pattern, schema) in patterns {
                let id = self.id_of(schema, resolver);
                match self.patterns.measure(pattern)? {
                    Measure::Fits(program) => {
                        // Once in the engine, once in the graph.
                        let cost = program.cost().saturating_mul(2);
                        node.pattern_bytes = node.pattern_bytes.saturating_add(cost);
                        self.measured.backtracks |= program.backtracks;
                        if program.backtracks {
                            node.engine_only.push(id);
                        } else {
                            node.patterns.push((NamePattern::new(pattern), id));
                        }
                    }
                    // Without it, `additionalProperties` would apply to other names.
                    Measure::TooLarge => return Err(self.patterns.too_large(pattern)),
                    Measure::Unreadable => node.engine_only.push(id),
                }
            }
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if let Some(schema) = keywords.get(keyword) {
                node.explicit = true;
                if schema.is_object() && node.additional.is_none() {
                    node.additional = Some(self.id_of(schema, resolver));
                }
            }
        }
        self.engine_only(node, keywords, &["propertyNames"], resolver);
        Ok(())
    }

    fn array_keywords(
        &mut self,
        node: &mut SchemaNode,
        keywords: &'s Map<String, Value>,
        resolver: &Resolver<'s>,
    ) {
        let old_form = matches!(keywords.get("items"), Some(Value::Array(_)));
        let prefix = if old_form { "items" } else { "prefixItems" };
        node.prefix = self.each(keywords.get(prefix), resolver);
        let rest = if old_form { "additionalItems" } else { "items" };
        node.items = keywords.get(rest).map(|schema| self.id_of(schema, resolver));
        self.engine_only(node, keywords, &["contains", "unevaluatedItems"], resolver);
    }

    fn in_place_keywords(
        &mut self,
        node: &mut SchemaNode,
        keywords: &'s Map<String, Value>,
        resolver: &Resolver<'s>,
    ) {
        let all_of = self.each(keywords.get("allOf"), resolver);
        node.all_of.extend(all_of);
        for keyword in ["anyOf", "oneOf"] {
            let branches = self.each(keywords.get(keyword), resolver);
            if !branches.is_empty() {
                let pointer = format!("{}/{keyword}", node.pointer);
                node.choices.push(Choice { pointer, branches, matters: false });
            }
        }
        if let Some(when) = keywords.get("if") {
            let mut part =
                |keyword: &str| keywords.get(keyword).map(|schema| self.id_of(schema, resolver));
            let (then, otherwise) = (part("then"), part("else"));
            let when = self.id_of(when, resolver);
            node.condition = Some(Condition { when, then, otherwise });
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            if let Some(Value::Object(dependent)) = keywords.get(keyword) {
                for (name, schema) in dependent.iter().filter(|(_, schema)| !schema.is_array()) {
                    let id = self.id_of(schema, resolver);
                    node.dependent.push((name.clone(), id));
                }
            }
        }
        self.engine_only(node, keywords, &["not"], resolver);
    }

    fn each(&mut self, list: Option<&'s Value>, resolver: &Resolver<'s>) -> Vec<NodeId> {
        let Some(Value::Array(schemas)) = list else {
            return Vec::new();
        };
        schemas.iter().map(|schema| self.id_of(schema, resolver)).collect()
    }

    fn engine_only(
        &mut self,
        node: &mut SchemaNode,
        keywords: &'s Map<String, Value>,
        names: &[&str],
        resolver: &Resolver<'s>,
    ) {
        for schema in names.iter().filter_map(|name| keywords.get(*name)) {
            let id = self.id_of(schema, resolver);
            node.engine_only.push(id);
        }
    }
}

/// Derives properties of the whole graph: where a contained object is closed, and which choices affect that.
fn finish(mut nodes: Vec<SchemaNode>) -> SchemaGraph {
    let closes = reaching(&nodes, SchemaNode::is_closed, |node| {
        node.in_place().chain(node.inside()).collect()
    });
    let speaks = reaching(
        &nodes,
        |node| node.properties.is_some() || node.explicit || node.items.is_some(),
        |node| node.in_place().collect(),
    );
    for (index, node) in nodes.iter_mut().enumerate() {
        node.closes_something = closes.get(index).copied().unwrap_or_default();
        for choice in &mut node.choices {
            choice.matters = choice
                .branches
                .iter()
                .any(|branch| speaks.get(branch.index()).copied().unwrap_or_default());
        }
    }
    let by_pointer = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            (node.pointer.clone(), NodeId(u32::try_from(index).unwrap_or(u32::MAX)))
        })
        .collect();
    SchemaGraph { nodes, by_pointer }
}

/// Returns for each node whether it or a reachable node has the property.
fn reaching(
    nodes: &[SchemaNode],
    has: impl Fn(&SchemaNode) -> bool,
    next: impl Fn(&SchemaNode) -> Vec<NodeId>,
) -> Vec<bool> {
    let mut referrers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for target in next(node) {
            if let Some(list) = referrers.get_mut(target.index()) {
                list.push(index);
            }
        }
    }
    let mut reached: Vec<bool> = nodes.iter().map(&has).collect();
    let mut pending: Vec<usize> =
        reached.iter().enumerate().filter(|(_, has)| **has).map(|(index, _)| index).collect();
    while let Some(index) = pending.pop() {
        for &referrer in referrers.get(index).into_iter().flatten() {
            if let Some(flag) = reached.get_mut(referrer)
                && !*flag
            {
                *flag = true;
                pending.push(referrer);
            }
        }
    }
    reached
}
