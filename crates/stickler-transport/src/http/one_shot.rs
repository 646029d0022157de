//! Blocking single requests for command-line tools. Each call creates and drops its runtime.

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, LOCATION, USER_AGENT};
use hyper::{HeaderMap, Method, Uri};

use super::headers::SESSION;
use super::received::{self, Received};
use super::session::json_headers;
use super::upstream::Upstream;
use crate::server::Server;

/// Maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// Fetches a document of at most `limit` bytes and follows redirects.
pub fn fetch(url: &str, limit: usize, timeout: Duration) -> Result<Vec<u8>, String> {
    within(timeout, follow(Server::parse_url(url)?, limit))
}

/// The response to a posted message.
#[derive(Debug)]
pub struct PostResponse {
    /// The session id, if the server opened a session.
    pub session: Option<String>,
    /// The complete response body.
    pub body: Vec<u8>,
}

/// Posts a message and reads the complete response of at most `limit` bytes.
pub fn post(
    url: &str,
    session: Option<&str>,
    message: String,
    limit: usize,
    timeout: Duration,
) -> Result<PostResponse, String> {
    let upstream = Upstream::new(Server::parse_url(url)?, HeaderMap::new());
    let upstream = upstream.map_err(|error| error.to_string())?;
    let mut headers = json_headers();
    if let Some(session) = session {
        let session = HeaderValue::from_str(session).map_err(|error| error.to_string())?;
        headers.insert(SESSION, session);
    }
    within(timeout, async {
        let (response, _lease) = upstream
            .send(Method::POST, headers, message.into())
            .await
            .map_err(|unsent| unsent.to_string())?;
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok());
        let session = session.map(str::to_owned);
        let body = whole(response.into_body(), limit).await?;
        Ok(PostResponse { session, body })
    })
}

fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let outcome = runtime.block_on(async {
        tokio::time::timeout(timeout, work)
            .await
            .unwrap_or_else(|_| Err(format!("no response within {} s", timeout.as_secs())))
    });
    // Do not wait for a DNS lookup that is still running.
    runtime.shutdown_background();
    outcome
}

async fn whole(body: Incoming, limit: usize) -> Result<Vec<u8>, String> {
    match received::receive(body, limit).await {
        Received::Whole(bytes) => Ok(bytes.to_vec()),
        Received::TooLarge(_) => Err(format!("the response exceeds {limit} bytes")),
        Received::Broken | Received::NoMemory(_) => Err("the response was interrupted".to_owned()),
    }
}

async fn follow(mut uri: Uri, limit: usize) -> Result<Vec<u8>, String> {
    for _ in 0..=MAX_REDIRECTS {
        let upstream = Upstream::new(uri.clone(), HeaderMap::new());
        let upstream = upstream.map_err(|error| error.to_string())?;
        let mut headers = HeaderMap::new();
        let name = concat!("stickler/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(name));
        let (response, _lease) = upstream
            .send(Method::GET, headers, Bytes::new())
            .await
            .map_err(|unsent| unsent.to_string())?;
        if response.status().is_redirection()
            && let Some(location) = response.headers().get(LOCATION)
        {
            let location =
                location.to_str().map_err(|_| "the redirect target is not a URL".to_owned())?;
            uri = next(&uri, location)?;
            continue;
        }
        if !response.status().is_success() {
            return Err(format!("the server responded with HTTP status {}", response.status()));
        }
        return whole(response.into_body(), limit).await;
    }
    Err(format!("more than {MAX_REDIRECTS} redirects"))
}

/// Resolves a redirect. A redirect from `https` to `http` is an error.
fn next(from: &Uri, location: &str) -> Result<Uri, String> {
    let to = if location.starts_with('/') && !location.starts_with("//") {
        let host = from.authority().map_or("", |authority| authority.as_str());
        format!("{}://{host}{location}", from.scheme_str().unwrap_or("https"))
    } else {
        location.to_owned()
    };
    let to = Server::parse_url(&to)?;
    if from.scheme_str() == Some("https") && to.scheme_str() != Some("https") {
        let to = to.host().unwrap_or_default();
        return Err(format!("it redirects to `http://{to}`, which is not encrypted"));
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn redirect_from_https_to_http_is_rejected() {
        let from = "https://a.example/x".parse().unwrap();
        assert_eq!(next(&from, "/y").unwrap(), "https://a.example/y");
        assert_eq!(next(&from, "https://b.example/").unwrap(), "https://b.example/");
        assert!(next(&from, "http://a.example/").is_err());
        assert!(next(&from, "y").is_err());
    }
}
