//! For each thing that is wrong, the edit that may put it right.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::edit::{Edit, EditKind};
use super::splice::Splices;
use super::{Call, names, values};
use crate::arguments::{Explanation, ValidationError, ValidationErrorKind, join};
use crate::discovery::CachedSchema;
use crate::embedded::parse_as;
use crate::schema::NodeId;
use crate::suggest;
use crate::tape::{Kind, Node, quote};

/// The text after one round of edits.
pub(super) struct Step {
    pub(super) text: String,
    pub(super) edits: Vec<Edit>,
}

/// `None` when nothing can be done.
pub(super) fn step(call: &Call<'_>, explanation: &Explanation) -> Option<Step> {
    if let Some(step) = unwrap_whole(call.schema, call.root) {
        return Some(step);
    }
    // With problems left over the result could not pass.
    if !explanation.exhaustive {
        return None;
    }
    let mut proposer =
        Proposer { call, explanation, splices: Splices::default(), edits: Vec::new() };
    proposer.rename_fields();
    for error in &explanation.errors {
        proposer.propose(error);
    }
    proposer.fill_missing();
    if proposer.edits.is_empty() {
        return None;
    }
    let root = call.root;
    let text = proposer.splices.apply(root.raw(), root.span().start);
    Some(Step { text, edits: proposer.edits })
}

/// Arguments inside `{"arguments": …}`, as one string, or `null` for none.
fn unwrap_whole(schema: &CachedSchema, root: Node<'_>) -> Option<Step> {
    if let Some(text) = root.as_str() {
        let text = parse_as(&text, &["object"])?;
        let edit = Edit::new(EditKind::Unstringify, "", root.raw(), text.as_str());
        return Some(Step { text, edits: vec![edit] });
    }
    if root.kind() == Kind::Null {
        let edit = Edit::new(EditKind::DropNull, "", "null", "{}");
        return Some(Step { text: "{}".to_owned(), edits: vec![edit] });
    }
    let mut members = root.members();
    let (key, inner) = members.next()?;
    let wraps = matches!(key.as_ref(), "arguments" | "input" | "params");
    if !wraps || members.next().is_some() || schema.properties.iter().any(|name| *name == key) {
        return None;
    }
    let text = match inner.as_str() {
        Some(text) => parse_as(&text, &["object"])?,
        None if inner.kind() == Kind::Object => inner.raw().to_owned(),
        None => return None,
    };
    let edit = Edit::new(EditKind::UnwrapArguments, &join("", &key), key.as_ref(), "");
    Some(Step { text, edits: vec![edit] })
}

struct Proposer<'p, 'c> {
    call: &'p Call<'c>,
    explanation: &'p Explanation,
    splices: Splices,
    edits: Vec<Edit>,
}

impl Proposer<'_, '_> {
    fn rename_fields(&mut self) {
        for rename in names::renames(self.call, self.explanation) {
            let Some(key) = self.call.lookup.key_at(&rename.path) else {
                continue;
            };
            let edit = Edit::new(
                EditKind::RenameField,
                &rename.path,
                rename.from.as_str(),
                rename.to.as_str(),
            )
            .in_doubt_unless(suggest::same_letters(&rename.from, &rename.to));
            let span = key.span();
            self.replace(span, quote(&rename.to), edit);
        }
    }

    fn propose(&mut self, error: &ValidationError) {
        let value = self.call.lookup.pointer(&error.path);
        match (&error.kind, value) {
            (ValidationErrorKind::UnknownField { field, .. }, _) => self.strip(error, field),
            (
                ValidationErrorKind::TypeMismatch { .. } | ValidationErrorKind::InvalidEnum { .. },
                Some(value),
            ) if value.kind() == Kind::Null => self.drop_null(error, value),
            (ValidationErrorKind::TypeMismatch { expected, .. }, Some(value)) => {
                let wanted: Vec<&str> = expected.split(" or ").collect();
                if let Some((kind, text)) = values::convert(value, &wanted) {
                    let edit = Edit::new(kind, &error.path, value.raw(), text.as_str());
                    self.replace(value.span(), text, edit);
                }
            }
            (ValidationErrorKind::InvalidEnum { .. }, Some(value)) => {
                self.replace_value(error, value);
            }
            _ => {}
        }
    }

    fn replace_value(&mut self, error: &ValidationError, value: Node<'_>) {
        let options = self.call.schema.compiled.at(&error.schema_path);
        let effort = self.call.effort;
        if let Some((kind, text)) =
            options.and_then(|options| values::respell(value, options, effort))
        {
            let edit = Edit::new(kind, &error.path, value.raw(), text.as_str());
            self.replace(value.span(), text, edit);
            return;
        }
        let Some(given) = value.as_str() else { return };
        let known = error.suggestions().iter().map(String::as_str);
        let distance = self.call.validator.config().suggestion_distance;
        let nearest = suggest::nearest(&given, known, distance);
        if let Some(meant) = suggest::stands_out(&nearest) {
            let text = quote(meant.name);
            let edit = Edit::new(EditKind::ReplaceValue, &error.path, value.raw(), text.as_str())
                .in_doubt_unless(suggest::same_letters(&given, meant.name));
            self.replace(value.span(), text, edit);
        }
    }

    fn drop_null(&mut self, error: &ValidationError, value: Node<'_>) {
        let Some(object) = self.call.lookup.pointer(error.parent_path()) else {
            return;
        };
        let Some(key) = self.call.lookup.key_at(&error.path) else {
            return;
        };
        let field = key.as_str().unwrap_or_default();
        if object.kind() == Kind::Object && !self.is_required(error.parent_path(), &field) {
            let edit = Edit::new(EditKind::DropNull, &error.path, "null", "");
            self.remove(object, key, value, edit);
        }
    }

    fn strip(&mut self, error: &ValidationError, field: &str) {
        if !self.call.validator.config().injected_keys.iter().any(|key| key == field) {
            return;
        }
        let object = self.call.lookup.pointer(error.parent_path());
        let (key, value) =
            (self.call.lookup.key_at(&error.path), self.call.lookup.pointer(&error.path));
        if let (Some(object), Some(key), Some(value)) = (object, key, value) {
            let edit = Edit::new(EditKind::StripInjected, &error.path, field, "");
            self.remove(object, key, value, edit);
        }
    }

    /// Missing fields whose values the schema knows, all those of an object at once.
    fn fill_missing(&mut self) {
        let mut objects: Vec<&str> = Vec::new();
        let mut missing: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
        for error in &self.explanation.errors {
            let ValidationErrorKind::MissingRequired { field } = &error.kind else { continue };
            let fields = missing.entry(error.parent_path()).or_default();
            if fields.is_empty() {
                objects.push(error.parent_path());
            }
            fields.push((field, &error.path));
        }
        let changes = Changes::of(&self.edits);
        for path in objects {
            let Some(object) = self.call.lookup.pointer(path) else { continue };
            // What is taken out of the same object goes first: the commas depend on it.
            if changes.removed_from.contains(path) {
                continue;
            }
            // Unless another field is renamed to them.
            let fields = missing.remove(path).unwrap_or_default().into_iter();
            let fields = fields.filter(|(field, _)| !changes.renamed_to.contains(*field));
            self.fill(path, object, fields);
        }
    }

    fn fill<'f>(
        &mut self,
        path: &str,
        object: Node<'_>,
        fields: impl Iterator<Item = (&'f str, &'f str)>,
    ) {
        let (mut members, mut edits) = (Vec::new(), Vec::new());
        for (field, field_path) in fields {
            if let Some(value) = self.known_value(path, field) {
                let value = value.to_string();
                members.push(format!("{}:{value}", quote(field)));
                edits.push(Edit::new(EditKind::FillDefault, field_path, "", value));
            }
        }
        let comma = if object.is_empty() { "" } else { "," };
        let text = format!("{comma}{}", members.join(","));
        let end = object.span().end.saturating_sub(1);
        if !edits.is_empty() && self.splices.replace(end..end, text) {
            self.edits.append(&mut edits);
        }
    }

    fn known_value(&self, object_path: &str, field: &str) -> Option<Value> {
        let compiled = &self.call.schema.compiled;
        let mut pending: Vec<NodeId> = self
            .nodes_at(object_path)
            .iter()
            .filter_map(|id| compiled.graph.node(*id).member(field))
            .collect();
        let mut seen = HashSet::new();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = compiled.graph.node(id);
            let keywords = compiled.at(&node.pointer)?;
            if let Some(known) = keywords.get("const").or_else(|| keywords.get("default")) {
                return Some(known.clone());
            }
            pending.extend(&node.all_of);
        }
        None
    }

    fn is_required(&self, object_path: &str, field: &str) -> bool {
        let compiled = &self.call.schema.compiled;
        self.nodes_at(object_path).iter().any(|id| {
            let keywords = compiled.at(&compiled.graph.node(*id).pointer);
            let required = keywords.and_then(|schema| schema.get("required")?.as_array());
            required.is_some_and(|names| names.iter().any(|name| name == field))
        })
    }

    fn nodes_at(&self, object_path: &str) -> &[NodeId] {
        self.explanation.nodes_at(object_path)
    }

    /// Takes a member out, with the comma on one side of it.
    fn remove(&mut self, object: Node<'_>, key: Node<'_>, value: Node<'_>, edit: Edit) {
        let span = if let Some(next) = value.next_key(object) {
            key.span().start..next.span().start
        } else {
            // Only one member of an object is the last.
            let others = object.members().with_key_nodes().take_while(|(other, _)| *other != key);
            let start = others.last().map_or(key.span().start, |(_, before)| before.span().end);
            start..value.span().end
        };
        self.replace(span, String::new(), edit);
    }

    fn replace(&mut self, span: std::ops::Range<usize>, by: String, edit: Edit) {
        if self.splices.replace(span, by) {
            self.edits.push(edit);
        }
    }
}

/// What the edits so far do, for those that depend on it.
struct Changes {
    /// Objects that lose a member.
    removed_from: HashSet<String>,
    /// Names that other fields are given.
    renamed_to: HashSet<String>,
}

impl Changes {
    fn of(edits: &[Edit]) -> Self {
        let removals = edits.iter().filter(|edit| edit.to.is_empty());
        let objects = removals.filter_map(|edit| edit.path.rsplit_once('/'));
        let renames = edits.iter().filter(|edit| edit.kind == EditKind::RenameField);
        Self {
            removed_from: objects.map(|(object, _)| object.to_owned()).collect(),
            renamed_to: renames.map(|edit| edit.to.clone()).collect(),
        }
    }
}
