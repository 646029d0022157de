//! Deadlines of requests that are forwarded to an HTTP server.

use std::sync::Arc;
use std::time::Duration;

use stickler::Code;
use stickler_protocol::Header;
use stickler_protocol::envelope::RequestId;
use tokio::time::Instant;

use crate::driver::Driver;
use crate::driver::message::Message;
use crate::upstream::http::relay::Exchange;

/// Forwarded requests and the deadline of their responses.
pub(crate) struct Deadline {
    pub(crate) ids: Vec<RequestId>,
    due: Option<(Instant, Duration)>,
    pub(crate) is_modern: bool,
}

impl Deadline {
    /// Starts the deadline for the requests of a message that is sent now.
    pub(crate) fn of(exchange: &Exchange<'_>, header: &Header, ids: Vec<RequestId>) -> Self {
        // A subscription stays open until the client closes it.
        let is_subscription = header.has_method("subscriptions/listen");
        let limit = exchange.proxy.timeout.filter(|_| !ids.is_empty() && !is_subscription);
        let due = limit.and_then(|one| Some((Instant::now().checked_add(one)?, one)));
        Self { ids, due, is_modern: exchange.is_modern }
    }

    /// Returns a deadline for messages that have no response.
    pub(crate) fn none() -> Self {
        Self { ids: Vec::new(), due: None, is_modern: false }
    }

    /// Moves the deadline forward, because the server sent an answer that matches no request.
    pub(crate) fn answer_within(&mut self, limit: Duration) {
        let due = Instant::now().checked_add(limit).map(|due| (due, limit));
        self.due = match (self.due, due) {
            (Some(earlier), Some(due)) if earlier.0 <= due.0 => Some(earlier),
            (earlier, due) => due.or(earlier),
        };
    }

    /// Completes when the deadline passes; never, without a limit or pending requests.
    pub(crate) async fn elapsed(&self) {
        match self.due {
            Some((due, _)) if !self.ids.is_empty() => tokio::time::sleep_until(due).await,
            _ => std::future::pending().await,
        }
    }

    /// Fails the overdue requests and returns their errors. Sends cancellations to a legacy server; with a
    /// modern server, closing the stream cancels the request.
    pub(crate) fn expire(&self, driver: &Arc<Driver>) -> Vec<Message> {
        let seconds = self.due.map_or(0.0, |(_, limit)| limit.as_secs_f64());
        let reason = format!("the server did not respond within {seconds} s");
        let abandon = |id| Some((id, driver.abandon_request(id, Code::Timeout, &reason)?));
        let overdue: Vec<(&RequestId, Message)> = self.ids.iter().filter_map(abandon).collect();
        if !self.is_modern {
            let cancellations = overdue.iter().map(|(id, _)| Message::cancellation(id, &reason));
            driver.send(cancellations.collect());
        }
        overdue.into_iter().map(|(_, error)| error).collect()
    }

    /// Keeps the deadline running in the background for responses that may arrive on another stream, and
    /// fails the requests that are still pending when it passes.
    pub(crate) fn continue_in_background(self, driver: &Arc<Driver>) {
        if self.due.is_none() || self.ids.is_empty() {
            return;
        }
        let driver = Arc::downgrade(driver);
        tokio::spawn(async move {
            self.elapsed().await;
            if let Some(driver) = driver.upgrade() {
                self.expire(&driver);
            }
        });
    }
}
