//! Memory budget of compiled schemas.
//!
//! Each compiled schema is charged to the list of the server that it was compiled for and to the
//! total. The total is credited when the schema is dropped; a list stays charged as long as
//! it is in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::retained::Retained;
use crate::config::{Formats, Limits};
use crate::schema::SchemaRejection;

/// Remaining budget of the list of one server.
pub(super) struct Budget<'b> {
    pub(super) limits: &'b Limits,
    pub(super) formats: Formats,
    pub(super) server: &'b AtomicUsize,
    pub(super) total: &'b Arc<AtomicUsize>,
    /// Schemas that no list may use, which are dropped when memory is needed.
    pub(super) retained: &'b Retained,
}

/// Share of one compiled schema in the total.
#[derive(Debug)]
pub(super) struct Charge {
    total: Arc<AtomicUsize>,
    bytes: usize,
}

impl Budget<'_> {
    pub(super) fn check(&self, bytes: usize) -> Result<(), SchemaRejection> {
        let is_over = |used: &AtomicUsize, limit: usize| {
            used.load(Ordering::Relaxed).saturating_add(bytes) > limit
        };
        if is_over(self.server, self.limits.compiled_bytes_per_server) {
            return Err(SchemaRejection::over_server_budget(self.limits));
        }
        let is_over_total = || is_over(self.total, self.limits.compiled_bytes);
        if is_over_total() && (!self.retained.clear() || is_over_total()) {
            return Err(SchemaRejection::over_total_budget(self.limits));
        }
        Ok(())
    }

    /// Charges the budget. Lists that are charged concurrently can exceed a limit by one schema each.
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
