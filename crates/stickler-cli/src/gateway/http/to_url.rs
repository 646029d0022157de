//! HTTP in front of HTTP: requests go on as they came, answers come back as they came.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use stickler::headers::VERSION;
use stickler::rules::json_rpc;
use stickler::{Era, Revision};
use tokio::sync::watch;
use tokio::time::Instant;

use super::conversation::Conversation;
use super::front::{era, is_initialize};
use super::listening::{Listening, Nowhere, Subscriptions};
use super::modern;
use super::own::ToUrl;
use super::relay::{Exchange, Phase};
use super::reply::{self, Answer, SESSION};
use super::upstream::{Upstream, strip_request};
use crate::gateway::log::Log;
use crate::gateway::recipe::Recipe;

/// Sessions and authorization contexts that are remembered.
const REMEMBERED: usize = 10_000;

/// A reverse proxy with a gatekeeper.
pub(super) struct Proxy {
    pub(super) recipe: Arc<Recipe>,
    pub(super) upstream: Arc<Upstream>,
    pub(super) phase: watch::Sender<Phase>,
    /// How long a request may wait for its answer.
    pub(super) timeout: Option<Duration>,
    log: Log,
    started: Instant,
    idle: Duration,
    /// Nobody outside can aim at a hash whose key he does not know.
    hasher: RandomState,
    sessions: Mutex<HashMap<(String, u64), Known>>,
    /// When tools were last looked up for an authorization.
    contexts: Mutex<HashMap<u64, Instant>>,
    /// Our own, to changes of the tools.
    subscriptions: Subscriptions,
}

struct Known {
    conversation: Arc<Conversation>,
    used: Instant,
}

impl Proxy {
    pub(super) fn new(
        (url, headers): (Uri, HeaderMap),
        mut recipe: Recipe,
        log: Log,
        idle: Duration,
    ) -> io::Result<Arc<Self>> {
        // Each exchange keeps its own time.
        let timeout = recipe.settings.request_timeout.take();
        Ok(Arc::new(Self {
            recipe: Arc::new(recipe),
            upstream: Upstream::new(url, headers)?,
            timeout,
            phase: watch::channel(Phase::Open).0,
            log,
            started: Instant::now(),
            idle,
            hasher: RandomState::new(),
            sessions: Mutex::default(),
            contexts: Mutex::default(),
            subscriptions: Subscriptions::default(),
        }))
    }

    pub(super) async fn post(self: &Arc<Self>, mut headers: HeaderMap, body: Bytes) -> Answer {
        let is_modern = era(&headers, &body) == Era::Modern;
        if is_modern && let Some(refused) = self.check_headers(&headers, &body) {
            return refused;
        }
        let context = self.context(&headers);
        let conversation = self.conversation(&headers, &body, context);
        let opens = !is_modern && is_initialize(&body);
        strip_request(&mut headers);
        let unsubscribed = is_modern && !self.subscriptions.has(context);
        let unsubscribed = unsubscribed.then(|| headers.clone());
        let exchange = Exchange { proxy: self, conversation: &conversation, is_modern };
        let answer = exchange.post(headers, body).await;
        if let Some(headers) = unsubscribed {
            self.subscribe(context, headers);
        }
        if opens && let Some(name) = session_name(answer.headers()) {
            self.remember((name, context), &conversation);
        }
        answer
    }

    pub(super) async fn get(self: &Arc<Self>, mut headers: HeaderMap) -> Answer {
        let context = self.context(&headers);
        let conversation = self.conversation(&headers, &[], context);
        strip_request(&mut headers);
        Exchange { proxy: self, conversation: &conversation, is_modern: false }.get(headers).await
    }

    pub(super) async fn delete(self: &Arc<Self>, mut headers: HeaderMap) -> Answer {
        let context = self.context(&headers);
        let name = session_name(&headers);
        let conversation = self.conversation(&headers, &[], context);
        strip_request(&mut headers);
        let exchange = Exchange { proxy: self, conversation: &conversation, is_modern: false };
        let answer = exchange.bare(Method::DELETE, headers).await;
        if let Some(name) = name.filter(|_| answer.status().is_success()) {
            self.sessions().remove(&(name, context));
        }
        answer
    }

    /// The server says that a session is over.
    pub(super) fn forget(&self, headers: &HeaderMap) {
        if let Some(name) = session_name(headers) {
            let context = self.context(headers);
            self.sessions().remove(&(name, context));
        }
    }

    /// Once the tools are known, the server is asked to tell when they change: once for all who
    /// come with the same authorization.
    fn subscribe(&self, context: u64, headers: HeaderMap) {
        let server = self.server_name(context);
        let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
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
    }

    /// What is learnt belongs to whoever was allowed to see it.
    fn context(&self, headers: &HeaderMap) -> u64 {
        headers.get(AUTHORIZATION).map_or(0, |value| self.hasher.hash_one(value.as_bytes()))
    }

    /// The name of the server in the cache, for one authorization.
    pub(super) fn server_name(&self, context: u64) -> String {
        if context == 0 {
            return self.recipe.name.clone();
        }
        let name = |context: u64| format!("{}#{context:016x}", self.recipe.name);
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        contexts.insert(context, Instant::now());
        if contexts.len() > REMEMBERED
            && let Some(oldest) =
                contexts.iter().min_by_key(|(_, used)| **used).map(|(key, _)| *key)
        {
            contexts.remove(&oldest);
            self.recipe.validator.cache().remove_server(&name(oldest));
            self.subscriptions.end(oldest);
        }
        name(context)
    }

    fn check_headers(&self, headers: &HeaderMap, body: &[u8]) -> Option<Answer> {
        let server = self.server_name(self.context(headers));
        let refusal = modern::check(&self.recipe, &server, headers, body)?;
        // Which versions there are, the server knows.
        let is_ours = refusal.code != json_rpc::UNSUPPORTED_VERSION;
        is_ours.then(|| modern::refuse(refusal, &self.log))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<(String, u64), Known>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation that a request belongs to: that of its session, or one of its own.
    fn conversation(
        self: &Arc<Self>,
        headers: &HeaderMap,
        body: &[u8],
        context: u64,
    ) -> Arc<Conversation> {
        let name = session_name(headers);
        if let Some(name) = &name
            && let Some(known) = self.sessions().get_mut(&(name.clone(), context))
        {
            known.used = Instant::now();
            return Arc::clone(&known.conversation);
        }
        let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
        let opens = is_initialize(body) && era(headers, body) == Era::Legacy;
        let revision = match version {
            _ if opens => None,
            Some(version) => Revision::parse(version),
            // Where nothing is said, it is the last revision that did not say it.
            None => Some(Revision::V2025_03_26),
        };
        let gatekeeper = self.recipe.gatekeeper(&self.server_name(context), revision);
        let link = Box::new(ToUrl::new(Arc::downgrade(self)));
        let conversation = Conversation::new(gatekeeper, link, self.log.clone(), self.started);
        if let Some(name) = name {
            self.remember((name, context), &conversation);
        }
        conversation
    }

    fn remember(&self, key: (String, u64), conversation: &Arc<Conversation>) {
        let now = Instant::now();
        let mut sessions = self.sessions();
        if sessions.len() >= REMEMBERED {
            sessions.retain(|_, known| known.used + self.idle > now);
        }
        if sessions.len() >= REMEMBERED {
            // A session that is forgotten is only known less well when it comes back.
            let oldest = sessions.iter().min_by_key(|(_, known)| known.used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(key, Known { conversation: Arc::clone(conversation), used: now });
    }
}

fn session_name(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION).and_then(|name| name.to_str().ok()).map(str::to_owned)
}

/// The server cannot be reached.
pub(super) fn unreachable(request: &[u8], reason: &str) -> Answer {
    let reason = format!("[STK-101] the server cannot be reached: {reason}");
    reply::failure(StatusCode::BAD_GATEWAY, request, &reason)
}

/// For those that outlive the proxy.
pub(super) type WeakProxy = Weak<Proxy>;
