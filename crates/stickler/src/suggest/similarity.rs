//! How alike two names are, by their words.
//!
//! Contract: the result is in thousandths, deterministic, and depends only on the words; the cost is
//! bounded because a name has few words. Names with opposite words are not alike at all.

use super::words::{Word, Words};

/// Similarity of synonyms.
const SYNONYM: u32 = 850;

/// Similarity of words of which one is the beginning of the other: `replace` and `replacement`.
const COMMON_BEGINNING: u32 = 800;

/// Similarity of the thing that a tool is about with what identifies a thing.
const SUBJECT: u32 = 600;

/// The minimum share of a name that another one covers to contain it.
const CONTAINED: u32 = 700;

/// The minimum length of a common beginning.
const MIN_BEGINNING: usize = 4;

/// Weight of a word that says little: generic words, and words of the context.
const LIGHT: u32 = 350;
const HEAVY: u32 = 1000;

/// What names are compared with: the words that are common to all names (those of the tool and of the
/// enclosing field), and whether synonyms count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison<'c> {
    pub(crate) context: &'c Words,
    pub(crate) synonyms: bool,
}

impl Comparison<'_> {
    /// Returns how alike the names are: how much of each one the other covers.
    pub(crate) fn similarity(self, a: &Words, b: &Words) -> u32 {
        if a.is_empty() || b.is_empty() || have_opposites(a, b) {
            return 0;
        }
        if self.is_the_subject(a, b) || self.is_the_subject(b, a) {
            return SUBJECT;
        }
        let (of_a, of_b) = (self.coverage(a, b), self.coverage(b, a));
        // A name that contains all words of the other one is usually a longer form of it, but a name of
        // generic words alone (`id`, `name`) is contained in too many.
        let (more, less) = (of_a.share.max(of_b.share), of_a.share.min(of_b.share));
        let matched = of_a.matched.max(of_b.matched).min(HEAVY);
        let base = (3 * more + 2 * less) / 5;
        base * (600 + 400 * matched / HEAVY) / 1000
    }

    /// Returns whether one name has a counterpart for every word of the other that matters.
    pub(crate) fn is_contained(self, a: &Words, b: &Words) -> bool {
        self.covers(b, a) || self.covers(a, b)
    }

    /// Returns whether `a` has counterparts for most of `b`, where words that only qualify others count
    /// little.
    fn covers(self, a: &Words, b: &Words) -> bool {
        let (mut total, mut matched) = (0, 0);
        for word in b.iter() {
            let weight = if word.meaning.is_qualifier { LIGHT } else { self.weight(word) };
            let best = a.iter().map(|other| self.word_similarity(other, word)).max().unwrap_or(0);
            total += weight;
            matched += weight * best / 1000;
        }
        1000 * matched >= CONTAINED * total
    }

    /// Returns whether one name is the thing that the tool is about and the other one what identifies a
    /// thing: `chart` and `name` for `delete_chart`.
    fn is_the_subject(self, thing: &Words, identity: &Words) -> bool {
        thing.iter().all(|word| self.context.contains(&word.text) && !word.meaning.is_identity)
            && identity.iter().all(|word| word.meaning.is_identity)
    }

    fn coverage(self, a: &Words, b: &Words) -> Coverage {
        let (mut total, mut matched) = (0, 0);
        for word in a.iter() {
            let weight = self.weight(word);
            // A word that both names contain does not stand for another word as well.
            let similarity = |other: &Word| match self.word_similarity(word, other) {
                SYNONYM if a.contains(&other.text) => 0,
                similarity => similarity,
            };
            let best = b.iter().map(similarity).max().unwrap_or(0);
            total += weight;
            matched += weight * best / 1000;
        }
        Coverage { share: 1000 * matched / total.max(1), matched }
    }

    fn weight(self, word: &Word) -> u32 {
        let light = word.meaning.is_generic || self.context.contains(&word.text);
        if light { LIGHT } else { HEAVY }
    }

    pub(crate) fn word_similarity(self, a: &Word, b: &Word) -> u32 {
        if a.text == b.text {
            1000
        } else if self.synonyms && a.meaning.is_synonym_of(b.meaning) {
            SYNONYM
        } else if a.text.bytes().next() != b.text.bytes().next() {
            0
        } else if have_common_beginning(&a.text, &b.text) || stem(&a.text) == stem(&b.text) {
            COMMON_BEGINNING
        } else {
            0
        }
    }
}

struct Coverage {
    /// The share of the weight that the other name covers, in thousandths.
    share: u32,
    /// The covered weight.
    matched: u32,
}

/// Returns whether one name contains a word whose opposite the other one contains in its place.
pub(crate) fn have_opposites(a: &Words, b: &Words) -> bool {
    a.iter().any(|word| {
        !b.contains(&word.text)
            && b.iter()
                .any(|other| word.meaning.is_opposite_of(other.meaning) && !a.contains(&other.text))
    })
}

/// Returns whether the unit of measurement is known to differ or is known for one name only.
pub(crate) fn units_differ(a: &Words, b: &Words) -> bool {
    let units = |words: &Words| {
        let units = words.iter().filter(|word| word.meaning.is_unit);
        units.map(|word| word.text.clone()).collect::<Vec<_>>()
    };
    units(a) != units(b)
}

fn have_common_beginning(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.len() >= MIN_BEGINNING && long.starts_with(short)
        || common_prefix(a, b) >= 5 && common_prefix(a, b) * 3 >= long.len() * 2
}

/// Returns the word without its ending: `failed` and `failure` have the same stem.
fn stem(word: &str) -> &str {
    let endings = ["ation", "ment", "ure", "ing", "ion", "ed", "er", "e"];
    let stems = endings.iter().filter_map(|ending| word.strip_suffix(ending));
    stems.filter(|stem| stem.len() >= MIN_BEGINNING).min_by_key(|stem| stem.len()).unwrap_or(word)
}

fn common_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::{Comparison, units_differ};
    use crate::suggest::words::Words;

    fn alike(a: &str, b: &str) -> u32 {
        let comparison = Comparison { context: &Words::default(), synonyms: true };
        comparison.similarity(&Words::of(a), &Words::of(b))
    }

    #[test]
    fn longer_forms_and_synonyms_are_alike() {
        for (a, b) in [
            ("filepath", "path"),
            ("sheet_name", "sheet"),
            ("naturalLanguageQuery", "query"),
            ("numResults", "max_rows"),
            ("branch", "branches"),
        ] {
            assert!(alike(a, b) >= 600, "{a} {b}: {}", alike(a, b));
        }
    }

    #[test]
    fn opposites_are_not_alike() {
        for (a, b) in [
            ("from_date", "to_date"),
            ("source_path", "target_path"),
            ("minPrice", "maxPrice"),
            ("start", "end"),
            ("include_tags", "exclude_tags"),
            ("old_name", "new_name"),
        ] {
            assert_eq!(alike(a, b), 0, "{a} {b}");
        }
    }

    #[test]
    fn generic_words_alone_make_names_little_alike() {
        assert!(alike("workspace_id", "board_id") < 300);
        assert!(alike("user_name", "sheet_name") < 300);
    }

    #[test]
    fn units_are_compared() {
        let differ = |a, b| units_differ(&Words::of(a), &Words::of(b));
        assert!(differ("timeout", "timeout_ms") && differ("width_px", "width_cm"));
        assert!(!differ("timeoutMs", "timeout_ms") && !differ("width", "height"));
    }
}
