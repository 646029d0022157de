//! Fills date and time templates of descriptions (`YYYY-MM-DD`, `HH:MM`) with a date.

/// The parts of a template and their values. `MM` is a month before the hour and a minute after it.
const FIELDS: [(&str, &str); 9] = [
    ("YYYY", "2024"),
    ("yyyy", "2024"),
    ("DD", "15"),
    ("dd", "15"),
    ("HH", "09"),
    ("hh", "09"),
    ("mm", "30"),
    ("SS", "00"),
    ("ss", "00"),
];

/// Returns the first template of a text, filled in. A template has at least two parts.
pub(super) fn sample(text: &str) -> Option<String> {
    let starts = text.char_indices().map(|(start, _)| start);
    let is_word = |c: char| c.is_ascii_alphanumeric();
    // A template does not start within a word.
    let mut starts = starts.filter(|start| {
        !text.get(..*start).and_then(|before| before.chars().last()).is_some_and(is_word)
    });
    starts.find_map(|start| fill(text.get(start..)?))
}

fn is_field(text: &str) -> bool {
    text.starts_with("MM") || FIELDS.iter().any(|(field, _)| text.starts_with(field))
}

/// Fills the template at the start of a text.
fn fill(text: &str) -> Option<String> {
    let (mut filled, mut parts, mut has_hour) = (String::new(), 0, false);
    let mut rest = text;
    loop {
        let field = FIELDS.iter().find(|(field, _)| rest.starts_with(field));
        let (length, value) = match field {
            Some((field, value)) => (field.len(), *value),
            None if rest.starts_with("MM") => (2, if has_hour { "30" } else { "01" }),
            None => break,
        };
        has_hour |= rest.starts_with("HH") || rest.starts_with("hh");
        filled.push_str(value);
        parts += 1;
        rest = rest.get(length..)?;
        if is_field(rest) {
            continue;
        }
        let separator =
            rest.chars().next().filter(|c| matches!(c, '-' | '/' | '.' | ':' | 'T' | ' ' | '_'));
        match separator.zip(rest.get(1..)) {
            Some((separator, after)) if is_field(after) => {
                filled.push(separator);
                rest = after;
            }
            _ => break,
        }
    }
    if rest.starts_with('Z') {
        filled.push('Z');
        rest = rest.get(1..)?;
    }
    let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    (parts >= 2 && ends).then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn templates_are_filled_with_the_same_date() {
        for (text, expected) in [
            ("HH:MM", "09:30"),
            ("time (HH:mm:ss)", "09:30:00"),
            ("YYYY-MM-DD", "2024-01-15"),
            ("as YYYYMMDD, no separators", "20240115"),
            ("DD.MM.YYYY", "15.01.2024"),
            ("YYYY-MM-DDTHH:MM:SSZ", "2024-01-15T09:30:00Z"),
            ("YYYY-MM-DD HH:MM", "2024-01-15 09:30"),
            ("YYYY-MM", "2024-01"),
        ] {
            assert_eq!(sample(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn words_are_not_templates() {
        for text in ["", "COMMAND", "add a comment", "HHH:MMM", "MM", "the SSD", "hammmm"] {
            assert_eq!(sample(text), None, "{text}");
        }
    }
}
