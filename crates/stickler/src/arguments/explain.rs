//! Explains why a call is rejected: translates the errors of the JSON Schema engine into
//! [`ValidationError`]s.
//!
//! Runs only for rejected calls. The facts come from the engine's typed errors; an `anyOf` that no
//! branch satisfies is explained by its closest branch, and unknown fields come from the walk in
//! [`unknown_fields`](super::unknown_fields).
//!
//! Contract: the time is linear in the size of the call for every schema. The number of collected
//! problems is limited ([`COLLECTED_PER_SHOWN`]), every part takes its steps from a budget, and an
//! explanation that ends early is marked as incomplete.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationErrorKind as Engine};
use serde_json::Value;

use super::accepted::Accepted;
use super::comparison_budgets::ComparisonBudgets;
use super::error::{ValidationError, ValidationErrorKind};
use super::field_matches::{self, FieldMatch, FieldMatches, Place};
use super::location::join;
use super::phrases::{MAX_LISTED_VALUES, text_of};
use super::problem::{Problem, Reason, UnexpectedField, sort_and_dedup};
use super::selected_branches::SelectedBranches;
use super::wording::{Subject, Wording};
use super::{closest_branch, describe, unknown_fields};
use crate::config::{Signals, UnknownFields, ValidationConfig};
use crate::schema::{CompiledSchema, NodeId};
use crate::suggest;
use crate::tape::{Kind, Lookup, Node, StepBudget, unescape_segment};

pub(super) type EngineError<'i> = jsonschema::ValidationError<'i>;

/// Number of problems collected for each one that is shown: several can stem from one mistake, and a
/// repair needs all of them.
const COLLECTED_PER_SHOWN: usize = 10;

/// Maximum number of characters that describe the value of a missing field; the type replaces a longer text.
const MAX_EXPECTED_CHARS: usize = 240;

/// Budget steps for collecting one problem. Each byte of its path costs one more step, because every form
/// of the answer contains a copy of the path.
const STEPS_PER_PROBLEM: usize = 64;

/// The problems of a rejected call.
#[derive(Debug)]
pub(crate) struct Explanation {
    /// The collected problems in order; only those that are shown have a message.
    pub(crate) errors: Vec<ValidationError>,
    /// Number of errors that are shown.
    shown: usize,
    /// Whether every problem is shown.
    pub(crate) complete: bool,
    /// Whether every problem was collected.
    pub(crate) exhaustive: bool,
    /// The subschemas that apply to each object with a problem, by the path of the object.
    objects: HashMap<String, Vec<NodeId>>,
    /// What the unknown fields stand for, by their paths.
    matches: FieldMatches,
    /// The path of a value that a pattern could not be matched against within its limit. That is not a
    /// problem with the call.
    pub(crate) undecided: Option<String>,
}

impl Explanation {
    /// Returns what the unknown field at a path stands for.
    pub(crate) fn match_at(&self, path: &str) -> Option<&FieldMatch> {
        self.matches.get(path)
    }

    /// Returns the subschemas that apply to an object with a problem.
    pub(crate) fn nodes_at(&self, object_path: &str) -> &[NodeId] {
        self.objects.get(object_path).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the errors that are shown.
    pub(crate) fn shown(&self) -> &[ValidationError] {
        self.errors.get(..self.shown).unwrap_or(&self.errors)
    }

    /// Like [`shown`](Self::shown), without copying them.
    pub(crate) fn into_shown(mut self) -> Vec<ValidationError> {
        self.errors.truncate(self.shown);
        self.errors
    }
}

/// Explains why the arguments of a call are rejected.
pub(crate) fn explain(
    schema: &CompiledSchema,
    root: Node<'_>,
    config: &ValidationConfig,
    comparisons: &ComparisonBudgets,
    tool: &str,
) -> Explanation {
    let shown = config.limits.errors;
    let mut explainer = Explainer::new(schema, root, config, Subject::Arguments, comparisons);
    tool.clone_into(&mut explainer.tool);
    if root.kind() != Kind::Object {
        let error = explainer.wording.wrong_type("", "/type".to_owned(), "object", Some(root));
        let objects = HashMap::new();
        return Explanation {
            errors: vec![error],
            shown,
            complete: true,
            exhaustive: true,
            objects,
            matches: FieldMatches::new(),
            undecided: None,
        };
    }
    let (mut problems, mut exhaustive) = explainer.engine_problems(config);
    let strict = config.unknown_fields != UnknownFields::FollowSchema;
    let mut objects = HashMap::new();
    if strict || !problems.is_empty() {
        let budget = StepBudget::to_explain(root, config.limits.explain_steps);
        let max_unknown = strict.then_some(explainer.max_problems);
        let found = unknown_fields::collect(&explainer, config, &problems, max_unknown, &budget);
        exhaustive &= found.complete;
        problems.extend(found.unknown);
        objects = found.objects;
    }
    sort_and_dedup(&mut problems);
    let matches = field_matches::find(&explainer, &problems, &objects);
    pair_missing_fields(&mut problems, &matches);
    let complete = exhaustive && problems.len() <= shown;
    let errors = explainer.to_errors(problems, shown, &matches);
    let undecided = explainer.undecided;
    Explanation { errors, shown, complete, exhaustive, objects, matches, undecided }
}

/// Returns whether the engine could not decide, because a pattern with lookaround reached its limit.
fn is_undecided(error: &EngineError<'_>) -> bool {
    matches!(
        error.kind(),
        Engine::BacktrackLimitExceeded { .. } | Engine::RegexEngineFailure { .. }
    )
}

/// Removes the problems of missing fields that an unknown field stands for: a field under another name is
/// one problem, not two.
fn pair_missing_fields(problems: &mut Vec<Problem<'_>>, matches: &FieldMatches) {
    let mut filled: HashSet<String> = HashSet::new();
    for (path, found) in matches {
        let Some(target) = &found.target else { continue };
        match &target.place {
            Place::Same => filled.extend([join(parent(path), &target.name)]),
            Place::Inside(field) => filled.extend([join(parent(path), field)]),
            Place::Around => filled.extend([join(parent(parent(path)), &target.name)]),
            Place::Unwrapped(names) => {
                filled.extend(names.iter().map(|name| join(parent(path), name)));
            }
        }
    }
    problems.retain(|problem| {
        !matches!(problem.error.kind, ValidationErrorKind::MissingRequired { .. })
            || !filled.contains(&problem.error.path)
    });
}

/// Explains why a part of a message is rejected; `location` is its JSON Pointer within the message.
/// Unlike arguments, the part can be any value, and its objects are not treated as closed.
pub fn explain_part(
    schema: &CompiledSchema,
    root: Node<'_>,
    location: &'static str,
    config: &ValidationConfig,
) -> Vec<ValidationError> {
    let comparisons = ComparisonBudgets::new(config.limits.explain_steps);
    let mut explainer = Explainer::new(schema, root, config, Subject::Part(location), &comparisons);
    let (mut problems, _) = explainer.engine_problems(config);
    sort_and_dedup(&mut problems);
    problems.truncate(config.limits.errors);
    let matches = field_matches::find(&explainer, &problems, &HashMap::new());
    explainer.to_errors(problems, config.limits.errors, &matches)
}

/// Translates the engine's errors about one value.
pub(super) struct Explainer<'e> {
    pub(super) schema: &'e CompiledSchema,
    pub(super) root: Node<'e>,
    pub(super) distance: usize,
    pub(super) signals: Signals,
    /// The name of the tool; empty for other messages.
    pub(super) tool: String,
    pub(super) wording: Wording,
    pub(super) selected_branches: SelectedBranches,
    pub(super) comparisons: &'e ComparisonBudgets,
    pub(super) lookup: Lookup<'e>,
    /// Maximum number of problems to collect.
    max_problems: usize,
    /// Remaining budget for collecting problems.
    problem_budget: StepBudget,
    /// Whether some of the engine's errors were skipped.
    is_truncated: bool,
    /// The path of a value that a pattern could not be matched against within its limit.
    undecided: Option<String>,
    pub(super) names: RefCell<HashMap<Vec<NodeId>, Rc<[&'e str]>>>,
}

impl<'e> Explainer<'e> {
    fn new(
        schema: &'e CompiledSchema,
        root: Node<'e>,
        config: &ValidationConfig,
        subject: Subject,
        comparisons: &'e ComparisonBudgets,
    ) -> Self {
        Self {
            schema,
            root,
            distance: config.suggestion_distance,
            signals: config.signals,
            tool: String::new(),
            wording: Wording::new(config.mask_values, subject),
            selected_branches: SelectedBranches::default(),
            comparisons,
            lookup: Lookup::new(root),
            max_problems: config.limits.errors.saturating_mul(COLLECTED_PER_SHOWN),
            problem_budget: StepBudget::to_explain(root, config.limits.explain_steps),
            is_truncated: false,
            undecided: None,
            names: RefCell::default(),
        }
    }

    /// Returns the engine's errors about the root, translated, and whether they are exhaustive.
    fn engine_problems(&mut self, config: &ValidationConfig) -> (Vec<Problem<'e>>, bool) {
        let budget = StepBudget::to_explain(self.root, config.limits.explain_steps);
        let mut errors = self.schema.errors(self.root, &budget);
        let undecided = errors.iter().find(|error| is_undecided(error));
        self.undecided = undecided.map(|error| error.instance_path().as_str().to_owned());
        errors.retain(|error| !is_undecided(error));
        let problems = self.translate_all(&errors);
        (problems, !budget.is_spent() && !self.is_truncated)
    }

    pub(super) fn translate_all(&mut self, errors: &[EngineError<'_>]) -> Vec<Problem<'e>> {
        let mut problems = Vec::new();
        for error in errors {
            let room = self.max_problems.saturating_sub(problems.len());
            if room == 0 || !self.take_problem(error.instance_path().as_str().len()) {
                self.is_truncated = true;
                break;
            }
            self.translate(error, room, &mut problems);
        }
        problems
    }

    /// Takes the steps for a problem whose path has `path_bytes` bytes. Returns false if the budget was
    /// already spent, so that the first problem is collected however long its path is.
    pub(super) fn take_problem(&self, path_bytes: usize) -> bool {
        let has_steps = !self.problem_budget.is_spent();
        self.problem_budget.take_usize(path_bytes.saturating_add(STEPS_PER_PROBLEM));
        has_steps
    }

    /// Adds the problems that one engine error describes, with at most `room` unexpected fields.
    fn translate(&mut self, error: &EngineError<'_>, room: usize, problems: &mut Vec<Problem<'e>>) {
        let path = error.instance_path().as_str();
        let schema_path = error.schema_path().as_str();
        match error.kind() {
            Engine::AnyOf { context } | Engine::OneOfNotValid { context } => {
                problems.extend(closest_branch::explain(self, path, schema_path, context));
            }
            Engine::AdditionalProperties { unexpected }
            | Engine::UnevaluatedProperties { unexpected } => {
                let (object, names) = (self.value(path), self.names_around(schema_path));
                self.is_truncated |= unexpected.len() > room;
                for (index, field) in unexpected.iter().take(room).enumerate() {
                    // The caller has taken the steps for the first field.
                    if index > 0 && !self.take_problem(path.len() + field.len()) {
                        self.is_truncated = true;
                        break;
                    }
                    let names = Rc::clone(&names);
                    let reason = Reason::Unknown;
                    let unexpected_field = UnexpectedField { object, names, reason };
                    let location = schema_path.to_owned();
                    let problem =
                        Problem::unexpected_field(path, field, location, unexpected_field);
                    problems.push(problem);
                }
            }
            _ => problems.push(self.translate_one(error.kind(), path, schema_path)),
        }
    }

    fn translate_one(&self, kind: &Engine, path: &str, schema_path: &str) -> Problem<'e> {
        let value = self.value(path);
        let location = schema_path.to_owned();
        let error = match kind {
            Engine::Required { property } => {
                let field = text_of(property);
                let expected = self.expected_type(parent(schema_path), &field);
                self.wording.missing(path, &field, location, &expected)
            }
            Engine::Type { kind } => {
                self.wording.wrong_type(path, location, &type_names(kind), value)
            }
            Engine::Enum { options } => {
                let options: Vec<&Value> = options.as_array().into_iter().flatten().collect();
                self.not_allowed(path, location, &options)
            }
            Engine::Constant { expected_value } => {
                self.not_allowed(path, location, &[expected_value])
            }
            Engine::FalseSchema => match path.rsplit_once('/') {
                Some((object, field)) if self.is_object(object) => {
                    return self.forbidden_field(object, &unescape_segment(field), location);
                }
                _ => self.wording.invalid(path, location, "be left out", None),
            },
            Engine::PropertyNames { error } => return self.misnamed_field(path, location, error),
            other => self.wording.invalid(path, location, &describe::constraint(other), value),
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
            return self.wording.invalid(path, schema_path, "be a different value", None);
        };
        let suggestions = value.as_str().map(|text| {
            let known: Vec<&str> = options.iter().filter_map(|option| option.as_str()).collect();
            let budget = &self.comparisons.values;
            let nearest = suggest::nearest_of(&text, &known, |_| true, self.distance, budget);
            nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
        });
        let listed = self.comparisons.list_values(options.len(), MAX_LISTED_VALUES);
        let suggestions = suggestions.unwrap_or_default();
        self.wording.not_allowed(path, schema_path, (options, listed), value, suggestions)
    }

    pub(super) fn value(&self, path: &str) -> Option<Node<'e>> {
        self.lookup.pointer(path)
    }

    /// Describes the values of a field of the object that a subschema applies to.
    fn expected_type(&self, schema_path: &str, field: &str) -> String {
        let graph = &self.schema.graph;
        let node = graph.at(schema_path).and_then(|id| graph.node(id).member(field));
        let Some(id) = node else { return "a value".to_owned() };
        let accepted = Some(Accepted::of(self.schema, id).phrase());
        let is_short = |phrase: &String| phrase.chars().count() <= MAX_EXPECTED_CHARS;
        // The author of a message other than a call knows the protocol.
        let accepted =
            accepted.filter(|phrase| self.wording.is_about_arguments() && is_short(phrase));
        accepted.unwrap_or_else(|| describe::type_of(self.schema, id))
    }

    pub(super) fn has_member(&self, object: Node<'e>, name: &str) -> bool {
        self.lookup.get(object, name).is_some()
    }

    fn is_object(&self, object_path: &str) -> bool {
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
