//! Judges the exchanges of a data plane that moves the bytes itself, such as Envoy.
//!
//! Contract: each exchange, a request and its response, has a connection of its own, so that any replica can judge any
//! request; sessions belong to the upstream. What is shared are the tool lists, by authority, path, identity, legacy
//! session and capabilities. A call is rejected only by a list that is fresh or was refreshed for it; if that is not
//! possible, it is forwarded unchecked.

mod exchange;
mod request;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode, Uri};
use stickler::Era;
use stickler_protocol::ConnectionSettings;
use stickler_transport::http::Upstream;
use tokio::time::Instant;

use crate::connection_factory::ConnectionFactory;
use crate::downstream::http::reply::HttpResponse;
use crate::log::Log;
use crate::tool_views::{ToolView, ToolViews};
use crate::upstream::http::session_id;
pub use exchange::{ExternalExchange, ResponsePlan};
pub use request::ExternalRequest;

/// Judges the requests for the servers behind a route of a data plane, with one set of settings.
pub struct ExternalServer {
    factory: ConnectionFactory,
    /// The settings of connections that must not fetch the tool list.
    passive: Arc<ConnectionSettings>,
    /// Lists the tools; `None` to learn them only from responses that pass.
    upstream: Option<Arc<Upstream>>,
    log: Log,
    started: Instant,
    /// Keyed, so clients cannot forge a colliding identity.
    hasher: RandomState,
    root: Arc<ToolView>,
    views: ToolViews,
}

/// The decision on a request.
#[derive(Debug)]
pub enum Judgement {
    /// Answer the request; it must not reach the server.
    Answer(ExternalAnswer),
    /// Forward the request.
    Forward {
        /// The body that replaces the one of the request.
        body: Option<Bytes>,
        /// Checks the response; `None` if the response need not be read.
        exchange: Option<Box<ExternalExchange>>,
    },
}

/// An HTTP response for the client.
#[derive(Debug)]
pub struct ExternalAnswer {
    /// The status.
    pub status: StatusCode,
    /// The headers, without the length.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl From<HttpResponse> for ExternalAnswer {
    fn from(response: HttpResponse) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status, headers: parts.headers, body: body.into_ready() }
    }
}

impl ExternalServer {
    /// Creates the judge. With `learn`, a URL and fixed headers, it lists the tools of the server itself. At most
    /// `max_views` tool lists are kept.
    pub fn new(
        mut factory: ConnectionFactory,
        log: Log,
        learn: Option<(Uri, HeaderMap)>,
        max_views: usize,
    ) -> io::Result<Arc<Self>> {
        let settings = Arc::make_mut(&mut factory.settings);
        // The data plane enforces timeouts. A capability that is announced in a session would have to be served by
        // every replica in later exchanges.
        settings.request_timeout = None;
        settings.announce = false;
        settings.fetch_tools &= learn.is_some();
        let mut passive = settings.clone();
        passive.fetch_tools = false;
        let root = ToolView::of_server(&factory.name, &factory.validator);
        Ok(Arc::new(Self {
            upstream: learn.map(|(url, headers)| Upstream::new(url, headers)).transpose()?,
            factory,
            passive: Arc::new(passive),
            log,
            started: Instant::now(),
            hasher: RandomState::new(),
            root,
            views: ToolViews::new(max_views.max(1)),
        }))
    }

    /// Returns the maximum size of a message in bytes.
    pub fn message_bytes(&self) -> usize {
        self.factory.message_bytes()
    }

    /// Returns the tool view of a request. The tool list of a legacy session may depend on its handshake.
    fn view(&self, request: &ExternalRequest, era: Era, capabilities_hash: u64) -> Arc<ToolView> {
        let identity = self.factory.identity_headers.key(&request.headers, &self.hasher);
        let session = session_id(&request.headers).filter(|_| era == Era::Legacy);
        let authority = request.authority.to_ascii_lowercase();
        let key = (authority, &request.path, identity, session, capabilities_hash);
        // 0 is the number of the root, which no request uses.
        self.views.get(&self.root, self.hasher.hash_one(key).max(1))
    }
}

impl std::fmt::Debug for ExternalServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalServer").field("name", &self.factory.name).finish_non_exhaustive()
    }
}
