//! What is known about a word: its synonyms and opposites, and how much it says.
//!
//! Contract: the knowledge is the [vocabulary](super::vocabulary); a word that is not in it has no
//! synonyms. Opposites are never synonyms.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::vocabulary::{GENERIC, IDENTITY, OPPOSITES, OTHER_WORDS, QUALIFIERS, SYNONYMS, UNITS};

/// What the vocabulary knows about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each one is a table of its own")]
pub(crate) struct Meaning {
    /// The groups of synonyms that contain the word, as a bit set.
    groups: u128,
    /// The pairs of opposites that contain the word on their first side, as a bit set.
    first_sides: u32,
    /// The same for the second side.
    second_sides: u32,
    /// Whether the word is in the vocabulary.
    pub(crate) is_known: bool,
    /// Whether the word is common in names and says little about them.
    pub(crate) is_generic: bool,
    /// Whether the word qualifies another one.
    pub(crate) is_qualifier: bool,
    /// Whether the word is a unit of measurement.
    pub(crate) is_unit: bool,
    /// Whether the word says what identifies a thing.
    pub(crate) is_identity: bool,
}

impl Meaning {
    /// Returns what is known about a word in canonical form; nothing about an unknown word.
    pub(crate) fn of(word: &str) -> Self {
        VOCABULARY.get(word).copied().unwrap_or_default()
    }

    /// Returns whether both words are used for the same thing.
    pub(crate) fn is_synonym_of(self, other: Self) -> bool {
        self.groups & other.groups != 0 && !self.is_opposite_of(other)
    }

    /// Returns whether exchanging the words reverses the meaning.
    pub(crate) fn is_opposite_of(self, other: Self) -> bool {
        let shares_a_side = self.first_sides & other.first_sides != 0
            || self.second_sides & other.second_sides != 0;
        let faces = self.first_sides & other.second_sides | self.second_sides & other.first_sides;
        faces != 0 && !shares_a_side
    }
}

static VOCABULARY: LazyLock<HashMap<&'static str, Meaning>> = LazyLock::new(|| {
    let mut all: HashMap<&'static str, Meaning> = HashMap::new();
    for (index, group) in SYNONYMS.iter().enumerate() {
        for word in *group {
            all.entry(word).or_default().groups |= 1_u128.checked_shl(bits(index)).unwrap_or(0);
        }
    }
    for (index, (first, second)) in OPPOSITES.iter().enumerate() {
        let bit = 1_u32.checked_shl(bits(index)).unwrap_or(0);
        first.iter().for_each(|word| all.entry(word).or_default().first_sides |= bit);
        second.iter().for_each(|word| all.entry(word).or_default().second_sides |= bit);
    }
    for word in GENERIC {
        all.entry(word).or_default().is_generic = true;
    }
    for word in UNITS {
        all.entry(word).or_default().is_unit = true;
    }
    for word in QUALIFIERS {
        all.entry(word).or_default().is_qualifier = true;
    }
    for word in IDENTITY {
        all.entry(word).or_default().is_identity = true;
    }
    for word in OTHER_WORDS {
        all.entry(word).or_default();
    }
    for meaning in all.values_mut() {
        meaning.is_known = true;
    }
    all
});

fn bits(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Meaning, OPPOSITES, SYNONYMS};

    fn are_synonyms(a: &str, b: &str) -> bool {
        Meaning::of(a).is_synonym_of(Meaning::of(b))
    }

    fn are_opposites(a: &str, b: &str) -> bool {
        Meaning::of(a).is_opposite_of(Meaning::of(b))
    }

    #[test]
    fn every_table_fits_into_its_bit_set() {
        assert!(SYNONYMS.len() <= 128 && OPPOSITES.len() <= 32);
    }

    #[test]
    fn words_for_the_same_thing_are_synonyms() {
        for (a, b) in [("path", "file"), ("limit", "k"), ("query", "search"), ("from", "start")] {
            assert!(are_synonyms(a, b) && are_synonyms(b, a), "{a} {b}");
        }
        assert!(!are_synonyms("path", "color"));
    }

    #[test]
    fn opposites_are_never_synonyms() {
        for (a, b) in [
            ("from", "to"),
            ("source", "target"),
            ("minimum", "maximum"),
            ("start", "end"),
            ("include", "exclude"),
            ("old", "new"),
        ] {
            assert!(are_opposites(a, b) && are_opposites(b, a) && !are_synonyms(a, b), "{a} {b}");
        }
    }
}
