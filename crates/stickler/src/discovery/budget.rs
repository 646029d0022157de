//! The memory that compiled schemas may take.
//!
//! Each compiled schema is charged to the list of the server that it was compiled for and to the
//! total. The total is given back when the schema is dropped; a list is charged as long as it is in
//! use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::config::Limits;
use crate::schema::SchemaRefusal;

/// What one server's list may still take.
pub(super) struct Budget<'b> {
    pub(super) limits: &'b Limits,
    pub(super) server: &'b AtomicUsize,
    pub(super) total: &'b Arc<AtomicUsize>,
}

/// What one compiled schema takes of the total.
#[derive(Debug)]
pub(super) struct Charge {
    total: Arc<AtomicUsize>,
    bytes: usize,
}

impl Budget<'_> {
    pub(super) fn check(&self, bytes: usize) -> Result<(), SchemaRefusal> {
        let is_over = |used: &AtomicUsize, limit: usize| {
            used.load(Ordering::Relaxed).saturating_add(bytes) > limit
        };
        if is_over(self.server, self.limits.compiled_bytes_per_server) {
            return Err(SchemaRefusal::over_server_budget(self.limits));
        }
        if is_over(self.total, self.limits.compiled_bytes) {
            return Err(SchemaRefusal::over_total_budget(self.limits));
        }
        Ok(())
    }

    /// Takes it. Lists that are charged at the same moment can pass a limit by one schema each.
    pub(super) fn charge(&self, bytes: usize) -> Charge {
        self.server.fetch_add(bytes, Ordering::Relaxed);
        self.total.fetch_add(bytes, Ordering::Relaxed);
        Charge { total: Arc::clone(self.total), bytes }
    }
}

impl Charge {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
