//! Reverse proxy for a server at a URL. Requests and responses are forwarded unchanged unless validation
//! rejects or repairs them.

pub(crate) mod admission;
mod deadline;
pub(crate) mod gateway_requests;
pub(crate) mod hop_by_hop_headers;
pub(crate) mod relay;

use std::collections::hash_map::RandomState;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::{HeaderMap, Method, Uri};
use stickler::{Era, Revision};
use stickler_protocol::Connection;
use stickler_transport::http::{SESSION, Upstream, credentials_key};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::connection_factory::ConnectionFactory;
use crate::downstream::http::ServerLimits;
use crate::downstream::http::content_negotiation::version;
use crate::downstream::http::frontend::era;
use crate::downstream::http::inbound_message::InboundMessage;
use crate::downstream::http::modern;
use crate::downstream::http::reply::HttpResponse;
use crate::downstream::http::request_context::request_context;
use crate::driver::Driver;
use crate::log::Log;
use crate::tool_views::session_cache::SessionCache;
use crate::tool_views::{MAX_TOOL_VIEWS, ToolView, ToolViews};
use crate::upstream::http::gateway_requests::UrlLink;
use crate::upstream::http::hop_by_hop_headers::strip_request;
use crate::upstream::http::relay::{Exchange, Phase};
use crate::upstream::subscription::{NullLink, Subscriptions, ToolSubscription};

/// A validating reverse proxy.
pub(crate) struct Proxy {
    pub(crate) factory: Arc<ConnectionFactory>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) phase: watch::Sender<Phase>,
    /// Maximum time to wait for a response.
    pub(crate) timeout: Option<Duration>,
    log: Log,
    started: Instant,
    /// Keyed, so clients cannot forge a colliding identity.
    hasher: RandomState,
    sessions: SessionCache,
    /// The tool view of the server, and its narrower views by client identity and by capabilities.
    view: Arc<ToolView>,
    identity_views: ToolViews,
    capability_views: ToolViews,
    /// The number of the next session's view.
    handshakes: AtomicU64,
    /// The gateway's subscriptions to changes of the tool list.
    subscriptions: Subscriptions,
}

impl Proxy {
    pub(crate) fn new(
        (url, headers): (Uri, HeaderMap),
        mut factory: ConnectionFactory,
        log: Log,
        limits: ServerLimits,
    ) -> io::Result<Arc<Self>> {
        // Timeouts are enforced per exchange.
        let settings = Arc::make_mut(&mut factory.settings);
        let timeout = settings.request_timeout.take();
        settings.unmatched_timeout = None;
        let view = ToolView::of_server(&factory.name, &factory.validator);
        Ok(Arc::new(Self {
            factory: Arc::new(factory),
            upstream: Upstream::new(url, headers)?,
            timeout,
            phase: watch::channel(Phase::Open).0,
            log,
            started: Instant::now(),
            hasher: RandomState::new(),
            sessions: SessionCache::new(limits.sessions, limits.idle),
            view,
            identity_views: ToolViews::new(limits.sessions.max(1)),
            capability_views: ToolViews::new(MAX_TOOL_VIEWS),
            handshakes: AtomicU64::new(1),
            subscriptions: Subscriptions::default(),
        }))
    }

    pub(crate) async fn post(
        self: &Arc<Self>,
        mut headers: HeaderMap,
        inbound: InboundMessage,
    ) -> HttpResponse {
        let is_modern = era(&headers, &inbound) == Era::Modern;
        let identity = self.identity(&headers);
        let credentials = credentials_key(&headers, &self.hasher);
        let is_initialize = !is_modern && inbound.is_initialize();
        let driver = if is_modern {
            // Modern requests have no session, even with a session id in the headers.
            match modern::admit(&headers, &inbound.body, &self.log) {
                Ok(capabilities_hash) => {
                    self.driver_for_request(&headers, identity, capabilities_hash)
                }
                Err(rejection) => return *rejection,
            }
        } else {
            self.driver(&headers, is_initialize, identity)
        };
        let context = request_context(&headers, is_modern);
        strip_request(&mut headers);
        let unsubscribed = is_modern && !self.subscriptions.touch(identity);
        let unsubscribed = unsubscribed.then(|| headers.clone());
        let exchange =
            Exchange { context, is_modern, is_initialize, ..Exchange::new(self, &driver) };
        let answer = exchange.post(headers, inbound).await;
        if let Some(headers) = unsubscribed {
            self.subscribe(identity, headers);
        }
        if is_initialize && let Some(name) = session_id(answer.headers()) {
            driver.set_session(&name);
            self.sessions.insert((name, credentials), driver);
        }
        answer
    }

    pub(crate) async fn get(self: &Arc<Self>, mut headers: HeaderMap) -> HttpResponse {
        let identity = self.identity(&headers);
        let driver = self.driver(&headers, false, identity);
        strip_request(&mut headers);
        Exchange::new(self, &driver).get(headers).await
    }

    pub(crate) async fn delete(self: &Arc<Self>, mut headers: HeaderMap) -> HttpResponse {
        let identity = self.identity(&headers);
        let key = self.session_key(&headers);
        let driver = self.driver(&headers, false, identity);
        strip_request(&mut headers);
        let answer = Exchange::new(self, &driver).send_without_body(Method::DELETE, headers).await;
        if let Some(key) = key.filter(|_| answer.status().is_success()) {
            self.sessions.remove(&key);
        }
        answer
    }

    /// Returns whether the gateway knows the session of a request.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        self.session_key(headers).is_some_and(|key| self.sessions.contains(&key))
    }

    /// Returns whether there is neither a session nor an open stream.
    pub(crate) fn is_idle(&self) -> bool {
        self.phase.receiver_count() == 0 && self.sessions.is_empty()
    }

    /// Removes a session that no longer exists on the server from the cache.
    pub(crate) fn forget(&self, headers: &HeaderMap) {
        if let Some(key) = self.session_key(headers) {
            self.sessions.remove(&key);
        }
    }

    /// Subscribes to changes of the tool list once it is cached; one subscription per client
    /// identity.
    fn subscribe(&self, identity: u64, headers: HeaderMap) {
        let view = self.view(identity);
        let version = version(&headers);
        let Some(revision) = version.and_then(Revision::parse) else { return };
        if !self.factory.validator.cache().is_populated(&view.name) {
            return;
        }
        let connection = self.factory.subscriber(&view.name, Some(revision));
        let (log, link) = (self.log.clone(), Box::new(NullLink));
        let listening = ToolSubscription {
            driver: Arc::new(self.factory.driver(connection, link, log, self.started)),
            upstream: Arc::clone(&self.upstream),
            limit: self.factory.message_bytes(),
        };
        self.subscriptions.start(identity, listening.subscribe(headers));
    }

    pub(crate) fn close_streams(&self) {
        self.subscriptions.close_all();
        self.phase.send_replace(Phase::Closing);
    }

    pub(crate) fn close_all(&self) {
        self.phase.send_replace(Phase::Closed);
        self.upstream.close();
    }

    /// Returns the client identity. Cached tools are visible only to clients with the same identity.
    fn identity(&self, headers: &HeaderMap) -> u64 {
        self.factory.identity_headers.key(headers, &self.hasher)
    }

    /// Returns the key of the session that a request belongs to: a session belongs to the credentials that began it.
    fn session_key(&self, headers: &HeaderMap) -> Option<(Arc<str>, u64)> {
        Some((session_id(headers)?, credentials_key(headers, &self.hasher)))
    }

    /// Returns the tool view of a client identity.
    fn view(&self, identity: u64) -> Arc<ToolView> {
        self.identity_views.get(&self.view, identity)
    }

    /// Creates the driver of one modern request.
    fn driver_for_request(
        self: &Arc<Self>,
        headers: &HeaderMap,
        identity: u64,
        capabilities_hash: u64,
    ) -> Arc<Driver> {
        let view = self.capability_views.get(&self.view(identity), capabilities_hash);
        let revision = version(headers).and_then(Revision::parse);
        let connection = self.factory.for_request(&view.name, revision);
        self.new_driver(connection, view, self.log.clone())
    }

    fn new_driver(
        self: &Arc<Self>,
        connection: Connection,
        view: Arc<ToolView>,
        log: Log,
    ) -> Arc<Driver> {
        let link = Box::new(UrlLink::new(
            Some(Arc::clone(&self.upstream)),
            self.factory.message_bytes(),
            view,
        ));
        Arc::new(self.factory.driver(connection, link, log, self.started))
    }

    /// Returns the driver of a legacy request: that of its session, or a new one.
    fn driver(
        self: &Arc<Self>,
        headers: &HeaderMap,
        is_initialize: bool,
        identity: u64,
    ) -> Arc<Driver> {
        let key = self.session_key(headers);
        if let Some(cached) = key.as_ref().and_then(|key| self.sessions.get(key)) {
            return cached;
        }
        let mut view = self.view(identity);
        let mut log = self.log.clone();
        if is_initialize || key.is_some() {
            log = log.for_session(key.as_ref().map(|(name, _)| &**name));
            // The tool list may depend on the handshake.
            view = view.narrow(self.handshakes.fetch_add(1, Ordering::Relaxed));
        }
        let connection = if is_initialize {
            self.factory.connection(&view.name, None)
        } else {
            self.connection_for_unknown_session(&view.name, headers, key.is_some())
        };
        let driver = self.new_driver(connection, view, log);
        if let Some(key) = key {
            self.sessions.insert(key, Arc::clone(&driver));
        }
        driver
    }

    /// Creates the connection for a request without a cached session.
    fn connection_for_unknown_session(
        &self,
        server: &Arc<str>,
        headers: &HeaderMap,
        has_session: bool,
    ) -> Connection {
        let version = version(headers);
        // Without the header the revision is the last one that did not define it.
        let version = version.unwrap_or(Revision::V2025_03_26.as_str());
        if has_session {
            self.factory.connection_in_session(server, version)
        } else {
            self.factory.connection(server, Revision::parse(version))
        }
    }
}

/// Returns the id of the session that a request or response names.
pub(crate) fn session_id(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION).and_then(|name| name.to_str().ok()).map(Into::into)
}
