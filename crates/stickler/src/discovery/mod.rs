//! Layer 1, discovery: which tools a server has, and what their schemas say.
//!
//! Filled when a tool list is seen, asked before every call. A schema is compiled when it is learnt
//! and never again; one that cannot be used puts its tool in quarantine, and the others work.

mod cache;
mod cached;
mod freshness;
mod list;
mod mirror;
mod output;
mod shared;
mod tool;
mod view;

pub use cache::{CacheStats, Discovery, ToolSchemaCache};
pub(crate) use cache::{Lookup, ServerTools};
pub use cached::CachedSchema;
pub use freshness::Freshness;
pub(crate) use list::LIST_DEPTH;
pub use list::{ToolList, ToolListError};
pub use mirror::{Mirror, mirrored};
pub(crate) use output::OutputSchema;
pub(crate) use tool::EXAMPLE_KEY;
pub use tool::ToolDefinition;
pub(crate) use view::server_of;
pub use view::view_of;
