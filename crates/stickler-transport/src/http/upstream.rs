//! A server that is reached by HTTP: connections are kept and used again.

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

type Sender = SendRequest<Full<Bytes>>;

const CLOSED: &str = "no connection is made any more";

/// Connections that are kept for the next request.
const KEPT: usize = 256;

/// One server.
pub struct Upstream {
    uri: Uri,
    path: Uri,
    host: HeaderValue,
    /// What every request says of us, whatever the client says.
    fixed: HeaderMap,
    connector: HttpsConnector<HttpConnector>,
    pool: Mutex<Vec<Sender>>,
    /// All connections, in use or not.
    connections: Mutex<JoinSet<()>>,
    is_closed: watch::Sender<bool>,
}

/// Why a request has no answer.
#[derive(Debug)]
pub enum Unsent {
    /// It was not sent.
    Unreachable(String),
    /// It was, and then the server went away.
    Lost(String),
    /// For a reason that stands for itself.
    Other(Code, String),
}

impl Unsent {
    /// What is to be told of it, and under which code.
    pub fn told(&self) -> (Code, String) {
        match self {
            Self::Unreachable(reason) => {
                (Code::CannotStart, format!("the server cannot be reached: {reason}"))
            }
            Self::Lost(reason) => {
                (Code::ServerGone, format!("the server went away without an answer: {reason}"))
            }
            Self::Other(code, reason) => (*code, reason.clone()),
        }
    }
}

impl std::fmt::Display for Unsent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Unreachable(reason) | Self::Lost(reason) | Self::Other(_, reason)) = self;
        formatter.write_str(reason)
    }
}

/// A connection that is in use.
pub struct Lease {
    sender: Sender,
    upstream: Arc<Upstream>,
}

impl Upstream {
    /// For the server at that URL; each request carries the `fixed` headers.
    pub fn new(uri: Uri, fixed: HeaderMap) -> io::Result<Arc<Self>> {
        let invalid = |reason| io::Error::new(io::ErrorKind::InvalidInput, reason);
        let authority = uri.authority().ok_or_else(|| invalid("the URL names no host"))?;
        // A name and password in the URL are not for the `Host` header.
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        let host = HeaderValue::from_str(host).map_err(|_| invalid("the URL's host is odd"))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = path.parse().map_err(|_| invalid("the URL's path is odd"))?;
        let connector = super::trust::connector()?;
        Ok(Arc::new(Self {
            uri,
            path,
            host,
            fixed,
            connector,
            pool: Mutex::default(),
            connections: Mutex::default(),
            is_closed: watch::Sender::new(false),
        }))
    }

    /// Breaks off everything that is under way, and makes no connection any more.
    pub fn close(&self) {
        self.is_closed.send_replace(true);
        self.connections().abort_all();
    }

    fn connections(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pool(&self) -> MutexGuard<'_, Vec<Sender>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request; the answer's body is still to be read.
    pub async fn send(
        self: &Arc<Self>,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(Response<Incoming>, Lease), Unsent> {
        let mut request = self.request(method, headers, body);
        loop {
            let kept = self.kept();
            let is_kept = kept.is_some();
            let mut sender = match kept {
                Some(sender) => sender,
                None => self.connect().await.map_err(Unsent::Unreachable)?,
            };
            let error = match sender.ready().await {
                Err(_) if is_kept => continue,
                Err(error) => return Err(Unsent::Unreachable(reasons(&error))),
                Ok(()) => match sender.try_send_request(request).await {
                    Ok(response) => return Ok((response, self.lease(sender))),
                    Err(error) => error,
                },
            };
            request = match unsent(error) {
                // The server closed a connection that was kept for too long.
                Ok(request) if is_kept => request,
                Ok(_) => return Err(Unsent::Unreachable("it closed the connection".to_owned())),
                Err(reason) => return Err(Unsent::Lost(reason)),
            };
        }
    }

    fn request(&self, method: Method, mut headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        headers.insert(HOST, self.host.clone());
        for (name, value) in &self.fixed {
            headers.insert(name, value.clone());
        }
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        // One that is right need not be made anew.
        if length.is_none_or(|length| length.parse() != Ok(body.len())) {
            headers.remove(CONTENT_LENGTH);
        }
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = headers;
        request
    }

    fn kept(&self) -> Option<Sender> {
        let mut pool = self.pool();
        while let Some(sender) = pool.pop() {
            if !sender.is_closed() {
                return Some(sender);
            }
        }
        None
    }

    fn lease(self: &Arc<Self>, sender: Sender) -> Lease {
        Lease { sender, upstream: Arc::clone(self) }
    }

    async fn connect(self: &Arc<Self>) -> Result<Sender, String> {
        let connector = TowerToHyperService::new(self.connector.clone());
        let mut is_closed = self.is_closed.subscribe();
        let stream = tokio::select! {
            stream = connector.call(self.uri.clone()) => stream,
            _ = is_closed.wait_for(|is_closed| *is_closed) => return Err(CLOSED.to_owned()),
        };
        let stream = stream.map_err(|error| reasons(error.as_ref()))?;
        let (sender, connection) = handshake(stream).await.map_err(|error| error.to_string())?;
        let mut connections = self.connections();
        // Under the lock: whoever closes sees this one, or is seen.
        if *self.is_closed.borrow() {
            return Err(CLOSED.to_owned());
        }
        let upstream = Arc::downgrade(self);
        connections.spawn(async move {
            // Whoever waits for something on it is told.
            let _ = connection.await;
            // Those that have ended before are cleared away by the next that ends.
            if let Some(upstream) = upstream.upgrade() {
                while upstream.connections().try_join_next().is_some() {}
            }
        });
        Ok(sender)
    }
}

impl Lease {
    /// The answer was read to its end.
    pub fn give_back(self) {
        let mut pool = self.upstream.pool();
        if pool.len() < KEPT && !self.sender.is_closed() {
            pool.push(self.sender);
        }
    }
}

/// The request that was not sent, or why it has no answer.
fn unsent(mut error: TrySendError<Request<Full<Bytes>>>) -> Result<Request<Full<Bytes>>, String> {
    error.take_message().ok_or_else(|| reasons(&error.into_error()))
}

/// An error and what is behind it: the outermost seldom tells why.
fn reasons(error: &(dyn std::error::Error + 'static)) -> String {
    let mut told = error.to_string();
    let mut inner = error.source();
    while let Some(error) = inner {
        let reason = error.to_string();
        if !told.ends_with(&reason) {
            told = format!("{told}: {reason}");
        }
        inner = error.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::Upstream;
    use bytes::Bytes;
    use http_body_util::BodyExt as _;
    use hyper::header::{CONTENT_LENGTH, HeaderValue};
    use hyper::{HeaderMap, Method};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    const REQUESTS: usize = 20;

    /// Answers one request on each connection, and closes it.
    fn answer_and_close(listener: &TcpListener) {
        for client in listener.incoming().take(REQUESTS) {
            let mut client = client.unwrap();
            let mut lines = BufReader::new(client.try_clone().unwrap()).lines();
            while !lines.next().unwrap().unwrap().is_empty() {}
            client.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nx").unwrap();
        }
    }

    #[tokio::test]
    async fn a_length_goes_on_only_if_it_is_that_of_the_body() {
        let uri = "http://127.0.0.1:9/mcp".parse().unwrap();
        let upstream = Upstream::new(uri, HeaderMap::new()).unwrap();
        let length = |given: &[&'static str]| {
            let values = given.iter().map(|one| (CONTENT_LENGTH, HeaderValue::from_static(one)));
            let body = Bytes::from_static(b"four");
            let request = upstream.request(Method::POST, values.collect(), body);
            request.headers().contains_key(CONTENT_LENGTH)
        };
        assert!(length(&["4"]));
        // Of these, hyper makes the right one.
        for wrong in ["5", "0", "", "x", "4, 4"] {
            assert!(!length(&[wrong]), "{wrong}");
        }
        assert!(!length(&[]));
    }

    #[tokio::test]
    async fn connections_that_have_ended_are_not_kept() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
        let server = std::thread::spawn(move || answer_and_close(&listener));
        let upstream = Upstream::new(uri, HeaderMap::new()).unwrap();
        for _ in 0..REQUESTS {
            let sent = upstream.send(Method::GET, HeaderMap::new(), Bytes::new()).await;
            let (response, lease) = sent.unwrap();
            assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "x");
            lease.give_back();
        }
        server.join().unwrap();
        // The last may still be on its way out, and the one before it waits for the last.
        assert!(upstream.connections().len() <= 2, "{:?}", upstream.connections());
    }
}
