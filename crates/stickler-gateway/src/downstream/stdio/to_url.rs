//! Relay from a client on standard input and output to a server behind a URL: each line becomes a POST.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, Uri};
use stickler_protocol::envelope::{MessageKind, PartialHeader, RequestId};
use stickler_protocol::frame::Frame;
use stickler_protocol::{Header, Purpose, RequestContext, Side};
use stickler_transport::http::{HttpSession, Upstream};
use stickler_transport::{Input, LineReader, Output, Pipe, TerminationSignals};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use crate::connection_factory::ConnectionFactory;
use crate::downstream::stdio::DRAIN_GRACE_FACTOR;
use crate::driver::message::{Message, Origin};
use crate::driver::{Driver, Link, WaitPolicy};
use crate::log::Log;
use crate::upstream::subscription::ToolSubscription;

/// Number of lines that are read ahead.
const LINES_AHEAD: usize = 16;

/// Maximum time to send a message that has no response.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(30);

/// The client side of Streamable HTTP.
pub(crate) struct Client {
    pub(crate) factory: ConnectionFactory,
    pub(crate) session: HttpSession,
    pub(crate) driver: Arc<Driver>,
    exchanges: Mutex<HashMap<RequestId, AbortHandle>>,
    /// The gateway's tool list subscription, which runs in the background.
    subscription: Mutex<Option<AbortHandle>>,
    weak_self: Weak<Client>,
}

/// A line from the client.
enum Line {
    Whole(Bytes),
    TooLong(PartialHeader),
}

/// Relays messages until the client closes its input and pending requests complete.
pub fn relay_to_url(
    factory: ConnectionFactory,
    server: (Uri, HeaderMap),
    log: Log,
    grace: Duration,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(factory, server, log, grace));
    // The thread that reads standard input may block forever.
    runtime.shutdown_background();
    outcome
}

async fn run(
    factory: ConnectionFactory,
    (url, headers): (Uri, HeaderMap),
    log: Log,
    grace: Duration,
) -> io::Result<()> {
    let mut signals = TerminationSignals::install()?;
    let output = Pipe::new(Output::standard()?);
    let input = LineReader::new(Input::standard()?, factory.message_bytes());
    let client = Client::new(factory, Upstream::new(url, headers)?, log, Arc::clone(&output));
    let (end, ended) = oneshot::channel();
    let (sender, mut lines) = mpsc::channel(LINES_AHEAD);
    tokio::spawn(read_lines(input, sender, end));
    // A server that never responds must not delay the exit indefinitely.
    tokio::select! {
        () = pump(&client, &mut lines, grace) => {}
        () = drain_timeout(ended, grace) => {}
        _ = signals.receive() => {}
    }
    let _ = timeout(grace, client.fail_pending(&mut lines)).await;
    client.close_session(grace).await;
    output.flush();
    let _ = timeout(grace, output.flushed()).await;
    Ok(())
}

/// Reads lines ahead of the exchanges, so that the end of input is noticed during one. `end` is sent at the end.
async fn read_lines(mut input: LineReader, lines: mpsc::Sender<Line>, end: oneshot::Sender<()>) {
    let mut is_open = true;
    while is_open {
        is_open = input.fill().await;
        while let Some(frame) = input.next_frame() {
            let line = match frame {
                Frame::Line(line) => Line::Whole(Bytes::copy_from_slice(line)),
                Frame::TooLong { partial, .. } => Line::TooLong(partial),
            };
            if lines.send(line).await.is_err() {
                return;
            }
        }
    }
    let _ = end.send(());
}

/// Handles all lines of the client, then waits for pending responses.
async fn pump(client: &Arc<Client>, lines: &mut mpsc::Receiver<Line>, grace: Duration) {
    while let Some(line) = lines.recv().await {
        match line {
            Line::Whole(line) => client.handle_line(line).await,
            Line::TooLong(partial) => {
                let outgoing = client.driver.handle_oversized(Side::Client, partial);
                client.driver.dispatch(outgoing).await;
            }
        }
        client.driver.flush();
    }
    client.drain(grace * DRAIN_GRACE_FACTOR).await;
}

/// Completes when the drain period after the end of input is over.
async fn drain_timeout(ended: oneshot::Receiver<()>, grace: Duration) {
    let _ = ended.await;
    tokio::time::sleep(grace * DRAIN_GRACE_FACTOR).await;
}

impl Client {
    fn new(
        factory: ConnectionFactory,
        upstream: Arc<Upstream>,
        log: Log,
        out: Arc<Pipe>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|weak_self: &Weak<Self>| {
            let connection = factory.subscriber(&factory.name, None);
            let link = Box::new(PostLink(weak_self.clone()));
            let driver = factory.driver(connection, link, log, Instant::now());
            let driver = Arc::new(driver.with_output(out));
            Self {
                factory,
                session: HttpSession::new(upstream),
                driver,
                exchanges: Mutex::default(),
                subscription: Mutex::default(),
                weak_self: weak_self.clone(),
            }
        })
    }

    fn exchanges(&self) -> MutexGuard<'_, HashMap<RequestId, AbortHandle>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles one line. Requests are sent concurrently; notifications and responses keep their order.
    async fn handle_line(&self, line: Bytes) {
        let outcome = self.driver.post(&line, &RequestContext::default(), true, WaitPolicy::Never);
        self.driver.deliver(outcome.answers).await;
        for message in outcome.to_server {
            let is = |method: &str| message.header.has_method(method);
            match message.header.kind {
                // Later messages depend on the negotiated version and session.
                MessageKind::Request if is("initialize") => self.exchange(message).await,
                MessageKind::Notification
                    if is("notifications/cancelled") && self.is_modern(&message.bytes) =>
                {
                    self.close_stream(&message.header);
                }
                MessageKind::Notification | MessageKind::Response => {
                    let is_ready = is("notifications/initialized");
                    let _ = timeout(NOTIFICATION_TIMEOUT, self.exchange(message)).await;
                    if is_ready && let Some(client) = self.weak_self.upgrade() {
                        tokio::spawn(async move { client.listen().await });
                    }
                }
                _ => self.spawn_exchange(message),
            }
        }
    }

    /// Sends a message in a background task.
    fn spawn_exchange(&self, message: Message) {
        let Some(client) = self.weak_self.upgrade() else { return };
        let id = message.header.id.clone();
        let key = id.clone();
        let mut exchanges = self.exchanges();
        let task = tokio::spawn(async move {
            client.exchange(message).await;
            if let Some(id) = id {
                client.exchanges().remove(&id);
            }
        });
        if let Some(key) = key {
            exchanges.insert(key, task.abort_handle());
        }
    }

    /// Keeps the gateway's tool list subscription open until the relay ends.
    fn subscribe(&self, message: Message) {
        let subscription = ToolSubscription {
            driver: Arc::clone(&self.driver),
            upstream: Arc::clone(self.session.upstream()),
            limit: self.factory.message_bytes(),
        };
        let headers = self.headers(&message.bytes);
        let task = tokio::spawn(async move { subscription.keep_open(headers, message).await });
        *self.subscription() = Some(task.abort_handle());
    }

    fn subscription(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.subscription.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels a request by closing its stream, as required since 2026-07-28.
    fn close_stream(&self, cancellation: &Header) {
        let id = cancellation.cancels.as_ref();
        if let Some(exchange) = id.and_then(|id| self.exchanges().remove(id)) {
            exchange.abort();
        }
    }

    /// Waits until no request is pending, at most for the given time.
    async fn drain(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline && self.driver.pending_requests() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Answers requests that have no response by the end with errors, and so those in lines that were not handled.
    async fn fail_pending(&self, lines: &mut mpsc::Receiver<Line>) {
        while let Ok(line) = lines.try_recv() {
            if let Line::Whole(line) = line {
                let context = RequestContext::default();
                let outcome = self.driver.post(&line, &context, true, WaitPolicy::Never);
                self.driver.deliver(outcome.answers).await;
            }
        }
        self.driver.server_replaced("the gateway ended before the server responded").await;
    }

    /// Deletes the session, so that the server need not wait for it to expire.
    async fn close_session(&self, grace: Duration) {
        if let Some(subscription) = self.subscription().take() {
            subscription.abort();
        }
        let _ = timeout(grace, self.session.close(self.driver.agreed_revision())).await;
    }
}

/// Sends gateway requests as POSTs.
struct PostLink(Weak<Client>);

impl Link for PostLink {
    fn send(&self, _: &Arc<Driver>, message: Message) {
        let Some(client) = self.0.upgrade() else { return };
        let is_cancellation = message.header.has_method("notifications/cancelled");
        if is_cancellation && client.is_modern(&message.bytes) {
            client.close_stream(&message.header);
        } else if message.origin == Origin::Request(Purpose::Subscribe) {
            client.subscribe(message);
        } else {
            client.spawn_exchange(message);
        }
    }
}
