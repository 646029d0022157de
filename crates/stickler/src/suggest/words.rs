//! Splits names into words in a canonical form, so that names can be compared by their parts.
//!
//! Contract: [`Words::of`] splits at separators and at camelCase boundaries, divides compounds without a
//! boundary (`filepath`) where both halves are known words or the last one ends many names, converts to the
//! singular, and replaces abbreviations. It reads at most [`MAX_NAME_BYTES`] bytes and returns at most [`MAX_WORDS`] words. It
//! runs only when a call is explained, never when a schema is read.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::synonyms::Meaning;

/// The number of bytes of a name that are read.
const MAX_NAME_BYTES: usize = 128;

/// The maximum number of words of one name.
const MAX_WORDS: usize = 12;

/// The number of bytes of a description that are read.
const MAX_TEXT_BYTES: usize = 512;

/// The minimum length of each half of a compound.
const MIN_COMPOUND_PART: usize = 3;

/// Nouns that are split off even if the rest of the word is unknown. Few other words end with them.
const COMPOUND_HEADS: &[&str] = &["code", "name", "path", "type", "url"];

/// Abbreviations and what they stand for.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("acct", "account"),
    ("addr", "address"),
    ("app", "application"),
    ("apps", "application"),
    ("arg", "argument"),
    ("args", "argument"),
    ("attr", "attribute"),
    ("attrs", "attribute"),
    ("auth", "authentication"),
    ("avg", "average"),
    ("bg", "background"),
    ("cfg", "configuration"),
    ("char", "character"),
    ("chars", "character"),
    ("cmd", "command"),
    ("col", "column"),
    ("cols", "column"),
    ("config", "configuration"),
    ("coord", "coordinate"),
    ("coords", "coordinate"),
    ("ctx", "context"),
    ("db", "database"),
    ("del", "delete"),
    ("desc", "description"),
    ("dest", "destination"),
    ("doc", "document"),
    ("docs", "document"),
    ("dst", "destination"),
    ("env", "environment"),
    ("expr", "expression"),
    ("ext", "extension"),
    ("fmt", "format"),
    ("func", "function"),
    ("fn", "function"),
    ("idx", "index"),
    ("img", "image"),
    ("info", "information"),
    ("lang", "language"),
    ("lat", "latitude"),
    ("len", "length"),
    ("lng", "longitude"),
    ("loc", "location"),
    ("lon", "longitude"),
    ("max", "maximum"),
    ("meta", "metadata"),
    ("min", "minimum"),
    ("ms", "millisecond"),
    ("msg", "message"),
    ("num", "number"),
    ("obj", "object"),
    ("op", "operation"),
    ("opt", "option"),
    ("opts", "option"),
    ("org", "organization"),
    ("param", "parameter"),
    ("params", "parameter"),
    ("pic", "picture"),
    ("pos", "position"),
    ("prev", "previous"),
    ("proj", "project"),
    ("prop", "property"),
    ("props", "property"),
    ("pwd", "password"),
    ("qty", "quantity"),
    ("ref", "reference"),
    ("repo", "repository"),
    ("req", "request"),
    ("res", "response"),
    ("resp", "response"),
    ("sec", "second"),
    ("secs", "second"),
    ("spec", "specification"),
    ("src", "source"),
    ("str", "string"),
    ("temp", "temporary"),
    ("tmp", "temporary"),
    ("ts", "timestamp"),
    ("txt", "text"),
    ("tz", "timezone"),
    ("usr", "user"),
    ("val", "value"),
    ("var", "variable"),
    ("vars", "variable"),
    ("ver", "version"),
];

/// Two words that are one: a time zone is not a time.
const JOINED: &[(&str, &str, &str)] =
    &[("time", "zone", "timezone"), ("time", "stamp", "timestamp"), ("date", "time", "datetime")];

/// Plurals that no rule covers.
const IRREGULAR_PLURALS: &[(&str, &str)] = &[
    ("children", "child"),
    ("criteria", "criterion"),
    ("data", "data"),
    ("indices", "index"),
    ("matrices", "matrix"),
    ("media", "media"),
    ("people", "person"),
    ("statuses", "status"),
    ("vertices", "vertex"),
    ("aliases", "alias"),
    ("series", "series"),
];

/// A word in its canonical form and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) meaning: Meaning,
}

impl Word {
    fn new(text: String) -> Self {
        Self { meaning: Meaning::of(&text), text }
    }
}

/// The words of a name, in a canonical form and in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Words {
    list: Vec<Word>,
}

impl Words {
    /// Returns the words of a name.
    pub(crate) fn of(name: &str) -> Self {
        let mut list = Vec::new();
        for word in pieces(prefix(name, MAX_NAME_BYTES)) {
            match compound(&word) {
                Some((first, second)) => list.extend([canonical(first), canonical(second)]),
                None => list.push(canonical(&word)),
            }
            if list.len() >= MAX_WORDS {
                break;
            }
        }
        list.truncate(MAX_WORDS);
        join(&mut list);
        Self { list: list.into_iter().map(Word::new).collect() }
    }

    /// Like [`of`](Self::of), but compounds stay whole, which takes less time.
    pub(crate) fn undivided(name: &str) -> Self {
        let words = pieces(prefix(name, MAX_NAME_BYTES)).into_iter().take(MAX_WORDS);
        Self { list: words.map(|word| Word::new(canonical(&word))).collect() }
    }

    /// Returns the words of a text, such as a description; only the beginning of a long text is read.
    pub(crate) fn of_text(text: &str) -> Self {
        let text = prefix(text, MAX_TEXT_BYTES);
        let pieces = text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty());
        let words = pieces.map(|piece| Word::new(canonical(&piece.to_lowercase())));
        Self { list: words.collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Word> {
        self.list.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether the vocabulary contains all words.
    pub(crate) fn are_known(&self) -> bool {
        self.list.iter().all(|word| word.meaning.is_known)
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.list.iter().any(|own| own.text == word)
    }

    /// Returns these words followed by those of another name.
    pub(crate) fn followed_by(&self, other: &Self) -> Self {
        Self { list: self.list.iter().chain(&other.list).cloned().collect() }
    }
}

/// Splits a name at separators and camelCase boundaries, in lower case: `HTMLBody` is `html`, `body`.
fn pieces(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut pieces = vec![String::new()];
    for (index, letter) in letters.iter().copied().enumerate() {
        let previous = index.checked_sub(1).and_then(|before| letters.get(before)).copied();
        let next = letters.get(index + 1).copied();
        let begins_word = letter.is_uppercase()
            && (previous.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit())
                || previous.is_some_and(char::is_uppercase)
                    // The `s` of `userIDs` is the plural of an acronym and begins no word.
                    && next.is_some_and(char::is_lowercase)
                    && !(next == Some('s') && letters.get(index + 2).is_none_or(|c| !c.is_lowercase())));
        if begins_word || !letter.is_alphanumeric() {
            pieces.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(piece) = pieces.last_mut()
        {
            piece.extend(letter.to_lowercase());
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Splits a word without a boundary into two known words (`filepath`, `sourcebranch`), or before a noun
/// that names often end with (`snapname`).
fn compound(word: &str) -> Option<(&str, &str)> {
    if word.len() < 2 * MIN_COMPOUND_PART || is_known(word) {
        return None;
    }
    let mut parts = (MIN_COMPOUND_PART..=word.len() - MIN_COMPOUND_PART)
        .filter_map(|at| word.split_at_checked(at));
    let known = parts.find(|(first, second)| is_known(first) && is_known(second));
    known.or_else(|| {
        let mut heads = COMPOUND_HEADS.iter();
        let head = heads.find(|head| word.ends_with(**head))?;
        word.split_at_checked(word.len() - head.len())
            .filter(|(rest, _)| rest.len() >= MIN_COMPOUND_PART)
    })
}

/// Replaces two words that are one by that one.
fn join(words: &mut Vec<String>) {
    for (first, second, joined) in JOINED {
        let at = words.windows(2).position(|pair| pair == [*first, *second]);
        if let Some(at) = at {
            words.splice(at..at + 2, [(*joined).to_owned()]);
        }
    }
}

fn is_known(word: &str) -> bool {
    Meaning::of(&canonical(word)).is_known
}

/// Returns the canonical form of a word: singular and not abbreviated.
fn canonical(word: &str) -> String {
    let full = |word: &str| FORMS.get(word).map(|form| (*form).to_owned());
    full(word).unwrap_or_else(|| {
        let singular = singular(word);
        full(&singular).unwrap_or(singular)
    })
}

/// The canonical forms of abbreviations and irregular plurals.
static FORMS: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| ABBREVIATIONS.iter().chain(IRREGULAR_PLURALS).copied().collect());

/// Returns the singular of a regular plural.
fn singular(word: &str) -> String {
    let without = |count: usize| word.get(..word.len().saturating_sub(count)).unwrap_or(word);
    if !word.is_ascii() || word.len() < 3 {
        return word.to_owned();
    }
    if word.len() > 4 && word.ends_with("ies") {
        return format!("{}y", without(3));
    }
    if ["sses", "shes", "ches", "xes"].iter().any(|end| word.ends_with(end)) && word.len() > 4 {
        return without(2).to_owned();
    }
    if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        return without(1).to_owned();
    }
    word.to_owned()
}

fn prefix(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Words;

    fn words(name: &str) -> Vec<String> {
        Words::of(name).iter().map(|word| word.text.clone()).collect()
    }

    #[test]
    fn names_are_split_at_separators_and_camel_case() {
        assert_eq!(words("file_path"), ["file", "path"]);
        assert_eq!(words("naturalLanguageQuery"), ["natural", "language", "query"]);
        assert_eq!(words("top-bar.left side"), ["top", "bar", "left", "side"]);
        assert_eq!(words("HTMLBody"), ["html", "body"]);
        assert_eq!(words("pageURL"), ["page", "url"]);
        assert_eq!(words("userIDs"), ["user", "id"]);
        assert_eq!(words("OAuth2Token"), ["o", "auth2", "token"]);
    }

    #[test]
    fn compounds_of_known_words_are_split() {
        assert_eq!(words("filepath"), ["file", "path"]);
        assert_eq!(words("filename"), ["file", "name"]);
        assert_eq!(words("sourcebranch"), ["source", "branch"]);
        assert_eq!(words("timeout"), ["timeout"]);
        assert_eq!(words("xylophone"), ["xylophone"]);
    }

    #[test]
    fn two_words_that_are_one_are_joined() {
        assert_eq!(words("time_zone"), ["timezone"]);
        assert_eq!(words("timezone"), words("userTz")[1..]);
        assert_eq!(words("startDateTime"), ["start", "datetime"]);
        assert_eq!(words("time_stamps"), ["timestamp"]);
    }

    #[test]
    fn common_last_nouns_are_split_off() {
        assert_eq!(words("snapname"), ["snap", "name"]);
        assert_eq!(words("vmtype"), ["vmtype"]);
        assert_eq!(words("encode"), ["encode"]);
    }

    #[test]
    fn plurals_and_abbreviations_are_canonical() {
        assert_eq!(words("categories"), words("category"));
        assert_eq!(words("branches"), ["branch"]);
        assert_eq!(words("srcDirs"), words("source_dir"));
        assert_eq!(words("maxResults"), ["maximum", "result"]);
        assert_eq!(words("status"), ["status"]);
        assert_eq!(words("access"), ["access"]);
        assert_eq!(words("values"), ["value"]);
    }

    #[test]
    fn long_and_odd_names_have_few_words() {
        assert!(Words::of(&"a_".repeat(100_000)).iter().count() <= 12);
        assert!(Words::of(&"é".repeat(10_000)).iter().count() <= 12);
        assert!(Words::of("___").is_empty());
        assert!(Words::of("").is_empty());
    }
}
