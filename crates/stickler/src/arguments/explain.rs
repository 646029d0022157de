//! Why a call is refused: everything the engine has against it, in our words.
//!
//! Only called when the answer is no. The engine's typed errors carry the facts; an `anyOf` that no
//! branch satisfies is explained by its closest branch; unknown fields come from the walk in
//! [`closed`](super::closed).

use std::collections::HashSet;
use std::ops::ControlFlow;

use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationErrorKind as Engine};
use serde_json::Value;

use super::choices::Choices;
use super::closed::{Applied, Visitor, Walk};
use super::error::{ValidationError, ValidationErrorKind};
use super::place::{Place, join};
use super::wording::{About, Wording, text_of};
use super::{closest, describe};
use crate::config::{UnknownFields, ValidationConfig};
use crate::schema::{CompiledSchema, NodeId};
use crate::suggest;
use crate::tape::{Kind, Node, StepBudget, unescape_segment};

type EngineError<'i> = jsonschema::ValidationError<'i>;

/// Errors of the engine that are told for each that is shown: several may be about one mistake.
const TOLD_PER_SHOWN: usize = 8;

/// What is wrong with a call.
#[derive(Debug)]
pub(crate) struct Explanation {
    pub(crate) errors: Vec<ValidationError>,
    /// False when there may be more, but looking further would have taken too long.
    pub(crate) complete: bool,
    pub(crate) objects: Vec<ObjectPlace>,
}

/// An object in the arguments and the subschemas that apply to it.
#[derive(Debug)]
pub(crate) struct ObjectPlace {
    pub(crate) path: String,
    pub(crate) nodes: Vec<NodeId>,
}

pub(crate) fn explain(
    schema: &CompiledSchema,
    root: Node<'_>,
    config: &ValidationConfig,
) -> Explanation {
    let budget = StepBudget::to_explain(root, config.limits.explain_steps);
    let mut explainer = Explainer::new(schema, root, config, About::Arguments);
    if root.kind() != Kind::Object {
        let error = explainer.wording.wrong_type("", "/type".to_owned(), "object", Some(root));
        return Explanation { errors: vec![error], complete: true, objects: Vec::new() };
    }
    let (mut errors, mut complete) = explainer.told(&budget, config);
    let strict = config.unknown_fields == UnknownFields::Reject;
    let mut objects = Vec::new();
    if strict || !errors.is_empty() {
        let walk_budget = StepBudget::to_explain(root, config.limits.explain_steps);
        let walk = Walk { schema, choices: &explainer.choices, budget: &walk_budget };
        let mut survey = Survey { explainer: &explainer, unknown: Vec::new(), objects: Vec::new() };
        walk.run(root, &mut survey);
        complete &= !walk_budget.is_spent();
        objects = survey.objects;
        if strict {
            errors.extend(survey.unknown);
        }
    }
    complete &= errors.len() <= config.limits.errors;
    tidy(&mut errors, config.limits.errors);
    Explanation { errors, complete, objects }
}

/// The same for a part of a message, by its place there: any value may be its root, and it is never
/// closed.
pub fn explain_part(
    schema: &CompiledSchema,
    root: Node<'_>,
    place: &'static str,
    config: &ValidationConfig,
) -> Vec<ValidationError> {
    let budget = StepBudget::to_explain(root, config.limits.explain_steps);
    let mut explainer = Explainer::new(schema, root, config, About::Part(place));
    let (mut errors, _) = explainer.told(&budget, config);
    tidy(&mut errors, config.limits.errors);
    errors
}

pub(super) struct Explainer<'e> {
    pub(super) schema: &'e CompiledSchema,
    root: Node<'e>,
    pub(super) distance: usize,
    pub(super) wording: Wording,
    pub(super) choices: Choices,
}

impl<'e> Explainer<'e> {
    fn new(
        schema: &'e CompiledSchema,
        root: Node<'e>,
        config: &ValidationConfig,
        about: About,
    ) -> Self {
        Self {
            schema,
            root,
            distance: config.suggestion_distance,
            wording: Wording::new(config.mask_values, about),
            choices: Choices::default(),
        }
    }

    /// What the engine has against the root, in our words, and whether that is all.
    fn told(
        &mut self,
        budget: &StepBudget,
        config: &ValidationConfig,
    ) -> (Vec<ValidationError>, bool) {
        let errors = self.schema.errors(self.root, budget);
        let most = config.limits.errors.saturating_mul(TOLD_PER_SHOWN);
        let few = errors.get(..most).unwrap_or(&errors);
        (self.translate_all(few), !budget.is_spent() && few.len() == errors.len())
    }

    pub(super) fn translate_all(&mut self, errors: &[EngineError<'_>]) -> Vec<ValidationError> {
        errors.iter().flat_map(|error| self.translate(error)).collect()
    }

    fn translate(&mut self, error: &EngineError<'_>) -> Vec<ValidationError> {
        let path = error.instance_path().as_str();
        let schema_path = error.schema_path().as_str();
        match error.kind() {
            Engine::AnyOf { context } | Engine::OneOfNotValid { context } => {
                closest::explain(self, path, schema_path, context)
            }
            Engine::AdditionalProperties { unexpected }
            | Engine::UnevaluatedProperties { unexpected } => {
                let names = self.names_around(schema_path);
                unexpected
                    .iter()
                    .map(|field| self.unknown_field(path, field, schema_path, &names))
                    .collect()
            }
            _ => vec![self.translate_one(error.kind(), path, schema_path)],
        }
    }

    fn translate_one(&self, kind: &Engine, path: &str, schema_path: &str) -> ValidationError {
        let value = self.value(path);
        let place = schema_path.to_owned();
        match kind {
            Engine::Required { property } => {
                let field = text_of(property);
                let wanted = self.wanted(parent(schema_path), &field);
                self.wording.missing(path, &field, place, &wanted)
            }
            Engine::Type { kind } => self.wording.wrong_type(path, place, &type_names(kind), value),
            Engine::Enum { options } => {
                let options: Vec<&Value> = options.as_array().into_iter().flatten().collect();
                self.not_allowed(path, place, &options)
            }
            Engine::Constant { expected_value } => self.not_allowed(path, place, &[expected_value]),
            Engine::FalseSchema => match path.rsplit_once('/') {
                Some((object, field)) if self.is_member(object) => {
                    self.forbidden_field(object, &unescape_segment(field), place)
                }
                _ => self.wording.invalid(path, place, "be left out", None),
            },
            Engine::PropertyNames { error } => self.misnamed_field(path, place, error),
            other => self.wording.invalid(path, place, &describe::constraint(other), value),
        }
    }

    pub(super) fn not_allowed(
        &self,
        path: &str,
        schema_path: String,
        options: &[&Value],
    ) -> ValidationError {
        let Some(value) = self.value(path) else {
            return self.wording.invalid(path, schema_path, "be another value", None);
        };
        let meant = value.as_str().map(|text| {
            let known = options.iter().filter_map(|option| option.as_str());
            let nearest = suggest::nearest(&text, known, self.distance);
            nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
        });
        self.wording.not_allowed(path, schema_path, options, value, meant.unwrap_or_default())
    }

    pub(super) fn unknown_field(
        &self,
        object_path: &str,
        field: &str,
        schema_path: &str,
        names: &[&str],
    ) -> ValidationError {
        let meant = self.meant_names(object_path, field, names);
        self.wording.unknown_field(object_path, field, schema_path.to_owned(), meant, names)
    }

    /// A field whose own schema is `false`.
    fn forbidden_field(
        &self,
        object_path: &str,
        field: &str,
        schema_path: String,
    ) -> ValidationError {
        // The field's schema stands in `properties` or the like, and that in the object's.
        let names = self.names_around(parent(&schema_path));
        let meant = self.meant_names(object_path, field, &names);
        self.wording.forbidden_field(object_path, field, schema_path, meant, &names)
    }

    /// A field whose name `propertyNames` does not accept.
    fn misnamed_field(
        &self,
        object_path: &str,
        schema_path: String,
        error: &EngineError<'_>,
    ) -> ValidationError {
        let field = text_of(error.instance());
        match error.kind() {
            Engine::Enum { options } => {
                let names: Vec<&str> =
                    options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                self.unknown_field(object_path, &field, &schema_path, &names)
            }
            Engine::FalseSchema => self.unknown_field(object_path, &field, &schema_path, &[]),
            other => {
                let names = self.names_around(&schema_path);
                let meant = self.meant_names(object_path, &field, &names);
                let demand = describe::constraint(other);
                self.wording.misnamed_field(object_path, &field, schema_path, meant, &demand)
            }
        }
    }

    /// The names nearest to that of a field, without those that its object has already.
    fn meant_names(&self, object_path: &str, field: &str, names: &[&str]) -> Vec<String> {
        let object = self.value(object_path);
        let free = names
            .iter()
            .copied()
            .filter(|name| object.is_none_or(|object| object.get(name).is_none()));
        let nearest = suggest::nearest(field, free, self.distance);
        nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
    }

    pub(super) fn value(&self, path: &str) -> Option<Node<'e>> {
        self.root.pointer(path)
    }

    /// The names that the subschema around a keyword lists, with those of the subschemas that apply
    /// to the same place.
    pub(super) fn names_around(&self, keyword_path: &str) -> Vec<&'e str> {
        match self.schema.graph.at(parent(keyword_path)) {
            Some(node) => describe::names(self.schema, &[node]),
            None => Vec::new(),
        }
    }

    fn wanted(&self, schema_path: &str, field: &str) -> String {
        let graph = &self.schema.graph;
        let node = graph.at(schema_path).and_then(|id| graph.node(id).member(field));
        node.map_or_else(|| "a value".to_owned(), |id| describe::type_of(self.schema, id))
    }

    fn is_member(&self, object_path: &str) -> bool {
        self.value(object_path).is_some_and(|node| node.kind() == Kind::Object)
    }
}

/// Notes objects and unknown fields on the way.
struct Survey<'s, 'e> {
    explainer: &'s Explainer<'e>,
    unknown: Vec<ValidationError>,
    objects: Vec<ObjectPlace>,
}

impl Visitor for Survey<'_, '_> {
    fn object(&mut self, place: &Place<'_>, _: Node<'_>, applied: &Applied) {
        self.objects.push(ObjectPlace { path: place.pointer(), nodes: applied.all() });
    }

    fn unknown(&mut self, place: &Place<'_>, key: &str, applied: &Applied) -> ControlFlow<()> {
        let schema = self.explainer.schema;
        let nodes = applied.all();
        let names = describe::names(schema, &nodes);
        let schema_path = nodes
            .iter()
            .map(|id| schema.graph.node(*id))
            .find(|node| node.is_closed())
            .map_or_else(String::new, |node| join(&node.pointer, "properties"));
        let path = place.pointer();
        self.unknown.push(self.explainer.unknown_field(&path, key, &schema_path, &names));
        ControlFlow::Continue(())
    }
}

/// One error a mistake: a wrong type is not also a wrong value. In the order of the paths, so that
/// a misspelt field stands beside the one that is missing for it.
pub(super) fn tidy(errors: &mut Vec<ValidationError>, most: usize) {
    let wrong_type: HashSet<String> = errors
        .iter()
        .filter(|error| matches!(error.kind, ValidationErrorKind::TypeMismatch { .. }))
        .map(|error| error.path.clone())
        .collect();
    errors.retain(|error| {
        !matches!(
            error.kind,
            ValidationErrorKind::InvalidEnum { .. } | ValidationErrorKind::InvalidValue { .. }
        ) || !wrong_type.contains(&error.path)
    });
    errors.sort_by(|a, b| {
        let key = |error: &ValidationError| {
            (error.parent_path().to_owned(), rank(&error.kind), error.path.clone())
        };
        key(a).cmp(&key(b))
    });
    errors.dedup_by(|a, b| a.path == b.path && a.kind.name() == b.kind.name());
    errors.truncate(most);
}

fn rank(kind: &ValidationErrorKind) -> u8 {
    match kind {
        ValidationErrorKind::UnknownTool { .. } => 0,
        ValidationErrorKind::UnknownField { .. } => 1,
        ValidationErrorKind::MissingRequired { .. } => 2,
        ValidationErrorKind::TypeMismatch { .. } => 3,
        ValidationErrorKind::InvalidEnum { .. } => 4,
        ValidationErrorKind::InvalidValue { .. } => 5,
    }
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.as_str().to_owned(),
        TypeKind::Multiple(set) => {
            let names: Vec<&str> = set.iter().map(JsonType::as_str).collect();
            names.join(" or ")
        }
    }
}

pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
