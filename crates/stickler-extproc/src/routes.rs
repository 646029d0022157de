//! Selects the settings of a route.
//!
//! Contract: a route names its settings in the initial metadata of the gRPC stream (`stickler-server`) or in dynamic
//! metadata (`dev.stickler`, member `server`). Only the configuration of Envoy sets these, never a client. A route that
//! names none has the default settings; one that names unknown settings fails, so that a typing error does not turn
//! checks off.

use std::collections::HashMap;
use std::sync::Arc;

use envoy_types::pb::envoy::config::core::v3::Metadata;
use envoy_types::pb::google::protobuf::value::Kind;
use stickler_gateway::ExternalServer;
use tonic::Status;
use tonic::metadata::MetadataMap;

/// The key of the gRPC metadata.
const METADATA_KEY: &str = "stickler-server";

/// The namespace of the dynamic metadata, and its member.
const NAMESPACE: (&str, &str) = ("dev.stickler", "server");

/// The settings by name.
#[derive(Debug)]
pub struct Routes {
    /// The settings of routes that name none.
    pub default: Arc<ExternalServer>,
    /// The settings that a route can name.
    pub named: HashMap<String, Arc<ExternalServer>>,
}

impl Routes {
    /// Returns the maximum size of a message in bytes.
    pub(crate) fn message_bytes(&self) -> usize {
        let all = self.named.values().chain([&self.default]);
        all.map(|one| one.message_bytes()).max().unwrap_or_default()
    }

    /// Returns the name in the gRPC metadata.
    pub(crate) fn name_in(metadata: &MetadataMap) -> Option<String> {
        metadata.get(METADATA_KEY)?.to_str().ok().map(str::to_owned)
    }

    /// Returns the settings with the given name, which dynamic metadata overrides.
    pub(crate) fn select(
        &self,
        name: Option<&str>,
        metadata: Option<&Metadata>,
    ) -> Result<Arc<ExternalServer>, Status> {
        let Some(name) = dynamic(metadata).or(name) else { return Ok(Arc::clone(&self.default)) };
        self.named.get(name).cloned().ok_or_else(|| {
            tracing::error!(
                "a route names the server `{name}`, which the configuration does not have"
            );
            Status::failed_precondition(format!("stickler has no server `{name}`"))
        })
    }
}

fn dynamic(metadata: Option<&Metadata>) -> Option<&str> {
    let (namespace, member) = NAMESPACE;
    match metadata?.filter_metadata.get(namespace)?.fields.get(member)?.kind.as_ref()? {
        Kind::StringValue(name) => Some(name),
        _ => None,
    }
}
