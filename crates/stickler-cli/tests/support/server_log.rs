//! The messages that the scripted server has received, read from its log file.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::http::{Gateway, scripted_server};

pub(crate) struct ServerLog(PathBuf);

impl ServerLog {
    /// Starts a gateway with the scripted server, and returns it with the server's log.
    pub(crate) fn with_gateway() -> (Gateway, Self) {
        Self::with_gateway_in_mode("", &[])
    }

    /// Does the same with a server mode and environment variables.
    pub(crate) fn with_gateway_in_mode(mode: &str, variables: &[(&str, &str)]) -> (Gateway, Self) {
        let server_log = Self::new();
        let server = scripted_server();
        let log = server_log.path();
        let arguments = ["--", server.to_str().unwrap(), "--log", log, "--mode", mode];
        (Gateway::start_with(&arguments, variables), server_log)
    }

    /// Reserves a path for a log.
    pub(crate) fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("stickler-server-log-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// Returns the messages that contain a text.
    pub(crate) fn matching(&self, text: &str) -> Vec<String> {
        let all = std::fs::read_to_string(&self.0).unwrap_or_default();
        let matching = all.lines().filter(|line| line.contains(text));
        matching.map(str::to_owned).collect()
    }

    /// Waits for a message that contains a text, and returns it.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let all = std::fs::read_to_string(&self.0).unwrap_or_default();
            // The last line may still be incomplete.
            let whole = all.rsplit_once('\n').map_or("", |(whole, _)| whole);
            if let Some(line) = whole.lines().find(|line| line.contains(text)) {
                return line.to_owned();
            }
            assert!(Instant::now() < deadline, "no {text} in {all}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for ServerLog {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
