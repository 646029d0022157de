//! What is counted for each tool of a session.

use crate::index::histogram::Histogram;
use crate::index::row::Outcome;
use crate::verdict::Verdict;

/// Maximum number of distinct mistakes kept per tool.
const MAX_MISTAKES: usize = 32;
/// Maximum length of the text of a mistake in characters.
const MAX_MISTAKE_CHARS: usize = 240;

/// Counts of one tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolStats {
    pub(crate) calls: u32,
    pub(crate) rejected: u32,
    pub(crate) repaired: u32,
    pub(crate) errors: u32,
    pub(crate) latency: Histogram,
    /// Results, and the estimated tokens of all of them.
    pub(crate) results: u32,
    pub(crate) result_tokens: u64,
    /// Rule, sentence and count, in the order of their first appearance.
    pub(crate) mistakes: Vec<Mistake>,
}

/// A mistake that callers of a tool make.
#[derive(Debug, Clone)]
pub(crate) struct Mistake {
    pub(crate) rule: String,
    pub(crate) message: String,
    pub(crate) count: u32,
}

impl ToolStats {
    pub(crate) fn add_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Rejected | Outcome::WouldReject => self.rejected += 1,
            Outcome::Repaired => self.repaired += 1,
            Outcome::ServerError => self.errors += 1,
            _ => {}
        }
    }

    pub(crate) fn add_mistakes(&mut self, verdict: &Verdict) {
        for finding in verdict.findings.iter().filter(|finding| finding.severity != "note") {
            self.add_mistake(&finding.rule, &finding.message, 1);
        }
    }

    fn add_mistake(&mut self, rule: &str, message: &str, count: u32) {
        let message: String = message.chars().take(MAX_MISTAKE_CHARS).collect();
        let has_room = self.mistakes.len() < MAX_MISTAKES;
        match self.mistakes.iter_mut().find(|known| known.message == message && known.rule == rule)
        {
            Some(known) => known.count += count,
            None if has_room => {
                self.mistakes.push(Mistake { rule: rule.to_owned(), message, count });
            }
            None => {}
        }
    }

    /// Adds the counts of the same tool in another session.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.rejected += other.rejected;
        self.repaired += other.repaired;
        self.errors += other.errors;
        self.results += other.results;
        self.result_tokens += other.result_tokens;
        self.latency.merge(&other.latency);
        for Mistake { rule, message, count } in &other.mistakes {
            self.add_mistake(rule, message, *count);
        }
    }
}
