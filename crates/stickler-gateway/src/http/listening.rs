//! Our own subscriptions to changes of an HTTP server's tools: a POST each, whose stream is read for
//! as long as it lasts. Nothing of it is for any client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::{HeaderMap, Method};
use stickler::rules::json_rpc;
use stickler_protocol::envelope::Address;
use stickler_protocol::frame::{SseFrame, SseFramer};
use stickler_protocol::{error_reply, is_own_subscription};
use stickler_transport::http::{Received, Upstream, is_kind, receive};
use stickler_transport::{Backoff, Restart, RestartWhen};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::conversation::{Conversation, Link};
use super::own::{headers_for, post};

/// When a stream that has ended is opened again. Proxies end streams on which nothing happens.
const AGAIN: Restart =
    Restart { when: RestartWhen::OnFailure, pause: Duration::from_secs(1), limit: u32::MAX };

/// Streams that are kept open to one server.
const MOST_OPEN: usize = 64;

/// One that was used within this time makes room for no other.
const IN_USE: Duration = Duration::from_secs(60);

/// Authorizations of which it is remembered that they have had theirs.
const REMEMBERED: usize = 10_000;

/// One subscription.
pub(super) struct Listening {
    /// Knows which messages belong to it.
    pub(super) conversation: Arc<Conversation>,
    pub(super) upstream: Arc<Upstream>,
    pub(super) limit: usize,
}

impl Listening {
    /// Subscribes with the authorization of a client, if the server offers it.
    pub(super) async fn subscribe(self, context: HeaderMap) {
        let mut unsent = self.conversation.subscribe();
        while let Some(message) = unsent.pop() {
            let headers = headers_for(context.clone(), &message);
            if is_own_subscription(&message) {
                return self.hold(headers, message).await;
            }
            for answer in post(&self.upstream, headers, message, self.limit).await {
                unsent.extend(self.conversation.hear_whole(&answer).to_server);
            }
        }
    }

    /// Keeps a subscription open until the server refuses it.
    pub(super) async fn hold(&self, headers: HeaderMap, message: Bytes) {
        let mut backoff = Backoff::new(AGAIN);
        loop {
            let began = Instant::now();
            self.open(headers.clone(), message.clone()).await;
            if !self.conversation.wants_subscription() {
                return;
            }
            let Some(pause) = backoff.next(began.elapsed()) else { return };
            tokio::time::sleep(pause).await;
        }
    }

    async fn open(&self, headers: HeaderMap, message: Bytes) {
        let sent = self.upstream.send(Method::POST, headers, message.clone()).await;
        // A server that cannot be reached has not refused.
        let Ok((response, lease)) = sent else { return };
        if is_kind(response.headers(), "text/event-stream") {
            return self.events(response.into_body()).await;
        }
        let status = response.status();
        if let Received::Whole(bytes) = receive(response.into_body(), self.limit).await {
            lease.give_back();
            self.hear(&bytes);
        }
        if self.conversation.wants_subscription() {
            let reason = format!("the server answered without a stream (HTTP status {status})");
            let id = Address::of(&message).id.and_then(|span| message.get(span));
            let id = id.and_then(|id| std::str::from_utf8(id).ok());
            let refusal = error_reply(id, json_rpc::INTERNAL_ERROR, &reason);
            self.conversation.hear_own(&refusal.into());
        }
    }

    async fn events(&self, mut incoming: Incoming) {
        let mut framer = SseFramer::new(self.limit);
        while let Some(Ok(frame)) = incoming.frame().await {
            framer.push(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(frame) = framer.next_frame() {
                let SseFrame::Event(event) = frame else { continue };
                if let Some(data) = event.data.filter(|_| event.is_message) {
                    self.hear(&Bytes::from(data));
                }
            }
            if !self.conversation.wants_subscription() {
                return;
            }
        }
    }

    /// What comes on this stream is for nobody else.
    fn hear(&self, message: &Bytes) {
        let heard = self.conversation.hear_whole(message);
        self.conversation.send(heard.to_server);
    }
}

/// For a conversation that has no client.
pub(super) struct Nowhere;

impl Link for Nowhere {
    fn send(&self, _: &Arc<Conversation>, _: Bytes) {}
}

/// Those to one server, by authorization.
#[derive(Default)]
pub(super) struct Subscriptions(Mutex<HashMap<u64, Subscription>>);

/// One that is open, or one that has come to its end and is not opened again.
struct Subscription {
    task: JoinHandle<()>,
    used: Instant,
}

impl Subscription {
    fn is_out_of_use(&self) -> bool {
        self.used.elapsed() >= IN_USE
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

    /// Whether there is one, or was; it is used by asking.
    pub(super) fn has(&self, context: u64) -> bool {
        let mut all = self.all();
        let known = all.get_mut(&context);
        known.map(|subscription| subscription.used = Instant::now()).is_some()
    }

    /// Starts one. The one that nobody has used for the longest time makes room, unless that was a
    /// moment ago: with many who come and go, each would only take the place of the next.
    pub(super) fn start(&self, context: u64, work: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.all();
        if all.contains_key(&context) {
            return;
        }
        let open = all.values().filter(|one| !one.task.is_finished()).count();
        if open >= MOST_OPEN {
            if !remove_oldest(&mut all, |one| !one.task.is_finished() && one.is_out_of_use()) {
                return;
            }
        } else if all.len() >= REMEMBERED {
            remove_oldest(&mut all, |_| true);
        }
        all.insert(context, Subscription { task: tokio::spawn(work), used: Instant::now() });
    }

    pub(super) fn end_all(&self) {
        self.all().clear();
    }
}

/// Whether there was one.
fn remove_oldest(
    all: &mut HashMap<u64, Subscription>,
    counts: impl Fn(&Subscription) -> bool,
) -> bool {
    let oldest = all.iter().filter(|(_, one)| counts(one)).min_by_key(|(_, one)| one.used);
    let oldest = oldest.map(|(context, _)| *context);
    oldest.is_some_and(|oldest| all.remove(&oldest).is_some())
}

#[cfg(test)]
mod tests {
    use super::{MOST_OPEN, Subscriptions};

    #[tokio::test]
    async fn what_is_in_use_makes_room_for_no_other() {
        let subscriptions = Subscriptions::default();
        let contexts = 0..MOST_OPEN as u64;
        contexts.clone().for_each(|context| subscriptions.start(context, std::future::pending()));
        subscriptions.start(contexts.end, std::future::pending());
        assert!(!subscriptions.has(contexts.end));
        assert!(contexts.clone().all(|context| subscriptions.has(context)));
        subscriptions.all().remove(&0);
        subscriptions.start(contexts.end, std::future::pending());
        assert!(subscriptions.has(contexts.end));
    }
}
