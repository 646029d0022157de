//! Assigns unknown fields to candidates, at most one to one.
//!
//! Contract: the surest pair is decided first, ties in the order of the fields and of the schema. A pair
//! is chosen only if it is convincing, stands out from the field's other candidates, and no other
//! unknown field claims the same candidate as strongly. All other pairs are only ranked.

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
    for (field, result) in assigned.iter_mut().enumerate() {
        let own = taken.iter().find(|(taker, _)| *taker == field).map(|(_, own)| *own);
        let of_others = |candidate: usize| {
            taken.iter().any(|(taker, other)| *other == candidate && *taker != field)
        };
        let mut ranked: Vec<&Pair> = pairs.iter().filter(|pair| pair.field == field).collect();
        ranked.sort_by_key(|pair| (Some(pair.candidate) != own, of_others(pair.candidate)));
        result.is_chosen = ranked
            .first()
            .is_some_and(|first| Some(first.candidate) == own && stands_out(first, &pairs, &taken));
        let best = ranked.into_iter().take(MAX_RANKED);
        result.ranked = best.map(|pair| (pair.candidate, pair.score)).collect();
    }
    assigned
}

/// Returns whether the pair is convincing and neither of its sides has an equally good partner.
fn stands_out(pair: &Pair, pairs: &[Pair], taken: &[(usize, usize)]) -> bool {
    let rivals = |other: &&Pair| {
        let same_field = other.field == pair.field && other.candidate != pair.candidate;
        let same_candidate = other.candidate == pair.candidate && other.field != pair.field;
        let other_side_is_free = if same_field {
            !taken.iter().any(|(_, candidate)| *candidate == other.candidate)
        } else {
            !taken.iter().any(|(field, _)| *field == other.field)
        };
        (same_field || same_candidate) && other_side_is_free
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
        assert_eq!(assigned[1].ranked, [(1, 650), (0, 700)]);
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
