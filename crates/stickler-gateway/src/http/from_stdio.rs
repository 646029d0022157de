//! Client on standard input and output, server behind a URL: every line is a POST.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method, Uri};
use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::envelope::{Address, Bearing, Glimpse, RequestId};
use stickler_protocol::frame::{Frame, LineFramer};
use stickler_protocol::headers::VERSION;
use stickler_protocol::{Side, is_own_subscription};
use stickler_transport::http::{SESSION, Upstream};
use stickler_transport::wire::Lines;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::conversation::{Conversation, Link, Waits};
use super::letter::Letter;
use super::listening::Listening;
use crate::log::Log;
use crate::recipe::Recipe;

/// Bytes asked for at once.
const CHUNK: usize = 64 << 10;

/// How long a message that is not answered may take to be taken.
const NOTICE: Duration = Duration::from_secs(30);

/// How many times the usual grace a client that has gone still waits for its answers.
const PATIENT_GRACES: u32 = 12;

/// The client's side of Streamable HTTP.
pub(super) struct Client {
    pub(super) recipe: Recipe,
    pub(super) upstream: Arc<Upstream>,
    pub(super) conversation: Arc<Conversation>,
    pub(super) session: Mutex<Option<HeaderValue>>,
    posts: Mutex<HashMap<RequestId, AbortHandle>>,
    /// Our own subscription, which nobody waits for.
    subscription: Mutex<Option<AbortHandle>>,
    me: Weak<Client>,
}

/// What the client has written.
enum Line {
    Whole(Bytes),
    TooLong(Glimpse),
}

/// Relays until the client has no more to say.
pub fn relay_to_url(
    recipe: Recipe,
    server: (Uri, HeaderMap),
    log: Log,
    grace: Duration,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(recipe, server, log, grace));
    // The thread that reads standard input may wait for ever.
    runtime.shutdown_background();
    outcome
}

async fn run(
    recipe: Recipe,
    (url, headers): (Uri, HeaderMap),
    log: Log,
    grace: Duration,
) -> io::Result<()> {
    let (out, unwritten) = mpsc::channel(64);
    let writer = write_lines(unwritten)?;
    let client = Client::new(recipe, Upstream::new(url, headers)?, log, out);
    let (mut lines, ended) = read_lines(client.recipe.message_bytes())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // A server that never answers must not keep anybody from leaving.
    tokio::select! {
        () = hear(&client, &mut lines, grace) => {}
        () = long_after(ended, grace) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    client.say_goodbye(grace).await;
    drop(client);
    let _ = timeout(grace, tokio::task::spawn_blocking(move || writer.join())).await;
    Ok(())
}

/// Everything the client says, and then what it has asked for.
async fn hear(client: &Arc<Client>, lines: &mut mpsc::Receiver<Line>, grace: Duration) {
    while let Some(line) = lines.recv().await {
        match line {
            Line::Whole(line) => client.line(line).await,
            Line::TooLong(glimpse) => {
                let heard = client.conversation.overlong(Side::Client, glimpse);
                client.conversation.pass(heard).await;
            }
        }
    }
    client.see_out(grace * PATIENT_GRACES).await;
}

/// The client has said its last word, and what it was about has had its time.
async fn long_after(ended: oneshot::Receiver<()>, grace: Duration) {
    let _ = ended.await;
    tokio::time::sleep(grace * PATIENT_GRACES).await;
}

impl Client {
    fn new(
        recipe: Recipe,
        upstream: Arc<Upstream>,
        log: Log,
        out: mpsc::Sender<Bytes>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me: &Weak<Self>| {
            let gatekeeper = recipe.subscriber(&recipe.name, None);
            let link = Box::new(ByPost(me.clone()));
            let conversation = Conversation::for_one(gatekeeper, link, log, Instant::now(), out);
            Self {
                recipe,
                upstream,
                conversation,
                session: Mutex::default(),
                posts: Mutex::default(),
                subscription: Mutex::default(),
                me: me.clone(),
            }
        })
    }

    fn posts(&self) -> MutexGuard<'_, HashMap<RequestId, AbortHandle>> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Option<HeaderValue>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests go their own ways; what comes before and after them keeps its order.
    async fn line(&self, line: Bytes) {
        let posted = self.conversation.post(&Letter::of(line), true, Waits::Never);
        self.conversation.deliver(posted.answers).await;
        for message in posted.onward {
            let address = Address::of(&message);
            let is = |method: &str| address.has_method(&message, method);
            match address.bearing {
                // Everything else needs to know what comes of it.
                Bearing::Request if is("initialize") => self.exchange(message).await,
                Bearing::Notification
                    if is("notifications/cancelled") && self.is_modern(&message) =>
                {
                    self.close_stream(&message);
                }
                Bearing::Notification | Bearing::Response => {
                    let is_ready = is("notifications/initialized");
                    let _ = timeout(NOTICE, self.exchange(message)).await;
                    if is_ready && let Some(client) = self.me.upgrade() {
                        tokio::spawn(async move { client.listen().await });
                    }
                }
                _ => self.post_apart(message),
            }
        }
    }

    /// Posts a message without waiting for what comes of it.
    fn post_apart(&self, message: Bytes) {
        let Some(client) = self.me.upgrade() else { return };
        let id = Address::of(&message).request_id(&message);
        let key = id.clone();
        let mut posts = self.posts();
        let task = tokio::spawn(async move {
            client.exchange(message).await;
            if let Some(id) = id {
                client.posts().remove(&id);
            }
        });
        if let Some(key) = key {
            posts.insert(key, task.abort_handle());
        }
    }

    /// Keeps a subscription of our own open until the end.
    fn subscribe(&self, message: Bytes) {
        let listening = Listening {
            conversation: Arc::clone(&self.conversation),
            upstream: Arc::clone(&self.upstream),
            limit: self.recipe.message_bytes(),
        };
        let headers = self.headers(&message);
        let task = tokio::spawn(async move { listening.hold(headers, message).await });
        *self.subscription() = Some(task.abort_handle());
    }

    fn subscription(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.subscription.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since 2026-07-28 a request is cancelled by closing its stream.
    fn close_stream(&self, message: &[u8]) {
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(message, 1 << 10) else { return };
        let params = tape.root().get("params");
        let id =
            params.and_then(|params: Node<'_>| params.get("requestId")).and_then(RequestId::of);
        if let Some(post) = id.and_then(|id| self.posts().remove(&id)) {
            post.abort();
        }
    }

    /// The client has gone; what it has asked for is waited for.
    async fn see_out(&self, longest: Duration) {
        let last = Instant::now() + longest;
        while Instant::now() < last && self.conversation.in_flight() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A session that is over is ended, so that the server need not find out.
    async fn say_goodbye(&self, grace: Duration) {
        if let Some(subscription) = self.subscription().take() {
            subscription.abort();
        }
        let session = self.session().take();
        if let Some(session) = session {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, session);
            if let Some(revision) = self.conversation.agreed_revision() {
                headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
            }
            let _ = timeout(grace, self.upstream.send(Method::DELETE, headers, Bytes::new())).await;
        }
    }
}

/// Messages of our own are posted like any other.
struct ByPost(Weak<Client>);

impl Link for ByPost {
    fn send(&self, _: &Arc<Conversation>, message: Bytes) {
        let Some(client) = self.0.upgrade() else { return };
        let is_cancellation = Address::of(&message).has_method(&message, "notifications/cancelled");
        if is_cancellation && client.is_modern(&message) {
            client.close_stream(&message);
        } else if is_own_subscription(&message) {
            client.subscribe(message);
        } else {
            client.post_apart(message);
        }
    }
}

/// The lines of standard input, and its end.
fn read_lines(limit: usize) -> io::Result<(mpsc::Receiver<Line>, oneshot::Receiver<()>)> {
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (sender, receiver) = mpsc::channel(16);
    let (end, ended) = oneshot::channel();
    std::thread::spawn(move || {
        let mut end = Some(end);
        let mut framer = LineFramer::new(limit);
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match input.read(&mut chunk) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            if read == 0
                && let Some(end) = end.take()
            {
                let _ = end.send(());
            }
            framer.push(chunk.get(..read).unwrap_or_default());
            loop {
                let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
                let line = match frame {
                    Some(Frame::Line(line)) => Line::Whole(Bytes::copy_from_slice(line)),
                    Some(Frame::TooLong { glimpse, .. }) => Line::TooLong(glimpse),
                    None => break,
                };
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
            if read == 0 {
                return;
            }
        }
    });
    Ok((receiver, ended))
}

fn write_lines(mut messages: mpsc::Receiver<Bytes>) -> io::Result<std::thread::JoinHandle<()>> {
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Ok(std::thread::spawn(move || {
        let mut lines = Lines::default();
        while let Some(message) = messages.blocking_recv() {
            let mut next = Some(message);
            while let Some(message) = next {
                // An event may have had its message on several lines.
                let message = super::pipe::on_one_line(message);
                if lines.push(&message, &mut output).is_err() {
                    return;
                }
                next = messages.try_recv().ok();
            }
            if lines.flush(&mut output).is_err() {
                return;
            }
        }
    }))
}
