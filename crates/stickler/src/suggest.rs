//! "Did you mean" suggestions: finds the known names nearest to a misspelt one.
//!
//! Contract: a [`ComparisonBudget`] bounds the comparisons of one call, regardless of the number and
//! the length of the names.

pub(crate) mod allowed_value;
pub(crate) mod assignment;
mod distance;
pub(crate) mod score;
pub(crate) mod similarity;
mod synonyms;
pub(crate) mod tool_names;
pub(crate) mod value_fit;
mod vocabulary;
pub(crate) mod words;

pub(crate) use distance::ComparisonBudget;
use distance::{MAX_COMPARED_BYTES, distance_within};

/// Longer names get no suggestions: they are not typed from memory.
const MAX_NAME_BYTES: usize = 1024;

/// Maximum number of suggestions for one name.
const MAX_SUGGESTIONS: usize = 3;

/// A known name that may have been meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a str,
    /// Edit distance without case and separators; 0 if the names differ in nothing else.
    pub(crate) distance: usize,
    /// Edit distance of the names as written.
    exact_distance: usize,
}

/// Returns the nearest names, best first: names that differ only in case and separators, then names at
/// most `max_distance` edits away (but no more than half of the length of the name).
pub(crate) fn nearest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    max_distance: usize,
) -> Vec<Candidate<'a>> {
    let known: Vec<&str> = known.into_iter().collect();
    nearest_of(name, &known, |_| true, max_distance, &ComparisonBudget::unlimited())
}

/// Like [`nearest`], for names that a peer sent: considers the eligible names, within the budget. A name
/// that cannot be compared with all of them gets no suggestions.
pub(crate) fn nearest_of<'a>(
    name: &str,
    known: &[&'a str],
    is_eligible: impl Fn(&str) -> bool,
    max_distance: usize,
    budget: &ComparisonBudget,
) -> Vec<Candidate<'a>> {
    if name.len() > MAX_NAME_BYTES || !budget.take_pairs(known.len()) {
        return Vec::new();
    }
    let normalized = normalize(name);
    let max_distance = max_distance.min(normalized.chars().count() / 2);
    let mut near: Vec<(&'a str, usize)> = known
        .iter()
        .copied()
        .filter(|candidate| *candidate != name && budget.take_cells(candidate.len() / 8))
        .filter_map(|candidate| {
            let distance =
                distance_within(&normalized, &normalize(candidate), max_distance, budget)?;
            is_eligible(candidate).then_some((candidate, distance))
        })
        .collect();
    // The exact distance is only needed for names that can be among the best.
    near.sort_by_key(|(_, distance)| *distance);
    let furthest = near.get(MAX_SUGGESTIONS - 1).map_or(usize::MAX, |(_, distance)| *distance);
    let first = near.into_iter().take_while(|(_, distance)| *distance <= furthest);
    let mut found: Vec<Candidate<'a>> = first
        .map(|(candidate, distance)| {
            let exact_distance = distance_within(name, candidate, MAX_COMPARED_BYTES, budget)
                .unwrap_or(MAX_COMPARED_BYTES);
            Candidate { name: candidate, distance, exact_distance }
        })
        .collect();
    if budget.is_spent() {
        return Vec::new();
    }
    // Ties are resolved by the exact distance, then in favour of an equal first letter, which is rarely
    // misspelt.
    let same_initial = |candidate: &str| candidate.chars().next() == name.chars().next();
    found.sort_by_key(|candidate| {
        (candidate.distance, candidate.exact_distance, !same_initial(candidate.name))
    });
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// Returns the edit distances of two names without and with case and separators, and the length of the
/// longer name; `None` if the names are not within `max_distance` or half of the name.
pub(crate) fn form_distance(
    name: &str,
    candidate: &str,
    max_distance: usize,
    budget: &ComparisonBudget,
) -> Option<(usize, usize, usize)> {
    if name.len() > MAX_NAME_BYTES || !budget.take_cells((name.len() + candidate.len()) / 8) {
        return None;
    }
    let (normalized, other) = (normalize(name), normalize(candidate));
    let (length, other_length) = (normalized.chars().count(), other.chars().count());
    let distance = distance_within(&normalized, &other, max_distance.min(length / 2), budget)?;
    let exact = distance_within(name, candidate, MAX_COMPARED_BYTES, budget);
    Some((distance, exact.unwrap_or(MAX_COMPARED_BYTES), length.max(other_length)))
}

/// Returns the known names that may have been meant, best first, at a distance of at most 3.
pub fn nearest_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    nearest(name, known, 3).into_iter().map(|candidate| candidate.name).collect()
}

impl Candidate<'_> {
    fn nearness(&self) -> (usize, usize) {
        (self.distance, self.exact_distance)
    }
}

/// Returns the best candidate if it is the only one or nearer than all others.
pub(crate) fn unambiguous_best<'a>(candidates: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    match candidates {
        [only] => Some(*only),
        [best, second, ..] if best.nearness() < second.nearness() => Some(*best),
        _ => None,
    }
}

/// Returns the case-insensitive edit distance of two names: insertions, deletions, substitutions and
/// transpositions.
pub fn edit_distance(a: &str, b: &str) -> usize {
    strsim::damerau_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

/// Returns whether two names differ only in case and separators.
pub(crate) fn same_ignoring_style(a: &str, b: &str) -> bool {
    normalize(a) == normalize(b)
}

/// Removes separators and converts to lower case.
fn normalize(name: &str) -> String {
    let is_separator = |c: &char| matches!(c, '_' | '-' | ' ');
    if name.is_ascii() {
        // Avoids the lookup in the Unicode case tables.
        let letters = name.chars().filter(|c| !is_separator(c));
        return letters.map(|c| c.to_ascii_lowercase()).collect();
    }
    name.chars().filter(|c| !is_separator(c)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest, unambiguous_best};

    fn names(name: &str, known: &[&'static str]) -> Vec<&'static str> {
        nearest(name, known.iter().copied(), 3).into_iter().map(|c| c.name).collect()
    }

    #[test]
    fn edit_distance_of_equal_names_is_zero() {
        assert_eq!(edit_distance("entity", "entity"), 0);
    }

    #[test]
    fn edit_distance_counts_insertions_and_deletions() {
        assert_eq!(edit_distance("entity", "entityy"), 1);
        assert_eq!(edit_distance("entty", "entity"), 1);
    }

    #[test]
    fn edit_distance_ignores_case() {
        assert_eq!(edit_distance("Entity", "ENTITY"), 0);
    }

    #[test]
    fn edit_distance_counts_a_transposition_once() {
        assert_eq!(edit_distance("nmae", "name"), 1);
    }

    #[test]
    fn suggestions_are_within_the_maximum_distance() {
        assert_eq!(names("entiy", &["entity", "locale", "forms"]), ["entity"]);
    }

    #[test]
    fn names_that_differ_in_case_and_separators_rank_before_misspellings() {
        assert_eq!(names("filePath", &["file_pth", "file_path"]), ["file_path", "file_pth"]);
        assert_eq!(names("DRYRUN", &["dry_run", "dryRun"]).first(), Some(&"dryRun"));
    }

    #[test]
    fn suggestions_differ_in_at_most_half_of_the_name() {
        assert_eq!(names("ab", &["xy"]), [""; 0]);
        assert_eq!(names("pth", &["path", "pin"]), ["path"]);
        assert_eq!(names("q", &["query"]), [""; 0]);
    }

    #[test]
    fn at_most_three_names_are_suggested_and_never_the_name_itself() {
        let found = names("field1", &["field1", "field2", "field3", "field4", "field5"]);
        assert_eq!(found, ["field2", "field3", "field4"]);
    }

    #[test]
    fn equally_near_names_are_ambiguous() {
        let both = nearest("fieldx", ["field1", "field2"], 3);
        assert_eq!(unambiguous_best(&both), None);
        let candidate = nearest("start_dat", ["start_date", "start_day1"], 3);
        assert_eq!(unambiguous_best(&candidate).map(|c| c.name), Some("start_date"));
    }

    #[test]
    fn equally_near_names_are_ranked_by_their_first_letter() {
        assert_eq!(names("dsc", &["asc", "desc"]), ["desc", "asc"]);
    }

    #[test]
    fn very_long_names_get_no_suggestions() {
        let long = "x".repeat(100_000);
        assert!(nearest(&long, ["y"], 3).is_empty());
    }
}
