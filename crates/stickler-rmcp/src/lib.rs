//! Validation that explains and fixes, for programs built on [`rmcp`], the official Rust SDK of the
//! Model Context Protocol.
//!
//! A server gets it by wrapping its handler in [`Validated`]: every `tools/call` is checked against
//! the tool's own schema before the handler sees it, and a call that fails comes back with
//! everything its caller needs to correct it.
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
//! | part | for |
//! | --- | --- |
//! | [`Validated`], [`DeepChecks`] | servers: calls are checked before the handler |
//! | [`RawTransport`], [`RawLayer`] | servers: malformed messages are answered before rmcp drops them |
//! | [`McpClient`] | clients: calls are checked before they are sent |
//! | [`CheckedTransport`] | the same for an rmcp client that exists already |
//!
//! What is logged goes to [`tracing`]; argument values are left out.

mod client;
mod error;
mod problems;
mod raw;
mod server;

pub use client::{
    CheckedTransport, DecidedBy, McpClient, McpConfig, ToolCallResult, ToolValidation,
};
pub use error::Error;

pub use raw::{RawBody, RawLayer, RawService, RawSettings, RawTransport};
pub use server::{Concerns, DeepCall, DeepChecks, ToolCheck, ToolProblem, Validated};
pub use stickler::rules::Code;
pub use stickler::tool_validation::{ValidationLevels, ValidationReport};
pub use stickler::{AnswerForm, Era, ToolValidationCapability, ValidationConfig};
pub use stickler_protocol::Policy;
