//! Compiled schemas that are kept although no list may use them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::content::Content;
use super::listed::ListedTool;

/// Estimated memory of a schema that cannot be used, beside its text.
const REJECTION_BYTES: usize = 256;

/// Bounded by estimated memory; the oldest entries are dropped first.
#[derive(Debug, Default)]
pub(super) struct Retained {
    limit: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    bytes: usize,
    kept: VecDeque<(Kept, usize)>,
}

/// What is kept. A tool holds its schema and what was derived from it.
#[derive(Debug)]
#[expect(dead_code, reason = "the references keep their targets alive and are not read")]
pub(super) enum Kept {
    Tool(Arc<ListedTool>),
    Output(Arc<Content>),
}

impl Retained {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, entries: Mutex::default() }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a compiled schema, or one that was found to be unusable.
    pub(super) fn keep(&self, kept: Kept, content: &Content) {
        if self.limit == 0 {
            return;
        }
        let bytes = content.charged().unwrap_or(REJECTION_BYTES) + content.text().as_str().len();
        let mut entries = self.entries();
        entries.bytes += bytes;
        entries.kept.push_back((kept, bytes));
        let mut dropped = Vec::new();
        while entries.bytes > self.limit
            && let Some((oldest, bytes)) = entries.kept.pop_front()
        {
            entries.bytes -= bytes;
            dropped.push(oldest);
        }
        drop(entries);
    }

    /// Drops everything; returns whether there was anything.
    pub(super) fn clear(&self) -> bool {
        let entries = std::mem::take(&mut *self.entries());
        !entries.kept.is_empty()
    }
}
