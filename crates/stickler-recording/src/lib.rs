//! Reads recorded sessions: decompresses files, scans the members of a line, and infers the sender of a raw message.
//!
//! Contract: no line is an error. A truncated or foreign line yields the members that could be read, and whether it
//! is whole; what it means is decided by the caller.

mod compression;
mod direction;
mod outline;
mod senders;
mod zstd;

pub use compression::decompressed;
pub use direction::Directions;
pub use outline::Outline;
pub use senders::Senders;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
