//! Which server, and how to get to it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use stickler::Era;
use stickler::rules::Code;

use crate::Error;

/// How a server is started or reached.
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
    pub(super) place: Place,
    pub(super) timeout: Duration,
    pub(super) era: Option<Era>,
}

#[derive(Clone)]
pub(super) enum Place {
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
            Place::Command {
                program: program.into(),
                args: Vec::new(),
                env: BTreeMap::new(),
                directory: None,
            },
        )
    }

    /// A server that is reached by Streamable HTTP.
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::at(name, Place::Url { url: url.into(), headers: Vec::new() })
    }

    fn at(name: impl Into<String>, place: Place) -> Self {
        Self { name: name.into(), place, timeout: Duration::from_secs(60), era: None }
    }

    /// Adds arguments of the command.
    #[must_use]
    pub fn args(mut self, more: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Place::Command { args, .. } = &mut self.place {
            args.extend(more.into_iter().map(Into::into));
        }
        self
    }

    /// Sets a variable in the environment of the command.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Place::Command { env, .. } = &mut self.place {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the directory in which the command runs.
    #[must_use]
    pub fn current_dir(mut self, path: impl Into<PathBuf>) -> Self {
        if let Place::Command { directory, .. } = &mut self.place {
            *directory = Some(path.into());
        }
        self
    }

    /// Adds a header to every request to the URL.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Place::Url { headers, .. } = &mut self.place {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// How long the server may take for an answer: a minute, unless told otherwise.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Speaks the language of one era only, in place of finding out.
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.era = Some(era);
        self
    }

    /// An error for what cannot be an address.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Place::Url { url, headers } = &self.place else { return Ok(()) };
        let refuse = |reason: String| Err(Error::new(Code::CannotStart, reason));
        let uri = url.parse::<Uri>();
        let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
        if !uri.is_ok_and(|uri| is_http(&uri) && uri.authority().is_some()) {
            return refuse(format!(
                "`{}` is no URL of HTTP, such as `http://127.0.0.1:8000/mcp`",
                without_secrets(url)
            ));
        }
        for (name, value) in headers {
            if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() {
                return refuse(format!("the header `{name}` cannot be sent"));
            }
        }
        Ok(())
    }
}

/// What is in the environment and in headers is nobody's business.
impl fmt::Debug for McpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.place {
            Place::Command { program, .. } => program,
            Place::Url { url, .. } => url,
        };
        f.debug_struct("McpConfig")
            .field("name", &self.name)
            .field("place", place)
            .finish_non_exhaustive()
    }
}

/// A URL as it can be told: what comes before the host or after the path may be a secret.
pub(super) fn without_secrets(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://").map(|(scheme, rest)| (scheme, rest.rsplit_once('@'))) {
        Some((scheme, Some((_, rest)))) => format!("{scheme}://{rest}"),
        _ => plain.to_owned(),
    }
}
