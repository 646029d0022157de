//! One request and its whole answer, for commands that have nothing else to do meanwhile.

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION, USER_AGENT};
use hyper::{HeaderMap, Method, Uri};

use super::headers::SESSION;
use super::received::{self, Received};
use super::upstream::Upstream;
use crate::server::Server;

/// More than this lead nowhere.
const REDIRECTS: usize = 5;

/// Fetches a document of at most `limit` bytes, within a time.
pub fn fetch(url: &str, limit: usize, longest: Duration) -> Result<Vec<u8>, String> {
    within(longest, follow(Server::parse_url(url)?, limit))
}

/// What a server answered to a message.
#[derive(Debug)]
pub struct Answered {
    /// The session that it opened.
    pub session: Option<String>,
    /// The whole body of its answer.
    pub body: Vec<u8>,
}

/// Posts a message and waits for the whole answer of at most `limit` bytes, within a time.
pub fn post(
    url: &str,
    session: Option<&str>,
    message: String,
    limit: usize,
    longest: Duration,
) -> Result<Answered, String> {
    let upstream = Upstream::new(Server::parse_url(url)?, HeaderMap::new());
    let upstream = upstream.map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if let Some(session) = session {
        let session = HeaderValue::from_str(session).map_err(|error| error.to_string())?;
        headers.insert(SESSION, session);
    }
    within(longest, async {
        let (response, _lease) = upstream
            .send(Method::POST, headers, message.into())
            .await
            .map_err(|unsent| unsent.to_string())?;
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok());
        let session = session.map(str::to_owned);
        let body = whole(response.into_body(), limit).await?;
        Ok(Answered { session, body })
    })
}

fn within<T>(
    longest: Duration,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let outcome = runtime.block_on(async {
        tokio::time::timeout(longest, work)
            .await
            .unwrap_or_else(|_| Err(format!("it did not come within {} s", longest.as_secs())))
    });
    // A name that is being looked up keeps nobody here.
    runtime.shutdown_background();
    outcome
}

async fn whole(body: Incoming, limit: usize) -> Result<Vec<u8>, String> {
    match received::receive(body, limit).await {
        Received::Whole(bytes) => Ok(bytes.to_vec()),
        Received::TooLarge(_) => Err(format!("it has more than {limit} bytes")),
        Received::Broken => Err("the answer broke off".to_owned()),
    }
}

async fn follow(mut uri: Uri, limit: usize) -> Result<Vec<u8>, String> {
    for _ in 0..=REDIRECTS {
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
            let location = location.to_str().map_err(|_| "it leads to no URL".to_owned())?;
            uri = next(&uri, location)?;
            continue;
        }
        if !response.status().is_success() {
            return Err(format!("the server answered with HTTP status {}", response.status()));
        }
        return whole(response.into_body(), limit).await;
    }
    Err(format!("it leads to another URL more than {REDIRECTS} times"))
}

/// Where a redirection leads. What began encrypted stays so.
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
        return Err(format!("it leads to `http://{to}`, which is not encrypted"));
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn redirections_stay_encrypted() {
        let from = "https://a.example/x".parse().unwrap();
        assert_eq!(next(&from, "/y").unwrap(), "https://a.example/y");
        assert_eq!(next(&from, "https://b.example/").unwrap(), "https://b.example/");
        assert!(next(&from, "http://a.example/").is_err());
        assert!(next(&from, "y").is_err());
    }
}
