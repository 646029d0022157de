//! Proposes the edits that may correct the problems of a call.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::edit::{Edit, EditKind};
use super::splice::Splices;
use super::{Call, moves, names, values};
use crate::arguments::{Explanation, Place, ValidationError, ValidationErrorKind, join};
use crate::discovery::CachedSchema;
use crate::embedded::{parse_as, parse_written_as};
use crate::schema::NodeId;
use crate::suggest::{self, value_fit::is_empty};
use crate::tape::{Kind, Node, quote};

/// The arguments after one round of edits.
pub(super) struct Proposal {
    pub(super) text: String,
    pub(super) edits: Vec<Edit>,
}

/// Returns the edits for the next round, or `None` if there are none.
pub(super) fn proposal(call: &Call<'_>, explanation: &Explanation) -> Option<Proposal> {
    if let Some(proposal) = unwrap_whole(call.schema, call.root) {
        return Some(proposal);
    }
    // If problems are missing from the explanation, the result would still be invalid.
    if !explanation.exhaustive {
        return None;
    }
    if let Some(proposal) = moves::proposal(call, explanation) {
        return Some(proposal);
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
    Some(Proposal { text, edits: proposer.edits })
}

/// Unwraps arguments nested in `{"arguments": …}`, sent as one string, or sent as `null`.
fn unwrap_whole(schema: &CachedSchema, root: Node<'_>) -> Option<Proposal> {
    if let Some(text) = root.as_str() {
        let (text, is_plain) = whole_object(&text)?;
        let edit = Edit::new(EditKind::Unstringify, "", root.raw(), text.as_str())
            .unambiguous_if(is_plain);
        return Some(Proposal { text, edits: vec![edit] });
    }
    if root.kind() == Kind::Null {
        let edit = Edit::new(EditKind::DropNull, "", "null", "{}");
        return Some(Proposal { text: "{}".to_owned(), edits: vec![edit] });
    }
    let mut members = root.members();
    let (key, inner) = members.next()?;
    let wraps = matches!(key.as_ref(), "arguments" | "input" | "params");
    if !wraps || members.next().is_some() || schema.properties.iter().any(|name| *name == key) {
        return None;
    }
    let text = match inner.as_str() {
        Some(text) => whole_object(&text)?.0,
        None if inner.kind() == Kind::Object => inner.raw().to_owned(),
        None => return None,
    };
    let edit = Edit::new(EditKind::UnwrapArguments, &join("", &key), key.as_ref(), "");
    Some(Proposal { text, edits: vec![edit] })
}

/// Returns the object that a text contains, and whether it is plain JSON.
fn whole_object(text: &str) -> Option<(String, bool)> {
    let plain = parse_as(text, &["object"]).map(|object| (object, true));
    plain.or_else(|| Some((parse_written_as(text, &["object"])?, false)))
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
            let Some(key) = self.call.lookup.key_at(rename.path) else {
                continue;
            };
            if *rename.place != Place::Same {
                continue;
            }
            let edit = Edit::new(EditKind::RenameField, rename.path, rename.from, rename.to)
                .unambiguous_if(suggest::same_ignoring_style(rename.from, rename.to));
            let span = key.span();
            self.replace(span, quote(rename.to), edit);
        }
    }

    fn propose(&mut self, error: &ValidationError) {
        let value = self.call.lookup.pointer(&error.path);
        match (&error.kind, value) {
            (ValidationErrorKind::UnknownField { field, .. }, _) => {
                self.strip_unknown(error, field);
            }
            (
                ValidationErrorKind::TypeMismatch { .. }
                | ValidationErrorKind::InvalidEnum { .. }
                | ValidationErrorKind::InvalidValue { .. },
                Some(value),
            ) if value.raw() == "\"\"" && self.drop(error, value, EditKind::DropEmpty) => {}
            (
                ValidationErrorKind::TypeMismatch { .. } | ValidationErrorKind::InvalidEnum { .. },
                Some(value),
            ) if value.kind() == Kind::Null => {
                self.drop(error, value, EditKind::DropNull);
            }
            (ValidationErrorKind::TypeMismatch { expected, .. }, Some(value)) => {
                let types: Vec<&str> = expected.split(" or ").collect();
                let keyword = error.schema_path.rsplit_once('/').map_or("", |(object, _)| object);
                let keywords = self.call.schema.compiled.at(keyword);
                if let Some(new) = values::convert(value, &types, keywords) {
                    let edit = Edit::new(new.kind, &error.path, value.raw(), new.text.as_str())
                        .unambiguous_if(new.is_unambiguous);
                    self.replace(value.span(), new.text, edit);
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
        let comparisons = self.call.comparisons;
        if let Some((kind, text)) =
            options.and_then(|options| values::convert_to_allowed(value, options, comparisons))
        {
            let edit = Edit::new(kind, &error.path, value.raw(), text.as_str());
            self.replace(value.span(), text, edit);
            return;
        }
        if let (Kind::Array, 1) = (value.kind(), value.len())
            && let Some(only) = value.elements().next()
        {
            let text = only.raw().to_owned();
            let edit = Edit::new(EditKind::UnwrapElement, &error.path, value.raw(), text.as_str());
            self.replace(value.span(), text, edit);
            return;
        }
        let Some(given) = value.as_str() else { return };
        let known = error.suggestions().iter().map(String::as_str);
        let distance = self.call.validator.config().suggestion_distance;
        let nearest = suggest::nearest(&given, known, distance);
        let by_form = suggest::unambiguous_best(&nearest).map(|intended| intended.name);
        let mut allowed = Vec::new();
        if let Some(options) = options {
            values::flatten(options, &mut allowed);
        }
        let allowed: Vec<&str> = allowed.into_iter().filter_map(Value::as_str).collect();
        let by_words = || suggest::allowed_value::meant(&given, &allowed);
        if let Some(intended) = by_form.or_else(by_words) {
            let text = quote(intended);
            let edit = Edit::new(EditKind::ReplaceValue, &error.path, value.raw(), text.as_str())
                .unambiguous_if(suggest::same_ignoring_style(&given, intended));
            self.replace(value.span(), text, edit);
        }
    }

    /// Removes the value of an optional field. Returns false if the field is required.
    fn drop(&mut self, error: &ValidationError, value: Node<'_>, kind: EditKind) -> bool {
        let object = self.call.lookup.pointer(error.parent_path());
        let (Some(object), Some(key)) = (object, self.call.lookup.key_at(&error.path)) else {
            return false;
        };
        let field = key.as_str().unwrap_or_default();
        let is_optional =
            object.kind() == Kind::Object && !self.is_required(error.parent_path(), &field);
        if is_optional {
            let edit = Edit::new(kind, &error.path, value.raw(), "");
            self.remove(object, key, value, edit);
        }
        is_optional
    }

    /// Removes an unknown field that the client adds to every call, or that has no counterpart and no
    /// value. Every other unknown field may matter and ends the correction.
    fn strip_unknown(&mut self, error: &ValidationError, field: &str) {
        let object = self.call.lookup.pointer(error.parent_path());
        let (key, value) =
            (self.call.lookup.key_at(&error.path), self.call.lookup.pointer(&error.path));
        let (Some(object), Some(key), Some(value)) = (object, key, value) else { return };
        let found = self.explanation.match_at(&error.path);
        let has_counterpart = found.is_some_and(|found| found.target.is_some());
        let is_injected =
            error.parent_path().is_empty() && self.call.validator.config().is_injected(field);
        let kind = match (is_injected, is_empty(value) && !has_counterpart) {
            (true, _) => EditKind::StripInjected,
            (_, true) => EditKind::DropEmpty,
            _ => return,
        };
        // An empty value says nothing, but that it may be dropped is not certain.
        let edit = Edit::new(kind, &error.path, field, "").unambiguous_if(is_injected);
        self.remove(object, key, value, edit);
    }

    /// Adds the missing fields that have a `const` or `default`, all fields of an object at once.
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
            // Removals from the same object are applied in an earlier round: the commas depend on them.
            if changes.removed_from.contains(path) {
                continue;
            }
            // Skip fields that another field is renamed to.
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

    /// Removes a member together with the comma on one side of it.
    fn remove(&mut self, object: Node<'_>, key: Node<'_>, value: Node<'_>, edit: Edit) {
        let span = if let Some(next) = value.next_key(object) {
            key.span().start..next.span().start
        } else {
            // Only the last member of an object has no next key.
            let others = object.members().with_key_nodes().take_while(|(other, _)| *other != key);
            let start = others.last().map_or(key.span().start, |(_, before)| before.span().end);
            start..value.span().end
        };
        self.replace(span, String::new(), edit);
    }

    fn replace(&mut self, span: std::ops::Range<usize>, replacement: String, edit: Edit) {
        if self.splices.replace(span, replacement) {
            self.edits.push(edit);
        }
    }
}

/// The effects of the edits so far that later edits depend on.
struct Changes {
    /// Objects that lose a member.
    removed_from: HashSet<String>,
    /// New names of renamed fields.
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
