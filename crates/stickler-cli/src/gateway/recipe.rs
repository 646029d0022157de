//! How gatekeepers are made: all of one run share policy, schemas and what is learnt.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use stickler::{
    Gatekeeper, GatekeeperSettings, McpValidator, Policy, ProtocolSchemas, Revision,
    ValidationMiddleware,
};

use crate::config::ServerSettings;

/// What all gatekeepers of a run have in common.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) name: Arc<str>,
    pub(crate) validator: Arc<McpValidator>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) protocol: Arc<ProtocolSchemas>,
    pub(crate) settings: Arc<GatekeeperSettings>,
}

impl Recipe {
    pub(crate) fn new(
        name: Arc<str>,
        settings: ServerSettings,
        protocol: Arc<ProtocolSchemas>,
    ) -> Self {
        let policy = Arc::new(settings.policy());
        let validator = Arc::new(McpValidator::new(settings.validation));
        let mut settings = settings.gatekeeper;
        settings.first_number = first_number();
        Self { name, validator, policy, protocol, settings: Arc::new(settings) }
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
