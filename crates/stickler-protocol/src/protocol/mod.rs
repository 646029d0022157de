//! The message schemas of all MCP revisions.
//!
//! One annotated document, `definitions.json`, covers all revisions. A [`SchemaValidator`] is its projection to one
//! revision.

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
