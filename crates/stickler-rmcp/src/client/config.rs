//! Configuration of a client: the server's command or URL, and how to connect to it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use stickler::Era;
use stickler::rules::Code;

use crate::Error;

/// How to start or reach a server.
///
/// ```
/// use std::time::Duration;
/// use stickler_rmcp::McpConfig;
///
/// let files = McpConfig::new("files", "npx").args(["-y", "some-server"]).env("DEBUG", "1");
/// let remote = McpConfig::url("remote", "https://example.com/mcp")
///     .header("authorization", "Bearer token")
///     .timeout(Duration::from_secs(10));
/// # let _ = (files, remote);
/// ```
#[derive(Clone)]
pub struct McpConfig {
    pub(super) name: String,
    pub(super) endpoint: Endpoint,
    pub(super) timeout: Duration,
    pub(super) era: Option<Era>,
}

/// A command to start or a URL to connect to.
#[derive(Clone)]
pub(super) enum Endpoint {
    Command {
        program: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        directory: Option<PathBuf>,
    },
    Url {
        url: String,
        headers: Vec<(String, String)>,
    },
}

impl McpConfig {
    /// A server that is started as a child process.
    pub fn new(name: impl Into<String>, program: impl Into<String>) -> Self {
        Self::at(
            name,
            Endpoint::Command {
                program: program.into(),
                args: Vec::new(),
                env: BTreeMap::new(),
                directory: None,
            },
        )
    }

    /// A server that is reached over Streamable HTTP.
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::at(name, Endpoint::Url { url: url.into(), headers: Vec::new() })
    }

    fn at(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self { name: name.into(), endpoint, timeout: Duration::from_secs(60), era: None }
    }

    /// Appends arguments to the command.
    #[must_use]
    pub fn args(mut self, more: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Endpoint::Command { args, .. } = &mut self.endpoint {
            args.extend(more.into_iter().map(Into::into));
        }
        self
    }

    /// Sets an environment variable for the command.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Endpoint::Command { env, .. } = &mut self.endpoint {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the working directory of the command.
    #[must_use]
    pub fn current_dir(mut self, path: impl Into<PathBuf>) -> Self {
        if let Endpoint::Command { directory, .. } = &mut self.endpoint {
            *directory = Some(path.into());
        }
        self
    }

    /// Adds a header to every request to the URL.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Endpoint::Url { headers, .. } = &mut self.endpoint {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// Sets the time limit for each response; the default is 60 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Uses only one era of the protocol instead of negotiating it.
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.era = Some(era);
        self
    }

    /// Rejects a URL that is not an HTTP URL, and headers that cannot be sent.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Endpoint::Url { url, headers } = &self.endpoint else { return Ok(()) };
        let reject = |reason: String| Err(Error::new(Code::CannotStart, reason));
        let uri = url.parse::<Uri>();
        let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
        if !uri.is_ok_and(|uri| is_http(&uri) && uri.authority().is_some()) {
            return reject(format!(
                "`{}` is not an HTTP URL such as `http://127.0.0.1:8000/mcp`",
                without_secrets(url)
            ));
        }
        for (name, value) in headers {
            if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() {
                return reject(format!("the header `{name}` cannot be sent"));
            }
        }
        Ok(())
    }
}

/// Omits environment variables and headers, which may contain secrets.
impl fmt::Debug for McpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = match &self.endpoint {
            Endpoint::Command { program, .. } => program,
            Endpoint::Url { url, .. } => url,
        };
        f.debug_struct("McpConfig")
            .field("name", &self.name)
            .field("place", endpoint)
            .finish_non_exhaustive()
    }
}

/// Returns a URL without user information, query and fragment, which may contain secrets.
pub(super) fn without_secrets(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://").map(|(scheme, rest)| (scheme, rest.rsplit_once('@'))) {
        Some((scheme, Some((_, rest)))) => format!("{scheme}://{rest}"),
        _ => plain.to_owned(),
    }
}
