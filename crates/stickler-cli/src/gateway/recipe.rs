//! How gatekeepers are made: all of one run share policy, schemas and what is learnt.

use std::sync::Arc;

use stickler::{
    Gatekeeper, GatekeeperSettings, McpValidator, Policy, ProtocolSchemas, Revision,
    ValidationMiddleware,
};

/// What all gatekeepers of a run have in common.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) name: String,
    pub(crate) validator: Arc<McpValidator>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) protocol: Arc<ProtocolSchemas>,
    pub(crate) settings: GatekeeperSettings,
}

impl Recipe {
    /// For one connection to the server that the tool cache knows by that name. The revision is
    /// given where something other than the messages says it.
    pub(crate) fn gatekeeper(&self, server: &str, revision: Option<Revision>) -> Gatekeeper {
        self.gatekeeper_with(server, revision, self.settings.clone())
    }

    /// The same for one that subscribes to changes of the tools: the only one of those that share
    /// what is learnt.
    pub(crate) fn subscriber(&self, server: &str, revision: Option<Revision>) -> Gatekeeper {
        let mut settings = self.settings.clone();
        settings.subscribes = true;
        self.gatekeeper_with(server, revision, settings)
    }

    fn gatekeeper_with(
        &self,
        server: &str,
        revision: Option<Revision>,
        settings: GatekeeperSettings,
    ) -> Gatekeeper {
        let mut middleware = ValidationMiddleware::new(server, Arc::clone(&self.validator))
            .with_policy(Arc::clone(&self.policy))
            .with_protocol(Arc::clone(&self.protocol));
        if let Some(revision) = revision {
            middleware = middleware.with_revision(revision);
        }
        let validator = Arc::clone(&self.validator);
        Gatekeeper::new(server, validator, middleware, settings)
    }

    /// The most that a message may have.
    pub(crate) fn message_bytes(&self) -> usize {
        self.validator.config().limits.message_bytes
    }
}
