//! Layer 1, discovery: which tools a server has, and what their schemas say.
//!
//! Filled when a tool list is seen, asked before every call. A list is kept as text; a schema is
//! compiled when its tool is first looked up, and once for all tools with the same schema. One that
//! cannot be used puts its tool in quarantine, and the others work.

mod budget;
mod cache;
mod cached;
mod content;
mod freshness;
mod list;
mod listed;
mod mirror;
mod server;
mod shared;
mod text;
mod tool;
mod view;

pub(crate) use cache::Lookup;
pub use cache::{CacheStats, Discovery, ToolSchemaCache};
pub use cached::CachedSchema;
pub use freshness::Freshness;
pub(crate) use list::LIST_DEPTH;
pub use list::{ToolList, ToolListError};
pub use mirror::{Mirror, mirrored};
pub(crate) use server::ServerTools;
pub use text::JsonText;
pub(crate) use tool::EXAMPLE_KEY;
pub use tool::ToolDefinition;
pub(crate) use view::server_of;
pub use view::view_of;
