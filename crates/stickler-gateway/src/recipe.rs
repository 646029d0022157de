//! How gatekeepers are made: all of one run share policy, schemas and what is learnt.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex};

use stickler::{McpValidator, Revision, ValidationConfig};
use stickler_protocol::headers::Mirrors;
use stickler_protocol::{
    Gatekeeper, GatekeeperSettings, Policy, ProtocolSchemas, Repeats, ValidationMiddleware,
};

/// What all gatekeepers of a run have in common.
#[derive(Debug)]
pub struct Recipe {
    pub(crate) name: Arc<str>,
    pub(crate) validator: Arc<McpValidator>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) protocol: Arc<ProtocolSchemas>,
    pub(crate) settings: Arc<GatekeeperSettings>,
    /// Bad calls of all requests that have no session in which they could be counted.
    repeats: Arc<Mutex<Repeats>>,
}

impl Recipe {
    /// For the server of that name, with what is checked, what follows from it, and how a gatekeeper acts.
    pub fn new(
        name: Arc<str>,
        policy: Policy,
        validation: ValidationConfig,
        mut settings: GatekeeperSettings,
        protocol: Arc<ProtocolSchemas>,
    ) -> Self {
        let policy = Arc::new(policy);
        let validator = Arc::new(McpValidator::new(validation));
        settings.first_number = first_number();
        let repeats = Arc::default();
        Self { name, validator, policy, protocol, settings: Arc::new(settings), repeats }
    }

    /// For one modern request: its revision and its headers are known before it is read, and what is learnt
    /// for it belongs to a view of the server.
    pub(crate) fn for_request(
        &self,
        view: &Arc<str>,
        revision: Option<Revision>,
        mirrors: Mirrors,
    ) -> Gatekeeper {
        let mut middleware = self.middleware(view).with_repeats(Arc::clone(&self.repeats));
        if let Some(revision) = revision {
            middleware = middleware.with_revision(revision);
        }
        self.around(view, middleware, Arc::clone(&self.settings)).with_mirrors(mirrors)
    }

    /// For one connection to the server that the tool cache knows by that name. The revision is
    /// given where something other than the messages says it.
    pub(crate) fn gatekeeper(&self, server: &Arc<str>, revision: Option<Revision>) -> Gatekeeper {
        self.settled(server, revision, Arc::clone(&self.settings))
    }

    /// The same for one that subscribes to changes of the tools: the only one of those that share
    /// what is learnt.
    pub(crate) fn subscriber(&self, server: &Arc<str>, revision: Option<Revision>) -> Gatekeeper {
        let mut settings = GatekeeperSettings::clone(&self.settings);
        settings.subscribes = true;
        self.settled(server, revision, Arc::new(settings))
    }

    fn settled(
        &self,
        server: &Arc<str>,
        revision: Option<Revision>,
        settings: Arc<GatekeeperSettings>,
    ) -> Gatekeeper {
        let mut middleware = self.middleware(server);
        if let Some(revision) = revision {
            middleware = middleware.with_revision(revision);
        }
        self.around(server, middleware, settings)
    }

    /// For a session whose handshake took place elsewhere or was forgotten, and came to that
    /// version.
    pub(crate) fn gatekeeper_in_session(&self, server: &Arc<str>, version: &str) -> Gatekeeper {
        let middleware = self.middleware(server).in_session(version);
        self.around(server, middleware, Arc::clone(&self.settings))
    }

    fn middleware(&self, server: &Arc<str>) -> ValidationMiddleware {
        ValidationMiddleware::new(Arc::clone(server), Arc::clone(&self.validator))
            .with_policy(Arc::clone(&self.policy))
            .with_protocol(Arc::clone(&self.protocol))
    }

    fn around(
        &self,
        server: &Arc<str>,
        middleware: ValidationMiddleware,
        settings: Arc<GatekeeperSettings>,
    ) -> Gatekeeper {
        let validator = Arc::clone(&self.validator);
        Gatekeeper::new(Arc::clone(server), validator, middleware, settings)
    }

    /// The most that a message may have.
    pub(crate) fn message_bytes(&self) -> usize {
        self.validator.config().limits.message_bytes
    }
}

/// A number that another gateway on the same pipe will not have chosen.
fn first_number() -> u64 {
    // The upper half is for those that count from there.
    RandomState::new().hash_one(std::process::id()) >> 32
}
