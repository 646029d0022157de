//! Exponential backoff between restarts of a failing server.

use std::time::Duration;

use crate::restart::{Restart, RestartWhen};

/// Run time after which the failure count is reset.
const STABLE_RUN_TIME: Duration = Duration::from_secs(60);

/// Maximum delay between two restarts.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Counts the consecutive failures of one server and computes the restart delays.
#[derive(Debug)]
pub struct Backoff {
    restart: Restart,
    failures: u32,
}

impl Backoff {
    /// Creates the state of a server that has not failed yet.
    pub fn new(restart: Restart) -> Self {
        Self { restart, failures: 0 }
    }

    /// Records a failure after a run of `ran_for` and returns the delay before the restart. Returns `None`
    /// if the policy does not allow another restart.
    pub fn next(&mut self, ran_for: Duration) -> Option<Duration> {
        if ran_for >= STABLE_RUN_TIME {
            self.failures = 0;
        }
        if self.restart.when == RestartWhen::Never || self.failures >= self.restart.limit {
            return None;
        }
        let factor = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        self.failures += 1;
        Some(self.restart.pause.saturating_mul(factor).min(MAX_DELAY))
    }

    /// Whether the policy restarts servers at all, so that a `None` delay means the limit was reached.
    pub fn is_limited(&self) -> bool {
        self.restart.when != RestartWhen::Never
    }

    /// Returns the number of consecutive failures.
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
    fn delay_doubles_up_to_a_maximum_and_resets_after_a_stable_run() {
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
