//! The index: what the page shows, without the texts of the messages.

pub(crate) mod histogram;
pub(crate) mod names;
pub(crate) mod row;
pub(crate) mod segment;
pub(crate) mod session;
pub(crate) mod strip;
pub(crate) mod threads;
pub(crate) mod tool_stats;
