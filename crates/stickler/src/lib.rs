//! Validation for the Model Context Protocol that explains and fixes.
//!
//! Tool calls are checked against the schemas that servers publish, and a call that fails comes
//! back with everything its caller needs to correct it: the path, what was expected, "did you
//! mean", a valid example, the corrected call.
//!
//! ```
//! use serde_json::json;
//! use stickler::{McpValidator, ToolDefinition, ValidationConfig};
//!
//! let validator = McpValidator::new(ValidationConfig::default());
//! let tool = ToolDefinition::new("write_file").with_input_schema(json!({
//!     "type": "object",
//!     "properties": { "path": { "type": "string" }, "content": { "type": "string" } },
//!     "required": ["path", "content"]
//! }));
//! validator.cache().populate("files", &[tool]);
//!
//! let result = validator.validate("files", "write_file", &json!({ "pth": "a.txt", "content": "hi" }));
//! assert!(!result.is_valid);
//! assert_eq!(result.errors[0].message, "`pth` is not a known field; did you mean `path`?");
//! let corrected = result.corrected.unwrap();
//! assert_eq!(corrected.arguments.get(), r#"{"path":"a.txt","content":"hi"}"#);
//! ```
//!
//! # The stages of a call
//!
//! Each can be used alone. The messages that calls travel in, and the connections that messages
//! travel on, are the subject of the crate `stickler-protocol`.
//!
//! | stage | item | asks |
//! | --- | --- | --- |
//! | bytes | [`tape`] | is it JSON, and where is what? |
//! | discovery | [`ToolSchemaCache`] | which tools does the server have, and what do their schemas say? |
//! | arguments | [`McpValidator`] | do the arguments satisfy the schema, and if not, why? |
//! | repair | [`Edit`] | what was probably meant? |
//! | render | [`HelpPrompt`], [`RetryObservation`], [`CallRefusal`] | how is the caller told? |
//! | after the call | [`ErrorEnhancer`] | what does the schema add to the server's own error? |
//!
//! This crate does no I/O of any kind: no files, sockets, clock, environment, threads or logging.
//! Nothing a peer can send makes it panic or return an error where a verdict is due.

mod arguments;
mod config;
mod discovery;
mod embedded;
mod enhance;
mod error;
mod example;
mod finding;
#[doc(hidden)]
pub mod internal;
pub mod lint;
mod render;
mod repair;
mod revision;
pub mod rules;
mod schema;
mod suggest;
pub mod tape;
pub mod tool_validation;

pub use arguments::{
    CorrectedCall, McpValidator, ValidationError, ValidationErrorKind, ValidationResult,
};
pub use config::{CompileSchemas, HelpDetail, Limits, Repair, UnknownFields, ValidationConfig};
pub use discovery::{
    CacheStats, CachedSchema, Discovery, Freshness, JsonText, ToolDefinition, ToolList,
    ToolListError, ToolSchemaCache, view_of,
};
pub use enhance::ErrorEnhancer;
pub use error::{McpError, McpSchemaError, McpToolError, McpValidationFailed, UnknownToolError};
pub use finding::Finding;
pub use render::{
    AnswerForm, CallAnswer, CallRefusal, HelpPrompt, ObservedError, RetryObservation,
    estimate_tokens,
};
pub use repair::{Edit, EditKind};
pub use revision::{Era, Revision, UnknownRevision};
pub use rules::{Code, MessageRule, Rule, Severity};
pub use suggest::{edit_distance, nearest_names};
pub use tool_validation::ToolValidationCapability;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
