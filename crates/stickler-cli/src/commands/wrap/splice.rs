//! Edits of a text that keep everything else byte for byte.

use std::ops::Range;

use stickler::tape::splice;

/// Replacement of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) place: Range<usize>,
    pub(super) text: String,
}

impl Change {
    pub(super) fn replace(place: Range<usize>, text: impl Into<String>) -> Self {
        Self { place, text: text.into() }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { place: at..at, text: text.into() }
    }

    pub(super) fn remove(place: Range<usize>) -> Self {
        Self { place, text: String::new() }
    }
}

/// Returns the part of a text in `within` with the changes applied; all ranges refer to the whole text.
pub(super) fn apply(text: &str, within: Range<usize>, changes: Vec<Change>) -> String {
    let start = within.start;
    let edits = changes.into_iter().map(|Change { place, text }| {
        (place.start.saturating_sub(start)..place.end.saturating_sub(start), text)
    });
    splice(text.get(within).unwrap_or_default(), edits.collect())
}

/// Returns a line diff: removed and added lines, and the common lines around them.
pub(super) fn diff(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let first = same(&mut old.iter().zip(&new));
    let shorter = old.len().min(new.len());
    let last = same(&mut old.iter().rev().zip(new.iter().rev())).min(shorter - first);
    let part = |lines: &[&str], range: Range<usize>, mark: &str| -> Vec<String> {
        let lines = lines.get(range).unwrap_or_default();
        lines.iter().map(|line| format!("{mark} {line}")).collect()
    };
    [
        part(&old, 0..first, " "),
        part(&old, first..old.len() - last, "-"),
        part(&new, first..new.len() - last, "+"),
        part(&old, old.len() - last..old.len(), " "),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn changed_lines_are_marked() {
        let lines = diff("{\n a\n b\n}", "{\n a\n c\n d\n}");
        assert_eq!(lines, ["  {", "   a", "-  b", "+  c", "+  d", "  }"]);
        assert_eq!(diff("a", "b"), ["- a", "+ b"]);
        assert_eq!(diff("a\na", "a"), ["  a", "- a"]);
    }
}
