//! Backtracking matcher for parsed patterns.
//!
//! It decides which drafts and property names match a pattern. Its work is bounded: for long texts
//! and costly patterns it returns `None`, and the caller leaves the decision to the real validator.

use std::cell::Cell;

use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use super::sampling::class_contains;

/// Maximum length of a text to match, in characters.
const MAX_CHARACTERS: usize = 200;

/// Maximum number of matching steps.
const MAX_STEPS: usize = 20_000;

/// Maximum recursion depth. The thread of the caller may have a small stack.
const MAX_DEPTH: usize = 800;

/// Whether `hir` matches anywhere in `text`; `None` if a limit was exceeded.
pub(super) fn search(hir: &Hir, text: &str) -> Option<bool> {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() > MAX_CHARACTERS {
        return None;
    }
    let matcher = Matcher {
        text: &characters,
        steps: Cell::new(MAX_STEPS),
        depth: Cell::new(0),
        gave_up: Cell::new(false),
    };
    let found = (0..=characters.len()).any(|start| matcher.matches(hir, start, &mut |_| true));
    (!matcher.gave_up.get()).then_some(found)
}

struct Matcher<'t> {
    text: &'t [char],
    steps: Cell<usize>,
    depth: Cell<usize>,
    gave_up: Cell<bool>,
}

/// Matches the rest of the pattern from the given position.
type Continuation<'r> = dyn FnMut(usize) -> bool + 'r;

impl Matcher<'_> {
    fn matches(&self, hir: &Hir, at: usize, rest: &mut Continuation<'_>) -> bool {
        let (steps, depth) = (self.steps.get(), self.depth.get());
        if steps == 0 || depth == MAX_DEPTH {
            self.gave_up.set(true);
            return false;
        }
        self.steps.set(steps - 1);
        self.depth.set(depth + 1);
        let matched = self.matches_kind(hir, at, rest);
        self.depth.set(depth);
        matched
    }

    fn matches_kind(&self, hir: &Hir, at: usize, rest: &mut Continuation<'_>) -> bool {
        match hir.kind() {
            HirKind::Empty => rest(at),
            HirKind::Look(look) => self.look(*look, at) && rest(at),
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => self.literal(text, at).is_some_and(rest),
                Err(_) => false,
            },
            HirKind::Class(class) => {
                self.text.get(at).is_some_and(|&c| class_contains(class, c)) && rest(at + 1)
            }
            HirKind::Repetition(repetition) => self.repetition(repetition, 0, at, rest),
            HirKind::Capture(capture) => self.matches(&capture.sub, at, rest),
            HirKind::Concat(parts) => self.concat(parts, at, rest),
            HirKind::Alternation(options) => {
                options.iter().any(|option| self.matches(option, at, rest))
            }
        }
    }

    fn concat(&self, parts: &[Hir], at: usize, rest: &mut Continuation<'_>) -> bool {
        match parts.split_first() {
            None => rest(at),
            Some((first, others)) => {
                self.matches(first, at, &mut |next| self.concat(others, next, rest))
            }
        }
    }

    fn repetition(
        &self,
        repetition: &Repetition,
        done: u32,
        at: usize,
        rest: &mut Continuation<'_>,
    ) -> bool {
        let may_repeat = repetition.max.is_none_or(|max| done < max);
        let repeated = may_repeat
            && self.matches(&repetition.sub, at, &mut |next| {
                // A repetition that consumes nothing would not terminate.
                next > at && self.repetition(repetition, done + 1, next, rest)
            });
        repeated || self.may_stop(repetition, done, at) && rest(at)
    }

    fn may_stop(&self, repetition: &Repetition, done: u32, at: usize) -> bool {
        // All remaining mandatory repetitions may be empty if one can be empty.
        done >= repetition.min || self.matches(&repetition.sub, at, &mut |next| next == at)
    }

    fn literal(&self, literal: &str, at: usize) -> Option<usize> {
        let mut position = at;
        for expected in literal.chars() {
            if self.text.get(position) != Some(&expected) {
                return None;
            }
            position += 1;
        }
        Some(position)
    }

    fn look(&self, look: Look, at: usize) -> bool {
        let is_word = |position: Option<usize>| {
            position
                .and_then(|position| self.text.get(position))
                .is_some_and(|&c| c.is_alphanumeric() || c == '_')
        };
        let at_boundary = is_word(at.checked_sub(1)) != is_word(Some(at));
        match look {
            Look::Start => at == 0,
            Look::End => at == self.text.len(),
            Look::WordAscii | Look::WordUnicode => at_boundary,
            Look::WordAsciiNegate | Look::WordUnicodeNegate => !at_boundary,
            _ => {
                self.gave_up.set(true);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::search;

    fn found(pattern: &str, text: &str) -> Option<bool> {
        search(&regex_syntax::parse(pattern).unwrap(), text)
    }

    #[test]
    fn anchored_and_unanchored_patterns_differ() {
        assert_eq!(found("b", "abc"), Some(true));
        assert_eq!(found("^b", "abc"), Some(false));
        assert_eq!(found("^a.c$", "abc"), Some(true));
    }

    #[test]
    fn repetitions_backtrack() {
        assert_eq!(found("^a*ab{2}$", "aaabb"), Some(true));
        assert_eq!(found("^(a|ab)(c|bcd)$", "abcd"), Some(true));
        assert_eq!(found("^a{2,3}$", "aaaa"), Some(false));
    }

    #[test]
    fn empty_match_ends_a_repetition() {
        assert_eq!(found("^(a*)*$", "b"), Some(false));
        assert_eq!(found("^(a?){3}$", "a"), Some(true));
    }

    #[test]
    fn word_boundaries_match_at_the_edges() {
        assert_eq!(found(r"\bcat\b", "a cat."), Some(true));
        assert_eq!(found(r"\bcat\b", "concat"), Some(false));
    }

    #[test]
    fn costly_match_is_abandoned() {
        assert_eq!(found("^(a+)+$", &format!("{}b", "a".repeat(60))), None);
        assert_eq!(found("a", &"b".repeat(500)), None);
    }
}
