//! Bounds the work that takes long (compiling schemas, explaining large calls) and keeps it off the threads
//! that serve clients.
//!
//! A serving thread that starts such work hands its other tasks to another thread of the runtime, so other
//! clients, other servers, health checks and signals are not delayed. One core stays free for them: at most
//! one less than the number of cores runs slow work at the same time, and the rest waits.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use stickler::SlowWork;
use tokio::runtime::{Handle, RuntimeFlavor};

thread_local! {
    /// Whether this thread is running slow work; nested work runs directly.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Limits how many threads run slow work at the same time.
#[derive(Debug)]
pub struct SlowWorkLimit {
    free: Mutex<usize>,
    freed: Condvar,
}

impl SlowWorkLimit {
    /// Creates a limit that leaves one core free for serving, but allows at least one thread.
    pub fn new() -> Self {
        Self::of(available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1)))
    }

    fn of(threads: usize) -> Self {
        Self { free: Mutex::new(threads.max(1)), freed: Condvar::new() }
    }

    fn free(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acquire(&self) -> Permit<'_> {
        let is_exhausted = |free: &mut usize| *free == 0;
        let free = self.freed.wait_while(self.free(), is_exhausted);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        IS_RUNNING.set(true);
        Permit(self)
    }
}

impl Default for SlowWorkLimit {
    fn default() -> Self {
        Self::new()
    }
}

impl SlowWork for SlowWorkLimit {
    fn run(&self, work: &mut dyn FnMut()) {
        if IS_RUNNING.get() {
            return work();
        }
        block_in_place(|| {
            let _permit = self.acquire();
            work();
        });
    }
}

/// One thread of the limit; given back on drop, so that a panic does not lose it.
struct Permit<'l>(&'l SlowWorkLimit);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        IS_RUNNING.set(false);
        *self.0.free() += 1;
        self.0.freed.notify_one();
    }
}

/// Runs work that may block. On a serving thread, the tasks of that thread continue on another one.
pub(crate) fn block_in_place<T>(work: impl FnOnce() -> T) -> T {
    let is_serving = Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_serving { tokio::task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use stickler::SlowWork as _;
    use tokio::runtime::{Builder, Runtime};

    use super::SlowWorkLimit;

    fn runtime_with_one_thread() -> Runtime {
        Builder::new_multi_thread().worker_threads(1).build().unwrap()
    }

    /// The slow work ends only after another task has run, which needs the only serving thread.
    #[test]
    fn other_tasks_run_during_slow_work() {
        let limit = SlowWorkLimit::of(1);
        let (send, receive) = mpsc::channel();
        runtime_with_one_thread().block_on(async {
            let slow = tokio::spawn(async move {
                limit.run(&mut || receive.recv().unwrap());
            });
            let other = tokio::spawn(async move { send.send(()).unwrap() });
            other.await.unwrap();
            slow.await.unwrap();
        });
    }

    #[test]
    fn limit_bounds_concurrent_work_and_nested_work_does_not_wait() {
        let limit = SlowWorkLimit::of(2);
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    limit.run(&mut || {
                        let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        limit.run(&mut thread::yield_now);
                        running.fetch_sub(1, Ordering::SeqCst);
                    });
                });
            }
        });
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
        assert_eq!(*limit.free(), 2);
    }

    #[test]
    fn panic_returns_the_permit() {
        let limit = SlowWorkLimit::of(1);
        let panics = || limit.run(&mut || std::panic::resume_unwind(Box::new("on purpose")));
        thread::scope(|scope| assert!(scope.spawn(panics).join().is_err()));
        limit.run(&mut || ());
        assert_eq!(*limit.free(), 1);
    }
}
