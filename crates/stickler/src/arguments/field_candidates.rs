//! The fields that an unknown field could stand for: those of its object, of nested objects and of the
//! object around it.
//!
//! Contract: the candidates of objects with the same subschemas, such as the elements of an array, are
//! built once per explanation. Only a bounded number of descriptions and nested fields is read.

use std::collections::HashMap;
use std::rc::Rc;

use super::describe;
use super::field_matches::Place;
use crate::schema::{CompiledSchema, NodeId, SchemaGraph};
use crate::suggest::score::FieldWords;
use crate::suggest::words::Words;

/// The maximum number of candidates in nested objects.
const MAX_NESTED: usize = 128;

/// The maximum number of candidates whose descriptions are read.
const MAX_DESCRIBED: usize = 256;

/// A field that was perhaps meant.
#[derive(Debug)]
pub(super) struct Candidate<'e> {
    pub(super) place: Place,
    pub(super) name: &'e str,
    /// Its subschemas, one for every branch of the object that has the field; empty if unknown.
    pub(super) nodes: Vec<NodeId>,
    pub(super) words: FieldWords,
}

impl Candidate<'_> {
    /// Returns the name, with a path if it is in another object.
    pub(super) fn shown_name(&self) -> String {
        match &self.place {
            Place::Same | Place::Unwrapped(_) => self.name.to_owned(),
            Place::Inside(field) => format!("{field}/{}", self.name),
            Place::Around => format!("../{}", self.name),
        }
    }
}

/// Builds the candidates of the objects of one call.
pub(super) struct Candidates<'e> {
    schema: &'e CompiledSchema,
    cache: HashMap<Vec<NodeId>, Rc<Vec<Candidate<'e>>>>,
}

impl<'e> Candidates<'e> {
    pub(super) fn new(schema: &'e CompiledSchema) -> Self {
        Self { schema, cache: HashMap::new() }
    }

    /// Returns the named fields of an object and the fields of the objects in them. `nodes` are the
    /// subschemas of the object, if known.
    pub(super) fn of(
        &mut self,
        nodes: Option<&[NodeId]>,
        names: &[&'e str],
    ) -> Rc<Vec<Candidate<'e>>> {
        let Some(nodes) = nodes else {
            let all = names.iter().map(|name| self.candidate(Place::Same, name, Vec::new(), false));
            return Rc::new(all.collect());
        };
        if let Some(known) = self.cache.get(nodes) {
            return Rc::clone(known);
        }
        let mut members: HashMap<&str, Vec<NodeId>> =
            describe::alternatives(self.schema, nodes).into_iter().collect();
        let mut all: Vec<Candidate<'e>> = names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let nodes = members.remove(name).unwrap_or_default();
                self.candidate(Place::Same, name, nodes, index < MAX_DESCRIBED)
            })
            .collect();
        let nested: Vec<Candidate<'e>> =
            all.iter().flat_map(|field| self.nested(field)).take(MAX_NESTED).collect();
        all.extend(nested);
        let all = Rc::new(all);
        self.cache.insert(nodes.to_vec(), Rc::clone(&all));
        all
    }

    /// Returns the fields of the arguments, for an object directly inside them.
    pub(super) fn around(&self) -> Vec<Candidate<'e>> {
        let members = describe::members(self.schema, &[SchemaGraph::ROOT]);
        let members = members.into_iter().take(MAX_NESTED);
        members.map(|(name, id)| self.candidate(Place::Around, name, vec![id], false)).collect()
    }

    /// Returns the fields of the object in a field.
    fn nested(&self, field: &Candidate<'e>) -> Vec<Candidate<'e>> {
        let Some(node) = field.nodes.first() else { return Vec::new() };
        let members = describe::members(self.schema, &[*node]).into_iter().take(MAX_NESTED);
        let place = || Place::Inside(field.name.to_owned());
        members.map(|(name, id)| self.candidate(place(), name, vec![id], false)).collect()
    }

    fn candidate(
        &self,
        place: Place,
        name: &'e str,
        nodes: Vec<NodeId>,
        is_described: bool,
    ) -> Candidate<'e> {
        let keywords = nodes
            .first()
            .filter(|_| is_described)
            .and_then(|id| self.schema.at(&self.schema.graph.node(*id).pointer));
        let text = |keyword: &str| keywords.and_then(|schema| schema.get(keyword)?.as_str());
        let title = text("title").map(Words::of_text).unwrap_or_default();
        let description = text("description").map(Words::of_text).unwrap_or_default();
        let text = title.followed_by(&description);
        Candidate { place, name, nodes, words: FieldWords { name: Words::of(name), text } }
    }
}
