//! Limits the number of log lines of one kind per period and counts the rest.
//!
//! A kind is a callsite, a server and a rule. Within a window of `WINDOW`, the first lines of a kind are logged
//! and the others are counted. At the end of the window, a summary states their number and the message of
//! the first line. Time is a parameter.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tracing::Level;

use super::SERVER_STDERR;
use super::record::{Fields, Value};

/// Period in which lines of one kind are counted.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);

/// Maximum number of kinds. There are few, because all parts of a kind come from the code and the
/// configuration.
const MAX_KINDS: usize = 4096;

/// The open windows by kind.
#[derive(Debug, Default)]
pub(crate) struct RateLimit {
    windows: HashMap<u64, Window>,
}

#[derive(Debug)]
struct Window {
    began: Instant,
    lines: u32,
    suppressed: u64,
    sample: Sample,
}

/// The line that a summary quotes.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) level: Level,
    pub(crate) target: &'static str,
    pub(crate) fields: Fields,
}

/// Decision about a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Pass,
    /// Not logged; `is_first` for the first suppressed line of the window.
    Suppress {
        is_first: bool,
    },
    /// The kind has no open window; the caller must call `open`.
    New,
}

impl RateLimit {
    /// Counts a line.
    pub(crate) fn admit(&mut self, kind: u64, limit: u32, now: Instant) -> Admission {
        match self.windows.get_mut(&kind) {
            Some(window) if now.duration_since(window.began) < WINDOW => {
                if window.lines < limit {
                    window.lines += 1;
                    return Admission::Pass;
                }
                window.suppressed += 1;
                Admission::Suppress { is_first: window.suppressed == 1 }
            }
            _ => Admission::New,
        }
    }

    /// Opens a window with its first line; returns the summary of the previous window.
    pub(crate) fn open(&mut self, kind: u64, sample: Sample, now: Instant) -> Option<Sample> {
        if self.windows.len() >= MAX_KINDS {
            self.windows.retain(|_, window| window.suppressed > 0);
        }
        let window = Window { began: now, lines: 1, suppressed: 0, sample };
        self.windows.insert(kind, window).and_then(Window::summary)
    }

    /// Closes the windows that have ended and returns their summaries.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Sample> {
        let ended = |_: &u64, window: &mut Window| now.duration_since(window.began) >= WINDOW;
        self.windows.extract_if(ended).filter_map(|(_, window)| window.summary()).collect()
    }

    /// Closes all windows and returns their summaries.
    pub(crate) fn finish(&mut self) -> Vec<Sample> {
        self.windows.drain().filter_map(|(_, window)| window.summary()).collect()
    }

    /// Returns the time until the next window with a summary ends.
    pub(crate) fn next_expiry(&self, now: Instant) -> Option<Duration> {
        let pending = self.windows.values().filter(|window| window.suppressed > 0);
        pending.map(|window| (window.began + WINDOW).saturating_duration_since(now)).min()
    }
}

impl Window {
    fn summary(self) -> Option<Sample> {
        let Self { suppressed, sample, .. } = self;
        if suppressed == 0 {
            return None;
        }
        let lines = if suppressed == 1 { "line" } else { "lines" };
        let message = sample.fields.message.as_ref().map_or("", |message| &message.text);
        let begin: String = message.chars().take(200).collect();
        let cut = if begin.len() < message.len() { "…" } else { "" };
        let source = if sample.target == SERVER_STDERR { "stderr: " } else { "" };
        let text = format!("suppressed {suppressed} similar {lines}: {source}{begin}{cut}");
        let mut fields = Fields::with_message(&text);
        for name in ["server", "rule"] {
            if let Some(value) = sample.fields.get(name) {
                fields.set(name, Value::clone(value));
            }
        }
        fields.set_number("suppressed", suppressed);
        // The summary is a line of the gateway, whatever the source of the suppressed lines.
        Some(Sample { target: "stickler::logging", fields, ..sample })
    }
}

#[cfg(test)]
mod tests {
    use super::{Admission, RateLimit, Sample, WINDOW};
    use crate::logging::record::Fields;
    use std::time::Instant;
    use tracing::Level;

    fn sample(text: &str) -> Sample {
        let fields = Fields::with_message(text);
        Sample { level: Level::WARN, target: "t", fields }
    }

    fn message(summary: &Sample) -> &str {
        &summary.fields.message.as_ref().unwrap().text
    }

    #[test]
    fn lines_beyond_the_limit_are_counted_and_summarised() {
        let (mut limit, now) = (RateLimit::default(), Instant::now());
        assert_eq!(limit.admit(1, 2, now), Admission::New);
        assert!(limit.open(1, sample("bad call"), now).is_none());
        assert_eq!(limit.admit(1, 2, now), Admission::Pass);
        assert_eq!(limit.admit(1, 2, now), Admission::Suppress { is_first: true });
        assert_eq!(limit.admit(1, 2, now), Admission::Suppress { is_first: false });
        assert_eq!(limit.admit(2, 2, now), Admission::New, "another kind has another window");
        assert_eq!(limit.next_expiry(now), Some(WINDOW));
        assert!(limit.expire(now).is_empty());
        let later = now + WINDOW;
        let summaries = limit.expire(later);
        assert_eq!(summaries.len(), 1);
        assert_eq!(message(&summaries[0]), "suppressed 2 similar lines: bad call");
        assert_eq!(summaries[0].fields.text("suppressed"), Some("2"));
        assert_eq!(limit.admit(1, 2, later), Admission::New);
        assert!(limit.finish().is_empty());
    }

    #[test]
    fn new_window_returns_the_summary_of_the_previous_one() {
        let (mut limit, now) = (RateLimit::default(), Instant::now());
        assert!(limit.open(1, sample("a"), now).is_none());
        assert_eq!(limit.admit(1, 1, now), Admission::Suppress { is_first: true });
        let summary = limit.open(1, sample("b"), now + WINDOW).unwrap();
        assert_eq!(message(&summary), "suppressed 1 similar line: a");
    }
}
