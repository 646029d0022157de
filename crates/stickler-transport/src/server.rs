//! The location of a server: a command to start, or a URL.

use hyper::{HeaderMap, Uri};

use crate::child::ServerCommand;
use crate::http::parse_url;

/// The location of a server.
#[derive(Debug, Clone)]
pub enum Server {
    /// A process to start.
    Command(ServerCommand),
    /// The URL of the server, and headers that are added to every request.
    Url(Uri, HeaderMap),
}

impl Server {
    /// Returns a display name.
    pub fn name(&self) -> String {
        match self {
            Self::Command(command) => command.name(),
            Self::Url(url, _) => url.host().unwrap_or("server").to_owned(),
        }
    }

    /// Parses and checks the URL of a server.
    pub fn parse_url(url: &str) -> Result<Uri, String> {
        parse_url(url)
    }
}
