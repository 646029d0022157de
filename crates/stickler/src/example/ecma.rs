//! Translates ECMA-262 patterns into the syntax of `regex-syntax`.
//!
//! JSON Schema patterns use the syntax of JavaScript, which has lookaround and treats `[` and `&&`
//! in a character class as literals. Lookaround is removed and returned separately. The resulting
//! pattern matches more than the original, which is sufficient to generate drafts.

/// A pattern in the syntax of `regex-syntax`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) pattern: String,
    /// The bodies of the positive lookaheads. A string must match each of them.
    pub(super) lookaheads: Vec<String>,
    /// Whether nothing was removed.
    pub(super) exact: bool,
}

/// Translates `source`. An unclosed group is kept, so that the parser rejects it.
pub(super) fn translate(source: &str) -> Translated {
    let characters: Vec<char> = source.chars().collect();
    let mut translated = Translated { exact: true, ..Translated::default() };
    let mut position = 0;
    let mut in_class = false;
    while let Some(&character) = characters.get(position) {
        let next = characters.get(position + 1).copied();
        if character == '\\' {
            translated.pattern.push_str(&escape(next));
            position += 2;
            continue;
        }
        if !in_class && let Some(group) = lookaround_at(&characters, position) {
            translated.exact = false;
            if group.positive_ahead {
                translated.lookaheads.push(group.body);
            }
            position = group.end;
            continue;
        }
        match character {
            '[' if starts_any_class(&characters, position) && !in_class => {
                translated.pattern.push_str(r"[\s\S]");
                position += 3;
                continue;
            }
            '[' | '&' | '~' if in_class => translated.pattern.push('\\'),
            '[' => in_class = true,
            ']' => in_class = false,
            '{' if !in_class && !next.is_some_and(|c| c.is_ascii_digit()) => {
                translated.pattern.push('\\');
            }
            _ => {}
        }
        translated.pattern.push(character);
        position += 1;
    }
    translated
}

fn escape(escaped: Option<char>) -> String {
    match escaped {
        // Python authors write `\Z` where JavaScript has `$`.
        Some('Z') => "$".to_owned(),
        Some('/') => "/".to_owned(),
        Some(other) => format!("\\{other}"),
        None => "\\".to_owned(),
    }
}

/// Whether the class is `[^]`, which matches any character in JavaScript.
fn starts_any_class(characters: &[char], position: usize) -> bool {
    characters.get(position..).is_some_and(|rest| rest.starts_with(&['[', '^', ']']))
}

struct Lookaround {
    positive_ahead: bool,
    body: String,
    end: usize,
}

fn lookaround_at(characters: &[char], position: usize) -> Option<Lookaround> {
    const OPENINGS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
    let rest = characters.get(position..)?;
    let opening = OPENINGS.into_iter().find(|opening| {
        opening.chars().count() <= rest.len() && opening.chars().zip(rest).all(|(a, b)| a == *b)
    })?;
    let start = position + opening.chars().count();
    let close = closing_parenthesis(characters, start)?;
    Some(Lookaround {
        positive_ahead: opening == "(?=",
        body: characters.get(start..close)?.iter().collect(),
        end: close + 1,
    })
}

/// Returns the index of the parenthesis that closes the group with the body at `start`.
fn closing_parenthesis(characters: &[char], start: usize) -> Option<usize> {
    let mut open_groups = 0_usize;
    let mut in_class = false;
    let mut position = start;
    loop {
        match characters.get(position)? {
            '\\' => position += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => open_groups += 1,
            ')' if !in_class && open_groups == 0 => return Some(position),
            ')' if !in_class => open_groups -= 1,
            _ => {}
        }
        position += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn simple_pattern_is_unchanged() {
        let translated = translate(r"^[a-z]{2,3}\d+$");
        assert_eq!(translated.pattern, r"^[a-z]{2,3}\d+$");
        assert!(translated.exact);
    }

    #[test]
    fn lookaround_is_removed_and_positive_lookaheads_are_returned() {
        let translated = translate(r"^(?=.*[A-Z)])(?!-)(?<!x)a(?<=a)$");
        assert_eq!(translated.pattern, "^a$");
        assert_eq!(translated.lookaheads, [".*[A-Z)]"]);
        assert!(!translated.exact);
    }

    #[test]
    fn javascript_class_literals_are_escaped() {
        assert_eq!(translate("[[&&~]").pattern, r"[\[\&\&\~]");
        assert_eq!(translate("a[^]b").pattern, r"a[\s\S]b");
    }

    #[test]
    fn brace_without_a_count_is_a_literal() {
        assert_eq!(translate("^{x}$").pattern, r"^\{x}$");
    }

    #[test]
    fn unfinished_patterns_do_not_panic() {
        for source in ["(?=", "[", "\\", "(?!(", "[^"] {
            translate(source);
        }
    }
}
