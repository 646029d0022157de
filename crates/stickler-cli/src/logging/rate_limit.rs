//! Limits how many lines of one kind are logged in a period, and counts the rest.
//!
//! A kind is a place in the code, a server and a rule. Within a window of `WINDOW` the first lines of a
//! kind pass; the others are counted. When the window has ended, a summary states their number and
//! the message of the first line of the window. Time is a parameter.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tracing::Level;

use super::SERVER_STDERR;
use super::record::{Fields, Value};

/// The period in which lines of one kind are counted.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);

/// Kinds that are known at once; they are few, because all parts of a kind come from the code and the
/// configuration.
const KINDS: usize = 4096;

/// What is counted of the kinds of lines.
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

/// What a summary says of the lines that it stands for.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) level: Level,
    pub(crate) target: &'static str,
    pub(crate) fields: Fields,
}

/// What happens to a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Pass,
    /// Not logged; `is_first` for the first of its window.
    Suppress {
        is_first: bool,
    },
    /// Of a kind that is not known in this window: `open` comes next.
    New,
}

impl RateLimit {
    /// Counts a line of a kind.
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

    /// Begins a window with its first line; returns the summary of the one before.
    pub(crate) fn open(&mut self, kind: u64, sample: Sample, now: Instant) -> Option<Sample> {
        if self.windows.len() >= KINDS {
            self.windows.retain(|_, window| window.suppressed > 0);
        }
        let window = Window { began: now, lines: 1, suppressed: 0, sample };
        self.windows.insert(kind, window).and_then(Window::summary)
    }

    /// The summaries of windows that have ended.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Sample> {
        let ended = |_: &u64, window: &mut Window| now.duration_since(window.began) >= WINDOW;
        self.windows.extract_if(ended).filter_map(|(_, window)| window.summary()).collect()
    }

    /// The summaries of all windows.
    pub(crate) fn finish(&mut self) -> Vec<Sample> {
        self.windows.drain().filter_map(|(_, window)| window.summary()).collect()
    }

    /// How long until a window ends of which there is a summary.
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
        // It is a line of ours, whoever wrote those that it stands for.
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
        assert_eq!(limit.admit(2, 2, now), Admission::New, "another kind has its own window");
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
    fn a_new_window_returns_the_summary_of_the_one_before() {
        let (mut limit, now) = (RateLimit::default(), Instant::now());
        assert!(limit.open(1, sample("a"), now).is_none());
        assert_eq!(limit.admit(1, 1, now), Admission::Suppress { is_first: true });
        let summary = limit.open(1, sample("b"), now + WINDOW).unwrap();
        assert_eq!(message(&summary), "suppressed 1 similar line: a");
    }
}
