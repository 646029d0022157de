//! HTTP client for rmcp's Streamable HTTP transport, on the client of the gateway.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use hyper::body::Incoming;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};
use stickler_protocol::frame::SseFrame;
use stickler_transport::Server;
use stickler_transport::http::{
    EventStream, LAST_EVENT, Lease, Received, SESSION, Upstream, has_content_type, json_headers,
    receive,
};

use super::drop_malformed_tools::drop_malformed_tools;

/// Size limit for one event or response body, in bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

type Events = BoxStream<'static, Result<Sse, SseError>>;
type Outcome<T> = Result<T, StreamableHttpError<HttpError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The client of one server; the URL that rmcp repeats in each request is that of the server.
#[derive(Clone)]
pub(super) struct HttpClient(Arc<Upstream>);

/// A failed HTTP request.
#[derive(Debug)]
pub(super) struct HttpError(String);

impl HttpClient {
    pub(super) fn new(url: &str) -> Result<Self, String> {
        let upstream = Upstream::new(Server::parse_url(url)?, HeaderMap::new());
        Ok(Self(upstream.map_err(|error| error.to_string())?))
    }

    async fn send(&self, parts: RequestParts<'_>) -> Outcome<(Response<Incoming>, Lease)> {
        let (method, body) = (parts.method.clone(), parts.body.clone());
        let sent = self.0.send(method, parts.into_headers()?, body.into()).await;
        let (response, lease) = sent.map_err(|error| http_error(error.to_string()))?;
        let challenge = response.headers().get(WWW_AUTHENTICATE);
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(challenge) = challenge.and_then(|value| value.to_str().ok())
        {
            let challenge = challenge.to_owned();
            return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
        }
        Ok((response, lease))
    }
}

/// The parts of a request.
struct RequestParts<'a> {
    method: Method,
    session: Option<&'a str>,
    last_event: Option<&'a str>,
    authorization: Option<&'a str>,
    headers: Headers,
    body: Vec<u8>,
}

impl RequestParts<'_> {
    fn into_headers(self) -> Outcome<HeaderMap> {
        let mut headers = json_headers();
        if self.body.is_empty() {
            headers.remove(CONTENT_TYPE);
        }
        let bearer = self.authorization.map(|token| format!("Bearer {token}"));
        for (name, value) in [
            (SESSION, self.session),
            (LAST_EVENT, self.last_event),
            (AUTHORIZATION, bearer.as_deref()),
        ] {
            if let Some(value) = value {
                let value = HeaderValue::from_str(value);
                headers.insert(name, value.map_err(|error| http_error(error.to_string()))?);
            }
        }
        headers.extend(self.headers);
        Ok(headers)
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
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        authorization: Option<String>,
        headers: Headers,
        max_bytes: usize,
    ) -> Outcome<StreamableHttpPostResponse> {
        let parts = RequestParts {
            method: Method::POST,
            session: session.as_deref(),
            last_event: None,
            authorization: authorization.as_deref(),
            headers,
            body: serde_json::to_vec(&message)?,
        };
        let (response, lease) = self.send(parts).await?;
        let (status, is_request) = (response.status(), is_request(&message));
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok());
        let session = session.map(str::to_owned);
        if status.is_success() && has_content_type(response.headers(), "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(events(response, max_bytes), session));
        }
        let body = match receive(response.into_body(), max_bytes).await {
            Received::Whole(body) => body,
            Received::TooLarge(_) => {
                return Err(http_error("the response exceeds the size limit".to_owned()));
            }
            Received::Broken | Received::NoMemory(_) => {
                return Err(http_error("the response was interrupted".to_owned()));
            }
        };
        lease.release();
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
        _: Arc<str>,
        session: Arc<str>,
        authorization: Option<String>,
        headers: Headers,
    ) -> Outcome<()> {
        let parts = RequestParts {
            method: Method::DELETE,
            session: Some(&session),
            last_event: None,
            authorization: authorization.as_deref(),
            headers,
            body: Vec::new(),
        };
        match self.send(parts).await?.0.status() {
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(http_error(format!("HTTP {status}"))),
        }
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        authorization: Option<String>,
        headers: Headers,
    ) -> Outcome<Events> {
        let parts = RequestParts {
            method: Method::GET,
            session: session.as_deref(),
            last_event: last_event.as_deref(),
            authorization: authorization.as_deref(),
            headers,
            body: Vec::new(),
        };
        let (response, _) = self.send(parts).await?;
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
    let events = EventStream::new(response.into_body(), max_bytes);
    let next = |mut events: EventStream| async {
        let event = match events.next().await? {
            Ok(SseFrame::Event(event)) => Ok(Sse {
                event: (!event.is_message).then(|| "other".to_owned()),
                data: event
                    .data
                    .map(|data| String::from_utf8_lossy(&drop_malformed_tools(&data)).into_owned()),
                id: event.id,
                retry: event.retry,
            }),
            Ok(SseFrame::TooLong(_)) => Err("an event from the server exceeds the size limit"),
            Err(_) => Err("the stream was interrupted"),
        };
        Some((event.map_err(|reason| SseError::Body(io::Error::other(reason).into())), events))
    };
    stream::unfold(events, next).boxed()
}

fn http_error(reason: String) -> StreamableHttpError<HttpError> {
    StreamableHttpError::Client(HttpError(reason))
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HttpError {}
