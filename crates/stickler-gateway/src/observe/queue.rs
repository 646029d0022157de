//! A bounded queue in front of a thread that does I/O for an observer.
//!
//! `push` never waits: beyond the limits the event is dropped and counted. The thread collects events for a short time
//! before it handles them, so a steady stream of messages wakes it only once per interval and not once per message,
//! which would cost a message more than its validation.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of queued items.
const MAX_ITEMS: usize = 16 << 10;

/// Maximum size of the queued messages in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Time to collect items before they are handled.
const COLLECT_TIME: Duration = Duration::from_millis(25);

/// Maximum time that the exit of the process waits for the thread.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// An item with the memory that it holds.
pub(crate) trait Weighed {
    fn size(&self) -> usize;

    /// Whether the item must not be dropped: it is rare and small.
    fn is_essential(&self) -> bool {
        false
    }
}

/// The work of the thread.
pub(crate) trait Worker<T>: Send + 'static {
    /// Handles the items that were queued since the last call. `dropped` is the number of items lost so far.
    fn handle(&mut self, items: VecDeque<T>, dropped: u64);

    /// Completes the work.
    fn finish(&mut self, dropped: u64);
}

/// The sending side.
#[derive(Debug)]
pub(crate) struct Queue<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    bytes: usize,
    /// The thread waits for the first item.
    is_idle: bool,
    is_finishing: bool,
    is_finished: bool,
}

impl<T: Weighed + Send + 'static> Queue<T> {
    /// Starts the thread.
    pub(crate) fn start(name: &str, worker: impl Worker<T>) -> io::Result<Self> {
        let state = State {
            items: VecDeque::new(),
            bytes: 0,
            is_idle: false,
            is_finishing: false,
            is_finished: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            dropped: AtomicU64::new(0),
        });
        let queue = Self(Arc::clone(&shared));
        std::thread::Builder::new().name(name.to_owned()).spawn(move || shared.run(worker))?;
        Ok(queue)
    }

    /// Queues an item, or drops it if the queue is full.
    pub(crate) fn push(&self, item: T) {
        let mut state = self.0.state();
        let is_full = state.items.len() >= MAX_ITEMS || state.bytes + item.size() > MAX_BYTES;
        if state.is_finishing || (is_full && !item.is_essential()) {
            drop(state);
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.bytes += item.size();
        state.items.push_back(item);
        if std::mem::take(&mut state.is_idle) {
            drop(state);
            self.0.changed.notify_all();
        }
    }

    /// Returns the number of dropped items.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Handles what is queued and ends the thread, within a bounded time.
    pub(crate) fn finish(&self) {
        let latest = Instant::now() + FINISH_TIMEOUT;
        let mut state = self.0.state();
        state.is_finishing = true;
        self.0.changed.notify_all();
        while !state.is_finished {
            let left = latest.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.0.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<T: Weighed> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut worker: impl Worker<T>) {
        let mut state = self.state();
        loop {
            if state.items.is_empty() && !state.is_finishing {
                state.is_idle = true;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if !state.is_finishing {
                // Woken early only to finish.
                let waited = self.changed.wait_timeout(state, COLLECT_TIME);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let items = std::mem::take(&mut state.items);
            state.bytes = 0;
            let is_last = state.is_finishing;
            drop(state);
            worker.handle(items, self.dropped.load(Ordering::Relaxed));
            if is_last {
                worker.finish(self.dropped.load(Ordering::Relaxed));
                break;
            }
            state = self.state();
        }
        self.state().is_finished = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::mpsc;

    use super::{MAX_ITEMS, Queue, Weighed, Worker};

    impl Weighed for u32 {
        fn size(&self) -> usize {
            0
        }
    }

    /// Blocks in `handle` until it may proceed.
    struct Blocked(mpsc::Receiver<()>, mpsc::Sender<(usize, u64)>);

    impl Worker<u32> for Blocked {
        fn handle(&mut self, items: VecDeque<u32>, dropped: u64) {
            let _ = self.0.recv();
            let _ = self.1.send((items.len(), dropped));
        }

        fn finish(&mut self, _: u64) {}
    }

    #[test]
    fn full_queue_drops_and_counts_and_never_blocks() {
        let (proceed, may_proceed) = mpsc::channel();
        let (report, handled) = mpsc::channel();
        let queue = Queue::start("test", Blocked(may_proceed, report)).unwrap();
        // The first batch keeps the thread busy; its size depends on timing.
        let total = 3 * MAX_ITEMS + 5;
        for number in 0..total {
            queue.push(u32::try_from(number).unwrap());
        }
        assert!(queue.dropped() > 0, "the queue is bounded");
        drop(proceed);
        queue.finish();
        let kept: usize = handled.try_iter().map(|(items, _)| items).sum();
        assert_eq!(kept + usize::try_from(queue.dropped()).unwrap(), total);
        assert!(kept <= 2 * MAX_ITEMS);
    }
}
