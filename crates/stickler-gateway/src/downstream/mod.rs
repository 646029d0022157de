//! The client side of the gateway: clients on standard input and output, and clients by Streamable HTTP.

pub(crate) mod http;
pub(crate) mod stdio;
