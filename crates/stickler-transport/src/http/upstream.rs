//! A server at a URL, with a pool of keep-alive connections.
//!
//! Contract: a request is retried only if a pooled connection was closed before the request was sent, so no
//! request reaches the server twice. A connection is reused only for requests with the same credentials.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue};
use hyper::service::Service as _;
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::service::TowerToHyperService;
use stickler::Code;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::credentials::credentials_key;

type Sender = SendRequest<Full<Bytes>>;

const CLOSED: &str = "the connection pool is closed";

/// Maximum number of idle connections in the pool.
const MAX_IDLE_CONNECTIONS: usize = 256;

/// An HTTP server and its connections.
pub struct Upstream {
    uri: Uri,
    path: Uri,
    host: HeaderValue,
    /// Headers that are set on every request and override those of the client.
    fixed: HeaderMap,
    connector: HttpsConnector<HttpConnector>,
    /// Idle connections with the credentials of their requests, the oldest first.
    pool: Mutex<VecDeque<(u64, Sender)>>,
    /// Keyed, so that a client cannot forge the credentials of another.
    hasher: RandomState,
    /// The tasks of all connections, idle or in use.
    connections: Mutex<JoinSet<()>>,
    is_closed: watch::Sender<bool>,
}

/// Why a request has no response.
#[derive(Debug)]
pub enum SendError {
    /// The request was not sent.
    Unreachable(String),
    /// The request was sent, but the connection was closed before the response.
    Lost(String),
    /// Another error, with its code.
    Other(Code, String),
}

impl SendError {
    /// Returns the error code and a message for clients and logs.
    pub fn code_and_message(&self) -> (Code, String) {
        match self {
            Self::Unreachable(reason) => {
                (Code::CannotStart, format!("the server cannot be reached: {reason}"))
            }
            Self::Lost(reason) => (
                Code::ServerGone,
                format!("the connection was closed before the response: {reason}"),
            ),
            Self::Other(code, reason) => (*code, reason.clone()),
        }
    }
}

impl std::fmt::Display for SendError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Unreachable(reason) | Self::Lost(reason) | Self::Other(_, reason)) = self;
        formatter.write_str(reason)
    }
}

/// A connection that is in use.
pub struct Lease {
    sender: Sender,
    credentials: u64,
    upstream: Arc<Upstream>,
}

impl Upstream {
    /// Creates the pool of the server at `uri`; the `fixed` headers are set on every request.
    pub fn new(uri: Uri, fixed: HeaderMap) -> io::Result<Arc<Self>> {
        let invalid = |reason| io::Error::new(io::ErrorKind::InvalidInput, reason);
        let authority = uri.authority().ok_or_else(|| invalid("the URL has no host"))?;
        // Credentials in the URL must not be part of the `Host` header.
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        let host =
            HeaderValue::from_str(host).map_err(|_| invalid("the host of the URL is invalid"))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = path.parse().map_err(|_| invalid("the path of the URL is invalid"))?;
        let connector = super::tls::connector()?;
        Ok(Arc::new(Self {
            uri,
            path,
            host,
            fixed,
            connector,
            pool: Mutex::default(),
            hasher: RandomState::new(),
            connections: Mutex::default(),
            is_closed: watch::Sender::new(false),
        }))
    }

    /// Returns the host and port of the server.
    pub fn address(&self) -> Option<(&str, u16)> {
        let host = self.uri.host()?.trim_matches(['[', ']']);
        let default = if self.uri.scheme_str() == Some("https") { 443 } else { 80 };
        Some((host, self.uri.port_u16().unwrap_or(default)))
    }

    /// Aborts all requests and rejects new connections.
    pub fn close(&self) {
        self.is_closed.send_replace(true);
        self.connections().abort_all();
    }

    fn connections(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pool(&self) -> MutexGuard<'_, VecDeque<(u64, Sender)>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request. The body of the response has not been read yet.
    pub async fn send(
        self: &Arc<Self>,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(Response<Incoming>, Lease), SendError> {
        let mut request = self.request(method, headers, body);
        let credentials = credentials_key(request.headers(), &self.hasher);
        loop {
            let pooled = self.pooled(credentials);
            let is_pooled = pooled.is_some();
            let mut sender = match pooled {
                Some(sender) => sender,
                None => self.connect().await.map_err(SendError::Unreachable)?,
            };
            let error = match sender.ready().await {
                Err(_) if is_pooled => continue,
                Err(error) => return Err(SendError::Unreachable(error_chain(&error))),
                Ok(()) => match sender.try_send_request(request).await {
                    Ok(response) => return Ok((response, self.lease(sender, credentials))),
                    Err(error) => error,
                },
            };
            request = match unsent(error) {
                // The server closed an idle connection: retry on another one.
                Ok(request) if is_pooled => request,
                Ok(_) => return Err(SendError::Unreachable("it closed the connection".to_owned())),
                Err(reason) => return Err(SendError::Lost(reason)),
            };
        }
    }

    fn request(&self, method: Method, mut headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        headers.insert(HOST, self.host.clone());
        for (name, value) in &self.fixed {
            headers.insert(name, value.clone());
        }
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        // Keep a correct length; hyper sets it otherwise.
        if length.is_none_or(|length| length.parse() != Ok(body.len())) {
            headers.remove(CONTENT_LENGTH);
        }
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = headers;
        request
    }

    /// Takes the most recently used connection with these credentials out of the pool.
    fn pooled(&self, credentials: u64) -> Option<Sender> {
        let mut pool = self.pool();
        loop {
            let index = pool.iter().rposition(|(one, _)| *one == credentials)?;
            let (_, sender) = pool.remove(index)?;
            if !sender.is_closed() {
                return Some(sender);
            }
        }
    }

    fn lease(self: &Arc<Self>, sender: Sender, credentials: u64) -> Lease {
        Lease { sender, credentials, upstream: Arc::clone(self) }
    }

    async fn connect(self: &Arc<Self>) -> Result<Sender, String> {
        let connector = TowerToHyperService::new(self.connector.clone());
        let mut is_closed = self.is_closed.subscribe();
        let stream = tokio::select! {
            stream = connector.call(self.uri.clone()) => stream,
            _ = is_closed.wait_for(|is_closed| *is_closed) => return Err(CLOSED.to_owned()),
        };
        let stream = stream.map_err(|error| error_chain(error.as_ref()))?;
        let (sender, connection) = handshake(stream).await.map_err(|error| error.to_string())?;
        let mut connections = self.connections();
        // Checked under the lock: `close` either sees this connection or is seen here.
        if *self.is_closed.borrow() {
            return Err(CLOSED.to_owned());
        }
        let upstream = Arc::downgrade(self);
        connections.spawn(async move {
            // A pending request receives the error from hyper.
            let _ = connection.await;
            // Remove the tasks of connections that have ended, including earlier ones.
            if let Some(upstream) = upstream.upgrade() {
                while upstream.connections().try_join_next().is_some() {}
            }
        });
        Ok(sender)
    }
}

impl Lease {
    /// Returns the connection to the pool after the response was read completely.
    pub fn release(self) {
        if self.sender.is_closed() {
            return;
        }
        let mut pool = self.upstream.pool();
        pool.push_back((self.credentials, self.sender));
        if pool.len() > MAX_IDLE_CONNECTIONS {
            pool.pop_front();
        }
    }
}

/// Returns the request if it was not sent, otherwise the reason why there is no response.
fn unsent(mut error: TrySendError<Request<Full<Bytes>>>) -> Result<Request<Full<Bytes>>, String> {
    error.take_message().ok_or_else(|| error_chain(&error.into_error()))
}

/// Formats an error with its sources, because the outermost error is often too general.
fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut message = error.to_string();
    let mut inner = error.source();
    while let Some(error) = inner {
        let reason = error.to_string();
        if !message.ends_with(&reason) {
            message = format!("{message}: {reason}");
        }
        inner = error.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::Upstream;
    use bytes::Bytes;
    use http_body_util::BodyExt as _;
    use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue};
    use hyper::{HeaderMap, Method};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    const REQUESTS: usize = 20;

    /// Responds to one request per connection, then closes the connection.
    fn answer_and_close(listener: &TcpListener) {
        for client in listener.incoming().take(REQUESTS) {
            let mut client = client.unwrap();
            let mut lines = BufReader::new(client.try_clone().unwrap()).lines();
            while !lines.next().unwrap().unwrap().is_empty() {}
            client.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nx").unwrap();
        }
    }

    #[tokio::test]
    async fn content_length_is_forwarded_only_if_it_matches_the_body() {
        let uri = "http://127.0.0.1:9/mcp".parse().unwrap();
        let upstream = Upstream::new(uri, HeaderMap::new()).unwrap();
        let length = |given: &[&'static str]| {
            let values = given.iter().map(|one| (CONTENT_LENGTH, HeaderValue::from_static(one)));
            let body = Bytes::from_static(b"four");
            let request = upstream.request(Method::POST, values.collect(), body);
            request.headers().contains_key(CONTENT_LENGTH)
        };
        assert!(length(&["4"]));
        // hyper replaces these with the correct length.
        for wrong in ["5", "0", "", "x", "4, 4"] {
            assert!(!length(&[wrong]), "{wrong}");
        }
        assert!(!length(&[]));
    }

    /// Responds to every request with the number of its connection.
    async fn answer_with_connection_number(listener: tokio::net::TcpListener) {
        use hyper::service::service_fn;
        for number in 1_u8.. {
            let (client, _) = listener.accept().await.unwrap();
            let service = service_fn(move |_| async move {
                Ok::<_, std::io::Error>(hyper::Response::new(http_body_util::Full::new(
                    Bytes::from(vec![b'0' + number]),
                )))
            });
            let io = hyper_util::rt::TokioIo::new(client);
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(io, service));
        }
    }

    #[tokio::test]
    async fn connection_is_reused_only_with_the_same_credentials() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(answer_with_connection_number(listener));
        let upstream = Upstream::new(uri, HeaderMap::new()).unwrap();
        let mut numbers = String::new();
        for token in ["alice", "bob", "alice", "bob", ""] {
            let mut headers = HeaderMap::new();
            if !token.is_empty() {
                headers.insert(AUTHORIZATION, HeaderValue::from_static(token));
            }
            let sent = upstream.send(Method::GET, headers, Bytes::new()).await;
            let (response, lease) = sent.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            numbers.push_str(std::str::from_utf8(&body).unwrap());
            lease.release();
        }
        assert_eq!(numbers, "12123");
    }

    #[tokio::test]
    async fn ended_connections_are_removed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
        let server = std::thread::spawn(move || answer_and_close(&listener));
        let upstream = Upstream::new(uri, HeaderMap::new()).unwrap();
        for _ in 0..REQUESTS {
            let sent = upstream.send(Method::GET, HeaderMap::new(), Bytes::new()).await;
            let (response, lease) = sent.unwrap();
            assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "x");
            lease.release();
        }
        server.join().unwrap();
        // The last connection may still be closing, and the one before is removed after it.
        assert!(upstream.connections().len() <= 2, "{:?}", upstream.connections());
    }
}
