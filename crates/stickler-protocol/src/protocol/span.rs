//! The range of revisions in which an element of the protocol exists.

use serde_json::{Map, Value};

use super::Revision;

/// Inclusive range of `since` and `until`; a missing end is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    since: Option<Revision>,
    until: Option<Revision>,
}

/// The annotation keywords.
pub(super) const WORDS: [&str; 2] = ["since", "until"];

impl Span {
    pub(super) fn of(annotated: &Map<String, Value>) -> Self {
        let [since, until] =
            WORDS.map(|word| annotated.get(word).and_then(Value::as_str).and_then(Revision::parse));
        Self { since, until }
    }

    pub(super) fn contains(self, revision: Revision) -> bool {
        self.since.is_none_or(|since| since <= revision)
            && self.until.is_none_or(|until| revision <= until)
    }
}

/// Returns the value of a list entry in a revision: the entry itself, or the member `key` of an annotated entry.
pub(super) fn entry<'e>(entry: &'e Value, key: &str, revision: Revision) -> Option<&'e Value> {
    match entry {
        Value::Object(annotated) => {
            Span::of(annotated).contains(revision).then(|| annotated.get(key)).flatten()
        }
        plain => Some(plain),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Span, entry};
    use crate::protocol::Revision;

    fn revisions(annotated: &serde_json::Value) -> Vec<&'static str> {
        let span = Span::of(annotated.as_object().unwrap());
        let within = Revision::ALL.into_iter().filter(|revision| span.contains(*revision));
        within.map(Revision::as_str).collect()
    }

    #[test]
    fn range_is_inclusive_and_may_be_open() {
        assert_eq!(revisions(&json!({})).len(), 5);
        assert_eq!(revisions(&json!({ "until": "2025-03-26" })), ["2024-11-05", "2025-03-26"]);
        assert_eq!(revisions(&json!({ "since": "2025-11-25" })), ["2025-11-25", "2026-07-28"]);
        let one = json!({ "since": "2025-06-18", "until": "2025-06-18" });
        assert_eq!(revisions(&one), ["2025-06-18"]);
    }

    #[test]
    fn entry_is_plain_or_annotated() {
        let bounded = json!({ "name": "id", "since": "2025-11-25" });
        assert_eq!(entry(&bounded, "name", Revision::V2025_06_18), None);
        assert_eq!(entry(&bounded, "name", Revision::V2025_11_25), Some(&json!("id")));
        assert_eq!(entry(&json!("id"), "name", Revision::V2024_11_05), Some(&json!("id")));
    }
}
