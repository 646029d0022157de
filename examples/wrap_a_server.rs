//! A server whose calls are checked: the line with `Validated::new` is all it takes.
//!
//! ```text
//! wrap_a_server                        on stdio
//! wrap_a_server --plain                the same server without the wrapper
//! wrap_a_server --listen 127.0.0.1:0   on Streamable HTTP; the address is told on standard error
//! ```

#[path = "support/notes.rs"]
mod notes;
#[path = "support/serve_http.rs"]
mod serve_http;

use notes::Notes;
use rmcp::{ServerHandler, ServiceExt as _};
use stickler_rmcp::{Validated, ValidationConfig};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let listen = options.iter().position(|one| one == "--listen").map(|at| options.get(at + 1));
    let address = listen.map(|address| address.ok_or("--listen needs an address")).transpose()?;
    let notes = Notes::default();
    if options.iter().any(|one| one == "--plain") {
        return run(notes, address).await;
    }
    let server = Validated::new(notes, ValidationConfig::default());
    server.check_tools().await?.require_all()?;
    run(server, address).await
}

async fn run<H: ServerHandler + Clone>(
    server: H,
    address: Option<&String>,
) -> Result<(), Box<dyn std::error::Error>> {
    match address {
        Some(address) => serve_http::listen(address, serve_http::service(server)).await?,
        None => {
            server.serve(rmcp::transport::stdio()).await?.waiting().await?;
        }
    }
    Ok(())
}
