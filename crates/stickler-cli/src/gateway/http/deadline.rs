//! Until when requests to an HTTP server may wait for their answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stickler::envelope::{Address, RequestId};
use stickler::{Code, cancellation};
use tokio::time::Instant;

use super::conversation::Conversation;
use super::relay::Exchange;

/// Requests that wait, and for how long they may.
pub(super) struct Deadline {
    pub(super) ids: Vec<RequestId>,
    moment: Option<(Instant, Duration)>,
    is_modern: bool,
}

impl Deadline {
    /// For the requests of a message that is sent now.
    pub(super) fn of(exchange: &Exchange<'_>, message: &[u8], ids: &[RequestId]) -> Self {
        let method = Address::of(message).method.and_then(|span| message.get(span));
        // A subscription lasts until somebody ends it.
        let lasts = method == Some(b"subscriptions/listen");
        let longest = exchange.proxy.timeout.filter(|_| !lasts && !ids.is_empty());
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
        let give_up = |id| conversation.give_up_on(id, Code::Timeout, &reason);
        let errors: Vec<Bytes> = self.ids.iter().filter_map(give_up).collect();
        if !self.is_modern {
            let notices = self.ids.iter().map(|id| cancellation(id, &reason).into());
            conversation.send(notices.collect());
        }
        errors
    }
}
