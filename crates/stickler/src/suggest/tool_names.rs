//! Suggestions for the name of a tool that the server does not list.
//!
//! A name can resemble a listed one by form (case, separators, typos), by its last segment under a prefix
//! (`entity_search` for `mcp_srv_entity_search`, `server:tool`, `server__tool`), or by meaning (words, synonyms and the
//! tool's description).
//!
//! Contract: [`resembling`] uses form and segment only; whether an unlisted name is rejected depends on it, so that a
//! word in a description never causes a rejection. Meaning only adds suggestions behind them, where
//! form and segment leave doubt.
//! The work is bounded for any number and length of names.

use super::words::{Word, Words};
use super::{Candidate, ComparisonBudget, MAX_NAME_BYTES, MAX_SUGGESTIONS, nearest_of, normalize};

/// Separators that always end a prefix.
const STRONG_SEPARATORS: [&str; 4] = ["__", ":", "/", "."];

/// The rank of a segment match: behind names that differ in case and separators only, before typos.
const SEGMENT_RANK: usize = usize::MAX / 2;

/// Maximum number of tools whose meaning is compared.
const MAX_COMPARED_TOOLS: usize = 512;

/// Maximum number of bytes of a description that are read.
const MAX_DESCRIPTION_BYTES: usize = 200;

/// Minimum score of a suggestion by meaning: half of the words of both names, or all of the called name in the
/// description.
const MIN_SCORE: f64 = 0.5;

/// The weights of a word of the called name that the tool has as a synonym, and that only its description has.
const SYNONYM_WEIGHT: f64 = 0.85;
const DESCRIPTION_WEIGHT: f64 = 0.8;

/// The shares of the two names in a score: how much of the called name the tool covers, and the reverse.
const CALLED_SHARE: f64 = 0.65;
const LISTED_SHARE: f64 = 0.35;

/// A listed tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed<'t> {
    pub(crate) name: &'t str,
    pub(crate) description: Option<&'t str>,
}

/// Returns the names that resemble an unlisted one by form or segment, best first.
pub(crate) fn resembling<'t>(
    name: &str,
    known: &[&'t str],
    max_distance: usize,
    budget: &ComparisonBudget,
) -> Vec<Candidate<'t>> {
    if name.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let mut found = nearest_of(name, known, |_| true, max_distance, budget);
    let called = normalize_segments(name);
    let is_segment = |listed: &&&str| **listed != name && shares_last_segment(&called, listed);
    found.extend(known.iter().filter(is_segment).map(|name| Candidate {
        name,
        distance: 0,
        exact_distance: SEGMENT_RANK,
    }));
    if found.is_empty() {
        found = misspelt_segments(name, known, max_distance, budget);
    }
    found.sort_by_key(Candidate::nearness);
    let mut distinct: Vec<Candidate<'t>> = Vec::new();
    for candidate in found {
        if !distinct.iter().any(|known| known.name == candidate.name) {
            distinct.push(candidate);
        }
    }
    distinct.truncate(MAX_SUGGESTIONS);
    distinct
}

/// Returns the tools that may have been meant, best first: by form and segment, then by meaning.
pub(crate) fn suggestions<'t>(
    name: &str,
    tools: &[Listed<'t>],
    max_distance: usize,
    budget: &ComparisonBudget,
) -> Vec<&'t str> {
    let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    let by_form = resembling(name, &known, max_distance, budget);
    let mut names: Vec<&str> = by_form.iter().map(|candidate| candidate.name).collect();
    // A single typo, another style or a segment leave no doubt.
    if by_form.first().is_some_and(|best| best.distance <= 1) {
        return names;
    }
    for related in by_meaning(name, tools) {
        if !names.contains(&related) {
            names.push(related);
        }
    }
    names.truncate(MAX_SUGGESTIONS);
    names
}

/// Compares the last segments of names with a prefix by edit distance.
fn misspelt_segments<'t>(
    name: &str,
    known: &[&'t str],
    max_distance: usize,
    budget: &ComparisonBudget,
) -> Vec<Candidate<'t>> {
    let segment = last_segment(name);
    let segments: Vec<&str> = known.iter().map(|listed| last_segment(listed)).collect();
    if segment.len() == name.len() && segments.iter().zip(known).all(|(a, b)| a.len() == b.len()) {
        return Vec::new();
    }
    let near = nearest_of(segment, &segments, |_| true, max_distance, budget);
    let whole = |candidate: Candidate<'t>| {
        let of_segment = known.iter().filter(move |listed| last_segment(listed) == candidate.name);
        of_segment.map(move |name| Candidate { name, ..candidate })
    };
    near.into_iter().flat_map(whole).collect()
}

/// Returns the part of a name after its last strong separator.
fn last_segment(name: &str) -> &str {
    let starts = STRONG_SEPARATORS
        .iter()
        .filter_map(|separator| Some(name.rfind(separator)? + separator.len()))
        .filter(|start| *start < name.len());
    name.get(starts.max().unwrap_or(0)..).unwrap_or(name)
}

/// A name with its separators unified: strong ones are `:`, others `_`. Letters are in lower case.
fn normalize_segments(name: &str) -> String {
    let unified = STRONG_SEPARATORS
        .iter()
        .fold(name.to_lowercase(), |name, separator| name.replace(separator, ":"));
    unified.replace(['-', ' '], "_")
}

/// Returns whether one name is the last segment of the other.
fn shares_last_segment(called: &str, listed: &str) -> bool {
    if listed.len() > MAX_NAME_BYTES {
        return false;
    }
    let listed = normalize_segments(listed);
    let last = |name: &str| name.rsplit(':').next().map(normalize).unwrap_or_default();
    let has_prefix = called.contains(':') || listed.contains(':');
    has_prefix && !last(called).is_empty() && last(called) == last(&listed)
        || is_suffix(called, &listed)
        || is_suffix(&listed, called)
}

/// Returns whether a name is another one under a prefix with weak separators. A single word is a segment only
/// after a prefix that names the protocol: `file` is not `read_file`.
fn is_suffix(name: &str, prefixed: &str) -> bool {
    let Some(prefix) = prefixed.strip_suffix(name).and_then(|rest| rest.strip_suffix(['_', ':']))
    else {
        return false;
    };
    !name.is_empty() && !prefix.is_empty() && (name.contains('_') || prefix.starts_with("mcp"))
}

/// Returns the tools that mean the same, best first.
fn by_meaning<'t>(name: &str, tools: &[Listed<'t>]) -> Vec<&'t str> {
    let called = Words::of(last_segment(name));
    if called.is_empty() {
        return Vec::new();
    }
    let compared = tools.iter().take(MAX_COMPARED_TOOLS).filter(|tool| tool.name != name);
    let scored = compared.map(|tool| (tool.name, score(&called, tool)));
    let mut related: Vec<(&str, f64)> = scored.filter(|(_, score)| *score >= MIN_SCORE).collect();
    related.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    related.into_iter().take(MAX_SUGGESTIONS).map(|(name, _)| name).collect()
}

/// Returns how well a tool fits the words of the called name, from 0 to 1.
fn score(called: &Words, tool: &Listed<'_>) -> f64 {
    let listed = Words::undivided(last_segment(tool.name));
    let is_opposite =
        |word: &Word| listed.iter().any(|own| word.meaning.is_opposite_of(own.meaning));
    if listed.is_empty() || called.iter().any(is_opposite) {
        return 0.0;
    }
    let is_related = |a: &Word, b: &Word| a.meaning.is_synonym_of(b.meaning);
    let is_meaningful = |word: &&Word| !word.meaning.is_generic;
    let of_called = called.iter().filter(is_meaningful).map(|word| match () {
        () if listed.contains(&word.text) => 1.0,
        () if listed.iter().any(|own| is_related(word, own)) => SYNONYM_WEIGHT,
        () if describes(tool.description, &word.text) => DESCRIPTION_WEIGHT,
        () => 0.0,
    });
    let of_listed = listed.iter().filter(is_meaningful).map(|own| match () {
        () if called.contains(&own.text) => 1.0,
        () if called.iter().any(|word| is_related(word, own)) => SYNONYM_WEIGHT,
        () => 0.0,
    });
    CALLED_SHARE * mean(of_called) + LISTED_SHARE * mean(of_listed)
}

/// Returns whether a description contains a word, also in its plural.
fn describes(description: Option<&str>, word: &str) -> bool {
    let description = description.unwrap_or_default();
    let end = (0..=MAX_DESCRIPTION_BYTES.min(description.len()))
        .rev()
        .find(|end| description.is_char_boundary(*end));
    let description = description.get(..end.unwrap_or(0)).unwrap_or_default();
    let is_word = |own: &str| {
        own.eq_ignore_ascii_case(word)
            || own.strip_suffix('s').is_some_and(|singular| singular.eq_ignore_ascii_case(word))
    };
    description.split(|c: char| !c.is_alphanumeric()).any(is_word)
}

/// Returns the mean of some weights.
fn mean(weights: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = weights.fold((0.0, 0.0), |(sum, count), weight| (sum + weight, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{ComparisonBudget, Listed, resembling, suggestions};
    use crate::suggest::unambiguous_best;

    fn by_form(name: &str, known: &[&'static str]) -> Vec<&'static str> {
        let found = resembling(name, known, 3, &ComparisonBudget::unlimited());
        found.into_iter().map(|candidate| candidate.name).collect()
    }

    fn all(name: &str, tools: &[(&'static str, &'static str)]) -> Vec<&'static str> {
        let tools: Vec<Listed<'_>> = tools
            .iter()
            .map(|(name, description)| Listed { name, description: Some(description) })
            .collect();
        suggestions(name, &tools, 3, &ComparisonBudget::unlimited())
    }

    #[test]
    fn last_segment_under_a_prefix_resembles() {
        for (called, listed) in [
            ("entity_search", "mcp_srv_entity_search"),
            ("mcp_srv_entity_search", "entity_search"),
            ("server:read", "read"),
            ("read", "files__read"),
            ("files__read", "read"),
            ("mcp__files__read_file", "read_file"),
            ("a/read-file", "read_file"),
            ("mcp_read", "read"),
            ("files.readFile", "read_file"),
            ("srv__entity_serch", "entity_search"),
        ] {
            assert_eq!(by_form(called, &[listed, "unrelated_thing"]), [listed], "{called}");
        }
    }

    #[test]
    fn single_word_under_a_weak_prefix_does_not_resemble() {
        assert_eq!(by_form("issues", &["list_all_issues"]), [""; 0]);
        assert_eq!(by_form("get_weather_forecast", &["forecast"]), [""; 0]);
    }

    #[test]
    fn name_in_another_style_ranks_before_a_segment_and_a_typo() {
        let known = ["srv__read_file", "readFile", "read_fil"];
        assert_eq!(by_form("read_file", &known), ["readFile", "srv__read_file", "read_fil"]);
    }

    #[test]
    fn segment_of_several_tools_is_ambiguous() {
        let known = ["a__search", "other__search"];
        let found = resembling("search", &known, 3, &ComparisonBudget::unlimited());
        assert_eq!(found.len(), 2);
        assert_eq!(unambiguous_best(&found), None);
    }

    #[test]
    fn meaning_adds_suggestions_but_no_resemblance() {
        let tools = [
            ("entity_search", "Finds entities by name."),
            ("delete_entity", "Deletes an entity."),
            ("publish", "Sends an email to a list of recipients."),
        ];
        assert_eq!(all("find_entities", &tools).first(), Some(&"entity_search"));
        assert_eq!(all("send_email", &tools), ["publish"]);
        let names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
        for called in ["find_entities", "send_email"] {
            assert!(resembling(called, &names, 3, &ComparisonBudget::unlimited()).is_empty());
        }
    }

    #[test]
    fn opposites_are_not_suggested_by_meaning() {
        let tools = [("delete_customer_record", ""), ("create_customer_record", "")];
        assert_eq!(all("add_customer_record_entry", &tools), ["create_customer_record"]);
    }

    #[test]
    fn hostile_names_are_bounded() {
        let long = format!("{}:x", "a_".repeat(50_000));
        assert_eq!(by_form(&long, &["x"]), [""; 0]);
        assert_eq!(all(&"é:".repeat(500), &[("x", "")]), [""; 0]);
        assert_eq!(by_form(":", &["x", "_"]), [""; 0]);
    }
}
