//! A temporary folder that is deleted when the test ends.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stickler-folder-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        std::fs::write(self.0.join(name), content).unwrap();
        self.path(name)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
