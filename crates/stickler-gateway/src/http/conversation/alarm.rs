//! What is to be seen to when nothing is said.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::{Conversation, Heard};

impl Conversation {
    /// Sees to it that nobody waits for ever.
    pub(super) fn keep_time(self: &Arc<Self>, deadline: Option<Duration>) {
        let Some(deadline) = deadline else { return };
        {
            let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
            if alarm.is_some_and(|alarm| alarm <= deadline) {
                return;
            }
            *alarm = Some(deadline);
        }
        let conversation = Arc::downgrade(self);
        let moment = self.started + deadline;
        tokio::spawn(async move {
            tokio::time::sleep_until(moment).await;
            if let Some(conversation) = conversation.upgrade() {
                conversation.time_out(deadline).await;
            }
        });
    }

    async fn time_out(self: &Arc<Self>, alarm: Duration) {
        {
            let mut set = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
            // An earlier moment may have been set since; then that one is not ours to forget.
            set.take_if(|set| *set == alarm);
        }
        let (heard, next) = {
            let mut gatekeeper = self.gatekeeper();
            let outbox = gatekeeper.timeout(self.started.elapsed());
            let next = gatekeeper.next_deadline();
            drop(gatekeeper);
            self.observe(&outbox.events, None);
            (Heard::copied(&outbox), next)
        };
        self.keep_time(next);
        self.pass(heard).await;
    }
}
