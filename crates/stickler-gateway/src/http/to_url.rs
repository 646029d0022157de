//! HTTP in front of HTTP: requests go on as they came, answers come back as they came.

use std::collections::hash_map::RandomState;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use hyper::{HeaderMap, Method, Uri};
use stickler::rules::json_rpc;
use stickler::{Era, Revision};
use stickler_protocol::Gatekeeper;
use stickler_transport::http::{SESSION, Upstream};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Keeping;
use super::conversation::Conversation;
use super::credentials;
use super::front::era;
use super::hop::strip_request;
use super::known::KnownSessions;
use super::letter::Letter;
use super::listening::{Listening, Nowhere, Subscriptions};
use super::manners::version;
use super::modern;
use super::own::ToUrl;
use super::relay::{Exchange, Phase};
use super::reply::Answer;
use super::views::{VIEWS, View, Views};
use crate::log::Log;
use crate::recipe::Recipe;

/// A reverse proxy with a gatekeeper.
pub(super) struct Proxy {
    pub(super) recipe: Arc<Recipe>,
    pub(super) upstream: Arc<Upstream>,
    pub(super) phase: watch::Sender<Phase>,
    /// How long a request may wait for its answer.
    pub(super) timeout: Option<Duration>,
    log: Log,
    started: Instant,
    /// Nobody outside can aim at a hash whose key he does not know.
    hasher: RandomState,
    sessions: KnownSessions,
    /// The server, what it is to those with credentials, and to clients that can do different things.
    view: Arc<View>,
    contexts: Views,
    views: Views,
    /// The number of the next session's own view of the server.
    handshakes: AtomicU64,
    /// Our own, to changes of the tools.
    subscriptions: Subscriptions,
}

impl Proxy {
    pub(super) fn new(
        (url, headers): (Uri, HeaderMap),
        mut recipe: Recipe,
        log: Log,
        keeping: Keeping,
    ) -> io::Result<Arc<Self>> {
        // Each exchange keeps its own time.
        let timeout = Arc::make_mut(&mut recipe.settings).request_timeout.take();
        let view = View::of_server(&recipe.name, &recipe.validator);
        Ok(Arc::new(Self {
            recipe: Arc::new(recipe),
            upstream: Upstream::new(url, headers)?,
            timeout,
            phase: watch::channel(Phase::Open).0,
            log,
            started: Instant::now(),
            hasher: RandomState::new(),
            sessions: KnownSessions::new(keeping.sessions, keeping.idle),
            view,
            contexts: Views::new(keeping.sessions.max(1)),
            views: Views::new(VIEWS),
            handshakes: AtomicU64::new(1),
            subscriptions: Subscriptions::default(),
        }))
    }

    pub(super) async fn post(self: &Arc<Self>, mut headers: HeaderMap, letter: Letter) -> Answer {
        let is_modern = era(&headers, &letter) == Era::Modern;
        let context = self.context(&headers);
        let opens = !is_modern && letter.is_initialize();
        let conversation = if is_modern {
            // It belongs to no session, whatever it names.
            match self.check_headers(&headers, &letter.body) {
                Ok(can_do) => self.for_request(&headers, context, can_do),
                Err(refused) => return *refused,
            }
        } else {
            self.conversation(&headers, opens, context)
        };
        strip_request(&mut headers);
        let unsubscribed = is_modern && !self.subscriptions.has(context);
        let unsubscribed = unsubscribed.then(|| headers.clone());
        let exchange = Exchange { is_modern, opens, ..Exchange::new(self, &conversation) };
        let answer = exchange.post(headers, letter).await;
        if let Some(headers) = unsubscribed {
            self.subscribe(context, headers);
        }
        if opens && let Some(name) = session_name(answer.headers()) {
            conversation.set_session(&name);
            self.sessions.remember((name, context), conversation);
        }
        answer
    }

    pub(super) async fn get(self: &Arc<Self>, mut headers: HeaderMap) -> Answer {
        let context = self.context(&headers);
        let conversation = self.conversation(&headers, false, context);
        strip_request(&mut headers);
        Exchange::new(self, &conversation).get(headers).await
    }

    pub(super) async fn delete(self: &Arc<Self>, mut headers: HeaderMap) -> Answer {
        let context = self.context(&headers);
        let name = session_name(&headers);
        let conversation = self.conversation(&headers, false, context);
        strip_request(&mut headers);
        let answer = Exchange::new(self, &conversation).bare(Method::DELETE, headers).await;
        if let Some(name) = name.filter(|_| answer.status().is_success()) {
            self.sessions.forget(&(name, context));
        }
        answer
    }

    /// The server says that a session is over.
    pub(super) fn forget(&self, headers: &HeaderMap) {
        if let Some(name) = session_name(headers) {
            let context = self.context(headers);
            self.sessions.forget(&(name, context));
        }
    }

    /// Once the tools are known, the server is asked to tell when they change: once for all who
    /// come with the same authorization.
    fn subscribe(&self, context: u64, headers: HeaderMap) {
        let view = self.view(context);
        let version = version(&headers);
        let Some(revision) = version.and_then(Revision::parse) else { return };
        if !self.recipe.validator.cache().knows(&view.name) {
            return;
        }
        let gatekeeper = self.recipe.subscriber(&view.name, Some(revision));
        let (log, link) = (self.log.clone(), Box::new(Nowhere));
        let listening = Listening {
            conversation: Conversation::new(gatekeeper, link, log, self.started),
            upstream: Arc::clone(&self.upstream),
            limit: self.recipe.message_bytes(),
        };
        self.subscriptions.start(context, listening.subscribe(headers));
    }

    pub(super) fn hang_up(&self) {
        self.subscriptions.end_all();
        self.phase.send_replace(Phase::Closing);
    }

    pub(super) fn close_all(&self) {
        self.phase.send_replace(Phase::Closed);
        self.upstream.close();
    }

    /// What is learnt belongs to whoever was allowed to see it.
    fn context(&self, headers: &HeaderMap) -> u64 {
        credentials::context(headers, &self.hasher)
    }

    /// The server as it is to whoever has that authorization.
    fn view(&self, context: u64) -> Arc<View> {
        self.contexts.get(&self.view, context)
    }

    /// Gives a number for what the client can do.
    fn check_headers(&self, headers: &HeaderMap, body: &[u8]) -> Result<u64, Box<Answer>> {
        modern::check(headers, body).or_else(|refusal| match refusal.code {
            // Which versions there are, the server knows.
            json_rpc::UNSUPPORTED_VERSION => Ok(0),
            _ => Err(Box::new(modern::refuse(refusal, &self.log))),
        })
    }

    /// A conversation of its own for a request that speaks for itself.
    fn for_request(
        self: &Arc<Self>,
        headers: &HeaderMap,
        context: u64,
        can_do: u64,
    ) -> Arc<Conversation> {
        let view = self.views.get(&self.view(context), can_do);
        let revision = version(headers).and_then(Revision::parse);
        let gatekeeper = self.recipe.for_request(&view.name, revision, modern::mirrors(headers));
        self.around(gatekeeper, view, self.log.clone())
    }

    fn around(
        self: &Arc<Self>,
        gatekeeper: Gatekeeper,
        view: Arc<View>,
        log: Log,
    ) -> Arc<Conversation> {
        let link = Box::new(ToUrl::new(Arc::downgrade(self), view));
        Conversation::new(gatekeeper, link, log, self.started)
    }

    /// The conversation that a legacy request belongs to: that of its session, or one of its own.
    fn conversation(
        self: &Arc<Self>,
        headers: &HeaderMap,
        opens: bool,
        context: u64,
    ) -> Arc<Conversation> {
        let key = session_name(headers).map(|name| (name, context));
        if let Some(known) = key.as_ref().and_then(|key| self.sessions.get(key)) {
            return known;
        }
        let mut view = self.view(context);
        let mut log = self.log.clone();
        if opens || key.is_some() {
            log = log.for_session(key.as_ref().map(|(name, _)| &**name));
            // What a server lists may depend on what was said in the handshake.
            view = view.narrow(self.handshakes.fetch_add(1, Ordering::Relaxed));
        }
        let gatekeeper = if opens {
            self.recipe.gatekeeper(&view.name, None)
        } else {
            self.newcomer(&view.name, headers, key.is_some())
        };
        let conversation = self.around(gatekeeper, view, log);
        if let Some(key) = key {
            self.sessions.remember(key, Arc::clone(&conversation));
        }
        conversation
    }

    /// For a request whose session is not known here, or that has none.
    fn newcomer(&self, server: &Arc<str>, headers: &HeaderMap, has_session: bool) -> Gatekeeper {
        let version = version(headers);
        // Where nothing is said, it is the last revision that did not say it.
        let version = version.unwrap_or(Revision::V2025_03_26.as_str());
        if has_session {
            self.recipe.gatekeeper_in_session(server, version)
        } else {
            self.recipe.gatekeeper(server, Revision::parse(version))
        }
    }
}

fn session_name(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION).and_then(|name| name.to_str().ok()).map(Into::into)
}

/// For those that outlive the proxy.
pub(super) type WeakProxy = Weak<Proxy>;
