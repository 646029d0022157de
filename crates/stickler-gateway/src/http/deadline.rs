//! Until when requests to an HTTP server may wait for their answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stickler::Code;
use stickler_protocol::cancellation;
use stickler_protocol::envelope::{Address, RequestId};
use tokio::time::Instant;

use super::conversation::Conversation;
use super::relay::Exchange;

/// Requests that wait, and for how long they may.
pub(super) struct Deadline {
    pub(super) ids: Vec<RequestId>,
    moment: Option<(Instant, Duration)>,
    pub(super) is_modern: bool,
}

impl Deadline {
    /// For the requests of a message that is sent now.
    pub(super) fn of(exchange: &Exchange<'_>, message: &[u8], ids: &[RequestId]) -> Self {
        // A subscription lasts until somebody ends it.
        let lasts = || Address::of(message).has_method(message, "subscriptions/listen");
        let longest = exchange.proxy.timeout.filter(|_| !ids.is_empty() && !lasts());
        let moment = longest.and_then(|one| Some((Instant::now().checked_add(one)?, one)));
        Self { ids: ids.to_vec(), moment, is_modern: exchange.is_modern }
    }

    /// For what answers nobody.
    pub(super) fn none() -> Self {
        Self { ids: Vec::new(), moment: None, is_modern: false }
    }

    /// Comes back when it is too late; never, if there is no limit or nobody waits any more.
    pub(super) async fn passed(&self) {
        match self.moment {
            Some((moment, _)) if !self.ids.is_empty() => tokio::time::sleep_until(moment).await,
            _ => std::future::pending().await,
        }
    }

    /// The errors for those who waited. A server that has no streams to be closed is told.
    pub(super) fn end(&self, conversation: &Arc<Conversation>) -> Vec<Bytes> {
        let seconds = self.moment.map_or(0.0, |(_, longest)| longest.as_secs_f64());
        let reason = format!("the server gave no answer within {seconds} s");
        let give_up = |id| Some((id, conversation.give_up_on(id, Code::Timeout, &reason)?));
        let overdue: Vec<(&RequestId, Bytes)> = self.ids.iter().filter_map(give_up).collect();
        if !self.is_modern {
            let notices = overdue.iter().map(|(id, _)| cancellation(id, &reason).into());
            conversation.send(notices.collect());
        }
        overdue.into_iter().map(|(_, error)| error).collect()
    }

    /// The answers may still come by another way. When it is too late for that, those that have
    /// not come are given up.
    pub(super) fn leave_open(self, conversation: &Arc<Conversation>) {
        if self.moment.is_none() || self.ids.is_empty() {
            return;
        }
        let conversation = Arc::downgrade(conversation);
        tokio::spawn(async move {
            self.passed().await;
            if let Some(conversation) = conversation.upgrade() {
                self.end(&conversation);
            }
        });
    }
}
