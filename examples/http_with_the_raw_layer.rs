//! A Streamable HTTP server that validates messages before rmcp parses them.
//!
//! Listens on the given address or a free local port, and prints the URL on standard error.

#[path = "support/notes.rs"]
mod notes;
#[path = "support/serve_http.rs"]
mod serve_http;

use notes::Notes;
use stickler_rmcp::{RawLayer, Validated, ValidationConfig};
use tower_layer::Layer as _;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Validated::new(Notes::default(), ValidationConfig::default());
    server.check_tools().await?;
    let service = RawLayer::new(server.raw_settings()).layer(serve_http::service(server));
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    serve_http::listen(&address, service).await?;
    Ok(())
}
