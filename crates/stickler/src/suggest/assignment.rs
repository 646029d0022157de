//! Assigns unknown fields to candidates, at most one to one.
//!
//! Contract: the surest pair is decided first, ties in the order of the fields and of the schema. A pair
//! is chosen only if it is convincing, stands out from the field's other candidates, and no other
//! unknown field claims the same candidate as strongly. All other pairs are only ranked; a candidate that
//! is chosen for one field is not offered for another.

/// The minimum score of a candidate that is listed.
pub(crate) const LISTED: u32 = 200;

/// The minimum score of a candidate that is chosen.
pub(crate) const CHOSEN: u32 = 600;

/// The minimum lead of a chosen candidate over the next one.
const LEAD: u32 = 60;

/// The maximum number of ranked candidates of one field.
const MAX_RANKED: usize = 3;

/// A possible pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Index of the unknown field.
    pub(crate) field: usize,
    /// Index of the candidate.
    pub(crate) candidate: usize,
    pub(crate) score: u32,
    /// If the names are alike in form: the edit distance without and with case and separators.
    pub(crate) form: Option<(usize, usize)>,
    /// Whether the first letters differ; they are rarely misspelt.
    pub(crate) initials_differ: bool,
    /// Whether the candidate is required and missing.
    pub(crate) is_missing: bool,
}

/// The result for one unknown field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Assigned {
    /// The candidates, best first, with their scores.
    pub(crate) ranked: Vec<(usize, u32)>,
    /// Whether the first candidate stands out.
    pub(crate) is_chosen: bool,
}

/// Assigns `fields` unknown fields to candidates.
pub(crate) fn assign(fields: usize, mut pairs: Vec<Pair>) -> Vec<Assigned> {
    pairs.retain(|pair| pair.score >= LISTED);
    pairs.sort_by_key(|pair| {
        let form = pair.form.unwrap_or((usize::MAX, usize::MAX));
        (u32::MAX - pair.score, form, pair.initials_differ, pair.field, pair.candidate)
    });
    let mut assigned = vec![Assigned::default(); fields];
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for pair in &pairs {
        let is_free = |(field, candidate): &(usize, usize)| {
            *field != pair.field && *candidate != pair.candidate
        };
        if taken.iter().all(is_free) {
            taken.push((pair.field, pair.candidate));
        }
    }
    let chosen: Vec<(usize, usize)> = pairs
        .iter()
        .filter(|pair| taken.contains(&(pair.field, pair.candidate)))
        .filter(|pair| stands_out(pair, &pairs, &taken))
        .map(|pair| (pair.field, pair.candidate))
        .collect();
    for (field, result) in assigned.iter_mut().enumerate() {
        let of = |list: &[(usize, usize)], candidate: usize| {
            list.iter().find(|(_, other)| *other == candidate).map(|(owner, _)| *owner)
        };
        let is_possible =
            |pair: &&Pair| of(&chosen, pair.candidate).is_none_or(|owner| owner == field);
        let own = pairs.iter().filter(|pair| pair.field == field);
        let mut ranked: Vec<&Pair> = own.filter(is_possible).collect();
        // Its own candidate first, those of other fields last.
        ranked.sort_by_key(|pair| match of(&taken, pair.candidate) {
            Some(owner) if owner == field => 0,
            None => 1,
            Some(_) => 2,
        });
        result.is_chosen = chosen.iter().any(|(owner, _)| *owner == field);
        let best = ranked.into_iter().take(MAX_RANKED);
        result.ranked = best.map(|pair| (pair.candidate, pair.score)).collect();
    }
    assigned
}

/// Returns whether the pair is convincing and neither of its sides has an equally good partner.
fn stands_out(pair: &Pair, pairs: &[Pair], taken: &[(usize, usize)]) -> bool {
    let rivals =
        |other: &&Pair| match (other.field == pair.field, other.candidate == pair.candidate) {
            (true, false) => !taken.iter().any(|(_, candidate)| *candidate == other.candidate),
            (false, true) => !taken.iter().any(|(field, _)| *field == other.field),
            _ => false,
        };
    pair.score >= CHOSEN && pairs.iter().filter(rivals).all(|other| leads(pair, other))
}

/// Returns whether the pair is clearly better than a rival: by its score, or by its form alone, where
/// any difference counts and a missing field wins among equals.
fn leads(pair: &Pair, other: &Pair) -> bool {
    let by_form = match (pair.form, other.form) {
        (Some(form), Some(others)) => {
            form < others || form == others && pair.is_missing && !other.is_missing
        }
        // The names differ in case and separators only.
        (Some((0, _)), None) => true,
        _ => false,
    };
    pair.score >= other.score + LEAD || by_form && pair.score >= other.score
}

#[cfg(test)]
mod tests {
    use super::{Pair, assign};

    fn pair(field: usize, candidate: usize, score: u32) -> Pair {
        Pair { field, candidate, score, form: None, initials_differ: false, is_missing: false }
    }

    #[test]
    fn surest_pair_is_decided_first() {
        let assigned = assign(2, vec![pair(0, 0, 900), pair(1, 0, 700), pair(1, 1, 650)]);
        assert_eq!(assigned[0].ranked, [(0, 900)]);
        assert_eq!(assigned[1].ranked, [(1, 650)]);
        assert!(assigned[0].is_chosen && assigned[1].is_chosen);
    }

    #[test]
    fn equally_good_candidates_are_listed_and_not_chosen() {
        let assigned = assign(1, vec![pair(0, 0, 800), pair(0, 1, 790)]);
        assert_eq!(assigned[0].ranked, [(0, 800), (1, 790)]);
        assert!(!assigned[0].is_chosen);
    }

    #[test]
    fn candidate_that_two_fields_claim_equally_is_not_chosen() {
        let assigned = assign(2, vec![pair(0, 0, 800), pair(1, 0, 800)]);
        assert!(!assigned[0].is_chosen && !assigned[1].is_chosen);
    }

    #[test]
    fn weak_candidates_are_listed_or_dropped() {
        let assigned = assign(2, vec![pair(0, 0, 400), pair(1, 1, 100)]);
        assert_eq!((assigned[0].ranked.len(), assigned[0].is_chosen), (1, false));
        assert!(assigned[1].ranked.is_empty());
    }
}
