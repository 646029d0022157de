//! Runs the work that a connection defers (compiling schemas, explaining large calls) off the serving threads.
//!
//! One core stays free for serving: at most one less than the number of cores runs such work at the same time, and
//! the rest waits in order.

use std::sync::Arc;
use std::thread::available_parallelism;

use stickler_protocol::{Done, Work};
use tokio::sync::Semaphore;

/// A bounded pool of threads, shared by all connections.
#[derive(Debug, Clone)]
pub struct WorkPool(Arc<Semaphore>);

impl WorkPool {
    /// Creates a pool that leaves one core free, but has at least one thread.
    pub fn new() -> Self {
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        Self::of(cores.saturating_sub(1))
    }

    fn of(threads: usize) -> Self {
        Self(Arc::new(Semaphore::new(threads.max(1))))
    }

    pub(crate) async fn run(&self, work: Work) -> Done {
        let not_done = work.not_done();
        let _permit = self.0.acquire().await;
        tokio::task::spawn_blocking(move || work.run()).await.unwrap_or(not_done)
    }
}

impl Default for WorkPool {
    fn default() -> Self {
        Self::new()
    }
}
