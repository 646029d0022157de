//! For each thing that is wrong, the edit that may put it right.

use serde_json::Value;

use super::edit::{Edit, EditKind};
use super::splice::Splices;
use super::{names, values};
use crate::arguments::{Explanation, McpValidator, ValidationError, ValidationErrorKind, join};
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
pub(super) fn step(
    validator: &McpValidator,
    schema: &CachedSchema,
    root: Node<'_>,
    explanation: &Explanation,
) -> Option<Step> {
    if let Some(step) = unwrap_whole(schema, root) {
        return Some(step);
    }
    let mut proposer = Proposer {
        validator,
        schema,
        root,
        explanation,
        splices: Splices::default(),
        edits: Vec::new(),
    };
    proposer.rename_fields();
    for error in &explanation.errors {
        proposer.propose(error);
    }
    proposer.fill_missing();
    if proposer.edits.is_empty() {
        return None;
    }
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

struct Proposer<'p> {
    validator: &'p McpValidator,
    schema: &'p CachedSchema,
    root: Node<'p>,
    explanation: &'p Explanation,
    splices: Splices,
    edits: Vec<Edit>,
}

impl Proposer<'_> {
    fn rename_fields(&mut self) {
        let distance = self.validator.config().suggestion_distance;
        let injected = &self.validator.config().injected_keys;
        for rename in names::renames(self.schema, self.root, self.explanation, distance, injected) {
            let Some(key) = self.root.key_at(&rename.path) else {
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
        let value = self.root.pointer(&error.path);
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
        let options = self.schema.compiled.at(&error.schema_path);
        if let Some((kind, text)) = options.and_then(|options| values::respell(value, options)) {
            let edit = Edit::new(kind, &error.path, value.raw(), text.as_str());
            self.replace(value.span(), text, edit);
            return;
        }
        let Some(given) = value.as_str() else { return };
        let known = error.suggestions().iter().map(String::as_str);
        let distance = self.validator.config().suggestion_distance;
        let nearest = suggest::nearest(&given, known, distance);
        if let Some(meant) = suggest::stands_out(&nearest) {
            let text = quote(meant.name);
            let edit = Edit::new(EditKind::ReplaceValue, &error.path, value.raw(), text.as_str())
                .in_doubt_unless(suggest::same_letters(&given, meant.name));
            self.replace(value.span(), text, edit);
        }
    }

    fn drop_null(&mut self, error: &ValidationError, value: Node<'_>) {
        let Some(object) = self.root.pointer(error.parent_path()) else {
            return;
        };
        let Some(key) = self.root.key_at(&error.path) else {
            return;
        };
        let field = key.as_str().unwrap_or_default();
        if object.kind() == Kind::Object && !self.is_required(error.parent_path(), &field) {
            let edit = Edit::new(EditKind::DropNull, &error.path, "null", "");
            self.remove(object, key, value, edit);
        }
    }

    fn strip(&mut self, error: &ValidationError, field: &str) {
        if !self.validator.config().injected_keys.iter().any(|key| key == field) {
            return;
        }
        let object = self.root.pointer(error.parent_path());
        let (key, value) = (self.root.key_at(&error.path), self.root.pointer(&error.path));
        if let (Some(object), Some(key), Some(value)) = (object, key, value) {
            let edit = Edit::new(EditKind::StripInjected, &error.path, field, "");
            self.remove(object, key, value, edit);
        }
    }

    /// Missing fields whose values the schema knows, all those of an object at once.
    fn fill_missing(&mut self) {
        let mut objects: Vec<&str> = Vec::new();
        for error in &self.explanation.errors {
            if !objects.contains(&error.parent_path()) {
                objects.push(error.parent_path());
            }
        }
        for path in objects {
            let Some(object) = self.root.pointer(path) else { continue };
            // What is taken out of the same object goes first: the commas depend on it.
            let waits = self.edits.iter().any(|edit| {
                edit.to.is_empty() && edit.path.rsplit_once('/').is_some_and(|(of, _)| of == path)
            });
            let fills = if waits { Vec::new() } else { self.fills(path) };
            let members: Vec<String> =
                fills.iter().map(|(field, edit)| format!("{}:{}", quote(field), edit.to)).collect();
            let comma = if object.is_empty() { "" } else { "," };
            let end = object.span().end.saturating_sub(1);
            let text = format!("{comma}{}", members.join(","));
            if !fills.is_empty() && self.splices.replace(end..end, text) {
                self.edits.extend(fills.into_iter().map(|(_, edit)| edit));
            }
        }
    }

    /// The fields that can be filled in, unless another one is renamed to them.
    fn fills(&self, object_path: &str) -> Vec<(String, Edit)> {
        let errors = self.explanation.errors.iter();
        let here = errors.filter(|error| error.parent_path() == object_path);
        here.filter_map(|error| {
            let ValidationErrorKind::MissingRequired { field } = &error.kind else { return None };
            let is_renamed = |edit: &Edit| edit.kind == EditKind::RenameField && edit.to == *field;
            if self.edits.iter().any(is_renamed) {
                return None;
            }
            let value = self.known_value(object_path, field)?.to_string();
            Some((field.clone(), Edit::new(EditKind::FillDefault, &error.path, "", value)))
        })
        .collect()
    }

    fn known_value(&self, object_path: &str, field: &str) -> Option<Value> {
        let compiled = &self.schema.compiled;
        let mut pending: Vec<NodeId> = self
            .nodes_at(object_path)
            .iter()
            .filter_map(|id| compiled.graph.node(*id).member(field))
            .collect();
        let mut seen = Vec::new();
        while let Some(id) = pending.pop() {
            if seen.contains(&id) {
                continue;
            }
            seen.push(id);
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
        let compiled = &self.schema.compiled;
        self.nodes_at(object_path).iter().any(|id| {
            let keywords = compiled.at(&compiled.graph.node(*id).pointer);
            let required = keywords.and_then(|schema| schema.get("required")?.as_array());
            required.is_some_and(|names| names.iter().any(|name| name == field))
        })
    }

    fn nodes_at(&self, object_path: &str) -> &[NodeId] {
        let place = self.explanation.objects.iter().find(|place| place.path == object_path);
        place.map(|place| place.nodes.as_slice()).unwrap_or_default()
    }

    /// Takes a member out, with the comma on one side of it.
    fn remove(&mut self, object: Node<'_>, key: Node<'_>, value: Node<'_>, edit: Edit) {
        let members: Vec<_> = object.members().with_key_nodes().collect();
        let position = members.iter().position(|(other, _)| *other == key);
        let next = position.and_then(|index| members.get(index + 1));
        let before = position.and_then(|index| members.get(index.checked_sub(1)?));
        let span = match (next, before) {
            (Some((next_key, _)), _) => key.span().start..next_key.span().start,
            (None, Some((_, value_before))) => value_before.span().end..value.span().end,
            (None, None) => key.span().start..value.span().end,
        };
        self.replace(span, String::new(), edit);
    }

    fn replace(&mut self, span: std::ops::Range<usize>, by: String, edit: Edit) {
        if self.splices.replace(span, by) {
            self.edits.push(edit);
        }
    }
}
