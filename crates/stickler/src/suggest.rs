//! Did you mean: the nearest of the names that would have been right.
//!
//! Contract: what one call makes to be compared is bounded by its [`Scoring`], however many names there
//! are and however long they are.

mod scoring;

pub(crate) use scoring::Scoring;
use scoring::{LONGEST, distance_within};

/// Names longer than this are not looked at: people and models do not write them from memory.
const LONGEST_TYPED: usize = 1024;

/// How many suggestions help; more are a list.
const MOST: usize = 3;

/// A name that may have been meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a str,
    /// Edits apart, case and separators aside; 0 when there is no other difference.
    pub(crate) distance: usize,
    /// Edits apart, to the letter.
    surface: usize,
}

/// The nearest names, best first: first those that differ only in case and separators, then those
/// at most `max_distance` edits away (and no more than half of the name's length).
pub(crate) fn nearest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    max_distance: usize,
) -> Vec<Candidate<'a>> {
    let known: Vec<&str> = known.into_iter().collect();
    nearest_of(name, &known, |_| true, max_distance, &Scoring::unlimited())
}

/// The same for names that peers have sent: of those that may be taken, as far as they may be
/// compared. A name that cannot be compared with all of them has no suggestions.
pub(crate) fn nearest_of<'a>(
    name: &str,
    known: &[&'a str],
    may_be_taken: impl Fn(&str) -> bool,
    max_distance: usize,
    scoring: &Scoring,
) -> Vec<Candidate<'a>> {
    if name.len() > LONGEST_TYPED || !scoring.take_pairs(known.len()) {
        return Vec::new();
    }
    let wanted = plain(name);
    let reach = max_distance.min(wanted.chars().count() / 2);
    let mut near: Vec<(&'a str, usize)> = known
        .iter()
        .copied()
        .filter(|candidate| *candidate != name && scoring.take_cells(candidate.len() / 8))
        .filter_map(|candidate| {
            let distance = distance_within(&wanted, &plain(candidate), reach, scoring)?;
            may_be_taken(candidate).then_some((candidate, distance))
        })
        .collect();
    // Only what can be among the first is compared to the letter.
    near.sort_by_key(|(_, distance)| *distance);
    let furthest = near.get(MOST - 1).map_or(usize::MAX, |(_, distance)| *distance);
    let first = near.into_iter().take_while(|(_, distance)| *distance <= furthest);
    let mut found: Vec<Candidate<'a>> = first
        .map(|(candidate, distance)| {
            let surface = distance_within(name, candidate, LONGEST, scoring).unwrap_or(LONGEST);
            Candidate { name: candidate, distance, surface }
        })
        .collect();
    if scoring.is_spent() {
        return Vec::new();
    }
    // Between equals, the one whose case and separators are nearer; then the one that begins alike,
    // because few people misspell the first letter.
    let begins_alike = |candidate: &str| candidate.chars().next() == name.chars().next();
    found.sort_by_key(|one| (one.distance, one.surface, !begins_alike(one.name)));
    found.truncate(MOST);
    found
}

/// The known names that may have been meant, best first: for whoever reads names that people write.
pub fn nearest_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    nearest(name, known, 3).into_iter().map(|candidate| candidate.name).collect()
}

impl Candidate<'_> {
    fn nearness(&self) -> (usize, usize) {
        (self.distance, self.surface)
    }
}

/// The one candidate that stands out: the only one, or nearer than all others.
pub(crate) fn stands_out<'a>(candidates: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    match candidates {
        [only] => Some(*only),
        [best, second, ..] if best.nearness() < second.nearness() => Some(*best),
        _ => None,
    }
}

/// Edits between two names, case aside: insertions, deletions, replacements, and neighbours
/// swapped.
pub fn edit_distance(a: &str, b: &str) -> usize {
    strsim::damerau_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

/// Whether two names are the same but for case and separators.
pub(crate) fn same_letters(a: &str, b: &str) -> bool {
    plain(a) == plain(b)
}

/// Without case and without what stands between words.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest, stands_out};

    fn names(name: &str, known: &[&'static str]) -> Vec<&'static str> {
        nearest(name, known.iter().copied(), 3).into_iter().map(|c| c.name).collect()
    }

    #[test]
    fn edit_distance_of_equal_names_is_zero() {
        assert_eq!(edit_distance("entity", "entity"), 0);
    }

    #[test]
    fn edit_distance_counts_one_letter_more_or_less() {
        assert_eq!(edit_distance("entity", "entityy"), 1);
        assert_eq!(edit_distance("entty", "entity"), 1);
    }

    #[test]
    fn edit_distance_ignores_case() {
        assert_eq!(edit_distance("Entity", "ENTITY"), 0);
    }

    #[test]
    fn edit_distance_counts_swapped_neighbours_once() {
        assert_eq!(edit_distance("nmae", "name"), 1);
    }

    #[test]
    fn suggestions_are_within_the_distance() {
        assert_eq!(names("entiy", &["entity", "locale", "forms"]), ["entity"]);
    }

    #[test]
    fn case_and_separators_come_before_misspellings() {
        assert_eq!(names("filePath", &["file_pth", "file_path"]), ["file_path", "file_pth"]);
        assert_eq!(names("DRYRUN", &["dry_run", "dryRun"]).first(), Some(&"dryRun"));
    }

    #[test]
    fn never_more_than_half_of_the_name() {
        assert_eq!(names("ab", &["xy"]), [""; 0]);
        assert_eq!(names("pth", &["path", "pin"]), ["path"]);
        assert_eq!(names("q", &["query"]), [""; 0]);
    }

    #[test]
    fn at_most_three_and_never_the_name_itself() {
        let found = names("field1", &["field1", "field2", "field3", "field4", "field5"]);
        assert_eq!(found, ["field2", "field3", "field4"]);
    }

    #[test]
    fn equally_near_names_do_not_stand_out() {
        let both = nearest("fieldx", ["field1", "field2"], 3);
        assert_eq!(stands_out(&both), None);
        let one = nearest("start_dat", ["start_date", "start_day1"], 3);
        assert_eq!(stands_out(&one).map(|c| c.name), Some("start_date"));
    }

    #[test]
    fn between_equals_the_one_that_begins_alike_comes_first() {
        assert_eq!(names("dsc", &["asc", "desc"]), ["desc", "asc"]);
    }

    #[test]
    fn very_long_names_are_left_alone() {
        let long = "x".repeat(100_000);
        assert!(nearest(&long, ["y"], 3).is_empty());
    }
}
