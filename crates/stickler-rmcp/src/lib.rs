//! Validation for programs built on [`rmcp`], the official Rust SDK of the Model Context Protocol,
//! with error messages that explain how to correct a call.
//!
//! Wrap a server's handler in [`Validated`]: every `tools/call` is validated against the tool's
//! schema before the handler runs, and an invalid call is answered with everything that the caller
//! needs to correct it.
//!
//! ```
//! use rmcp::ServerHandler;
//! use stickler_rmcp::{ValidationConfig, Validated};
//!
//! #[derive(Clone)]
//! struct MyServer;
//! impl ServerHandler for MyServer {}
//!
//! let server = Validated::new(MyServer, ValidationConfig::default());
//! # let _ = server;
//! ```
//!
//! | type | purpose |
//! | --- | --- |
//! | [`Validated`], [`DeepChecks`] | servers: validates calls before the handler runs |
//! | [`RawTransport`], [`RawLayer`] | servers: answers malformed messages that rmcp would drop |
//! | [`McpClient`] | clients: validates calls before they are sent |
//! | [`CheckedTransport`] | adds the same validation to an existing rmcp client |
//!
//! Log records are emitted through [`tracing`]; they do not contain argument values.

mod client;
mod error;
mod problems;
mod raw;
mod schema_store;
mod server;

pub use client::{
    CheckedTransport, DecidedBy, McpClient, McpConfig, ToolCallResult, ToolValidation,
};
pub use error::Error;

pub use raw::{RawBody, RawLayer, RawService, RawSettings, RawTransport};
pub use server::{Concerns, DeepCall, DeepChecks, ToolCheck, ToolProblem, Validated};
pub use stickler::rules::Code;
pub use stickler::tool_validation::{ValidationLevels, ValidationReport};
pub use stickler::{
    AnswerForm, Era, Mode, Repair, ToolValidationCapability, UnknownFields, ValidationConfig,
};
pub use stickler_protocol::Policy;

/// Compiles the examples of docs/rmcp.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rmcp.md")]
struct RmcpPage;
