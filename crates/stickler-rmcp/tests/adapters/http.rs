//! An HTTP client for one server, so that tests see the messages on the wire.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rmcp::ServerHandler;
use serde_json::{Value, json};
use stickler_rmcp::{RawLayer, RawSettings};
use tokio::net::TcpListener;
use tower_layer::Layer as _;

use crate::serve_http;
use crate::support::{initialize, modern_meta};

/// A running server and the session with it.
pub(crate) struct Web {
    url: String,
    session: Option<String>,
    modern: bool,
}

impl Web {
    async fn to(
        server: impl ServerHandler + Clone,
        raw: Option<RawSettings>,
        modern: bool,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let service = serve_http::service(server);
        if let Some(settings) = raw {
            let service = RawLayer::new(settings).layer(service);
            tokio::spawn(serve_http::serve(listener, service));
        } else {
            tokio::spawn(serve_http::serve(listener, service));
        }
        Self { url, session: None, modern }
    }

    pub(crate) async fn modern(
        server: impl ServerHandler + Clone,
        raw: Option<RawSettings>,
    ) -> Self {
        Self::to(server, raw, true).await
    }

    pub(crate) async fn legacy(
        server: impl ServerHandler + Clone,
        raw: Option<RawSettings>,
    ) -> Self {
        let mut web = Self::to(server, raw, false).await;
        let body =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize() });
        let response = web.post(body.to_string()).await;
        web.session = response.session;
        let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(web.post(body.to_string()).await.status, 202);
        web
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) async fn post(&self, body: impl Into<Bytes>) -> Response {
        let body: Bytes = body.into();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let mut request = hyper::Request::post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if self.modern {
            request = request.header("mcp-protocol-version", "2026-07-28");
            request = request.header("mcp-method", message["method"].as_str().unwrap_or("x"));
            if let Some(name) = message["params"]["name"].as_str() {
                request = request.header("mcp-name", name);
            }
        } else if self.session.is_some() {
            request = request.header("mcp-protocol-version", "2025-11-25");
        }
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let response = client.request(request.body(Full::new(body)).unwrap()).await.unwrap();
        Response::of(response).await
    }

    pub(crate) async fn call_params(&self, mut params: Value) -> Response {
        if self.modern && params.is_object() {
            params["_meta"] = modern_meta();
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
        self.post(request.to_string()).await
    }
}

/// Status, session id and body of a response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) text: String,
}

impl Response {
    async fn of(response: hyper::Response<hyper::body::Incoming>) -> Self {
        let header = |name: &str| {
            response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let (status, session) = (response.status().as_u16(), header("mcp-session-id"));
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Self { status, session, text: String::from_utf8(body.to_vec()).unwrap() }
    }

    /// The message of a JSON response, or of the last event of a stream.
    pub(crate) fn message(&self) -> Value {
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data:"));
        let last = data.map(str::trim).rfind(|data| !data.is_empty());
        serde_json::from_str(last.unwrap_or(&self.text)).unwrap_or_default()
    }
}
