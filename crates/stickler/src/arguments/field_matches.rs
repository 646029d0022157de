//! Matches the unknown fields of a call with the fields of the schema that were probably meant.
//!
//! The unknown fields of each object are assigned to the fields that the object can still have, to the
//! fields of nested objects, and to those of the object around it; see [`score`] for the signals.
//!
//! Contract: at most [`MAX_FIELDS`] unknown fields of an object are matched, and all pairs of a call are
//! within its [`ComparisonBudgets`](super::ComparisonBudgets). Runs only for rejected calls: no words of
//! a schema are split before.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::describe;
use super::error::ValidationErrorKind;
use super::explain::{Explainer, parent};
use super::field_candidates::{Candidate, Candidates};
use super::problem::Problem;
use crate::schema::NodeId;
use crate::suggest;
use crate::suggest::assignment::{Assigned, Pair, assign};
use crate::suggest::score::{self, Evidence, FieldWords};
use crate::suggest::similarity::{Comparison, have_opposites, units_differ};
use crate::suggest::value_fit::{Fit, Fitting, Look};
use crate::suggest::words::Words;
use crate::tape::{Kind, Node, unescape_segment, work};

/// The maximum number of unknown fields of one object that are matched.
const MAX_FIELDS: usize = 64;

/// The maximum number of words of descriptions that the words of unknown fields are compared with.
const MAX_TEXT_COMPARISONS: usize = 1 << 19;

/// Number of comparisons of words that count as one unit of work in tests.
const WORDS_PER_UNIT: usize = 4;

/// The minimum score of the names of a field that is moved to another object.
const MOVED_NAME: u32 = 900;

/// Factor for candidates in another object.
const MOVED: u32 = 900;

/// The minimum score for a correction.
const CORRECTED: u32 = 640;

/// The minimum similarity of an opposite that makes a candidate doubtful.
const OPPOSITE_RIVAL: u32 = 400;

/// What an unknown field probably stands for.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldMatch {
    /// The names that may have been meant, best first; a name in another object has a path.
    pub(crate) suggestions: Vec<String>,
    /// The field that was meant, if one stands out.
    pub(crate) target: Option<Target>,
}

/// The field that was meant.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) place: Place,
    pub(crate) name: String,
    /// Its type, if it is required and otherwise missing.
    pub(crate) missing: Option<String>,
    /// Whether the field can be renamed or moved in a corrected call.
    pub(crate) is_sure: bool,
}

/// The object that contains a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The object that contains the unknown field.
    Same,
    /// An object in a field of that object.
    Inside(String),
    /// The object around that object.
    Around,
    /// None: the fields of the unknown field belong directly in the object, under these names.
    Unwrapped(Vec<String>),
}

/// The matches of a call by the path of the unknown field.
pub(crate) type FieldMatches = HashMap<String, FieldMatch>;

/// An unknown field of the object that is being matched.
struct Unknown<'p, 'e> {
    path: &'p str,
    name: &'p str,
    value: Option<Node<'e>>,
    look: Option<Look>,
    words: Words,
}

/// Finds the matches of all unknown fields. `objects` holds the subschemas of the objects with problems.
pub(super) fn find<'e>(
    explainer: &Explainer<'e>,
    problems: &[Problem<'e>],
    objects: &HashMap<String, Vec<NodeId>>,
) -> FieldMatches {
    let mut matching = Matcher {
        explainer,
        objects,
        candidates: Candidates::new(explainer.schema),
        text_comparisons: Cell::new(0),
    };
    let mut found = FieldMatches::new();
    let mut rest = problems;
    // Problems are sorted, so that those of an object follow each other.
    while let Some(first) = rest.first() {
        let path = first.error.parent_path();
        let end = rest.iter().position(|problem| problem.error.parent_path() != path);
        let (of_object, others) = rest.split_at(end.unwrap_or(rest.len()));
        matching.match_object(path, of_object, &mut found);
        rest = others;
    }
    found
}

struct Matcher<'m, 'e> {
    explainer: &'m Explainer<'e>,
    objects: &'m HashMap<String, Vec<NodeId>>,
    candidates: Candidates<'e>,
    /// Number of words of descriptions that were compared.
    text_comparisons: Cell<usize>,
}

impl<'e> Matcher<'_, 'e> {
    fn match_object(&mut self, path: &str, problems: &[Problem<'e>], matches: &mut FieldMatches) {
        let explainer = self.explainer;
        let fields: Vec<&Problem<'e>> =
            problems.iter().filter(|one| one.unexpected_field.is_some()).take(MAX_FIELDS).collect();
        let Some(first) = fields.first().and_then(|one| one.unexpected_field.as_ref()) else {
            return;
        };
        let object = first.object;
        let missing: HashSet<&str> = problems.iter().filter_map(missing_field).collect();
        let nodes = self.objects.get(path).map(Vec::as_slice);
        let direct = self.candidates.of(nodes, &first.names);
        let is_nested = !path.is_empty() && parent(path).is_empty();
        let around = if is_nested { self.candidates.around() } else { Vec::new() };
        let has = |object: Option<Node<'e>>, name: &str| {
            object.is_some_and(|object| explainer.lookup.get(object, name).is_some())
        };
        let object_around = explainer.lookup.pointer(parent(path));
        let free: Vec<&Candidate<'e>> = direct
            .iter()
            .chain(around.iter())
            .filter(|candidate| match &candidate.place {
                Place::Same | Place::Unwrapped(_) => !has(object, candidate.name),
                Place::Around => !path.is_empty() && !has(object_around, candidate.name),
                Place::Inside(field) => {
                    let inner = object.and_then(|object| explainer.lookup.get(object, field));
                    inner.is_none_or(|inner| inner.kind() == Kind::Object)
                        && !has(inner, candidate.name)
                }
            })
            .collect();
        let unknown: Vec<Unknown<'_, 'e>> =
            fields.iter().filter_map(|problem| self.unknown(object, problem)).collect();
        let context = self.context(path);
        let pairs = self.pairs(&unknown, &free, &missing, &context);
        for (field, assigned) in unknown.iter().zip(assign(unknown.len(), pairs)) {
            let found = self.to_match(field, &free, &assigned, &missing, &context);
            matches.insert(field.path.to_owned(), found);
        }
    }

    fn unknown<'p>(
        &self,
        object: Option<Node<'e>>,
        problem: &'p Problem<'e>,
    ) -> Option<Unknown<'p, 'e>> {
        let ValidationErrorKind::UnknownField { field, .. } = &problem.error.kind else {
            return None;
        };
        let value = object.and_then(|object| self.explainer.lookup.get(object, field));
        Some(Unknown {
            path: &problem.error.path,
            name: field,
            value,
            look: value.and_then(Look::of),
            words: Words::of(field),
        })
    }

    /// Returns the words that all names share: those of the tool and of the field that contains the
    /// object.
    fn context(&self, path: &str) -> Words {
        let mut fields = path.rsplit('/').map(unescape_segment);
        let field = fields.find(|segment| segment.parse::<usize>().is_err()).unwrap_or_default();
        Words::of(&self.explainer.tool).followed_by(&Words::of(&field))
    }

    /// Scores all pairs that the budget allows.
    fn pairs(
        &self,
        unknown: &[Unknown<'_, 'e>],
        free: &[&Candidate<'e>],
        missing: &HashSet<&str>,
        context: &Words,
    ) -> Vec<Pair> {
        let (signals, budget) = (self.explainer.signals, &self.explainer.comparisons.names);
        let comparison = Comparison { context, synonyms: signals.synonyms };
        let words: Vec<&FieldWords> = free.iter().map(|candidate| &candidate.words).collect();
        let is_only = free.iter().filter(|one| one.place == Place::Same).count() == 1;
        let mut pairs = Vec::new();
        for (field, unknown) in unknown.iter().enumerate() {
            if !budget.take_pairs(free.len()) || budget.is_spent() {
                break;
            }
            let texts = self.text_shares(unknown, &words, comparison);
            let compared: usize = words.iter().map(|candidate| candidate.name.len()).sum();
            work::count(compared * unknown.words.len() / WORDS_PER_UNIT);
            for (index, (candidate, text)) in free.iter().zip(texts).enumerate() {
                let is_missing = candidate.place == Place::Same && missing.contains(candidate.name);
                let mut pair = Pair {
                    field,
                    candidate: index,
                    score: 0,
                    form: None,
                    initials_differ: candidate.name.chars().next() != unknown.name.chars().next(),
                    is_missing,
                };
                let evidence = self.evidence(unknown, candidate, &mut pair, text, is_only);
                let score = |evidence| {
                    let words = &candidate.words;
                    score::score(&unknown.words, words, evidence, comparison, signals)
                };
                pair.score = match candidate.place {
                    Place::Same => score(evidence),
                    _ if can_move(unknown, candidate, &evidence) => score(evidence) * MOVED / 1000,
                    _ => 0,
                };
                pairs.push(pair);
            }
        }
        pairs
    }

    /// Returns how much of an unknown name each description mentions; nothing beyond the budget.
    fn text_shares(
        &self,
        unknown: &Unknown<'_, 'e>,
        words: &[&FieldWords],
        comparison: Comparison<'_>,
    ) -> Vec<u32> {
        let described: usize = words.iter().map(|candidate| candidate.text.len()).sum();
        let count = self.text_comparisons.get() + described * unknown.words.len();
        if count > MAX_TEXT_COMPARISONS || !self.explainer.signals.text {
            return vec![0; words.len()];
        }
        self.text_comparisons.set(count);
        work::count(described * unknown.words.len() / WORDS_PER_UNIT);
        score::text_shares(&unknown.words, words, comparison)
    }

    fn evidence(
        &self,
        unknown: &Unknown<'_, 'e>,
        candidate: &Candidate<'e>,
        pair: &mut Pair,
        text: u32,
        is_only: bool,
    ) -> Evidence {
        let budget = &self.explainer.comparisons.names;
        let distance = self.explainer.distance;
        let form = suggest::form_distance(unknown.name, candidate.name, distance, budget);
        pair.form = form.map(|(distance, exact, _)| (distance, exact));
        let fitting = Fitting { schema: self.explainer.schema, budget };
        let fits = unknown
            .value
            .into_iter()
            .flat_map(|value| candidate.nodes.iter().map(move |node| fitting.fit(*node, value)));
        let fit = fits.max().unwrap_or(Fit::Accepts);
        let is_same = candidate.place == Place::Same;
        Evidence {
            form: form.map(|(distance, _, length)| (distance, length)),
            fit,
            is_missing: pair.is_missing,
            is_only: is_only && is_same,
            text: if is_same { text } else { 0 },
            look: unknown.look,
        }
    }

    fn to_match(
        &self,
        field: &Unknown<'_, 'e>,
        free: &[&Candidate<'e>],
        assigned: &Assigned,
        missing: &HashSet<&str>,
        context: &Words,
    ) -> FieldMatch {
        let ranked: Vec<(&Candidate<'e>, u32)> = assigned
            .ranked
            .iter()
            .filter_map(|(index, score)| Some((*free.get(*index)?, *score)))
            .collect();
        let target = ranked.first().filter(|_| assigned.is_chosen).map(|(candidate, score)| {
            let schema = self.explainer.schema;
            let expected = candidate.nodes.first().map(|node| describe::type_of(schema, *node));
            let is_missing = candidate.place == Place::Same && missing.contains(candidate.name);
            Target {
                place: candidate.place.clone(),
                name: candidate.name.to_owned(),
                missing: expected.filter(|_| is_missing),
                is_sure: *score >= CORRECTED && self.is_sure(field, candidate, free, context),
            }
        });
        let target = target.or_else(|| self.unwrapped(field, free));
        let suggestions = ranked.iter().map(|(candidate, _)| candidate.shown_name()).collect();
        FieldMatch { suggestions, target }
    }
}

impl Matcher<'_, '_> {
    /// Returns whether a field can be renamed without a doubt about its meaning: the names are alike in
    /// form or one contains the other, they have the same unit of measurement, and the candidate is not
    /// one of two opposites (`minSize`, `maxSize`) that the field could equally mean.
    fn is_sure(
        &self,
        field: &Unknown<'_, '_>,
        candidate: &Candidate<'_>,
        free: &[&Candidate<'_>],
        context: &Words,
    ) -> bool {
        let (budget, distance) = (&self.explainer.comparisons.names, self.explainer.distance);
        let (name, words) = (field.name, &candidate.words.name);
        let form = suggest::form_distance(name, candidate.name, distance, budget);
        if form.is_some_and(|(distance, ..)| distance <= 1) {
            return true;
        }
        let comparison = Comparison { context, synonyms: self.explainer.signals.synonyms };
        let is_opposite = |other: &&Candidate<'_>| {
            let other = &other.words.name;
            have_opposites(words, other)
                && !have_opposites(&field.words, other)
                && comparison.similarity(&field.words, other) >= OPPOSITE_RIVAL
        };
        let is_same_thing = form.is_some()
            || !units_differ(&field.words, words) && comparison.is_contained(&field.words, words);
        is_same_thing && !free.iter().any(is_opposite)
    }

    /// Returns the target of an object whose fields are all fields of the object around it, under the
    /// same names or with the object's name before them: `attributes: {name}` for `attributeName`. Only the
    /// same names are sure enough for a corrected call.
    fn unwrapped(&self, field: &Unknown<'_, '_>, free: &[&Candidate<'_>]) -> Option<Target> {
        let value = field
            .value
            .filter(|value| value.kind() == Kind::Object && !value.is_empty())
            .filter(|value| value.len() <= MAX_FIELDS)?;
        let budget = &self.explainer.comparisons.names;
        if !budget.take_cells(value.len() * free.len()) {
            return None;
        }
        let direct = || free.iter().filter(|candidate| candidate.place == Place::Same);
        let mut names: Vec<String> = Vec::new();
        let mut is_sure = true;
        for (name, _) in value.members() {
            let prefixed = field.words.followed_by(&Words::of(&name));
            let found = direct()
                .find(|candidate| candidate.name == name)
                .or_else(|| direct().find(|candidate| candidate.words.name == prefixed))?;
            if names.iter().any(|taken| taken == found.name) {
                return None;
            }
            is_sure &= found.name == name;
            names.push(found.name.to_owned());
        }
        let name = field.name.to_owned();
        Some(Target { place: Place::Unwrapped(names), name, missing: None, is_sure })
    }
}

fn missing_field<'p>(problem: &'p Problem<'_>) -> Option<&'p str> {
    match &problem.error.kind {
        ValidationErrorKind::MissingRequired { field } => Some(field),
        _ => None,
    }
}

/// Returns whether a field can belong in another object: the name is the same, with or without that
/// of the object, and the value fits.
fn can_move(unknown: &Unknown<'_, '_>, candidate: &Candidate<'_>, evidence: &Evidence) -> bool {
    let comparison = Comparison { context: &Words::default(), synonyms: false };
    let same = |words: &Words| comparison.similarity(&unknown.words, words) >= MOVED_NAME;
    let with_object = match &candidate.place {
        Place::Inside(field) => same(&Words::of(field).followed_by(&candidate.words.name)),
        _ => false,
    };
    // A name of generic words (`field`) is not alike enough even to itself.
    let is_same_name = unknown.name == candidate.name;
    evidence.fit >= Fit::Converts && (is_same_name || same(&candidate.words.name) || with_object)
}
