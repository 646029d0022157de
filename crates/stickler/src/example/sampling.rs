//! Writes down one way through a parsed pattern.
//!
//! The shortest way is taken, with readable characters, unless the caller asks
//! for a longer string or for a different one of the same shape.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Longer strings are of no use as an example, and nested counters can ask for billions.
pub(super) const MAX_SAMPLE_BYTES: usize = 4096;

/// What an example is made of, best first.
const PREFERRED: &str = "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ_-.:/ ";

/// A string that `hir` matches, `extra` characters longer than the shortest where it can be.
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
    /// How many characters beyond the shortest match are still wanted.
    extra: usize,
    alternative: usize,
    /// Which of the many strings of this shape to write, spent class by class.
    rotation: usize,
}

impl Writer {
    /// Appends a match of `hir`; `false` when there is none or it grows too long.
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
            let wanted = allowed && self.extra > 0;
            if !needed && !wanted {
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

/// The first printable member, or failing that the first of all.
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
