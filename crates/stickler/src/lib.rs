//! Validation of Model Context Protocol (MCP) tool calls, with explanations and corrections.
//!
//! Tool calls are validated against the schemas that servers publish. A rejected call is returned
//! with everything that its caller needs to correct it: the path, what was expected, "did you mean"
//! suggestions, a valid example and the corrected call.
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
//! assert_eq!(result.errors[0].message, "`pth` is not a known field; did you mean `path` (string, required)?");
//! let corrected = result.corrected.unwrap();
//! assert_eq!(corrected.arguments.get(), r#"{"path":"a.txt","content":"hi"}"#);
//! ```
//!
//! # The stages of a call
//!
//! Each stage can be used on its own. Messages and connections are handled by the crate
//! `stickler-protocol`.
//!
//! | stage | item | purpose |
//! | --- | --- | --- |
//! | bytes | [`tape`] | parses JSON and indexes its values |
//! | discovery | [`ToolSchemaCache`] | holds the tools of each server and their schemas |
//! | arguments | [`McpValidator`] | validates the arguments and explains why they are invalid |
//! | repair | [`Edit`] | derives the call that was probably meant |
//! | render | [`HelpPrompt`], [`RetryObservation`], [`CallRejection`] | renders a rejection for the caller |
//! | after the call | [`ErrorEnhancer`] | adds help from the schema to the server's error |
//!
//! This crate does no I/O: it uses no files, sockets, clock, environment, threads or logging. Invalid
//! input from a peer never causes a panic; it is reported in the validation result.

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
mod memory;
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
#[doc(hidden)]
pub use config::Signals;
pub use config::{
    BUILT_IN_INJECTED_KEYS, CompileSchemas, Formats, HelpDetail, Limits, Mode, Repair,
    UnknownFields, ValidationConfig,
};
pub use discovery::{
    CacheStats, CachedSchema, Discovery, EndlessList, Freshness, JsonText, ListPages, SchemaStore,
    ToolDefinition, ToolList, ToolListError, ToolSchemaCache, view_of,
};
pub use enhance::{ENHANCED_KEY, ErrorEnhancer, is_enhanced};
pub use error::{McpError, McpSchemaError, McpToolError, McpValidationFailed, UnknownToolError};
pub use finding::Finding;
pub use memory::{MemoryBudget, Reservation};
pub use render::{
    AnswerForm, CallAnswer, CallRecord, CallRejection, CorrectedRecord, EditRecord, ErrorRecord,
    HelpPrompt, ObservedError, RetryObservation, estimate_tokens,
};
pub use repair::{Edit, EditKind};
pub use revision::{Era, Revision, UnknownRevision};
pub use rules::{Code, MessageRule, Rule, Severity};
pub use suggest::{edit_distance, nearest_names};
pub use tool_validation::ToolValidationCapability;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
