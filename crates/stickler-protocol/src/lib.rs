//! The Model Context Protocol without I/O: what a message is, what its revision says of it, and what
//! is to happen to it.
//!
//! Bytes of both sides go in, verdicts and bytes to send come out; sockets, processes and clocks are
//! the caller's. Tools, schemas and explanations come from the crate [`stickler`].
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
//! [`ValidationMiddleware`] takes every message of both sides through all stages; each can be used
//! alone.
//!
//! | stage | item | asks |
//! | --- | --- | --- |
//! | frame | [`frame`] | where does a message begin and end? |
//! | bytes | [`stickler::tape`] | is it JSON, and where is what? |
//! | envelope | [`envelope`] | request, notification, response, batch, or noise? |
//! | protocol | [`SchemaValidator`] | has it the shape that its revision gives it? |
//! | arguments | [`stickler::McpValidator`] | do the arguments satisfy the schema, and if not, why? |
//! | verdict | [`Verdict`] | what is to happen to the message? |
//! | render | [`stickler::CallRefusal`], [`error_reply`] | what is the sender answered? |
//!
//! This crate does no I/O of any kind: no files, sockets, clock, environment, threads or logging.
//! Nothing a peer can send makes it panic or return an error where a verdict is due.

pub mod envelope;
pub mod frame;
mod gatekeeper;
pub mod headers;
pub mod lint;
mod middleware;
mod policy;
mod protocol;
mod reply;
mod session;
mod side;
mod verdict;

pub use gatekeeper::{
    Event, Gatekeeper, GatekeeperSettings, Outbox, cancellation, is_own_subscription,
};
pub use middleware::ValidationMiddleware;
pub use policy::{Action, AnswerForm, Policy};
pub use protocol::{
    Era, Method, MethodKind, MethodLookup, ProtocolSchemaError, ProtocolSchemas, Revision,
    SchemaValidator, UnknownRevision,
};
pub use reply::error_reply;
pub use session::Repeats;
pub use side::Side;
pub use verdict::{Decision, Finding, Part, Subject, Verdict};

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
