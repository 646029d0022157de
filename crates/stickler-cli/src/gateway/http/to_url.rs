//! HTTP in front of HTTP: requests go on as they came, answers come back as they came.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method, Uri};
use stickler::rules::json_rpc;
use stickler::{Era, Gatekeeper, Revision};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Keeping;
use super::conversation::Conversation;
use super::front::era;
use super::hop::strip_request;
use super::known::KnownSessions;
use super::letter::Letter;
use super::listening::{Listening, Nowhere, Subscriptions};
use super::manners::version;
use super::modern;
use super::own::ToUrl;
use super::recent::Recent;
use super::relay::{Exchange, Phase};
use super::reply::{Answer, SESSION};
use super::upstream::Upstream;
use crate::gateway::log::Log;
use crate::gateway::recipe::Recipe;

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
    /// Authorizations that tools are known for.
    contexts: Mutex<Recent<u64, ()>>,
    /// How many of either there may be.
    most: usize,
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
        Ok(Arc::new(Self {
            recipe: Arc::new(recipe),
            upstream: Upstream::new(url, headers)?,
            timeout,
            phase: watch::channel(Phase::Open).0,
            log,
            started: Instant::now(),
            hasher: RandomState::new(),
            sessions: KnownSessions::new(keeping.sessions, keeping.idle),
            contexts: Mutex::default(),
            most: keeping.sessions.max(1),
            subscriptions: Subscriptions::default(),
        }))
    }

    pub(super) async fn post(self: &Arc<Self>, mut headers: HeaderMap, letter: Letter) -> Answer {
        let is_modern = era(&headers, &letter) == Era::Modern;
        if is_modern && let Some(refused) = self.check_headers(&headers, &letter.body) {
            return refused;
        }
        let context = self.context(&headers);
        let opens = !is_modern && letter.is_initialize();
        // Modern requests belong to no session, whatever they name.
        let session = session_name(&headers).filter(|_| !is_modern);
        let conversation = self.conversation(&headers, session, opens, context);
        strip_request(&mut headers);
        let unsubscribed = is_modern && !self.subscriptions.has(context);
        let unsubscribed = unsubscribed.then(|| headers.clone());
        let exchange = Exchange { is_modern, opens, ..Exchange::new(self, &conversation) };
        let answer = exchange.post(headers, letter).await;
        if let Some(headers) = unsubscribed {
            self.subscribe(context, headers);
        }
        if opens && let Some(name) = session_name(answer.headers()) {
            self.sessions.remember((name, context), conversation);
        }
        answer
    }

    pub(super) async fn get(self: &Arc<Self>, mut headers: HeaderMap) -> Answer {
        let context = self.context(&headers);
        let conversation = self.conversation(&headers, session_name(&headers), false, context);
        strip_request(&mut headers);
        Exchange::new(self, &conversation).get(headers).await
    }

    pub(super) async fn delete(self: &Arc<Self>, mut headers: HeaderMap) -> Answer {
        let context = self.context(&headers);
        let name = session_name(&headers);
        let conversation = self.conversation(&headers, name.clone(), false, context);
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
        let server = self.server_name(context);
        let version = version(&headers);
        let Some(revision) = version.and_then(Revision::parse) else { return };
        if self.recipe.validator.cache().freshness(&server).is_none() {
            return;
        }
        let gatekeeper = self.recipe.subscriber(&server, Some(revision));
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
        headers.get(AUTHORIZATION).map_or(0, |value| self.hasher.hash_one(value.as_bytes()))
    }

    /// The name of the server in the cache, for one authorization.
    pub(super) fn server_name(&self, context: u64) -> Arc<str> {
        if context == 0 {
            return Arc::clone(&self.recipe.name);
        }
        let name = |context: u64| format!("{}#{context:016x}", self.recipe.name);
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        contexts.insert(context, ());
        if contexts.len() > self.most
            && let Some((oldest, ())) = contexts.pop_oldest()
        {
            self.recipe.validator.cache().remove_server(&name(oldest));
            self.subscriptions.end(oldest);
        }
        name(context).into()
    }

    fn check_headers(&self, headers: &HeaderMap, body: &[u8]) -> Option<Answer> {
        let server = self.server_name(self.context(headers));
        let refusal = modern::check(&self.recipe, &server, headers, body)?;
        // Which versions there are, the server knows.
        let is_ours = refusal.code != json_rpc::UNSUPPORTED_VERSION;
        is_ours.then(|| modern::refuse(refusal, &self.log))
    }

    /// The conversation that a request belongs to: that of its session, or one of its own.
    fn conversation(
        self: &Arc<Self>,
        headers: &HeaderMap,
        session: Option<Arc<str>>,
        opens: bool,
        context: u64,
    ) -> Arc<Conversation> {
        // Used with every request: what was learnt for it is needed as long as it is.
        let server = self.server_name(context);
        let key = session.map(|name| (name, context));
        if let Some(known) = key.as_ref().and_then(|key| self.sessions.get(key)) {
            return known;
        }
        let gatekeeper = if opens {
            self.recipe.gatekeeper(&server, None)
        } else {
            self.newcomer(&server, headers, key.is_some())
        };
        let link = Box::new(ToUrl::new(Arc::downgrade(self)));
        let conversation = Conversation::new(gatekeeper, link, self.log.clone(), self.started);
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
