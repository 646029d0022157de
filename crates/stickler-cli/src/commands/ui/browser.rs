//! Opens an address in the browser.

use std::process::{Command, Stdio};

/// Starts the browser of `BROWSER`, or the default one. If there is none, the printed address is enough.
pub(super) fn open(url: &str) {
    let configured = std::env::var("BROWSER").ok().filter(|program| !program.is_empty());
    let default = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let program = configured.as_deref().unwrap_or(default);
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // Waits for the program in the background, so that it does not stay as a zombie.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => tracing::warn!(
            "cannot open a browser with `{program}`: {error}; open the address yourself"
        ),
    }
}
