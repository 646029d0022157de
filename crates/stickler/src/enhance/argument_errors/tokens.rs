//! Extracts names, quoted words and JSON type names from a sentence.
//!
//! From `'a', "b" and c were unexpected`, `take_names` extracts `a`, `b` and `c` and returns the
//! rest, ` were unexpected`.

/// Removes `prefix` from `text`, ignoring ASCII case.
pub(super) fn strip_prefix_ignore_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..)).flatten()
}

/// Splits `text` into the name at its start, quoted or unquoted, and the rest.
pub(super) fn take_name(text: &str) -> Option<(&str, &str)> {
    if let Some(quote) = text.chars().next().filter(|first| QUOTES.contains(first)) {
        let (name, rest) = text.get(quote.len_utf8()..)?.split_once(quote)?;
        return (!name.is_empty() && name.len() <= MAX_NAME_BYTES).then_some((name, rest));
    }
    let end = text.find(|c: char| !is_name_char(c)).unwrap_or(text.len());
    let bare = text.get(..end)?.trim_end_matches(['.', ':', '/']);
    let is_name = !bare.is_empty() && bare.len() <= MAX_NAME_BYTES;
    is_name.then(|| text.get(bare.len()..).map(|rest| (bare, rest))).flatten()
}

/// Splits `text` into the names of a list such as `'a', 'b' and 'c'`, and the rest.
pub(super) fn take_names(text: &str) -> (Vec<String>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < MAX_NAMES
        && let Some((next, tail)) = take_name(rest)
    {
        found.push(next.to_owned());
        rest = tail;
        let separator = [", and ", ", or ", ", ", " and ", " or ", " | ", "|", ","]
            .iter()
            .find_map(|separator| tail.strip_prefix(separator));
        match separator {
            // A separator that is not followed by a name is part of the sentence.
            Some(tail) if take_name(tail).is_some() => rest = tail,
            _ => break,
        }
    }
    (found, rest)
}

/// Returns all quoted words in `text`.
pub(super) fn quoted_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < MAX_NAMES
        && let Some(at) = rest.find(QUOTES)
    {
        let Some((word, tail)) = rest.get(at..).and_then(take_name) else {
            break;
        };
        found.push(word.to_owned());
        rest = tail;
    }
    found
}

/// Whether a sentence can end before `rest`.
pub(super) fn ends_sentence(rest: &str) -> bool {
    let rest = rest.trim_start_matches(' ');
    rest.is_empty() || rest.starts_with(['.', ',', ';', ':', '(', '\n', '\r'])
}

/// Whether `text` can be the path of a field: `a`, `items[0].name`, `/a/b`, `["key"]`.
pub(super) fn is_path(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_alphabetic() || "_$[/@".contains(c));
    let is_path_char =
        |c: char| c.is_alphanumeric() || "_$[]/@.-~".contains(c) || QUOTES.contains(&c);
    starts_well && text.len() <= MAX_NAME_BYTES && text.chars().all(is_path_char)
}

/// Whether `word` is the name of a JSON type in one of the known validators.
pub(super) fn is_type_name(word: &str) -> bool {
    TYPE_NAMES.split(' ').any(|name| name.eq_ignore_ascii_case(word))
}

const TYPE_NAMES: &str = "string text str number numeric integer int float bigint nan boolean bool \
                          object record dict dictionary map array list tuple set null undefined date";

const QUOTES: [char; 3] = ['\'', '"', '`'];

/// Maximum length of a name or path.
const MAX_NAME_BYTES: usize = 256;

/// Maximum number of names. Each may be appended to a long path, so the total size is bounded.
const MAX_NAMES: usize = 256;

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_-.$/:@".contains(c)
}

#[cfg(test)]
mod tests {
    use super::{
        ends_sentence, is_path, quoted_words, strip_prefix_ignore_case, take_name, take_names,
    };

    #[test]
    fn prefix_match_ignores_case_and_respects_character_boundaries() {
        assert_eq!(strip_prefix_ignore_case("Unknown Tool: x", "unknown tool: "), Some("x"));
        assert_eq!(strip_prefix_ignore_case("é", "e"), None);
    }

    #[test]
    fn take_name_accepts_quoted_and_unquoted_names() {
        assert_eq!(take_name("'a b' rest"), Some(("a b", " rest")));
        assert_eq!(take_name("a-b.c. Rest"), Some(("a-b.c", ". Rest")));
        assert_eq!(take_name("'open"), None);
        assert_eq!(take_name(" x"), None);
    }

    #[test]
    fn take_names_stops_where_the_sentence_continues() {
        assert_eq!(
            take_names("'a', \"b\" and c were"),
            (vec!["a".into(), "b".into(), "c".into()], " were")
        );
        assert_eq!(take_names("a, (then)"), (vec!["a".into()], ", (then)"));
    }

    #[test]
    fn quoted_words_are_found_between_unquoted_words() {
        assert_eq!(quoted_words("use 'x' or `y`."), ["x", "y"]);
        assert!(quoted_words("don't").is_empty());
    }

    #[test]
    fn paths_do_not_contain_spaces() {
        assert!(is_path("items[0].name"));
        assert!(is_path("/a/b"));
        assert!(!is_path("Vault id"));
        assert!(!is_path(""));
        assert!(!is_path("12"));
    }

    #[test]
    fn sentence_does_not_end_before_a_word() {
        assert!(ends_sentence("."));
        assert!(ends_sentence(" (see docs)"));
        assert!(!ends_sentence(" in PATH"));
    }
}
