//! How likely an unknown field of a call stands for a field of the schema.
//!
//! Each signal contributes a probability in thousandths; they are combined as independent evidence
//! (`1 - (1 - a)(1 - b)…`), so that several weak signals add up and none exceeds certainty. The weights
//! are measured, not derived: see `docs/suggestions.md`.
//!
//! Contract: deterministic; opposites score 0; without any evidence from the names, the description or
//! a specific value the score is 0, so that elimination never decides alone.

use super::similarity::{Comparison, have_opposites};
use super::value_fit::{Fit, Look};
use super::words::Words;
use crate::config::Signals;

/// Weight of the share of the name that the description mentions.
const TEXT: u32 = 450;

/// Weight of a value of which the schema accepts few others.
const SPECIFIC_VALUE: u32 = 350;

/// Weight of a value of the right type, for types other than strings.
const TYPED_VALUE: u32 = 80;

/// Weight of a value that looks as the field's name says: a date for `since`, a path for `file`.
const LOOK: u32 = 200;

/// Factor for a value that must be converted, and for one that conflicts with the schema.
const CONVERTED: u32 = 920;
const CONFLICTING: u32 = 450;

/// Weight of a candidate that is required and missing.
const MISSING: u32 = 250;

/// Weight of the only candidate.
const ONLY_CANDIDATE: u32 = 100;

/// Factor for the form of names that consist of known words: `node` is hardly a misspelling of `name`.
const KNOWN_WORDS: u32 = 500;

/// A field of the schema that the call does not have.
#[derive(Debug)]
pub(crate) struct FieldWords {
    pub(crate) name: Words,
    /// The words of its title and description.
    pub(crate) text: Words,
}

/// The evidence that an unknown field stands for a candidate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence {
    /// Edit distance and length of the longer name, if the distance is small enough.
    pub(crate) form: Option<(usize, usize)>,
    pub(crate) fit: Fit,
    pub(crate) is_missing: bool,
    pub(crate) is_only: bool,
    /// The share of the unknown name that the description mentions, in thousandths.
    pub(crate) text: u32,
    pub(crate) look: Option<Look>,
}

/// Returns the score in thousandths.
pub(crate) fn score(
    unknown: &Words,
    candidate: &FieldWords,
    evidence: Evidence,
    comparison: Comparison<'_>,
    signals: Signals,
) -> u32 {
    let mut form = evidence.form.filter(|_| signals.form).map_or(0, form_score);
    if evidence.form.is_some_and(|(distance, _)| distance > 1)
        && unknown.are_known()
        && candidate.name.are_known()
    {
        form = form * KNOWN_WORDS / 1000;
    }
    if form < 1000 && have_opposites(unknown, &candidate.name) {
        return 0;
    }
    let words = if signals.words { comparison.similarity(unknown, &candidate.name) } else { 0 };
    let mut score = form.max(words);
    if signals.text {
        score = or(score, evidence.text * TEXT / 1000);
    }
    if signals.value {
        let looks = evidence
            .look
            .is_some_and(|look| look.words().iter().any(|word| candidate.name.contains(word)));
        if looks && score > 0 {
            score = or(score, LOOK);
        }
        score = match evidence.fit {
            Fit::IsSpecific => or(score, SPECIFIC_VALUE),
            Fit::HasType if score > 0 => or(score, TYPED_VALUE),
            Fit::HasType | Fit::Accepts => score,
            Fit::Converts => score * CONVERTED / 1000,
            Fit::Conflicts => score * CONFLICTING / 1000,
        };
    }
    if score > 0 && signals.elimination && evidence.fit > Fit::Conflicts {
        score = or(score, if evidence.is_missing { MISSING } else { 0 });
        score = or(score, if evidence.is_only { ONLY_CANDIDATE } else { 0 });
    }
    score
}

/// Returns the score of an edit distance relative to the length of the name.
fn form_score((distance, length): (usize, usize)) -> u32 {
    let wrong = 1000 * distance / length.max(1);
    1000 - u32::try_from(wrong).unwrap_or(1000).min(1000)
}

/// Returns the share of the unknown name's weight that each description mentions. A word that many
/// descriptions mention says little about each of them.
pub(crate) fn text_shares(
    unknown: &Words,
    candidates: &[&FieldWords],
    comparison: Comparison<'_>,
) -> Vec<u32> {
    let mut shares = vec![0; candidates.len()];
    let heavy: Vec<_> = unknown.iter().filter(|word| !word.meaning.is_generic).collect();
    let total = u32::try_from(heavy.len()).unwrap_or(u32::MAX).max(1);
    for word in heavy {
        let mentions = |candidate: &&FieldWords| {
            let alike = |other| comparison.word_similarity(word, other);
            candidate.text.iter().map(alike).max().unwrap_or(0)
        };
        let found: Vec<u32> = candidates.iter().map(mentions).collect();
        let exact = found.iter().filter(|found| **found >= 1000).count();
        let count = u32::try_from(exact).unwrap_or(u32::MAX).max(1);
        for (share, found) in shares.iter_mut().zip(found) {
            // A synonym in a description is weak evidence.
            let found = if found >= 1000 { 1000 } else { found / 3 };
            *share += found / count / total;
        }
    }
    shares
}

/// Combines two independent pieces of evidence.
pub(crate) fn or(a: u32, b: u32) -> u32 {
    a + (1000 - a.min(1000)) * b / 1000
}
