//! The server side of the gateway: server processes, servers at a URL, and the subscription to changes of a tool
//! list at a URL.

pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod subscription;
