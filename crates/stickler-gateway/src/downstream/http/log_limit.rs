//! Limits the rate of log lines that clients can cause without a valid request.
//!
//! Contract: at most [`MAX_LINES`] lines per [`PERIOD`] are logged for each kind. The next line that is logged says how many
//! were left out. Nothing is allocated, whatever the number of clients.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Maximum number of lines per period.
const MAX_LINES: u32 = 20;

/// The period that the limit applies to.
const PERIOD: Duration = Duration::from_secs(10);

/// The log lines of one kind.
#[derive(Debug, Default)]
pub(crate) struct LogLimit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    began: Option<Instant>,
    lines: u32,
    omitted: u64,
}

impl LogLimit {
    /// Returns the number of omitted lines if a line may be logged now; `None` otherwise.
    pub(crate) fn admit(&self) -> Option<u64> {
        self.admit_at(Instant::now())
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.began.is_none_or(|began| now.saturating_duration_since(began) >= PERIOD) {
            state.began = Some(now);
            state.lines = 0;
        }
        if state.lines >= MAX_LINES {
            state.omitted += 1;
            return None;
        }
        state.lines += 1;
        Some(std::mem::take(&mut state.omitted))
    }
}

/// Returns the end of a log line that follows omitted ones.
pub(crate) fn omitted(lines: u64) -> String {
    if lines == 0 { String::new() } else { format!(" ({lines} similar lines were left out)") }
}

#[cfg(test)]
mod tests {
    use super::{LogLimit, MAX_LINES, PERIOD, omitted};
    use tokio::time::Instant;

    #[test]
    fn lines_beyond_the_limit_are_counted() {
        let limit = LogLimit::default();
        let now = Instant::now();
        for _ in 0..MAX_LINES {
            assert_eq!(limit.admit_at(now), Some(0));
        }
        for _ in 0..7 {
            assert_eq!(limit.admit_at(now), None);
        }
        assert_eq!(limit.admit_at(now + PERIOD), Some(7));
        assert_eq!(limit.admit_at(now + PERIOD), Some(0));
        assert_eq!(
            (omitted(0), omitted(7)),
            (String::new(), " (7 similar lines were left out)".into())
        );
    }
}
