//! Tower layer that validates the messages to rmcp's Streamable HTTP service.

use std::convert::Infallible;
use std::fmt::Display;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use stickler::rules::json_rpc;
use stickler::{Era, Finding, MessageRule, Revision, Severity};
use stickler_protocol::envelope::{PartialHeader, RoutingHeader};
use stickler_protocol::headers::{self, VERSION, VERSION_KEY};
use stickler_protocol::{Decision, Reply, Side, Verdict};
use tower_layer::Layer;
use tower_service::Service;

use super::settings::{RawSettings, log};

/// The body type of rmcp's HTTP service.
pub type RawBody = BoxBody<Bytes, Infallible>;

/// Validates the body of every POST before rmcp parses it.
///
/// ```
/// use std::sync::Arc;
/// use rmcp::ServerHandler;
/// use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
/// use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
/// use stickler_rmcp::{RawLayer, RawSettings, ValidationConfig, Validated};
/// use tower_layer::Layer as _;
///
/// # #[derive(Clone)] struct MyServer;
/// # impl ServerHandler for MyServer {}
/// let server = Validated::new(MyServer, ValidationConfig::default());
/// let sessions = Arc::new(LocalSessionManager::default());
/// let config = StreamableHttpServerConfig::default();
/// let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
/// let service = RawLayer::new(RawSettings::default()).layer(service);
/// # let _ = service;
/// ```
#[derive(Debug, Clone, Default)]
pub struct RawLayer {
    settings: RawSettings,
}

impl RawLayer {
    /// Creates a layer with these settings.
    pub fn new(settings: RawSettings) -> Self {
        Self { settings: settings.without_session() }
    }
}

impl<S> Layer<S> for RawLayer {
    type Service = RawService<S>;

    fn layer(&self, inner: S) -> RawService<S> {
        RawService { inner, settings: self.settings.clone() }
    }
}

/// A service behind a [`RawLayer`].
#[derive(Debug, Clone)]
pub struct RawService<S> {
    inner: S,
    settings: RawSettings,
}

impl<S, B> Service<Request<B>> for RawService<S>
where
    S: Service<Request<RawBody>, Response = Response<RawBody>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    type Response = Response<RawBody>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // `poll_ready` was called on the existing service, so that one must handle the request.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let settings = self.settings.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            if parts.method != Method::POST {
                return inner.call(Request::from_parts(parts, full_body(Bytes::new()))).await;
            }
            let received = Limited::new(body, settings.message_bytes()).collect().await;
            let body = match received {
                Ok(body) => body.to_bytes(),
                Err(error) => return Ok(settings.receive_error(&*error)),
            };
            match settings.validate_body(&parts.headers, &body) {
                Ok(forward) => {
                    let body = forward.map_or(body, Bytes::from);
                    inner.call(Request::from_parts(parts, full_body(body))).await
                }
                Err(answer) => Ok(*answer),
            }
        })
    }
}

impl RawSettings {
    /// Returns the bytes that replace the body, if any, or the response that rejects it.
    fn validate_body(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Option<Vec<u8>>, Box<Response<RawBody>>> {
        if is_modern_initialize(headers, body) {
            return Ok(None);
        }
        let mut middleware = self.middleware(revision(headers, body));
        let verdict = self.validate(&mut middleware, body, Duration::ZERO);
        log(Side::Client, &verdict);
        let status = middleware.revision().and_then(|revision| status_of(revision, &verdict));
        match verdict.decision {
            Decision::Forward => Ok(None),
            Decision::Rewrite(bytes) => Ok(Some(bytes)),
            // A body has one response and rmcp does not support batches: reject all of it.
            Decision::Answer(reply) | Decision::Split { answer: reply, .. } => {
                Err(Box::new(json_rpc_response(*reply, status)))
            }
            Decision::Drop => {
                Err(Box::new(with_status(StatusCode::ACCEPTED, full_body(Bytes::new()))))
            }
        }
    }

    fn receive_error(&self, error: &(dyn std::error::Error + 'static)) -> Response<RawBody> {
        if !error.is::<LengthLimitError>() {
            return with_status(StatusCode::BAD_REQUEST, full_body(Bytes::new()));
        }
        let verdict =
            self.middleware(None).handle_oversized(Side::Client, PartialHeader::default());
        log(Side::Client, &verdict);
        let body = match verdict.decision {
            Decision::Answer(reply) => reply.bytes,
            _ => Vec::new(),
        };
        json(StatusCode::PAYLOAD_TOO_LARGE, body)
    }
}

/// Returns the revision that a request declares. Without a declaration, the protocol prescribes
/// 2025-03-26; `initialize` negotiates its own revision.
fn revision(headers: &HeaderMap, body: &[u8]) -> Option<Revision> {
    if method(body) == Some(b"initialize") {
        return None;
    }
    match headers.get(VERSION) {
        Some(version) => version.to_str().ok().and_then(Revision::parse),
        None if contains(body, VERSION_KEY.as_bytes()) => None,
        None => Some(Revision::V2025_03_26),
    }
}

/// Returns whether this is an `initialize` that declares a modern revision, which does not have
/// that method. rmcp rejects it as the protocol requires.
fn is_modern_initialize(headers: &HeaderMap, body: &[u8]) -> bool {
    let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
    let is_modern = version.and_then(Revision::parse).is_some_and(|one| one.era() == Era::Modern);
    is_modern && method(body) == Some(b"initialize") && contains(body, VERSION_KEY.as_bytes())
}

fn method(body: &[u8]) -> Option<&[u8]> {
    RoutingHeader::of(body).method.and_then(|span| body.get(span))
}

fn contains(body: &[u8], text: &[u8]) -> bool {
    body.windows(text.len()).any(|window| window == text)
}

/// Returns the HTTP status that the modern era prescribes for invalid `_meta` and unknown methods.
fn status_of(revision: Revision, verdict: &Verdict) -> Option<StatusCode> {
    let mut errors = verdict.findings.iter().filter(|one| one.severity == Severity::Error);
    let of_rule = |finding: &Finding| match (finding.rule, finding.path.as_str()) {
        (MessageRule::BadParams, "/params") => Some(StatusCode::BAD_REQUEST),
        (MessageRule::BadParams, path) if path.starts_with("/params/_meta") => {
            Some(StatusCode::BAD_REQUEST)
        }
        (MessageRule::UnknownMethod, _) => {
            StatusCode::from_u16(headers::status_of_error(json_rpc::METHOD_NOT_FOUND)).ok()
        }
        _ => None,
    };
    errors.find_map(of_rule).filter(|_| revision.era() == Era::Modern)
}

/// Builds the response; an error without a request id has the status 400.
fn json_rpc_response(reply: Reply, status: Option<StatusCode>) -> Response<RawBody> {
    let status = match reply.header.id {
        None => StatusCode::BAD_REQUEST,
        Some(_) => status.unwrap_or(StatusCode::OK),
    };
    json(status, reply.bytes)
}

fn json(status: StatusCode, body: Vec<u8>) -> Response<RawBody> {
    let mut response = with_status(status, full_body(Bytes::from(body)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn with_status(status: StatusCode, body: RawBody) -> Response<RawBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

fn full_body(body: Bytes) -> RawBody {
    Full::new(body).boxed()
}
