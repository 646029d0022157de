//! Admission checks of an HTTP request, and its dispatch to the server.
//!
//! Checks the host, origin, token, media types and body size, in this order. A rejected request never
//! reaches the protocol layer.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body as _, Incoming};
use hyper::header::{AUTHORIZATION, EXPECT, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use stickler::{Era, MemoryBudget, Revision};
use stickler_protocol::Side;
use stickler_protocol::envelope::{PartialHeader, may_contain};
use stickler_protocol::headers::VERSION_KEY;
use stickler_transport::http::{BodyLimits, Received, SESSION, Stalled, receive_within};

use crate::connection_factory::ConnectionFactory;
use crate::downstream::http::content_negotiation::{self, AllowedHosts, is_loopback};
use crate::downstream::http::half_close::HalfClose;
use crate::downstream::http::inbound_message::InboundMessage;
use crate::downstream::http::reply::{self, HttpResponse};
use crate::downstream::http::sessions::Sessions;
use crate::downstream::http::stream_response;
use crate::downstream::http::to_command;
use crate::driver::message::Outgoing;
use crate::log::Log;
use crate::multiplexer::Multiplexer;
use crate::observe::emitted::of_outgoing;
use crate::upstream::http::Proxy;

/// The server that requests are dispatched to.
pub(crate) enum Backend {
    Command(Arc<Sessions>, Multiplexer),
    Url(Arc<Proxy>),
}

/// Accepts the HTTP requests for one server.
pub(crate) struct Frontend {
    pub(crate) backend: Backend,
    pub(crate) origins: Vec<String>,
    pub(crate) token: Option<String>,
    /// Host names that requests may use.
    pub(crate) hosts: AllowedHosts,
    pub(crate) keep_alive: Duration,
    /// Maximum time for a whole request body.
    pub(crate) body_timeout: Duration,
    pub(crate) log: Log,
}

/// Maximum time between two parts of a request body.
const BODY_READ_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) const LEGACY_SSE_NOT_SUPPORTED: &str = "the HTTP+SSE transport of 2024-11-05 is not supported; use \
    Streamable HTTP: POST to the path of the server";

impl Backend {
    fn factory(&self) -> &ConnectionFactory {
        match self {
            Self::Command(sessions, _) => &sessions.factory,
            Self::Url(proxy) => &proxy.factory,
        }
    }

    /// Returns whether a request belongs to a session of this backend.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        match self {
            Self::Command(sessions, _) => headers
                .get(SESSION)
                .and_then(|name| name.to_str().ok())
                .is_some_and(|name| sessions.contains(name)),
            Self::Url(proxy) => proxy.has_session(headers),
        }
    }

    /// Returns whether there are neither sessions nor requests.
    pub(crate) async fn is_idle(&self) -> bool {
        match self {
            Self::Command(sessions, multiplexer) => {
                sessions.is_empty() && multiplexer.is_idle().await
            }
            Self::Url(proxy) => proxy.is_idle(),
        }
    }

    /// Returns the number of running server processes.
    pub(crate) fn running_processes(&self) -> usize {
        match self {
            Self::Command(sessions, _) => sessions.running_processes(),
            Self::Url(_) => 0,
        }
    }

    /// Closes streams that have no natural end.
    pub(crate) fn close_streams(&self) {
        match self {
            Self::Command(sessions, _) => sessions.close_streams(),
            Self::Url(proxy) => proxy.close_streams(),
        }
    }

    /// Ends all sessions, processes and requests.
    pub(crate) async fn close_all(&self) {
        match self {
            Self::Command(sessions, multiplexer) => {
                multiplexer.close().await;
                sessions.close_all().await;
            }
            Self::Url(proxy) => proxy.close_all(),
        }
    }
}

impl Frontend {
    pub(crate) async fn handle(
        &self,
        request: Request<Incoming>,
        half_close: &HalfClose,
    ) -> HttpResponse {
        let mut response = self.respond(request, half_close).await;
        response.body_mut().keep_alive(self.keep_alive);
        response
    }

    async fn respond(&self, request: Request<Incoming>, half_close: &HalfClose) -> HttpResponse {
        if let Some(rejection) =
            self.check_access(&request).or_else(|| self.check_media_types(&request))
        {
            return rejection;
        }
        let (mut parts, body) = request.into_parts();
        if self.token.is_some() {
            // The token authenticates to the gateway and must not reach the server.
            parts.headers.remove(AUTHORIZATION);
        }
        match parts.method {
            Method::POST => match self.receive(&parts.headers, body).await {
                Ok(inbound) => {
                    half_close.request_received(inbound.expects_response());
                    self.post(parts.headers, inbound).await
                }
                Err(rejection) => rejection,
            },
            Method::GET => {
                half_close.request_received(true);
                self.listen(parts.headers).await
            }
            Method::DELETE => {
                half_close.request_received(false);
                self.close(parts.headers).await
            }
            _ => reply::not_allowed("GET, POST, DELETE", "this HTTP method is not supported"),
        }
    }

    /// Rejects a request with an ambiguous or forbidden host, a forbidden origin or without the token.
    pub(crate) fn check_access(&self, request: &Request<Incoming>) -> Option<HttpResponse> {
        let (headers, target) = (request.headers(), request.uri());
        let rejection = content_negotiation::check_host_count(request.version(), headers)
            .or_else(|| self.hosts.check(headers, target));
        if rejection.is_some() {
            return rejection;
        }
        if let Some(origin) = request.headers().get(ORIGIN)
            && !self.is_allowed_origin(origin)
        {
            return Some(reply::invalid_request(
                StatusCode::FORBIDDEN,
                "this origin is not allowed",
            ));
        }
        if !self.is_authorized(request.headers()) {
            let is_given = request.headers().contains_key(AUTHORIZATION);
            let reason =
                if is_given { "the bearer token is wrong" } else { "a bearer token is required" };
            let mut response = reply::invalid_request(StatusCode::UNAUTHORIZED, reason);
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return Some(response);
        }
        None
    }

    /// Checks media types for a command; a server behind a URL checks them itself.
    fn check_media_types(&self, request: &Request<Incoming>) -> Option<HttpResponse> {
        match self.backend {
            Backend::Command(..) => {
                content_negotiation::check_media_types(request.method(), request.headers())
            }
            Backend::Url(_) => None,
        }
    }

    fn is_allowed_origin(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        if self.origins.iter().any(|one| one == "*" || one.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let host = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
        host.is_some_and(|host| is_loopback(&host))
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let credentials = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let credentials = credentials.and_then(|value| value.split_once(' '));
        credentials.is_some_and(|(scheme, credentials)| {
            scheme.eq_ignore_ascii_case("bearer")
                && is_same_secret(credentials.trim().as_bytes(), token.as_bytes())
        })
    }

    async fn receive(
        &self,
        headers: &HeaderMap,
        incoming: Incoming,
    ) -> Result<InboundMessage, HttpResponse> {
        let factory = self.backend.factory();
        let limit = factory.message_bytes();
        let mut memory = factory.validator.cache().memory().charge(0);
        // A client that sent `Expect: 100-continue` is rejected before it sends an oversized body.
        let expects_continue = headers.contains_key(EXPECT);
        let received = if expects_continue && incoming.size_hint().lower() > limit as u64 {
            Ok(Received::TooLarge(bytes::Bytes::new()))
        } else {
            let limits = BodyLimits {
                idle: Some(BODY_READ_TIMEOUT),
                total: Some(self.body_timeout),
                memory: Some(&mut memory),
            };
            receive_within(incoming, limit, limits).await
        };
        match received {
            Ok(Received::Whole(body)) => Ok(InboundMessage::of(body).with_memory(memory)),
            Ok(Received::NoMemory(prefix)) => {
                let reason = no_memory(factory.validator.cache().memory());
                Err(reply::failure(StatusCode::SERVICE_UNAVAILABLE, &prefix, &reason))
            }
            Ok(Received::Broken) => {
                Err(reply::invalid_request(StatusCode::BAD_REQUEST, "the body is incomplete"))
            }
            Err(stalled) => {
                let reason = match stalled {
                    Stalled::Idle => {
                        format!("no more body data arrived for {} s", BODY_READ_TIMEOUT.as_secs())
                    }
                    Stalled::Slow => {
                        let seconds = self.body_timeout.as_secs_f64();
                        format!("the body did not arrive within {seconds} s")
                    }
                };
                Err(reply::invalid_request(StatusCode::REQUEST_TIMEOUT, &reason))
            }
            Ok(Received::TooLarge(beginning)) => {
                let mut connection = factory.connection(&factory.name, None);
                let actions =
                    connection.handle_oversized(Side::Client, PartialHeader::of(&beginning));
                let outgoing = Outgoing::copied(actions);
                self.log.observe(None, of_outgoing(&outgoing));
                let response = outgoing.to_client.into_iter().next().map(|message| message.bytes);
                Err(reply::json(StatusCode::PAYLOAD_TOO_LARGE, response.unwrap_or_default()))
            }
        }
    }

    async fn post(&self, headers: HeaderMap, inbound: InboundMessage) -> HttpResponse {
        if inbound.body.trim_ascii().is_empty() {
            return reply::empty_body();
        }
        match &self.backend {
            Backend::Command(sessions, multiplexer) => match era(&headers, &inbound) {
                Era::Legacy => to_command::post(sessions, &headers, &inbound).await,
                Era::Modern => {
                    to_command::post_modern(multiplexer, sessions, &headers, &inbound).await
                }
            },
            Backend::Url(proxy) => proxy.post(headers, inbound).await,
        }
    }

    async fn listen(&self, headers: HeaderMap) -> HttpResponse {
        match &self.backend {
            Backend::Url(proxy) => proxy.get(headers).await,
            Backend::Command(..) if era(&headers, &InboundMessage::empty()) == Era::Modern => {
                reply::not_allowed("POST", "revision 2026-07-28 has no GET stream")
            }
            Backend::Command(..) if !headers.contains_key(SESSION) => {
                // Clients of the HTTP+SSE transport start with a GET without a session.
                reply::not_allowed("POST, DELETE", LEGACY_SSE_NOT_SUPPORTED)
            }
            Backend::Command(sessions, _) => stream_response::listen(sessions, &headers),
        }
    }

    async fn close(&self, headers: HeaderMap) -> HttpResponse {
        match &self.backend {
            Backend::Url(proxy) => proxy.delete(headers).await,
            Backend::Command(..) if era(&headers, &InboundMessage::empty()) == Era::Modern => {
                reply::not_allowed("POST", "revision 2026-07-28 has no sessions")
            }
            Backend::Command(sessions, _) => to_command::close(sessions, &headers),
        }
    }
}

/// Determines the era of a request from its version header, session or body.
pub(crate) fn era(headers: &HeaderMap, inbound: &InboundMessage) -> Era {
    let version = content_negotiation::version(headers);
    let revision = version.and_then(Revision::parse);
    let has_session = headers.contains_key(SESSION);
    let body_names_version = || may_contain(&inbound.body, VERSION_KEY);
    // Versions are dates: an unknown one is newer or invalid. Only legacy requests have sessions.
    let is_newer = || revision.map_or(!has_session, |one| one.era() == Era::Modern);
    let is_modern = match version {
        // `initialize` is legacy whatever version it requests, unless both header and body declare a
        // modern version.
        Some(_) if inbound.is_initialize() => is_newer() && body_names_version(),
        Some(_) => is_newer(),
        None => !has_session && !inbound.is_initialize() && body_names_version(),
    };
    if is_modern { Era::Modern } else { Era::Legacy }
}

/// Returns why a message is rejected that the process has no memory for.
pub(crate) fn no_memory(memory: &MemoryBudget) -> String {
    let limit = memory.limit();
    format!("the messages of all clients reach `max_waiting_bytes` ({limit}); try again later")
}

/// Compares secrets in constant time, so that the duration does not reveal how much of one matches.
pub fn is_same_secret(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differences == 0
}
