//! Takes names, quoted words and JSON type names out of a sentence.
//!
//! From `'a', "b" and c were unexpected` it takes `a`, `b`, `c` and leaves ` were unexpected`.

/// What follows `opening`, whatever its ASCII case.
pub(super) fn after<'t>(text: &'t str, opening: &str) -> Option<&'t str> {
    let head = text.get(..opening.len())?;
    head.eq_ignore_ascii_case(opening).then(|| text.get(opening.len()..)).flatten()
}

/// A name at the start of `text`, quoted or bare, and what follows it.
pub(super) fn name(text: &str) -> Option<(&str, &str)> {
    if let Some(quote) = text.chars().next().filter(|first| QUOTES.contains(first)) {
        let (name, rest) = text.get(quote.len_utf8()..)?.split_once(quote)?;
        return (!name.is_empty() && name.len() <= LONGEST_NAME).then_some((name, rest));
    }
    let end = text.find(|c: char| !is_name_char(c)).unwrap_or(text.len());
    let bare = text.get(..end)?.trim_end_matches(['.', ':', '/']);
    let is_name = !bare.is_empty() && bare.len() <= LONGEST_NAME;
    is_name.then(|| text.get(bare.len()..).map(|rest| (bare, rest))).flatten()
}

/// The names of a list such as `'a', 'b' and 'c'`, and what follows it.
pub(super) fn names(text: &str) -> (Vec<String>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < MOST_NAMES
        && let Some((next, tail)) = name(rest)
    {
        found.push(next.to_owned());
        rest = tail;
        let joint = [", and ", ", or ", ", ", " and ", " or ", " | ", "|", ","]
            .iter()
            .find_map(|joint| tail.strip_prefix(joint));
        match joint {
            // A joint that no name follows belongs to the sentence, not to the list.
            Some(tail) if name(tail).is_some() => rest = tail,
            _ => break,
        }
    }
    (found, rest)
}

/// Every quoted word in `text`.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < MOST_NAMES
        && let Some(at) = rest.find(QUOTES)
    {
        let Some((word, tail)) = rest.get(at..).and_then(name) else {
            break;
        };
        found.push(word.to_owned());
        rest = tail;
    }
    found
}

/// Whether a sentence may end where `rest` begins.
pub(super) fn ends_sentence(rest: &str) -> bool {
    let rest = rest.trim_start_matches(' ');
    rest.is_empty() || rest.starts_with(['.', ',', ';', ':', '(', '\n', '\r'])
}

/// Whether `text` can be the path of a field: `a`, `items[0].name`, `/a/b`, `["odd key"]`.
pub(super) fn is_path(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_alphabetic() || "_$[/@".contains(c));
    let is_path_char =
        |c: char| c.is_alphanumeric() || "_$[]/@.-~".contains(c) || QUOTES.contains(&c);
    starts_well && text.len() <= LONGEST_NAME && text.chars().all(is_path_char)
}

/// Whether `word` is what some validator calls a JSON type.
pub(super) fn is_type_name(word: &str) -> bool {
    TYPE_NAMES.split(' ').any(|name| name.eq_ignore_ascii_case(word))
}

const TYPE_NAMES: &str = "string text str number numeric integer int float bigint nan boolean bool \
                          object record dict dictionary map array list tuple set null undefined date";

const QUOTES: [char; 3] = ['\'', '"', '`'];

const LONGEST_NAME: usize = 256;

/// Each name may be joined to a long path: the bound keeps that linear.
const MOST_NAMES: usize = 256;

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_-.$/:@".contains(c)
}

#[cfg(test)]
mod tests {
    use super::{after, ends_sentence, is_path, name, names, quoted};

    #[test]
    fn an_opening_is_found_in_any_case_and_never_splits_a_character() {
        assert_eq!(after("Unknown Tool: x", "unknown tool: "), Some("x"));
        assert_eq!(after("é", "e"), None);
    }

    #[test]
    fn a_name_is_taken_with_or_without_quotes() {
        assert_eq!(name("'a b' rest"), Some(("a b", " rest")));
        assert_eq!(name("a-b.c. Rest"), Some(("a-b.c", ". Rest")));
        assert_eq!(name("'open"), None);
        assert_eq!(name(" x"), None);
    }

    #[test]
    fn a_list_of_names_ends_where_the_sentence_goes_on() {
        assert_eq!(
            names("'a', \"b\" and c were"),
            (vec!["a".into(), "b".into(), "c".into()], " were")
        );
        assert_eq!(names("a, (then)"), (vec!["a".into()], ", (then)"));
    }

    #[test]
    fn quoted_words_are_found_between_others() {
        assert_eq!(quoted("use 'x' or `y`."), ["x", "y"]);
        assert!(quoted("don't").is_empty());
    }

    #[test]
    fn a_path_has_no_spaces() {
        assert!(is_path("items[0].name"));
        assert!(is_path("/a/b"));
        assert!(!is_path("Vault id"));
        assert!(!is_path(""));
        assert!(!is_path("12"));
    }

    #[test]
    fn a_sentence_does_not_end_before_a_word() {
        assert!(ends_sentence("."));
        assert!(ends_sentence(" (see docs)"));
        assert!(!ends_sentence(" in PATH"));
    }
}
