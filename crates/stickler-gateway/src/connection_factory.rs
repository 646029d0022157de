//! Creates protocol connections that share one policy, validator, schema set and tool cache.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex};

use stickler::{McpValidator, Revision, SchemaStore, ValidationConfig};
use stickler_protocol::{Connection, ConnectionSettings, Policy, ProtocolSchemas, RejectionCounts};
use stickler_transport::http::IdentityHeaders;
use tokio::time::Instant;

use crate::driver::{Driver, Link};
use crate::log::Log;
use crate::work_pool::WorkPool;

/// What all servers of a process share.
#[derive(Debug, Clone, Default)]
pub struct SharedResources {
    /// The definitions of the protocol.
    pub protocol: Arc<ProtocolSchemas>,
    /// Runs compilations and long explanations.
    pub work_pool: WorkPool,
    /// The compiled schemas of tools.
    pub schemas: SchemaStore,
}

/// What a request says about the handshake of its session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handshake<'v> {
    /// The request is the handshake.
    Now,
    /// There is no session; the request declares its revision.
    Known(Option<Revision>),
    /// The session agreed on this version before.
    Before(&'v str),
}

/// The parts that all connections to one server share.
#[derive(Debug)]
pub struct ConnectionFactory {
    pub(crate) name: Arc<str>,
    pub(crate) validator: Arc<McpValidator>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) protocol: Arc<ProtocolSchemas>,
    pub(crate) settings: Arc<ConnectionSettings>,
    pub(crate) identity_headers: IdentityHeaders,
    work_pool: WorkPool,
    /// Counts repeated invalid calls of requests without a session.
    rejection_counts: Arc<Mutex<RejectionCounts>>,
}

impl ConnectionFactory {
    /// Creates a factory for the server with that name.
    pub fn new(
        name: Arc<str>,
        policy: Policy,
        validation: ValidationConfig,
        mut settings: ConnectionSettings,
        SharedResources { protocol, work_pool, schemas }: SharedResources,
    ) -> Self {
        let policy = Arc::new(policy);
        let validator = McpValidator::new(validation).with_schema_store(&schemas);
        settings.defer_work = true;
        settings.first_request_number = random_first_id();
        let rejection_counts = Arc::default();
        Self {
            name,
            validator: Arc::new(validator),
            policy,
            protocol,
            settings: Arc::new(settings),
            identity_headers: IdentityHeaders::default(),
            work_pool,
            rejection_counts,
        }
    }

    /// Sets which headers identify the clients of a server at a URL.
    #[must_use]
    pub fn with_identity_headers(mut self, headers: IdentityHeaders) -> Self {
        self.identity_headers = headers;
        self
    }

    /// Creates the driver of a connection.
    pub(crate) fn driver(
        &self,
        connection: Connection,
        link: Box<dyn Link>,
        log: Log,
        started: Instant,
    ) -> Driver {
        Driver::new(connection, link, &self.work_pool, log, started)
    }

    /// Creates a connection for one modern request. Its revision is known before the body is read; learned tools
    /// belong to the given tool view.
    pub(crate) fn for_request(&self, view: &Arc<str>, revision: Option<Revision>) -> Connection {
        self.create(view, revision, Arc::clone(&self.settings))
            .with_rejection_counts(Arc::clone(&self.rejection_counts))
    }

    /// Creates a connection to the server with that name in the tool cache. The revision is given if it is
    /// known independently of the messages.
    pub(crate) fn connection(&self, server: &Arc<str>, revision: Option<Revision>) -> Connection {
        self.create(server, revision, Arc::clone(&self.settings))
    }

    /// Creates a connection for one exchange of a data plane, with settings of its own. Nothing else is known of the
    /// session than what the request declares.
    pub(crate) fn for_exchange(
        &self,
        view: &Arc<str>,
        handshake: Handshake<'_>,
        settings: Arc<ConnectionSettings>,
    ) -> Connection {
        let counts = Arc::clone(&self.rejection_counts);
        match handshake {
            Handshake::Now => self.create(view, None, settings),
            Handshake::Known(revision) => self.create(view, revision, settings),
            Handshake::Before(version) => self.create(view, None, settings).in_session(version),
        }
        .with_rejection_counts(counts)
    }

    /// Creates a connection that subscribes to tool list changes. Of all connections that share learned
    /// tools, only one may subscribe.
    pub(crate) fn subscriber(&self, server: &Arc<str>, revision: Option<Revision>) -> Connection {
        let mut settings = ConnectionSettings::clone(&self.settings);
        settings.subscribe = true;
        self.create(server, revision, Arc::new(settings))
    }

    fn create(
        &self,
        server: &Arc<str>,
        revision: Option<Revision>,
        settings: Arc<ConnectionSettings>,
    ) -> Connection {
        let connection = Connection::new(Arc::clone(server), Arc::clone(&self.validator), settings)
            .with_policy(Arc::clone(&self.policy))
            .with_protocol(Arc::clone(&self.protocol));
        match revision {
            Some(revision) => connection.with_revision(revision),
            None => connection,
        }
    }

    /// Creates a connection for a session with that negotiated version, if the gateway did not see its
    /// handshake or no longer remembers it.
    pub(crate) fn connection_in_session(&self, server: &Arc<str>, version: &str) -> Connection {
        self.create(server, None, Arc::clone(&self.settings)).in_session(version)
    }

    /// Returns the maximum size of a message in bytes.
    pub(crate) fn message_bytes(&self) -> usize {
        self.validator.config().limits.message_bytes
    }
}

/// Returns a random number, so that chained gateways use different ids for their requests.
fn random_first_id() -> u64 {
    // The shift leaves room to count up.
    RandomState::new().hash_one(std::process::id()) >> 32
}
