//! A server with validated calls; only the line with `Validated::new` is added.
//!
//! ```text
//! wrap_a_server                        on stdio
//! wrap_a_server --plain                the same server without the wrapper
//! wrap_a_server --listen 127.0.0.1:0   on Streamable HTTP; prints the address on standard error
//! wrap_a_server --raw                  also validates messages before rmcp parses them
//! ```

#[path = "support/notes.rs"]
mod notes;
#[path = "support/serve_http.rs"]
mod serve_http;

use notes::Notes;
use rmcp::{ServerHandler, ServiceExt as _};
use stickler_rmcp::{RawLayer, RawSettings, RawTransport, Validated, ValidationConfig};
use tower_layer::Layer as _;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let listen = options.iter().position(|one| one == "--listen").map(|at| options.get(at + 1));
    let address = listen.map(|address| address.ok_or("--listen needs an address")).transpose()?;
    let has = |name: &str| options.iter().any(|one| one == name);
    let notes = Notes::default();
    if has("--plain") {
        return run(notes, address, has("--raw").then(RawSettings::default)).await;
    }
    let server = Validated::new(notes, ValidationConfig::default());
    server.check_tools().await?.require_all()?;
    let raw = has("--raw").then(|| server.raw_settings());
    run(server, address, raw).await
}

async fn run<H: ServerHandler + Clone>(
    server: H,
    address: Option<&String>,
    raw: Option<RawSettings>,
) -> Result<(), Box<dyn std::error::Error>> {
    match (address, raw) {
        (Some(address), Some(settings)) => {
            let service = RawLayer::new(settings).layer(serve_http::service(server));
            serve_http::listen(address, service).await?;
        }
        (Some(address), None) => {
            serve_http::listen(address, serve_http::service(server)).await?;
        }
        (None, Some(settings)) => {
            server.serve(RawTransport::stdio(&settings)).await?.waiting().await?;
        }
        (None, None) => {
            server.serve(rmcp::transport::stdio()).await?.waiting().await?;
        }
    }
    Ok(())
}
