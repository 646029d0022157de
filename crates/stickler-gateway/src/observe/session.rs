//! What the events of a session share: server, client and session.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use hyper::Uri;
use serde::Deserialize;
use stickler::Mode;
use stickler_protocol::TraceHeaders;
use stickler_protocol::envelope::RequestId;
use stickler_transport::Server;

use super::secrets;

/// Number of characters of a session's name: enough to find its lines, too few to hijack the session.
pub(crate) const SESSION_CHARACTERS: usize = 8;

/// A server as observers show it. It contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedServer {
    /// The name.
    pub name: Arc<str>,
    /// The mode of its validation.
    pub mode: Mode,
    /// Where it is.
    pub target: Target,
    /// Which values of its messages are recorded.
    pub values: RecordedValues,
}

/// Which values are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecordedValues {
    /// All values except those under names of credentials.
    #[default]
    Redacted,
    /// No argument and result values.
    None,
    /// All values.
    Full,
}

/// The command or URL of a server, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The program and its arguments.
    Command(Vec<String>),
    /// The URL.
    Url(String),
}

/// The implementation that a client states.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct Client {
    /// The name.
    pub name: String,
    /// The version.
    #[serde(default)]
    pub version: String,
}

/// A session: the messages of one client, or all requests without a session to one server.
#[derive(Debug)]
pub struct Session {
    /// A number that is unique within the process.
    pub number: u64,
    /// The beginning of the session id, or random characters if there is none.
    pub name: String,
    /// The beginning of the session id, once there is one.
    pub id: OnceLock<String>,
    /// The server.
    pub server: Arc<ObservedServer>,
    /// When the session began.
    pub started: SystemTime,
    /// The client of all its messages.
    pub client: OnceLock<Arc<Client>>,
    /// The negotiated protocol revision.
    pub revision: OnceLock<String>,
    connections: AtomicU64,
    held: Mutex<Vec<Held>>,
}

/// A message that waits for the tool list before it is checked.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) connection: u64,
    pub(crate) id: RequestId,
    pub(crate) received: SystemTime,
    pub(crate) message: Bytes,
    pub(crate) trace: Option<Arc<TraceHeaders>>,
}

impl ObservedServer {
    /// Describes a server without its secrets.
    pub fn new(name: Arc<str>, mode: Mode, server: &Server) -> Self {
        let target = match server {
            Server::Command(command) => {
                let mut words = vec![command.program.clone()];
                words.extend(secrets::redacted_arguments(&command.arguments));
                Target::Command(words)
            }
            Server::Url(url, _) => Target::Url(redacted_url(url)),
        };
        Self { name, mode, target, values: RecordedValues::default() }
    }
}

fn redacted_url(url: &Uri) -> String {
    secrets::redacted_url(&url.to_string())
}

impl Session {
    pub(crate) fn new(server: Arc<ObservedServer>, id: Option<&str>) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            name: id.map_or_else(random_name, shown_id),
            id: id.map(|id| OnceLock::from(shown_id(id))).unwrap_or_default(),
            server,
            started: SystemTime::now(),
            client: OnceLock::new(),
            revision: OnceLock::new(),
            connections: AtomicU64::new(0),
            held: Mutex::default(),
        })
    }

    pub(crate) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    fn held(&self) -> MutexGuard<'_, Vec<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a message until it is checked.
    pub(crate) fn hold(&self, held: Held) {
        self.held().push(held);
    }

    /// Returns the trace context of the held message that contains a request.
    pub(crate) fn held_trace(&self, connection: u64, id: &RequestId) -> Option<Arc<TraceHeaders>> {
        let held = self.held();
        held.iter().find(|one| one.connection == connection && one.id == *id)?.trace.clone()
    }

    /// Takes the held message that contains a request.
    pub(crate) fn release(&self, connection: u64, id: &RequestId) -> Option<Held> {
        let mut held = self.held();
        let is_it = |one: &Held| one.connection == connection && one.id == *id;
        let index = held.iter().position(is_it)?;
        Some(held.remove(index))
    }
}

/// Returns the beginning of a session id.
pub(crate) fn shown_id(id: &str) -> String {
    id.chars().take(SESSION_CHARACTERS.min(id.chars().count() / 2)).collect()
}

fn random_name() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    format!("{:08x}", RandomState::new().hash_one(std::process::id()) >> 32)
}
