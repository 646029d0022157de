//! The parts of a session on disk, and the counts of a session.

use std::path::{Path, PathBuf};

/// One part of a session on disk.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    pub(crate) part: u32,
    /// Offset in the uncompressed text up to which it is indexed.
    pub(crate) indexed: u64,
    /// Size of the file, and how much of it is indexed, for the progress.
    pub(crate) size: u64,
    pub(crate) done: u64,
    pub(crate) is_gone: bool,
}

impl Segment {
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), part: 0, indexed: 0, size: 0, done: 0, is_gone: false }
    }
}

/// Counts of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) messages: u64,
    pub(crate) calls: u64,
    pub(crate) rejected: u64,
    pub(crate) would_reject: u64,
    pub(crate) repaired: u64,
    pub(crate) errors: u64,
    pub(crate) bytes: u64,
    /// Lines that are not records.
    pub(crate) foreign: u64,
}
