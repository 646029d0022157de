//! Reads and rewrites the escapes of a regular expression without parsing it.
//!
//! Takes the text of a `pattern`; every function is linear in its length. The number of escapes bounds the
//! cost of translating and parsing the pattern, and the rewritten patterns avoid what the parser does not
//! support or translates slowly.

/// Limit for class escapes, each of which can expand to 700 ranges when the pattern is parsed.
const MAX_CLASS_ESCAPES: usize = 256;

/// Whether the memory for parsing a pattern is disproportionate to its length.
pub(crate) fn has_many_classes(pattern: &str) -> bool {
    class_escapes(pattern) > MAX_CLASS_ESCAPES
}

pub(super) fn class_escapes(pattern: &str) -> usize {
    escaped_bytes(pattern).filter(|byte| b"pPdDwWsS".contains(byte)).count()
}

/// Estimates the bytes that the translation from ECMA-262 parses. Each `\d`, `\w`, `\s` or `\c` makes it
/// parse the whole pattern once more, which by then contains half of the replacements on average.
pub(super) fn translation_steps(pattern: &str) -> usize {
    let (passes, growth) = escaped_bytes(pattern)
        .filter_map(growth)
        .fold((0_usize, 0_usize), |(passes, total), growth| (passes + 1, total + growth));
    passes.saturating_mul(pattern.len().saturating_add(growth / 2))
}

/// Returns by how many bytes the translation of an escape lengthens the pattern, or `None` if the escape is
/// not translated.
fn growth(escaped: u8) -> Option<usize> {
    match escaped {
        b'd' | b'D' => Some(4),
        b'w' | b'W' => Some(11),
        b's' | b'S' => Some(157),
        b'c' => Some(0),
        _ => None,
    }
}

/// Iterates over the bytes that follow a backslash.
fn escaped_bytes(pattern: &str) -> impl Iterator<Item = u8> {
    let mut bytes = pattern.bytes();
    std::iter::from_fn(move || {
        bytes.find(|byte| *byte == b'\\')?;
        bytes.next()
    })
}

/// Replaces `\d` by the equivalent `[\d]`, and the other class escapes likewise. The translation replaces
/// all escapes in brackets in one pass, but parses the pattern again for each escape outside brackets.
pub(super) fn with_classes_in_brackets(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        if character != '\\' {
            in_class = character == '[' || (in_class && character != ']');
            text.push(character);
            continue;
        }
        match characters.next() {
            Some(class @ ('d' | 'D' | 'w' | 'W' | 's' | 'S')) if !in_class => {
                text.extend(['[', '\\', class, ']']);
            }
            escaped => text.extend(std::iter::once('\\').chain(escaped)),
        }
    }
    text
}

/// Replaces each back reference by one literal, because it compiles to one state.
pub(super) fn without_back_references(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut characters = after.chars();
        match characters.next() {
            Some('1'..='9') => plain.push('x'),
            Some('k') if after.starts_with("k<") => {
                plain.push('x');
                rest = after.split_once('>').map_or("", |(_, rest)| rest);
                continue;
            }
            Some(escaped) => plain.extend(['\\', escaped]),
            None => plain.push('\\'),
        }
        rest = characters.as_str();
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::{growth, translation_steps, with_classes_in_brackets, without_back_references};

    #[test]
    fn class_escapes_outside_brackets_are_put_in_brackets() {
        for (pattern, bracketed) in [
            (r"^\d{2}-\S+$", r"^[\d]{2}-[\S]+$"),
            (r"[^\w\]\d]\W", r"[^\w\]\d][\W]"),
            (r"\\d\.[a", r"\\d\.[a"),
            (r"\", r"\"),
        ] {
            assert_eq!(with_classes_in_brackets(pattern), bracketed);
        }
    }

    #[test]
    fn bracketed_pattern_accepts_the_same_strings() {
        for pattern in [r"^\d{2}-\S+$", r"[^\w\]\d]\W", r"\s|\D[\s\S]*", r"(\w+)@\w+\.\cA"] {
            let parsed = |pattern: &str| {
                let translated = jsonschema_regex::to_rust_regex(pattern).unwrap();
                regex_syntax::parse(&translated).unwrap()
            };
            assert_eq!(parsed(pattern), parsed(&with_classes_in_brackets(pattern)), "{pattern}");
        }
    }

    #[test]
    fn growth_is_not_below_that_of_the_translation() {
        for escape in [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\cA"] {
            let translated = jsonschema_regex::to_rust_regex(escape).unwrap();
            let growth = growth(escape.as_bytes()[1]).unwrap();
            assert!(escape.len() + growth >= translated.len(), "{escape}");
        }
    }

    #[test]
    fn translation_steps_are_quadratic_in_the_number_of_class_escapes() {
        assert_eq!(translation_steps(r"\\d\.\p{L}"), 0);
        assert_eq!(translation_steps(&r"\d".repeat(200)), 200 * (2 + 2) * 200);
    }

    #[test]
    fn back_references_are_replaced_by_one_character() {
        assert_eq!(without_back_references(r"(a)\1\\1(?<n>b)\k<n>\d"), r"(a)x\\1(?<n>b)x\d");
    }
}
