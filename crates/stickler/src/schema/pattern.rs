//! Estimates the compiled size of a regular expression without compiling it.
//!
//! [`measure`] takes the text of a `pattern` and returns an upper bound for the memory of the compiled
//! program, in time linear in the text. Compiling to find out is too slow: the engine takes 0.2 s to reach
//! its size limit for `\p{L}{1,300}`, and then reports that the pattern "is not a regex".
//!
//! The constants were measured with a counting allocator on patterns with programs from 100 bytes to 30 MB.
//! The forward and reverse programs of the `regex` crate took 0.5 to 1.0 times the estimate.

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};
use regex_syntax::utf8::{Utf8Sequence, Utf8Sequences};

use super::escapes::{
    class_escapes, has_many_classes, translation_steps, with_classes_in_brackets,
    without_back_references,
};
use crate::config::Limits;

/// A state of the forward program and the corresponding state of the reverse program.
const STATE_PAIR_BYTES: usize = 48;
const STATE_BYTES: usize = 24;
const TRANSITION_BYTES: usize = 8;
const MIN_CLASS_BYTES: usize = 72;

/// The start and end states of a program.
const FRAME_BYTES: usize = 512;

/// Memory of a compiled pattern in addition to its states.
const PROGRAM_BYTES: usize = 6 << 10;

/// Limit for [`translation_steps`]; a translation of this length takes about 0.1 s.
const MAX_TRANSLATION_STEPS: usize = 1 << 20;

/// Translation steps that are not charged, so that ordinary patterns are charged only for their memory.
const FREE_TRANSLATION_STEPS: usize = 4 << 10;

/// Bytes of a program that take as long to compile as one translation step.
const PROGRAM_BYTES_PER_STEP: usize = 12;

/// For larger patterns, `minLength` and `maxLength` replace the length bounds.
const MIN_SPLIT_BYTES: usize = 64 << 10;

/// The result of measuring a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The pattern can be compiled.
    Fits(Program),
    /// The pattern is a regular expression, but its program exceeds the limit.
    TooLarge,
    /// The engine cannot parse the pattern; the engine reports the error.
    Unreadable,
}

/// A pattern that can be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Estimated memory of the compiled pattern.
    pub(crate) bytes: usize,
    /// Cost of its translation, in the unit of [`measuring_work`].
    translation_work: usize,
    /// Whether it has lookaround or back references, which the linear engine does not support.
    pub(crate) backtracks: bool,
    /// An equivalent pattern that requires less memory.
    pub(crate) split: Option<Split>,
}

impl Program {
    /// Returns what it adds to the cost of a compiled schema: its memory, and the work of its translation.
    pub(super) fn cost(&self) -> usize {
        self.bytes.saturating_add(PROGRAM_BYTES).saturating_add(self.translation_work)
    }
}

/// `^CLASS{min,max}$`, with the length bounds split off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// `^CLASS*$`.
    pub(crate) pattern: String,
    pub(crate) min_length: u32,
    pub(crate) max_length: Option<u32>,
}

/// Measures a pattern in the ECMA-262 dialect of JSON Schema.
pub(super) fn measure(pattern: &str, limit: usize) -> Measure {
    if pattern.len() > limit
        || translation_steps(pattern) > MAX_TRANSLATION_STEPS
        || has_many_classes(pattern)
    {
        return Measure::TooLarge;
    }
    let bracketed = with_classes_in_brackets(pattern);
    let Ok(translated) = jsonschema_regex::to_rust_regex(&bracketed) else {
        return Measure::Unreadable;
    };
    let Ok(hir) = regex_syntax::parse(&translated) else {
        return measure_backtracking(pattern, &translated, limit);
    };
    let bytes = program_size(&hir);
    let split = if bytes > MIN_SPLIT_BYTES { split(pattern, &hir) } else { None };
    let bytes = split.as_ref().map_or(bytes, |(_, bytes)| *bytes);
    fits(pattern, bytes, limit, false, split.map(|(split, _)| split))
}

/// Whether a pattern is too large to be compiled.
pub(crate) fn is_too_large(pattern: &str, limits: &Limits) -> bool {
    measure(pattern, limits.pattern_bytes) == Measure::TooLarge
}

/// Returns the cost of measuring and translating a pattern, in units of the cost of compiling one byte of a
/// program. It also applies to patterns that are too large.
pub(super) fn measuring_work(pattern: &str) -> usize {
    const CLASS_WORK: usize = 16 << 10;
    let classes = class_escapes(pattern).saturating_mul(CLASS_WORK);
    translation_work(pattern).saturating_add(classes)
}

fn translation_work(pattern: &str) -> usize {
    let charged = translation_steps(pattern).saturating_sub(FREE_TRANSLATION_STEPS);
    charged.saturating_mul(PROGRAM_BYTES_PER_STEP)
}

fn fits(
    pattern: &str,
    bytes: usize,
    limit: usize,
    backtracks: bool,
    split: Option<Split>,
) -> Measure {
    if bytes > limit {
        return Measure::TooLarge;
    }
    let translation_work = translation_work(pattern);
    Measure::Fits(Program { bytes, translation_work, backtracks, split })
}

/// Measures a pattern for the backtracking engine, which compiles the parts without lookaround with the
/// linear engine. Together they are as large as the same pattern with plain groups.
fn measure_backtracking(pattern: &str, translated: &str, limit: usize) -> Measure {
    let plain = ["(?=", "(?!", "(?<=", "(?<!", "(?>"]
        .iter()
        .fold(translated.to_owned(), |text, opening| text.replace(opening, "(?:"));
    let plain = without_back_references(&plain);
    match regex_syntax::parse(&plain) {
        Ok(hir) => fits(pattern, program_size(&hir), limit, true, None),
        Err(_) => fits(pattern, coarse_size(&plain), limit, true, None),
    }
}

/// Returns an upper bound for a pattern that only the backtracking engine can parse. It assumes that every
/// class has the largest size and that all repetition counts multiply.
fn coarse_size(pattern: &str) -> usize {
    const MAX_CLASS_BYTES: usize = 96 << 10;
    let counts = pattern.split('{').skip(1).filter_map(|rest| {
        let (count, _) = rest.split_once('}')?;
        count.split(',').filter_map(|number| number.trim().parse::<usize>().ok()).max()
    });
    let repeated = counts.fold(1_usize, |all, count| all.saturating_mul(count.max(1)));
    let classes = class_escapes(pattern).saturating_mul(MAX_CLASS_BYTES);
    pattern.len().saturating_mul(STATE_PAIR_BYTES).saturating_add(classes).saturating_mul(repeated)
}

fn program_size(hir: &Hir) -> usize {
    size(hir).saturating_add(FRAME_BYTES)
}

/// Recursive; the parser limits the nesting depth.
fn size(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => STATE_PAIR_BYTES,
        HirKind::Literal(literal) => literal.0.len().saturating_mul(STATE_PAIR_BYTES),
        HirKind::Class(class) => class_size(class),
        HirKind::Capture(group) => size(&group.sub).saturating_add(2 * STATE_PAIR_BYTES),
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(0).max(repetition.min).max(1);
            let copies = usize::try_from(copies).unwrap_or(usize::MAX);
            size(&repetition.sub).saturating_add(STATE_PAIR_BYTES).saturating_mul(copies)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(STATE_PAIR_BYTES, |total, part| total.saturating_add(size(part)))
        }
    }
}

/// Returns the size of a class. The forward program shares the prefixes of byte sequences; the reverse
/// program shares nothing.
fn class_size(class: &Class) -> usize {
    let Class::Unicode(class) = class else { return MIN_CLASS_BYTES };
    let (mut forward, mut transitions, mut reverse) = (1_usize, 0_usize, 0_usize);
    let mut previous = None;
    for range in class.ranges() {
        for sequence in Utf8Sequences::new(range.start(), range.end()) {
            let shared = previous.as_ref().map_or(0, |previous| common_prefix(previous, &sequence));
            let added = sequence.len().saturating_sub(shared);
            forward += added.saturating_sub(1);
            transitions += added;
            reverse += sequence.len();
            previous = Some(sequence);
        }
    }
    let forward = forward * STATE_BYTES + transitions * TRANSITION_BYTES;
    (forward + reverse * STATE_BYTES).max(MIN_CLASS_BYTES)
}

fn common_prefix(one: &Utf8Sequence, other: &Utf8Sequence) -> usize {
    one.as_slice().iter().zip(other.as_slice()).take_while(|(one, other)| one == other).count()
}

/// Splits `^CLASS{min,max}$` and returns the result with its size.
fn split(pattern: &str, hir: &Hir) -> Option<(Split, usize)> {
    let bounded = anchored_repetition(hir)?;
    let (class, _) = pattern.strip_prefix('^')?.rsplit_once('{')?;
    let unbounded = format!("^{class}*$");
    let bracketed = with_classes_in_brackets(&unbounded);
    let translated = jsonschema_regex::to_rust_regex(&bracketed).ok()?;
    let parsed = regex_syntax::parse(&translated).ok()?;
    let repetition = anchored_repetition(&parsed)?;
    let is_same = repetition.sub == bounded.sub && (repetition.min, repetition.max) == (0, None);
    if !is_same || !is_one_character(&bounded.sub) {
        return None;
    }
    let split = Split { pattern: unbounded, min_length: bounded.min, max_length: bounded.max };
    Some((split, program_size(&parsed)))
}

fn anchored_repetition(hir: &Hir) -> Option<&Repetition> {
    let HirKind::Concat(parts) = hir.kind() else { return None };
    match parts.as_slice() {
        [start, middle, end]
            if *start.kind() == HirKind::Look(Look::Start)
                && *end.kind() == HirKind::Look(Look::End) =>
        {
            match middle.kind() {
                HirKind::Repetition(repetition) => Some(repetition),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_one_character(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(_) => true,
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).is_ok_and(|text| text.chars().count() == 1)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Measure, Program, Split, measure};

    const LIMIT: usize = 10 << 20;

    fn program(pattern: &str) -> Program {
        match measure(pattern, LIMIT) {
            Measure::Fits(program) => program,
            other => panic!("{pattern}: {other:?}"),
        }
    }

    /// The size limit of the engine counts the same states.
    #[test]
    fn estimate_is_not_below_the_size_that_the_engine_counts() {
        for pattern in [
            r"\p{L}{1,20}",
            r"^[\p{L}\p{N}_ .-]{1,9}x$",
            r"\w{200,1500}",
            r"x[a-z]{1,5000}",
            r"^.{1,200}x$",
            r"[^a]{1,500}",
            r"^\d{4}-\d{2}-\d{2}$",
            "(((a{1,30}){1,30}){1,30})",
            "^(abc|def|ghi)+$",
            r"[\u4e00-\u9fff]{1,500}",
            "a{60000}",
            r"\S+@\S+",
        ] {
            let estimate = program(pattern).bytes;
            let translated = jsonschema_regex::to_rust_regex(pattern).unwrap();
            let built = regex::RegexBuilder::new(&translated).size_limit(estimate).build();
            assert!(built.is_ok(), "{pattern}: the estimate of {estimate} bytes is too low");
            let tenth = regex::RegexBuilder::new(&translated).size_limit(estimate / 10).build();
            assert!(tenth.is_err(), "{pattern}: the estimate of {estimate} bytes is far too high");
        }
    }

    #[test]
    fn too_large_pattern_is_recognised_without_compiling_it() {
        for pattern in [
            r"\p{L}{1,300}",
            "(((a{1,1000}){1,1000}){1,1000})",
            r"(?!x)\p{L}{1,300}",
            r"(\p{L}{1,300})\1",
            "a{4000000000}",
            &r"\d".repeat(100_000),
            &r"\p{L}".repeat(1_000),
            &r"\cA".repeat(100_000),
        ] {
            assert_eq!(measure(pattern, LIMIT), Measure::TooLarge, "{pattern:.40}");
        }
    }

    #[test]
    fn length_bounds_of_one_class_are_split_off() {
        for (pattern, rest, min_length, max_length) in [
            (r"^[\p{L}\p{N}_ .-]{1,255}$", r"^[\p{L}\p{N}_ .-]*$", 1, Some(255)),
            (r"^\S{1,10000}$", r"^\S*$", 1, Some(10_000)),
            (r"^.{5000,}$", r"^.*$", 5_000, None),
        ] {
            let split = Split { pattern: rest.to_owned(), min_length, max_length };
            assert_eq!(program(pattern).split, Some(split));
        }
        for whole in [r"^\d{1,20}$", r"\S{1,1000}", r"^(\S{1,1000})$", r"^a\S{1,1000}$"] {
            assert_eq!(program(whole).split, None, "{whole}");
        }
    }

    #[test]
    fn lookaround_and_back_references_need_the_backtracking_engine() {
        for (pattern, backtracks) in
            [("^(?!x).*$", true), ("(?<=a)b", true), (r"(a)\1", true), ("^[(?=]$", false)]
        {
            assert_eq!(program(pattern).backtracks, backtracks, "{pattern}");
        }
        assert_eq!(measure("(", LIMIT), Measure::Unreadable);
    }
}
