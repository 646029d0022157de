//! Endpoints for operators: `/healthz`, `/readyz` and `/metrics`.
//!
//! `/healthz` is on every listener. The others tell what the gateway does and are only served on a loopback address, or
//! on a listener of their own (`--admin-listen`).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::downstream::http::HEADER_READ_TIMEOUT;
use crate::downstream::http::frontend::Backend;
use crate::downstream::http::reply::{self, HttpResponse};

/// Maximum time to connect to a server at a URL.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The media type of the metrics.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns metrics as text, given the running processes by server.
#[derive(Clone)]
pub struct MetricsText(pub Arc<WriteMetrics>);

/// A function that returns metrics, given the running processes by server.
pub type WriteMetrics = dyn Fn(&[(Arc<str>, usize)]) -> String + Send + Sync;

impl std::fmt::Debug for MetricsText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MetricsText")
    }
}

/// An endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdminPath {
    Health,
    Readiness,
    Metrics,
}

impl AdminPath {
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path {
            "/healthz" => Some(Self::Health),
            "/readyz" => Some(Self::Readiness),
            "/metrics" => Some(Self::Metrics),
            _ => None,
        }
    }
}

/// Responds that the gateway runs, to any request. The names of the servers are given to those that could also use
/// them.
pub(crate) fn health<'n>(servers: Option<impl Iterator<Item = &'n str>>) -> HttpResponse {
    let mut health = json!({ "status": "ok" });
    if let Some(servers) = servers {
        health["servers"] = servers.collect::<Vec<_>>().into();
    }
    reply::json(StatusCode::OK, health.to_string())
}

/// Responds which servers can be started or reached; with status 503 if one of them cannot.
pub(crate) async fn readiness(backends: impl Iterator<Item = (&str, &Backend)>) -> HttpResponse {
    let mut servers: Vec<Value> = Vec::new();
    let mut is_ready = true;
    for (name, backend) in backends {
        let mut server = json!({ "name": name, "ready": true });
        if let Some(reason) = obstacle(backend).await {
            is_ready = false;
            server["ready"] = false.into();
            server["reason"] = reason.into();
        }
        servers.push(server);
    }
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let word = if is_ready { "ready" } else { "not ready" };
    reply::json(status, json!({ "status": word, "servers": servers }).to_string())
}

/// Returns why a server cannot be started or reached.
async fn obstacle(backend: &Backend) -> Option<String> {
    match backend {
        Backend::Command(sessions, multiplexer) => {
            let program = &sessions.command.program;
            if sessions.command.is_missing() {
                let reason = sessions.command.missing_reason();
                return Some(format!("[STK-101] cannot start `{program}`: {reason}"));
            }
            let failures = multiplexer.given_up_after().await?;
            Some(format!("[STK-101] the server failed after {failures} consecutive restarts"))
        }
        Backend::Url(proxy) => {
            let (host, port) = proxy.upstream.address()?;
            let reason = match timeout(CONNECT_TIMEOUT, TcpStream::connect((host, port))).await {
                Ok(Ok(_)) => return None,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no connection in time".to_owned(),
            };
            Some(format!("[STK-101] the server cannot be reached: {reason}"))
        }
    }
}

/// Serves operators of a program without backends: it is ready as long as it runs.
pub async fn serve_operators(
    listener: TcpListener,
    names: Vec<Arc<str>>,
    text: Option<MetricsText>,
) {
    let names: Arc<[Arc<str>]> = names.into();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Probably out of file descriptors: retry when some are closed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (names, text) = (Arc::clone(&names), text.clone());
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let path = AdminPath::of(request.uri().path().trim_end_matches('/'));
            let answer = match (path, &text) {
                (Some(AdminPath::Health | AdminPath::Readiness), _) => {
                    health(Some(names.iter().map(|name| &**name)))
                }
                (Some(AdminPath::Metrics), Some(text)) => metrics(text, &[]),
                _ => unknown_path(),
            };
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_READ_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}

/// The response to a path that is not one of [`AdminPath`].
pub(crate) fn unknown_path() -> HttpResponse {
    let reason = "paths are `/healthz`, `/readyz` and `/metrics`";
    reply::invalid_request(StatusCode::NOT_FOUND, reason)
}

/// Responds with the metrics.
pub(crate) fn metrics(
    MetricsText(text): &MetricsText,
    children: &[(Arc<str>, usize)],
) -> HttpResponse {
    let mut answer = reply::json(StatusCode::OK, text(children));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
    answer
}
