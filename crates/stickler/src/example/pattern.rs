//! Generates strings that match a `pattern`.
//!
//! The parsed expression is traversed once to produce the shortest match. Letters and digits are
//! preferred, because an example should be readable.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use regex_syntax::hir::Hir;

use super::ecma::translate;
use super::matching::search;
use super::sampling::{MAX_SAMPLE_BYTES, sample};
use crate::schema::has_many_classes;

/// Maximum number of alternatives of `a|b|c` that are tried.
const MAX_ALTERNATIVES: usize = 3;

/// Maximum length of a pattern that is sampled: translating one takes quadratic time.
const MAX_SOURCE_BYTES: usize = 8 << 10;

/// A parsed `pattern`.
pub(super) struct Pattern {
    hir: Option<Hir>,
    lookaheads: Vec<Hir>,
    exact: bool,
}

impl Pattern {
    fn parse(source: &str) -> Self {
        if source.len() > MAX_SOURCE_BYTES || has_many_classes(source) {
            return Self { hir: None, lookaheads: Vec::new(), exact: false };
        }
        let translated = translate(source);
        let parse = |text: &str| regex_syntax::parse(text).ok();
        Self {
            hir: parse(&translated.pattern),
            lookaheads: translated
                .lookaheads
                .iter()
                .filter_map(|body| parse(&translate(body).pattern))
                .collect(),
            exact: translated.exact,
        }
    }

    /// Whether `text` matches; `None` if this cannot be decided.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        match search(self.hir.as_ref()?, text) {
            // The removed lookaround may reject the text, so a match is not conclusive.
            Some(true) if !self.exact => None,
            result => result,
        }
    }

    /// Returns up to `count` strings per alternative, of at least `min_length` characters.
    /// They may not match if the pattern contains lookaround.
    pub(super) fn samples(&self, min_length: usize, count: usize) -> Vec<String> {
        let Some(hir) = &self.hir else {
            return Vec::new();
        };
        let mut drafts = Vec::new();
        for rotation in 0..count.max(1) {
            for alternative in 0..MAX_ALTERNATIVES {
                let shortest = sample(hir, 0, alternative, rotation);
                let missing = min_length.max(1).saturating_sub(length(shortest.as_ref()));
                if missing > 0 {
                    drafts.extend(sample(hir, missing, alternative, rotation));
                }
                drafts.extend(shortest.map(|text| padded(&text, min_length)));
            }
        }
        drafts.extend(self.with_lookaheads(&drafts, min_length));
        let mut distinct: Vec<String> = Vec::new();
        for draft in drafts {
            let long_enough = draft.chars().count() >= min_length;
            if long_enough && self.is_match(&draft) != Some(false) && !distinct.contains(&draft) {
                distinct.push(draft);
            }
        }
        distinct
    }

    /// Returns drafts that also satisfy the lookaheads, as in password rules.
    fn with_lookaheads(&self, drafts: &[String], min_length: usize) -> Vec<String> {
        let required: String =
            self.lookaheads.iter().filter_map(|hir| sample(hir, 0, 0, 0)).collect();
        if required.is_empty() {
            return Vec::new();
        }
        let joined = drafts.iter().map(|draft| format!("{required}{draft}"));
        [padded(&required, min_length)].into_iter().chain(joined).collect()
    }
}

/// Cache of parsed patterns by source, because one schema uses the same patterns repeatedly.
#[derive(Default)]
pub(super) struct PatternCache(RefCell<BTreeMap<String, Rc<Pattern>>>);

impl PatternCache {
    pub(super) fn get(&self, source: &str) -> Rc<Pattern> {
        let mut patterns = self.0.borrow_mut();
        let parse = || Rc::new(Pattern::parse(source));
        Rc::clone(patterns.entry(source.to_owned()).or_insert_with(parse))
    }
}

fn length(text: Option<&String>) -> usize {
    text.map_or(0, |text| text.chars().count())
}

/// Appends filler characters, which a pattern without anchors allows.
fn padded(text: &str, min_length: usize) -> String {
    let missing = min_length.saturating_sub(text.chars().count());
    if missing > MAX_SAMPLE_BYTES {
        return text.to_owned();
    }
    format!("{text}{}", "a".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn first(source: &str, min_length: usize) -> Option<String> {
        Pattern::parse(source).samples(min_length, 1).into_iter().next()
    }

    #[test]
    fn shortest_readable_match_is_generated() {
        for (source, expected) in [
            ("^[a-z]{3}$", "aaa"),
            (r"^\d{4}-\d{2}-\d{2}$", "1111-11-11"),
            ("^(?:foo|bar)+$", "foo"),
            ("^[A-Z]+_[0-9]?$", "A_"),
            (r"^#[^\w\s]", "#-"),
        ] {
            assert_eq!(first(source, 0).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn repetitions_grow_to_the_minimum_length() {
        assert_eq!(first("^x[a-c]*$", 4).as_deref(), Some("xaaa"));
        assert_eq!(first("^[0-9]{2,}-[a-z]{1,3}$", 8).as_deref(), Some("111111-a"));
    }

    #[test]
    fn optional_match_is_not_empty() {
        assert_eq!(first("^[a-z]*$", 0).as_deref(), Some("a"));
    }

    #[test]
    fn unanchored_match_is_padded() {
        assert_eq!(first("[0-9]", 3).as_deref(), Some("1aa"));
    }

    #[test]
    fn lookaheads_are_satisfied_by_a_draft() {
        let pattern = Pattern::parse(r"^(?=.*[A-Z])(?=.*\d).{4,}$");
        assert!(pattern.samples(0, 1).iter().any(|draft| {
            draft.contains(char::is_uppercase) && draft.contains(char::is_numeric)
        }));
    }

    #[test]
    fn several_distinct_samples_are_generated() {
        assert!(Pattern::parse("^[a-z]{2}$").samples(0, 30).len() >= 30);
    }

    #[test]
    fn hostile_and_malformed_patterns_yield_nothing() {
        for source in ["(((a{999}){999}){999}){999}", "(", r"(a)\1", "[]"] {
            assert_eq!(first(source, 0), None, "{source}");
        }
    }
}
