//! Gateway subscriptions to tool list changes of an HTTP server.
//!
//! Each subscription is a POST; its event stream is read until it ends. Its messages update the cached
//! tools and are never forwarded to a client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use stickler_protocol::Purpose;
use stickler_transport::http::{EventStream, Received, Upstream, has_content_type, receive};
use stickler_transport::{Backoff, Restart, RestartWhen};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::driver::message::{Message, Origin};
use crate::driver::{Driver, Link};
use crate::upstream::http::gateway_requests::{headers_for, post};

/// Reconnects a stream that ended, because proxies close idle streams.
const RECONNECT_POLICY: Restart =
    Restart { when: RestartWhen::OnFailure, pause: Duration::from_secs(1), limit: u32::MAX };

/// Maximum number of open subscription streams per server.
const MAX_OPEN_STREAMS: usize = 64;

/// A subscription used within this time is not evicted.
const MIN_IDLE_BEFORE_EVICTION: Duration = Duration::from_secs(60);

/// Maximum number of credentials for which a subscription, open or ended, is remembered.
const MAX_REMEMBERED_CREDENTIALS: usize = 10_000;

/// One subscription stream.
pub(crate) struct ToolSubscription {
    /// Identifies and handles the messages of the subscription.
    pub(crate) driver: Arc<Driver>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) limit: usize,
}

impl ToolSubscription {
    /// Subscribes with the credentials of a client, if the server supports it.
    pub(crate) async fn subscribe(self, context: HeaderMap) {
        let mut unsent = self.driver.subscribe();
        while let Some(message) = unsent.pop() {
            let headers = headers_for(context.clone(), &message.bytes);
            if message.origin == Origin::Request(Purpose::Subscribe) {
                return self.keep_open(headers, message).await;
            }
            for response in post(&self.upstream, headers, message, self.limit).await {
                unsent.extend(self.driver.handle_server_message(&response).to_server);
            }
        }
    }

    /// Keeps the subscription open until the server rejects it.
    pub(crate) async fn keep_open(&self, headers: HeaderMap, message: Message) {
        let mut backoff = Backoff::new(RECONNECT_POLICY);
        loop {
            let began = Instant::now();
            self.open(headers.clone(), &message).await;
            if !self.driver.has_subscription() {
                return;
            }
            let Some(pause) = backoff.next(began.elapsed()) else { return };
            tokio::time::sleep(pause).await;
        }
    }

    async fn open(&self, headers: HeaderMap, message: &Message) {
        let sent = self.upstream.send(Method::POST, headers, message.bytes.clone()).await;
        // An unreachable server has not rejected the subscription.
        let Ok((response, lease)) = sent else { return };
        if has_content_type(response.headers(), "text/event-stream") {
            let events = EventStream::new(response.into_body(), self.limit);
            return self.events(events).await;
        }
        let status = response.status();
        if let Received::Whole(bytes) = receive(response.into_body(), self.limit).await {
            lease.release();
            self.handle_message(&bytes);
        }
        if self.driver.has_subscription() {
            let reason = format!("the server responded without a stream (HTTP status {status})");
            if let Some(id) = &message.header.id {
                self.driver.gateway_request_failed(id, &reason);
            }
        }
    }

    async fn events(&self, mut events: EventStream) {
        while let Some(message) = events.next_message().await {
            self.handle_message(&message);
            if !self.driver.has_subscription() {
                return;
            }
        }
    }

    /// Handles a message of the stream; only gateway requests may result from it.
    fn handle_message(&self, message: &Bytes) {
        let outgoing = self.driver.handle_server_message(message);
        self.driver.send(outgoing.to_server);
    }
}

/// Discards all messages: the link of a driver without a client.
pub(crate) struct NullLink;

impl Link for NullLink {
    fn send(&self, _: &Arc<Driver>, _: Message) {}
}

/// The subscriptions to one server, by a hash of the client's credentials.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<HashMap<u64, Subscription>>);

/// A subscription that is open, or that ended and is not opened again.
struct Subscription {
    task: JoinHandle<()>,
    used: Instant,
}

impl Subscription {
    fn is_evictable(&self) -> bool {
        self.used.elapsed() >= MIN_IDLE_BEFORE_EVICTION
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Subscriptions {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Subscription>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a subscription exists or existed, and marks it as used.
    pub(crate) fn touch(&self, context: u64) -> bool {
        let mut all = self.all();
        let existing = all.get_mut(&context);
        existing.map(|subscription| subscription.used = Instant::now()).is_some()
    }

    /// Starts a subscription. Evicts the least recently used one if too many are open, unless that was
    /// used recently: with many alternating clients, subscriptions would only replace each other.
    pub(crate) fn start(&self, context: u64, work: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.all();
        if all.contains_key(&context) {
            return;
        }
        let open = all.values().filter(|one| !one.task.is_finished()).count();
        if open >= MAX_OPEN_STREAMS {
            if !remove_oldest(&mut all, |one| !one.task.is_finished() && one.is_evictable()) {
                return;
            }
        } else if all.len() >= MAX_REMEMBERED_CREDENTIALS {
            remove_oldest(&mut all, |_| true);
        }
        all.insert(context, Subscription { task: tokio::spawn(work), used: Instant::now() });
    }

    pub(crate) fn close_all(&self) {
        self.all().clear();
    }
}

/// Removes the least recently used candidate and returns whether there was one.
fn remove_oldest(
    all: &mut HashMap<u64, Subscription>,
    is_candidate: impl Fn(&Subscription) -> bool,
) -> bool {
    let oldest = all.iter().filter(|(_, one)| is_candidate(one)).min_by_key(|(_, one)| one.used);
    let oldest = oldest.map(|(context, _)| *context);
    oldest.is_some_and(|oldest| all.remove(&oldest).is_some())
}

#[cfg(test)]
mod tests {
    use super::{MAX_OPEN_STREAMS, Subscriptions};

    #[tokio::test]
    async fn subscription_in_use_is_not_evicted() {
        let subscriptions = Subscriptions::default();
        let contexts = 0..MAX_OPEN_STREAMS as u64;
        contexts.clone().for_each(|context| subscriptions.start(context, std::future::pending()));
        subscriptions.start(contexts.end, std::future::pending());
        assert!(!subscriptions.touch(contexts.end));
        assert!(contexts.clone().all(|context| subscriptions.touch(context)));
        subscriptions.all().remove(&0);
        subscriptions.start(contexts.end, std::future::pending());
        assert!(subscriptions.touch(contexts.end));
    }
}
