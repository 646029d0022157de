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
//! # The way of a message
//!
//! [`ValidationMiddleware`] takes every message of both sides through all stages; each can be used
//! alone.
//!
//! | stage | module | asks |
//! | --- | --- | --- |
//! | frame | [`frame`] | where does a message begin and end? |
//! | bytes | [`tape`] | is it JSON, and where is what? |
//! | envelope | [`envelope`] | request, notification, response, batch, or noise? |
//! | protocol | [`SchemaValidator`] | has it the shape that its revision gives it? |
//! | discovery | [`ToolSchemaCache`] | which tools does the server have, and what do their schemas say? |
//! | arguments | [`McpValidator`] | do the arguments satisfy the schema, and if not, why? |
//! | repair | [`Edit`] | what was probably meant? |
//! | verdict | [`Verdict`] | what is to happen to the message? |
//! | render | [`HelpPrompt`], [`RetryObservation`] | how is the caller told? |
//! | after the call | [`ErrorEnhancer`] | what does the schema add to the server's own error? |
//!
//! This crate does no I/O of any kind: no files, sockets, clock, environment, threads or logging.
//! Nothing a peer can send makes it panic or return an error where a verdict is due.

mod arguments;
mod config;
mod discovery;
mod embedded;
mod enhance;
pub mod envelope;
mod error;
mod example;
pub mod frame;
mod gatekeeper;
pub mod headers;
pub mod lint;
mod middleware;
mod policy;
mod protocol;
mod render;
mod repair;
pub mod rules;
mod schema;
mod session;
mod side;
mod suggest;
pub mod tape;
pub mod tool_validation;
mod verdict;

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
pub use gatekeeper::{
    Event, Gatekeeper, GatekeeperSettings, Outbox, cancellation, is_own_subscription,
};
pub use middleware::ValidationMiddleware;
pub use policy::{Action, AnswerForm, Policy};
pub use protocol::{
    Era, Method, MethodKind, MethodLookup, ProtocolSchemaError, ProtocolSchemas, Revision,
    SchemaValidator, UnknownRevision,
};
pub use render::{
    CallAnswer, CallRefusal, HelpPrompt, ObservedError, RetryObservation, error_reply,
    estimate_tokens,
};
pub use repair::{Edit, EditKind};
pub use rules::{Code, MessageRule, Rule, Severity};
pub use session::Repeats;
pub use side::Side;
pub use suggest::{edit_distance, nearest_names};
pub use tool_validation::ToolValidationCapability;
pub use verdict::{Decision, Finding, Part, Subject, Verdict};
