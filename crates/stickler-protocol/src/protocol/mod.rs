//! The protocol's own shapes: what a message of each revision of MCP looks like.
//!
//! One annotated document, `definitions.json`, says it for all revisions at once; a
//! [`SchemaValidator`] is what one revision makes of it.

mod definitions;
mod document;
mod error;
mod loading;
mod methods;
mod projection;
mod schemas;
mod span;
mod validator;

pub use stickler::{Era, Revision, UnknownRevision};

pub use error::ProtocolSchemaError;
pub use methods::{Method, MethodKind, MethodLookup};
pub use schemas::ProtocolSchemas;
pub use validator::SchemaValidator;
