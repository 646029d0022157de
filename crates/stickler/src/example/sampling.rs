//! Generates a string that matches a parsed pattern.
//!
//! The result is the shortest match with readable characters, unless the caller requests a longer
//! or a different one.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Maximum length of a sample. Nested repetitions can require billions of characters.
pub(super) const MAX_SAMPLE_BYTES: usize = 4096;

/// Characters for examples, best first.
const PREFERRED: &str = "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ_-.:/ ";

/// Returns a string that `hir` matches, `extra` characters longer than the shortest match if
/// possible.
///
/// `alternative` picks among `a|b`, `rotation` among the members of classes.
pub(super) fn sample(
    hir: &Hir,
    extra: usize,
    alternative: usize,
    rotation: usize,
) -> Option<String> {
    let mut writer = Writer { text: String::new(), extra, alternative, rotation };
    writer.write(hir).then_some(writer.text)
}

struct Writer {
    text: String,
    /// Remaining number of characters beyond the shortest match.
    extra: usize,
    alternative: usize,
    /// Selects the members of classes, as a number that is divided by the size of each class.
    rotation: usize,
}

impl Writer {
    /// Appends a match of `hir`; returns `false` if there is none or if it is too long.
    fn write(&mut self, hir: &Hir) -> bool {
        if self.text.len() > MAX_SAMPLE_BYTES {
            return false;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => std::str::from_utf8(&literal.0).is_ok_and(|text| {
                self.text.push_str(text);
                true
            }),
            HirKind::Class(class) => self.write_class(class),
            HirKind::Repetition(repetition) => self.write_repetition(repetition),
            HirKind::Capture(capture) => self.write(&capture.sub),
            HirKind::Concat(parts) => parts.iter().all(|part| self.write(part)),
            HirKind::Alternation(options) => {
                let last = options.len().saturating_sub(1);
                options.get(self.alternative.min(last)).is_some_and(|option| self.write(option))
            }
        }
    }

    fn write_class(&mut self, class: &Class) -> bool {
        let mut options = preferred_members(class);
        options.extend(options.is_empty().then(|| first_member(class)).flatten());
        let Some(&character) = options.get(self.rotation % options.len().max(1)) else {
            return false;
        };
        self.rotation /= options.len().max(1);
        self.text.push(character);
        true
    }

    fn write_repetition(&mut self, repetition: &Repetition) -> bool {
        let mut written = 0;
        loop {
            let needed = written < repetition.min;
            let allowed = repetition.max.is_none_or(|max| written < max);
            let requested = allowed && self.extra > 0;
            if !needed && !requested {
                return true;
            }
            let before = self.text.len();
            if !self.write(&repetition.sub) {
                return false;
            }
            let grown = self.text.get(before..).map_or(0, |added| added.chars().count());
            if grown == 0 {
                return true;
            }
            if !needed {
                self.extra = self.extra.saturating_sub(grown);
            }
            written += 1;
        }
    }
}

fn preferred_members(class: &Class) -> Vec<char> {
    PREFERRED.chars().filter(|&c| class_contains(class, c)).collect()
}

/// Returns the first printable member, or else the first member.
fn first_member(class: &Class) -> Option<char> {
    let printable = ('!'..='~').find(|&c| class_contains(class, c));
    printable.or_else(|| match class {
        Class::Unicode(ranges) => ranges
            .iter()
            .map(regex_syntax::hir::ClassUnicodeRange::start)
            .max_by_key(|start| !start.is_control()),
        Class::Bytes(ranges) => ranges.iter().map(|range| char::from(range.start())).next(),
    })
}

pub(super) fn class_contains(class: &Class, character: char) -> bool {
    match class {
        Class::Unicode(ranges) => {
            ranges.iter().any(|range| (range.start()..=range.end()).contains(&character))
        }
        Class::Bytes(ranges) => u8::try_from(character).is_ok_and(|byte| {
            ranges.iter().any(|range| (range.start()..=range.end()).contains(&byte))
        }),
    }
}
