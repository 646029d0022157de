//! Multiplexes modern requests of many clients onto one server process.
//!
//! Request ids are unique only within one POST, so two clients may use the same id. Each request on the shared
//! pipe gets an internal id in place of its id and progress token ([`id_rewrite`]); responses get the original
//! values back. A server message without a known internal id is never sent to a client, because it may belong
//! to another client's request. The only exception are log messages while a single request is active.

mod client_queue;
mod delivery;
mod id_map;
mod links;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use stickler::tape::TapeBuffer;
use stickler::{Code, Revision};
use stickler_protocol::Connection;
use stickler_protocol::frame::Frame;
use stickler_transport::{Backoff, OutputHandler, SupervisedProcess, read_output};
use tokio::time::{Instant, timeout};
use tracing::warn;

use crate::downstream::http::body::OnDrop;
use crate::downstream::http::sessions::{SessionError, Sessions};
use crate::driver::message::Message;
use crate::driver::{Driver, Link};
use crate::id_rewrite::{self, ActiveIds, OriginalIds};
use crate::log::Log;
use crate::multiplexer::id_map::{IdMap, Lookup};
use crate::tool_views::{MAX_TOOL_VIEWS, ToolView, ToolViews};
use client_queue::ClientQueue;
use delivery::{END_TIMEOUT, end_driver};
use links::{GatewayRequestLink, SharedProcessLink};

/// The shared server process of an endpoint, which is started on demand.
pub(crate) struct Multiplexer {
    sessions: Arc<Sessions>,
    current: tokio::sync::Mutex<Current>,
}

/// The current process and its restart state.
struct Current {
    shared: Option<Arc<SharedProcess>>,
    backoff: Backoff,
    /// Earliest time of the next start.
    not_before: Option<Instant>,
    is_given_up: bool,
}

impl Current {
    /// Schedules the restart after a failure of the previous process.
    fn record_failure(&mut self, log: &Log) {
        let Some((ran_for, exited_at)) =
            self.shared.take().and_then(|shared| shared.process.failure())
        else {
            return;
        };
        match self.backoff.next(ran_for) {
            Some(pause) => {
                let (attempt, seconds) = (self.backoff.failures(), pause.as_secs_f64());
                warn!(
                    parent: log.span(),
                    "server failed; restart attempt {attempt} in {seconds} s"
                );
                log.server_restarted();
                self.not_before = Some(exited_at + pause);
            }
            None => self.is_given_up = self.backoff.is_limited(),
        }
    }
}

/// A server process that is shared by many requests.
pub(crate) struct SharedProcess {
    process: Arc<SupervisedProcess>,
    sessions: Arc<Sessions>,
    routes: Mutex<IdMap<Route>>,
    next: AtomicU64,
    /// Handles messages without a request, and subscribes to changes of the tool list for all clients.
    gateway_driver: Arc<Driver>,
    gateway_queue: Arc<ClientQueue>,
    is_subscribed: AtomicBool,
    /// The view of this process, and its narrower views by client capabilities.
    view: Arc<ToolView>,
    views: ToolViews,
}

/// The request behind an internal id.
#[derive(Clone)]
struct Route {
    driver: Arc<Driver>,
    queue: Arc<ClientQueue>,
    original: OriginalIds,
    /// The request is a subscription; the server is not working on a response.
    is_subscription: bool,
}

/// A server message with restored ids, and the driver that receives it.
struct RoutedMessage {
    driver: Arc<Driver>,
    queue: Arc<ClientQueue>,
    message: Bytes,
    id: u64,
    /// The message ends a subscription.
    is_end: bool,
}

impl Multiplexer {
    pub(crate) fn new(sessions: Arc<Sessions>) -> Self {
        let backoff = Backoff::new(sessions.restart);
        let current = Current { shared: None, backoff, not_before: None, is_given_up: false };
        Self { sessions, current: tokio::sync::Mutex::new(current) }
    }

    /// Returns the running process; starts one if necessary, after the backoff delay.
    pub(crate) async fn shared_process(&self) -> Result<Arc<SharedProcess>, SessionError> {
        loop {
            let mut current = self.current.lock().await;
            if let Some(shared) =
                current.shared.as_ref().filter(|shared| !shared.process.is_ending())
            {
                let has_room = shared.routes().has_room();
                return if has_room { Ok(Arc::clone(shared)) } else { Err(SessionError::Full) };
            }
            current.record_failure(&self.sessions.log);
            if current.is_given_up {
                return Err(SessionError::GivenUp(current.backoff.failures()));
            }
            let Some(restart_at) =
                current.not_before.filter(|restart_at| *restart_at > Instant::now())
            else {
                return self.start(&mut current).await;
            };
            drop(current);
            tokio::time::sleep_until(restart_at).await;
        }
    }

    async fn start(&self, current: &mut Current) -> Result<Arc<SharedProcess>, SessionError> {
        let sessions = &self.sessions;
        let permit = sessions.shared_permit().await?;
        let (process, stdout) = sessions.start(permit, sessions.log.span())?;
        let shared = Arc::new_cyclic(|weak| {
            let factory = &sessions.factory;
            let view = sessions.next_view();
            let subscriber = factory.subscriber(&view.name, Some(Revision::LATEST));
            SharedProcess {
                view,
                views: ToolViews::new(MAX_TOOL_VIEWS),
                process: Arc::clone(&process),
                sessions: Arc::clone(sessions),
                routes: Mutex::default(),
                next: AtomicU64::new(1),
                gateway_driver: driver(
                    sessions,
                    subscriber,
                    Box::new(GatewayRequestLink(Weak::clone(weak))),
                ),
                gateway_queue: ClientQueue::new(factory.validator.cache().memory()),
                is_subscribed: AtomicBool::new(false),
            }
        });
        let limit_and_span = (sessions.factory.message_bytes(), sessions.log.span().clone());
        tokio::spawn(read_output(process, stdout, Arc::clone(&shared), limit_and_span));
        current.shared = Some(Arc::clone(&shared));
        Ok(shared)
    }

    /// Returns the number of failures after which the process is not restarted any more, if it came to that.
    pub(crate) async fn given_up_after(&self) -> Option<u32> {
        let mut current = self.current.lock().await;
        if current.shared.as_ref().is_some_and(|shared| shared.process.is_ending()) {
            current.record_failure(&self.sessions.log);
        }
        current.is_given_up.then(|| current.backoff.failures())
    }

    /// Returns whether no request of a client is pending.
    pub(crate) async fn is_idle(&self) -> bool {
        match &self.current.lock().await.shared {
            Some(shared) => !shared.has_client_requests(),
            None => true,
        }
    }

    /// Shuts the process down.
    pub(crate) async fn close(&self) {
        let shared = self.current.lock().await.shared.take();
        if let Some(shared) = shared {
            shared.process.end().await;
            shared.on_exit("the gateway is shutting down").await;
        }
    }
}

impl SharedProcess {
    /// Creates the driver of one POST, and a guard that cancels its requests when the client disconnects.
    pub(crate) fn open_request(self: &Arc<Self>, capabilities_hash: u64) -> (Arc<Driver>, OnDrop) {
        let active_ids: ActiveIds = Arc::new(Mutex::new(Some(Vec::new())));
        let view = self.views.get(&self.view, capabilities_hash);
        let factory = &self.sessions.factory;
        let connection = factory.for_request(&view.name, Some(Revision::LATEST));
        let link = Box::new(SharedProcessLink {
            shared: Arc::clone(self),
            queue: ClientQueue::new(factory.validator.cache().memory()),
            active_ids: Arc::clone(&active_ids),
            _view: view,
        });
        let driver = driver(&self.sessions, connection, link);
        let (shared, driver_guard) = (Arc::clone(self), Arc::clone(&driver));
        let cancel_all = move || {
            // Keeps the driver alive for responses until now.
            drop(driver_guard);
            let active_ids = active_ids.lock().unwrap_or_else(PoisonError::into_inner).take();
            for id in active_ids.into_iter().flatten() {
                shared.cancel(id);
            }
        };
        (driver, OnDrop(Some(Box::new(cancel_all))))
    }

    pub(crate) async fn wait_for_capacity(&self) {
        self.process.pipe.wait_for_capacity().await;
    }

    fn routes(&self) -> MutexGuard<'_, IdMap<Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels a request whose client closed its stream. Internal ids are not reused, so a late response
    /// is not routed to another request.
    fn cancel(&self, id: u64) {
        let was_open = self.routes().cancel(id, |route| route.is_subscription);
        if was_open {
            self.process.pipe.send(id_rewrite::cancellation(id).into());
        }
    }

    fn send_request(
        &self,
        driver: &Arc<Driver>,
        queue: &Arc<ClientQueue>,
        message: &Message,
    ) -> Option<u64> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(&message.bytes, 1 << 10).ok()?;
        let Some((rewritten, original)) = id_rewrite::to_internal(&tape, id) else {
            // A message without an id is unambiguous, unless it refers to a request.
            if !message.header.has_method("notifications/cancelled") {
                self.process.pipe.send(message.bytes.clone());
            }
            return None;
        };
        let is_subscription = message.header.has_method("subscriptions/listen");
        let (driver, queue) = (Arc::clone(driver), Arc::clone(queue));
        let route = Route { driver: Arc::clone(&driver), queue, original, is_subscription };
        let is_running = self.routes().insert(id, route);
        if !is_running {
            // The process exited in the meantime; the pending request fails.
            driver.pending_responses().close();
            return None;
        }
        self.process.pipe.send(rewritten.into());
        Some(id)
    }

    /// Finds the driver of a server message and restores the ids. `Err` if it refers to no known request.
    fn route(&self, message: &[u8]) -> Result<Option<RoutedMessage>, ()> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 10).map_err(|_| ())?;
        let (id, is_last) = id_rewrite::internal_id(&tape).ok_or(())?;
        let is_cancelled = id_rewrite::is_cancellation(&tape);
        let found = self.routes().lookup(id, is_last && !is_cancelled);
        match found {
            Lookup::Active(Route { driver, queue, original, is_subscription }) => {
                let message = id_rewrite::to_original(&tape, &original).into();
                // A cancellation from the server ends subscriptions only, not other requests.
                let is_end = is_cancelled && is_subscription;
                if is_end {
                    self.routes().lookup(id, true);
                }
                Ok(Some(RoutedMessage { driver, queue, message, id, is_end }))
            }
            Lookup::Cancelled => Ok(None),
            Lookup::Unknown => Err(()),
        }
    }

    fn has_client_requests(&self) -> bool {
        let is_client = |route: &Route| !Arc::ptr_eq(&route.driver, &self.gateway_driver);
        self.routes().has_any(is_client)
    }

    /// Returns the only active request. A message that names no request belongs to it.
    fn only_active_request(&self) -> Option<(u64, Route)> {
        let is_processing = |route: &Route| {
            !route.is_subscription && !Arc::ptr_eq(&route.driver, &self.gateway_driver)
        };
        self.routes().sole_active(std::time::Instant::now(), is_processing)
    }

    /// Subscribes to changes of the tool list, once a tool list is cached.
    fn subscribe(&self) {
        if !self.is_subscribed.load(Ordering::Relaxed) {
            let request = self.gateway_driver.subscribe();
            self.is_subscribed.fetch_or(!request.is_empty(), Ordering::Relaxed);
            self.gateway_driver.send(request);
        }
    }
}

impl SharedProcess {
    /// Handles a message that names no known request.
    async fn on_unroutable(self: &Arc<Self>, message: &[u8]) {
        self.note_unmatched_answer(message);
        match self.only_active_request().filter(|_| id_rewrite::is_log(message)) {
            Some((id, Route { driver, queue, .. })) => {
                let message = Bytes::copy_from_slice(message);
                self.deliver(RoutedMessage { driver, queue, message, id, is_end: false }).await;
            }
            None => drop(self.gateway_driver.handle_server_frame(Frame::Line(message))),
        }
    }
}

impl OutputHandler for SharedProcess {
    async fn on_frame(self: &Arc<Self>, frame: Frame<'_>) {
        let Frame::Line(message) = frame else {
            // The id was extracted while the message was skipped.
            let Frame::TooLong { partial, .. } = frame else { return };
            self.fail(&partial, "the server's response is too large").await;
            return;
        };
        match self.route(message) {
            Ok(Some(routed)) => self.deliver(routed).await,
            Ok(None) => {}
            Err(()) if self.fail_unreadable(message).await => {
                drop(self.gateway_driver.handle_server_frame(frame));
            }
            Err(()) => self.on_unroutable(message).await,
        }
    }

    async fn on_exit(self: &Arc<Self>, reason: &str) {
        let routes = self.routes().close();
        let tasks = routes.into_iter().map(|route| {
            let reason = reason.to_owned();
            tokio::spawn(async move {
                // What the process sent before its exit precedes the error.
                let _ = timeout(END_TIMEOUT, route.queue.drained()).await;
                end_driver(&route.driver, Code::ServerGone, &reason).await;
            })
        });
        for one in tasks.collect::<Vec<_>>() {
            let _ = one.await;
        }
    }
}

fn driver(sessions: &Sessions, connection: Connection, link: Box<dyn Link>) -> Arc<Driver> {
    let (log, started) = (sessions.log.clone(), sessions.started);
    Arc::new(sessions.factory.driver(connection, link, log, started))
}
