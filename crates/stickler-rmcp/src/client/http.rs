//! HTTP client for rmcp's Streamable HTTP transport, built on the same libraries as the gateway.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse, SseStream};

use super::drop_malformed_tools::drop_malformed_tools;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "mcp-session-id";

/// Size limit for one event or response body, in bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

type Events = BoxStream<'static, Result<Sse, SseError>>;
type Outcome<T> = Result<T, StreamableHttpError<HttpError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// An HTTP client with a connection pool.
#[derive(Clone)]
pub(super) struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

/// A failed HTTP request.
#[derive(Debug)]
pub(super) struct HttpError(String);

impl HttpClient {
    pub(super) fn new() -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        let connector =
            HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1();
        let connector = connector.wrap_connector(tcp);
        Self { client: Client::builder(TokioExecutor::new()).build(connector) }
    }

    async fn send(&self, parts: RequestParts<'_>) -> Outcome<Response<Incoming>> {
        let request = parts.into_request()?;
        let response = self.client.request(request).await;
        let response = response.map_err(|error| http_error(with_causes(&error)))?;
        let challenge = response.headers().get(WWW_AUTHENTICATE);
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(challenge) = challenge.and_then(|value| value.to_str().ok())
        {
            let challenge = challenge.to_owned();
            return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
        }
        Ok(response)
    }
}

/// The parts of a request.
struct RequestParts<'a> {
    method: Method,
    uri: &'a str,
    session: Option<&'a str>,
    last_event: Option<&'a str>,
    authorization: Option<&'a str>,
    headers: Headers,
    body: Vec<u8>,
}

impl RequestParts<'_> {
    fn into_request(self) -> Outcome<Request<Full<Bytes>>> {
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.uri)
            .header(ACCEPT, format!("{JSON}, {EVENTS}"));
        if !self.body.is_empty() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        let mut add = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                request = std::mem::take(&mut request).header(name, value);
            }
        };
        add(SESSION, self.session);
        add("last-event-id", self.last_event);
        let bearer = self.authorization.map(|token| format!("Bearer {token}"));
        add(AUTHORIZATION.as_str(), bearer.as_deref());
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(Full::new(self.body.into())).map_err(|error| http_error(error.to_string()))
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        authorization: Option<String>,
        headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse> {
        let posted = self.post_message_with_max_sse_event_size(
            uri,
            message,
            session,
            authorization,
            headers,
            MAX_MESSAGE_BYTES,
        );
        posted.await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        authorization: Option<String>,
        headers: Headers,
        max_bytes: usize,
    ) -> Outcome<StreamableHttpPostResponse> {
        let parts = RequestParts {
            method: Method::POST,
            uri: &uri,
            session: session.as_deref(),
            last_event: None,
            authorization: authorization.as_deref(),
            headers,
            body: serde_json::to_vec(&message)?,
        };
        let response = self.send(parts).await?;
        let (status, is_request) = (response.status(), is_request(&message));
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (session, kind) = (header(SESSION), header(CONTENT_TYPE.as_str()));
        if status.is_success() && kind.as_deref().is_some_and(|kind| kind.starts_with(EVENTS)) {
            return Ok(StreamableHttpPostResponse::Sse(events(response, max_bytes), session));
        }
        let body = Limited::new(response.into_body(), max_bytes).collect().await;
        let body = body.map_err(|error| http_error(error.to_string()))?.to_bytes();
        match serde_json::from_slice::<ServerJsonRpcMessage>(&drop_malformed_tools(&body)) {
            Ok(answer) if status.is_success() => {
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            Ok(ServerJsonRpcMessage::Error(error)) if is_request => {
                Ok(error_response(&message, error.error))
            }
            _ if status.is_success() && !is_request => Ok(StreamableHttpPostResponse::Accepted),
            // A server that does not support `server/discover` may respond with any client error.
            _ if status.is_client_error() && is_discovery(&message) => {
                let reason = format!("`server/discover` was answered with HTTP {status}");
                Ok(error_response(&message, ErrorData::invalid_request(reason, None)))
            }
            _ => Err(StreamableHttpError::UnexpectedServerResponse(
                format!("HTTP {status} without a JSON-RPC message in the body").into(),
            )),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        authorization: Option<String>,
        headers: Headers,
    ) -> Outcome<()> {
        let parts = RequestParts {
            method: Method::DELETE,
            uri: &uri,
            session: Some(&session),
            last_event: None,
            authorization: authorization.as_deref(),
            headers,
            body: Vec::new(),
        };
        match self.send(parts).await?.status() {
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(http_error(format!("HTTP {status}"))),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        authorization: Option<String>,
        headers: Headers,
    ) -> Outcome<Events> {
        let parts = RequestParts {
            method: Method::GET,
            uri: &uri,
            session: session.as_deref(),
            last_event: last_event.as_deref(),
            authorization: authorization.as_deref(),
            headers,
            body: Vec::new(),
        };
        let response = self.send(parts).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            StatusCode::NOT_FOUND if session.is_some() => Err(StreamableHttpError::SessionExpired),
            status if status.is_success() => Ok(events(response, MAX_MESSAGE_BYTES)),
            status => Err(http_error(format!("HTTP {status}"))),
        }
    }
}

/// Wraps an error as the response to `message`; the error of the server may lack the request id.
fn error_response(message: &ClientJsonRpcMessage, error: ErrorData) -> StreamableHttpPostResponse {
    let id = match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, id), None)
}

fn is_request(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(_))
}

fn is_discovery(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::DiscoverRequest(_)))
}

/// Returns the events of a response, with malformed tools moved out of rmcp's way.
fn events(response: Response<Incoming>, max_bytes: usize) -> Events {
    let mut event = EventSize::default();
    let bytes = response.into_body().into_data_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        if event.exceeds(max_bytes, &chunk) {
            return Err(std::io::Error::other("an event from the server exceeds the size limit"));
        }
        Ok(chunk)
    });
    let events = SseStream::from_bytes_stream(bytes);
    let filtered = events.map_ok(|mut event| {
        if let Some(data) = &mut event.data
            && let std::borrow::Cow::Owned(changed) = drop_malformed_tools(data.as_bytes())
        {
            *data = String::from_utf8(changed).unwrap_or_default();
        }
        event
    });
    filtered.boxed()
}

/// Size of the event that is being received.
#[derive(Debug, Default)]
struct EventSize {
    bytes: usize,
    line: usize,
}

impl EventSize {
    /// Adds a chunk; returns whether an event exceeds the limit. An empty line ends an event.
    fn exceeds(&mut self, max_bytes: usize, chunk: &[u8]) -> bool {
        for byte in chunk {
            self.bytes += 1;
            match byte {
                b'\n' if self.line == 0 => self.bytes = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => self.line += 1,
            }
            if self.bytes > max_bytes {
                return true;
            }
        }
        false
    }
}

fn http_error(reason: String) -> StreamableHttpError<HttpError> {
    StreamableHttpError::Client(HttpError(reason))
}

/// Appends the chain of causes, because HTTP libraries report the actual reason there.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        text = format!("{text}: {one}");
        cause = one.source();
    }
    text
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HttpError {}

#[cfg(test)]
mod tests {
    use super::EventSize;

    #[test]
    fn size_limit_applies_to_each_event_separately() {
        let mut size = EventSize::default();
        assert!(!size.exceeds(12, b"data: ab\n\ndata: c"));
        assert!(!size.exceeds(12, b"d\r\n\r\ndata: ef\n\n"));
        assert!(size.exceeds(12, b"data: abcdefgh"));
    }
}
