//! Request timeouts of a driver: one task per earliest deadline.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::driver::{Driver, Outgoing};

impl Driver {
    /// Schedules the connection's timeout unless an earlier one is already scheduled.
    pub(crate) fn schedule_timeout(self: &Arc<Self>, deadline: Option<Duration>) {
        let Some(deadline) = deadline else { return };
        {
            let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
            if timer.is_some_and(|timer| timer <= deadline) {
                return;
            }
            *timer = Some(deadline);
        }
        let driver = Arc::downgrade(self);
        let due = self.started + deadline;
        tokio::spawn(async move {
            tokio::time::sleep_until(due).await;
            if let Some(driver) = driver.upgrade() {
                driver.fire_timeout(deadline).await;
            }
        });
    }

    async fn fire_timeout(self: &Arc<Self>, fired: Duration) {
        {
            let mut scheduled = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
            // An earlier deadline may have been scheduled since; keep that one.
            scheduled.take_if(|scheduled| *scheduled == fired);
        }
        let outgoing =
            self.handle(None, |connection, now| Outgoing::copied(connection.handle_timeout(now)));
        self.dispatch(outgoing).await;
        self.flush();
    }
}
