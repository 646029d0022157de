//! The lists of required and optional fields in a help prompt.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::detail::FieldDetail;
use super::tokens;
use crate::arguments::{Accepted, ValidationError, type_of};
use crate::discovery::CachedSchema;
use crate::schema::{Members, NodeId, SchemaGraph};
use crate::tape::unescape_segment;

/// Number of fields up to which a list keeps the order of the schema. In a longer one, of which not all may
/// be listed, the fields that the problems name come first.
pub(super) const MAX_UNSORTED: usize = 12;

/// Minimum number of tokens of a listed field.
pub(super) const MIN_FIELD_TOKENS: usize = 4;

/// Fields of a tool: their total number, and those that can be listed.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) total: usize,
    list: Vec<Field>,
}

struct Field {
    name: String,
    /// Type without constraints.
    kind: String,
    /// Type, allowed values and constraints.
    accepted: String,
    description: String,
}

/// Creates the lists of one tool.
pub(super) struct FieldLists<'s> {
    schema: &'s CachedSchema,
    nodes: HashMap<&'s str, NodeId>,
    named: HashSet<String>,
    max_fields: usize,
}

impl<'s> FieldLists<'s> {
    pub(super) fn new(
        schema: &'s CachedSchema,
        errors: &[ValidationError],
        max_fields: usize,
    ) -> Self {
        let top_level = |error: &ValidationError| {
            let field = error.path.strip_prefix('/')?.split('/').next()?;
            Some(unescape_segment(field).into_owned())
        };
        let named = errors.iter().filter_map(top_level);
        let suggested = errors.iter().flat_map(|error| error.suggestions().iter().cloned());
        let named = named.chain(suggested).collect();
        Self { schema, nodes: members(schema), named, max_fields }
    }

    pub(super) fn required(&self) -> Fields {
        self.list(self.schema.required.iter().map(String::as_str).collect())
    }

    pub(super) fn optional(&self) -> Fields {
        let required: HashSet<&str> = self.schema.required.iter().map(String::as_str).collect();
        let names = self.schema.properties.iter().map(String::as_str);
        self.list(names.filter(|name| !required.contains(name)).collect())
    }

    fn list(&self, mut names: Vec<&str>) -> Fields {
        if names.len() > MAX_UNSORTED {
            names.sort_by_key(|name| !self.named.contains(*name));
        }
        let listed = names.iter().take(self.max_fields);
        Fields { total: names.len(), list: listed.map(|name| self.field(name)).collect() }
    }

    fn field(&self, name: &str) -> Field {
        let compiled = &self.schema.compiled;
        let node = self.nodes.get(name).copied();
        let keywords = node.and_then(|id| compiled.at(&compiled.graph.node(id).pointer));
        let description = keywords.and_then(|schema| schema.get("description")?.as_str());
        let any = || "any".to_owned();
        Field {
            name: name.to_owned(),
            kind: node.map_or_else(any, |id| type_of(compiled, id)),
            accepted: node.map_or_else(any, |id| Accepted::of(compiled, id).listed()),
            description: one_line(description.unwrap_or_default()),
        }
    }
}

impl Fields {
    /// Renders the list, as far as the limits allow.
    pub(super) fn render(&self, max_name_tokens: usize, detail: &FieldDetail) -> String {
        if self.total == 0 {
            return "none".to_owned();
        }
        let mut list = String::new();
        for field in self.list.iter().take(detail.count) {
            let name = tokens::cut(&field.name, max_name_tokens);
            let kind = match detail.accepted {
                0 => tokens::cut(&field.kind, max_name_tokens),
                max_tokens => tokens::cut(&field.accepted, max_tokens),
            };
            let _ = match tokens::cut(&field.description, detail.description) {
                text if detail.description > 0 && !field.description.is_empty() => {
                    writeln!(list, "- {name} ({kind}): {text}")
                }
                _ => writeln!(list, "- {name} ({kind})"),
            };
        }
        if let Some(more) = self.total.checked_sub(detail.count).filter(|more| *more > 0) {
            let _ = writeln!(list, "… and {more} more");
        }
        list
    }
}

/// Returns the subschemas of the fields that the root lists directly or through `allOf` and `$ref`.
fn members(schema: &CachedSchema) -> HashMap<&str, NodeId> {
    let graph = &schema.compiled.graph;
    let mut pending = vec![SchemaGraph::ROOT];
    let (mut seen, mut found) = (HashSet::new(), HashMap::new());
    while let Some(id) = pending.pop() {
        if seen.insert(id) {
            let node = graph.node(id);
            for (name, member) in node.properties.iter().flat_map(Members::iter) {
                found.entry(name).or_insert(member);
            }
            pending.extend(&node.all_of);
        }
    }
    found
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
