//! When a server that has ended may be started again.

use std::time::Duration;

use crate::restart::{Restart, RestartWhen};

/// A server that ran for this long was well; what comes now is a new failure.
const STEADY: Duration = Duration::from_secs(60);

/// No pause is longer.
const LONGEST: Duration = Duration::from_secs(60);

/// The failures in a row of one server.
#[derive(Debug)]
pub struct Backoff {
    restart: Restart,
    failures: u32,
}

impl Backoff {
    /// For a server that has not failed yet.
    pub fn new(restart: Restart) -> Self {
        Self { restart, failures: 0 }
    }

    /// The server has failed after it ran for so long: the pause before it is started again.
    /// `None` when it is not.
    pub fn next(&mut self, ran_for: Duration) -> Option<Duration> {
        if ran_for >= STEADY {
            self.failures = 0;
        }
        if self.restart.when == RestartWhen::Never || self.failures >= self.restart.limit {
            return None;
        }
        let factor = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        self.failures += 1;
        Some(self.restart.pause.saturating_mul(factor).min(LONGEST))
    }

    /// Whether servers are started again, but not for ever.
    pub fn is_limited(&self) -> bool {
        self.restart.when != RestartWhen::Never
    }

    /// How many failures there have been in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;
    use crate::restart::{Restart, RestartWhen};
    use std::time::Duration;

    #[test]
    fn pauses_grow_up_to_a_limit_and_begin_anew_after_a_good_time() {
        let second = Duration::from_secs(1);
        let restart = Restart { when: RestartWhen::OnFailure, pause: second, limit: 3 };
        let mut backoff = Backoff::new(restart);
        let pauses: Vec<_> = (0..4).map(|_| backoff.next(second)).collect();
        assert_eq!(pauses, [Some(second), Some(2 * second), Some(4 * second), None]);
        assert_eq!(backoff.next(60 * second), Some(second));
        let many = Restart { limit: 100, ..restart };
        let mut backoff = Backoff::new(many);
        assert_eq!((0..50).filter_map(|_| backoff.next(second)).max(), Some(60 * second));
        assert_eq!(Backoff::new(Restart::default()).next(second), None);
    }
}
