//! Where a server is: a command to start, or a URL.

use hyper::{HeaderMap, Uri};

use crate::child::ServerCommand;
use crate::http::parse_url;

/// Where the server is.
#[derive(Debug, Clone)]
pub enum Server {
    /// A process to start.
    Command(ServerCommand),
    /// And what every request to it says of us.
    Url(Uri, HeaderMap),
}

impl Server {
    /// A name for people.
    pub fn name(&self) -> String {
        match self {
            Self::Command(command) => command.name(),
            Self::Url(url, _) => url.host().unwrap_or("server").to_owned(),
        }
    }

    /// A URL that a server can be at.
    pub fn parse_url(url: &str) -> Result<Uri, String> {
        parse_url(url)
    }
}
