//! Layer 1, discovery: the tools of each server and their schemas.
//!
//! Populated from tool lists and consulted before every call. A list is kept as text; a schema is compiled when its
//! tool is first looked up, once for all tools with the same schema. An unusable schema quarantines its tool and no
//! other.

mod budget;
mod cache;
mod cached;
mod content;
mod freshness;
mod list;
mod listed;
mod paging;
mod param_header;
mod retained;
mod server;
mod shared;
mod store;
mod text;
mod tool;
mod view;

pub(crate) use cache::Lookup;
pub use cache::{CacheStats, Discovery, ToolSchemaCache};
pub use cached::CachedSchema;
pub use freshness::Freshness;
pub(crate) use list::LIST_DEPTH;
pub use list::{ToolList, ToolListError};
pub use paging::{EndlessList, ListPages};
pub use param_header::{ParamHeader, param_header_values};
pub(crate) use server::ServerTools;
pub use store::SchemaStore;
pub use text::JsonText;
pub(crate) use tool::EXAMPLE_KEY;
pub use tool::ToolDefinition;
pub(crate) use view::server_of;
pub use view::view_of;
