//! The lists of required and optional fields in a help prompt.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::detail::FieldDetail;
use super::tokens;
use crate::arguments::{Accepted, ValidationError, members, required_fields, type_of};
use crate::discovery::CachedSchema;
use crate::schema::{NodeId, SchemaGraph};
use crate::tape::unescape_segment;

/// Number of fields up to which a list keeps the order of the schema. In a longer one, of which not all may
/// be listed, the fields that the problems name come first.
pub(super) const MAX_UNSORTED: usize = 12;

/// Minimum number of tokens of a listed field.
pub(super) const MIN_FIELD_TOKENS: usize = 4;

/// Maximum number of tokens of a note about alternatives.
const MAX_NOTE_TOKENS: usize = 60;

/// Fields of a tool: their total number, and those that can be listed.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) total: usize,
    list: Vec<Field>,
    /// The sets of fields of which one is required, in words; empty without such sets.
    note: String,
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
        let nodes = members(&schema.compiled, &[SchemaGraph::ROOT]).into_iter().collect();
        Self { schema, nodes, named, max_fields }
    }

    pub(super) fn required(&self) -> Fields {
        let required = self.list(self.schema.required.iter().map(String::as_str).collect());
        Fields { note: alternatives(self.schema), ..required }
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
        let list = listed.map(|name| self.field(name)).collect();
        Fields { total: names.len(), list, note: String::new() }
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
        if self.total == 0 && self.note.is_empty() {
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
        list.push_str(&tokens::cut(&self.note, MAX_NOTE_TOKENS));
        list
    }
}

/// Describes the sets of fields of which the `anyOf` or `oneOf` at the root requires one:
/// ``one of these sets: `a`; `b`, `c` ``. A branch without required fields makes the others optional.
fn alternatives(schema: &CachedSchema) -> String {
    let required_by = |branch: &NodeId| {
        let names = required_fields(&schema.compiled, *branch);
        let other = names.into_iter().filter(|name| !schema.required.contains(name));
        let names: Vec<String> = other.map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let choices = &schema.compiled.graph.node(SchemaGraph::ROOT).choices;
    let sets = choices.iter().find_map(|choice| {
        let mut sets: Vec<String> = choice.branches.iter().map(required_by).collect();
        let is_choice = sets.iter().all(|set| !set.is_empty());
        sets.dedup();
        is_choice.then_some(sets)
    });
    match sets.as_deref() {
        None | Some([]) => String::new(),
        Some([only]) => format!("- {only}\n"),
        Some(several) => format!("- one of these sets: {}\n", several.join("; ")),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
