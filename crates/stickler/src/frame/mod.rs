//! Where a message begins and ends.
//!
//! On stdio a message is a line. [`LineFramer`] takes bytes as they arrive and gives lines as they
//! are complete; it never holds more than one message's limit of a line that has no end.

mod lines;

pub use lines::{Frame, LineFramer};
