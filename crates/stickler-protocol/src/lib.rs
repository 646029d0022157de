//! The Model Context Protocol without I/O: framing, envelopes, schemas, session state and decisions.
//!
//! Callers pass in the bytes of both sides with the current time and receive verdicts and bytes to
//! send. Sockets, processes and clocks belong to the caller. Tool schemas, argument validation and
//! explanations come from the crate [`stickler`].
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use stickler::{McpValidator, ValidationConfig};
//! use stickler_protocol::{Decision, Side, ValidationMiddleware};
//!
//! let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
//! let mut middleware = ValidationMiddleware::new("files", validator);
//! let noise = middleware.handle(Side::Server, b"Server started on port 80", Duration::ZERO);
//! assert_eq!(noise.decision, Decision::Drop);
//! assert_eq!(noise.findings[0].rule.as_str(), "stdout-noise");
//! ```
//!
//! # The path of a message
//!
//! [`ValidationMiddleware`] takes every message of both sides through all stages. Each stage can be
//! used alone.
//!
//! | stage | item | question |
//! | --- | --- | --- |
//! | frame | [`frame`] | where does a message begin and end? |
//! | bytes | [`stickler::tape`] | is it JSON, and where are its values? |
//! | envelope | [`envelope`] | request, notification, response, batch or noise? |
//! | protocol | [`SchemaValidator`] | does it match its revision's schema? |
//! | arguments | [`stickler::McpValidator`] | do the arguments match the tool's schema, and if not, why? |
//! | verdict | [`Verdict`] | is the message forwarded, rewritten, answered or dropped? |
//! | render | [`stickler::CallRejection`], [`error_reply`] | which response does the sender get? |
//!
//! This crate does no I/O: no files, sockets, clock, environment, threads or logging. No input from
//! a peer makes it panic or return an error instead of a verdict.

mod connection;
pub mod envelope;
pub mod frame;
pub mod headers;
pub mod lint;
mod middleware;
mod policy;
mod protocol;
mod reply;
mod side;
mod verdict;

pub use connection::{
    Action, Actions, Connection, ConnectionSettings, Done, Event, Purpose, RejectionCounts,
    RequestContext, TraceHeaders, Work, cancellation,
};
pub use envelope::Header;
pub use middleware::ValidationMiddleware;
pub use policy::{AnswerForm, Policy, RuleAction};
pub use protocol::{
    Era, Method, MethodKind, MethodLookup, ProtocolSchemaError, ProtocolSchemas, Revision,
    SchemaValidator, UnknownRevision,
};
pub use reply::error_reply;
pub use side::Side;
pub use verdict::{Decision, Finding, Part, Reply, Verdict};

/// Runs the README example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
