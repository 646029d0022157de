//! Where and what to record.

use std::path::PathBuf;
use std::time::Duration;

/// The settings of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSettings {
    /// The directory of the files.
    pub directory: PathBuf,
    /// The size in bytes at which a file is compressed and another one is begun.
    pub rotate_bytes: u64,
    /// The age at which files are deleted.
    pub max_age: Duration,
    /// The size of all files in bytes, beyond which the oldest ones are deleted.
    pub max_bytes: u64,
}

impl RecordSettings {
    /// Creates the default settings for a directory: files of 64 MiB, kept for 7 days and up to 1 GiB.
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            rotate_bytes: 64 << 20,
            max_age: Duration::from_secs(7 * 24 * 3600),
            max_bytes: 1 << 30,
        }
    }
}
