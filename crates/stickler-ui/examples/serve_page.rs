//! Serves the page over a directory: `cargo run -p stickler-ui --example serve_page -- DIR`.

use std::net::SocketAddr;

use stickler_ui::{Settings, Source};

fn main() -> std::io::Result<()> {
    let directory = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let settings = Settings { source: Source::Directory(directory.into()), listen, sender: None };
    stickler_ui::serve(settings, |url| {
        use std::io::Write as _;
        writeln!(std::io::stdout(), "{url}")
    })
}
