//! Finds the allowed value that a value stands for, by its words: `driving` for `mapbox/driving`, `desc`
//! for `descending`, `;` for `semicolon`.
//!
//! Contract: returns the shortest allowed value that contains all words of the given one, only if it is
//! the only one of its length, and never an opposite. Only short values and few options are compared.

use super::similarity::{Comparison, have_opposites};
use super::words::Words;

/// The maximum number of options and of bytes of a value that are compared.
const MAX_OPTIONS: usize = 64;
const MAX_BYTES: usize = 64;

/// The minimum similarity of each word.
const ALIKE: u32 = 800;

/// The names of characters that are used as separators.
const CHARACTERS: &[(&str, &str)] = &[
    (",", "comma"),
    (";", "semicolon"),
    ("\t", "tab"),
    ("|", "pipe"),
    (" ", "space"),
    (":", "colon"),
    ("\n", "newline"),
];

/// Abbreviations that are common in values.
const SHORT_VALUES: &[(&str, &str)] = &[("asc", "ascending"), ("desc", "descending")];

/// Returns the only option that the value stands for.
pub(crate) fn meant<'o>(value: &str, options: &[&'o str]) -> Option<&'o str> {
    if value.len() > MAX_BYTES || options.len() > MAX_OPTIONS {
        return None;
    }
    let named = |table: &[(&str, &'static str)]| {
        let entry = table.iter().find(|(short, _)| short.eq_ignore_ascii_case(value));
        let long = entry.map(|(_, long)| *long)?;
        options.iter().copied().find(|option| option.eq_ignore_ascii_case(long))
    };
    if let Some(option) = named(CHARACTERS).or_else(|| named(SHORT_VALUES)) {
        return Some(option);
    }
    // Synonyms of values are only those of the exact word; most options are related in meaning.
    only(options, value, false).or_else(|| only(options, value, true))
}

fn only<'o>(options: &[&'o str], value: &str, synonyms: bool) -> Option<&'o str> {
    let comparison = Comparison { context: &Words::default(), synonyms };
    let given = Words::of(value);
    let is_meant = |option: &&&'o str| {
        let words = Words::of(option);
        let covered = |word| words.iter().any(|own| comparison.word_similarity(word, own) >= ALIKE);
        // A synonym stands for the whole option, not for a part of it.
        (!synonyms || words.iter().count() == given.iter().count())
            && !given.is_empty()
            && !have_opposites(&given, &words)
            && given.iter().all(covered)
    };
    let length = |option: &str| Words::of(option).iter().count();
    let meant: Vec<&&'o str> = options.iter().filter(is_meant).collect();
    let shortest = meant.iter().map(|option| length(option)).min()?;
    let mut shortest = meant.into_iter().filter(|option| length(option) == shortest);
    let first = shortest.next()?;
    shortest.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn value_is_found_by_its_words() {
        let profiles = ["mapbox/driving-traffic", "mapbox/driving", "mapbox/walking"];
        assert_eq!(meant("driving", &profiles), Some("mapbox/driving"));
        assert_eq!(meant(";", &["comma", "semicolon", "tab"]), Some("semicolon"));
        assert_eq!(meant("desc", &["ascending", "descending"]), Some("descending"));
        assert_eq!(meant("failed", &["failure", "success"]), Some("failure"));
        assert_eq!(meant("join", &["REQUEST_TO_ADD", "REQUEST_TO_JOIN"]), Some("REQUEST_TO_JOIN"));
    }

    #[test]
    fn value_that_fits_several_options_or_none_is_not_replaced() {
        assert_eq!(meant("read", &["read_only", "read_write", "write"]), None);
        assert_eq!(meant("schema", &["OAS2", "OAS3"]), None);
        assert_eq!(meant("enabled", &["disabled", "unknown"]), None);
        assert_eq!(meant("", &["a"]), None);
    }
}
