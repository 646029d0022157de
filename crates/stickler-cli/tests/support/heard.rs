//! What the scripted server has heard, by its log.
#![allow(dead_code, reason = "not every test needs everything")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::http::{Gateway, scripted_server};

pub(crate) struct Heard(PathBuf);

impl Heard {
    /// A gateway, and what the server behind it hears.
    pub(crate) fn behind_a_gateway() -> (Gateway, Self) {
        Self::behind_a_gateway_with("", &[])
    }

    /// The same with a server of a mode, and variables of the environment.
    pub(crate) fn behind_a_gateway_with(mode: &str, variables: &[(&str, &str)]) -> (Gateway, Self) {
        let heard = Self::new();
        let server = scripted_server();
        let log = heard.path();
        let arguments = ["--", server.to_str().unwrap(), "--log", log, "--mode", mode];
        (Gateway::start_with(&arguments, variables), heard)
    }

    /// A place for a log.
    pub(crate) fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("stickler-heard-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// The messages that have this in them.
    pub(crate) fn all(&self, wanted: &str) -> Vec<String> {
        let all = std::fs::read_to_string(&self.0).unwrap_or_default();
        let wanted = all.lines().filter(|line| line.contains(wanted));
        wanted.map(str::to_owned).collect()
    }

    /// Waits for a message that has this in it.
    pub(crate) fn wait_for(&self, wanted: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let all = std::fs::read_to_string(&self.0).unwrap_or_default();
            // A line that is being written is none yet.
            let whole = all.rsplit_once('\n').map_or("", |(whole, _)| whole);
            if let Some(line) = whole.lines().find(|line| line.contains(wanted)) {
                return line.to_owned();
            }
            assert!(Instant::now() < deadline, "no {wanted} in {all}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
