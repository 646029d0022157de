//! Why a call is refused: everything the engine has against it, in our words.
//!
//! Only called when the answer is no. The engine's typed errors carry the facts; an `anyOf` that no
//! branch satisfies is explained by its closest branch; unknown fields come from the walk in
//! [`survey`](super::survey).
//!
//! Contract: the time is in proportion to the size of the call, whatever the schema. Of many problems
//! only so many are noted as may be about those that are shown ([`NOTED_PER_SHOWN`]), every part takes
//! its steps from a budget, and an explanation that ends early says so.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationErrorKind as Engine};
use serde_json::Value;

use super::choices::Choices;
use super::effort::Effort;
use super::error::ValidationError;
use super::problem::{Form, Problem, Unwanted, tidy};
use super::wording::{About, Wording, text_of};
use super::{closest, describe, survey};
use crate::config::{UnknownFields, ValidationConfig};
use crate::schema::{CompiledSchema, NodeId};
use crate::suggest;
use crate::tape::{Kind, Lookup, Node, StepBudget, unescape_segment};

pub(super) type EngineError<'i> = jsonschema::ValidationError<'i>;

/// Problems that are noted for each that is shown: several may be about one mistake, and a repair
/// wants all of them.
const NOTED_PER_SHOWN: usize = 10;

/// Steps for putting one problem into words.
const STEPS_PER_PROBLEM: u32 = 64;

/// What is wrong with a call.
#[derive(Debug)]
pub(crate) struct Explanation {
    /// The problems that were noted, in order; only those that are shown have words.
    pub(crate) errors: Vec<ValidationError>,
    /// How many are shown.
    shown: usize,
    /// False when there may be more than are shown.
    pub(crate) complete: bool,
    /// False when there may be more than were noted.
    pub(crate) exhaustive: bool,
    /// The subschemas that apply to the objects with problems, by the paths of the objects.
    objects: HashMap<String, Vec<NodeId>>,
}

impl Explanation {
    /// The subschemas that apply to an object with problems.
    pub(crate) fn nodes_at(&self, object_path: &str) -> &[NodeId] {
        self.objects.get(object_path).map(Vec::as_slice).unwrap_or_default()
    }

    /// The problems that are shown.
    pub(crate) fn shown(&self) -> &[ValidationError] {
        self.errors.get(..self.shown).unwrap_or(&self.errors)
    }
}

pub(crate) fn explain(
    schema: &CompiledSchema,
    root: Node<'_>,
    config: &ValidationConfig,
    effort: &Effort,
) -> Explanation {
    let shown = config.limits.errors;
    let mut explainer = Explainer::new(schema, root, config, About::Arguments, effort);
    if root.kind() != Kind::Object {
        let error = explainer.wording.wrong_type("", "/type".to_owned(), "object", Some(root));
        let objects = HashMap::new();
        return Explanation {
            errors: vec![error],
            shown,
            complete: true,
            exhaustive: true,
            objects,
        };
    }
    let (mut problems, mut exhaustive) = explainer.told(config);
    let strict = config.unknown_fields == UnknownFields::Reject;
    let mut objects = HashMap::new();
    if strict || !problems.is_empty() {
        let budget = StepBudget::to_explain(root, config.limits.explain_steps);
        let most = strict.then_some(explainer.most);
        let found = survey::run(&explainer, &problems, most, &budget);
        exhaustive &= found.complete;
        problems.extend(found.unknown);
        objects = found.objects;
    }
    let complete = exhaustive && problems.len() <= shown;
    tidy(&mut problems);
    let errors = explainer.in_words(problems, shown);
    Explanation { errors, shown, complete, exhaustive, objects }
}

/// The same for a part of a message, by its place there: any value may be its root, and it is never
/// closed.
pub fn explain_part(
    schema: &CompiledSchema,
    root: Node<'_>,
    place: &'static str,
    config: &ValidationConfig,
) -> Vec<ValidationError> {
    let effort = Effort::new(config.limits.explain_steps);
    let mut explainer = Explainer::new(schema, root, config, About::Part(place), &effort);
    let (mut problems, _) = explainer.told(config);
    tidy(&mut problems);
    problems.truncate(config.limits.errors);
    explainer.in_words(problems, config.limits.errors)
}

pub(super) struct Explainer<'e> {
    pub(super) schema: &'e CompiledSchema,
    pub(super) root: Node<'e>,
    pub(super) distance: usize,
    pub(super) wording: Wording,
    pub(super) choices: Choices,
    pub(super) effort: &'e Effort,
    pub(super) lookup: Lookup<'e>,
    /// How many problems are noted.
    most: usize,
    /// What translating the engine's errors may still take.
    translating: StepBudget,
    /// Some of the engine's errors were left out.
    left_out: bool,
    pub(super) names: RefCell<HashMap<Vec<NodeId>, Rc<[&'e str]>>>,
}

impl<'e> Explainer<'e> {
    fn new(
        schema: &'e CompiledSchema,
        root: Node<'e>,
        config: &ValidationConfig,
        about: About,
        effort: &'e Effort,
    ) -> Self {
        Self {
            schema,
            root,
            distance: config.suggestion_distance,
            wording: Wording::new(config.mask_values, about),
            choices: Choices::default(),
            effort,
            lookup: Lookup::new(root),
            most: config.limits.errors.saturating_mul(NOTED_PER_SHOWN),
            translating: StepBudget::to_explain(root, config.limits.explain_steps),
            left_out: false,
            names: RefCell::default(),
        }
    }

    /// What the engine has against the root, and whether that is all.
    fn told(&mut self, config: &ValidationConfig) -> (Vec<Problem<'e>>, bool) {
        let budget = StepBudget::to_explain(self.root, config.limits.explain_steps);
        let errors = self.schema.errors(self.root, &budget);
        let problems = self.translate_all(&errors);
        (problems, !budget.is_spent() && !self.left_out)
    }

    pub(super) fn translate_all(&mut self, errors: &[EngineError<'_>]) -> Vec<Problem<'e>> {
        let mut problems = Vec::new();
        for error in errors {
            let room = self.most.saturating_sub(problems.len());
            if room == 0 || !self.translating.take(STEPS_PER_PROBLEM) {
                self.left_out = true;
                break;
            }
            self.translate(error, room, &mut problems);
        }
        problems
    }

    /// Adds what is wrong by one error of the engine; at most `room` unknown fields.
    fn translate(&mut self, error: &EngineError<'_>, room: usize, problems: &mut Vec<Problem<'e>>) {
        let path = error.instance_path().as_str();
        let schema_path = error.schema_path().as_str();
        match error.kind() {
            Engine::AnyOf { context } | Engine::OneOfNotValid { context } => {
                problems.extend(closest::explain(self, path, schema_path, context));
            }
            Engine::AdditionalProperties { unexpected }
            | Engine::UnevaluatedProperties { unexpected } => {
                let (object, names) = (self.value(path), self.names_around(schema_path));
                self.left_out |= unexpected.len() > room;
                for field in unexpected.iter().take(room) {
                    let names = Rc::clone(&names);
                    let unwanted = Unwanted { object, names, form: Form::Unknown };
                    let place = schema_path.to_owned();
                    problems.push(Problem::unwanted(path, field, place, unwanted));
                }
            }
            _ => problems.push(self.translate_one(error.kind(), path, schema_path)),
        }
    }

    fn translate_one(&self, kind: &Engine, path: &str, schema_path: &str) -> Problem<'e> {
        let value = self.value(path);
        let place = schema_path.to_owned();
        let error = match kind {
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
                    return self.forbidden_field(object, &unescape_segment(field), place);
                }
                _ => self.wording.invalid(path, place, "be left out", None),
            },
            Engine::PropertyNames { error } => return self.misnamed_field(path, place, error),
            other => self.wording.invalid(path, place, &describe::constraint(other), value),
        };
        error.into()
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
            let known: Vec<&str> = options.iter().filter_map(|option| option.as_str()).collect();
            let scoring = &self.effort.values;
            let nearest = suggest::nearest_of(&text, &known, |_| true, self.distance, scoring);
            nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
        });
        let listed = self.effort.list_values(options.len(), Wording::FEW_VALUES);
        let meant = meant.unwrap_or_default();
        self.wording.not_allowed(path, schema_path, (options, listed), value, meant)
    }

    pub(super) fn value(&self, path: &str) -> Option<Node<'e>> {
        self.lookup.pointer(path)
    }

    fn wanted(&self, schema_path: &str, field: &str) -> String {
        let graph = &self.schema.graph;
        let node = graph.at(schema_path).and_then(|id| graph.node(id).member(field));
        node.map_or_else(|| "a value".to_owned(), |id| describe::type_of(self.schema, id))
    }

    pub(super) fn has_member(&self, object: Node<'e>, name: &str) -> bool {
        self.lookup.get(object, name).is_some()
    }

    fn is_member(&self, object_path: &str) -> bool {
        self.value(object_path).is_some_and(|node| node.kind() == Kind::Object)
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
