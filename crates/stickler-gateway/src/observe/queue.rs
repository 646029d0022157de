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

use bytes::Bytes;
use tracing::warn;

use super::{Consumer, MessageEvent, Session};

/// Maximum number of queued items.
const MAX_ITEMS: usize = 16 << 10;

/// Maximum size of the queued messages in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Time to collect items before they are handled.
const COLLECT_TIME: Duration = Duration::from_millis(25);

/// Maximum time that the exit of the process waits for the thread.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// An item with the memory that it holds.
trait Weighed {
    fn size(&self) -> usize;

    /// Whether the item must not be dropped: it is rare and small.
    fn is_essential(&self) -> bool {
        false
    }
}

/// The work of the thread.
pub(crate) trait Worker<T>: Send + 'static {
    /// Returns whether forwarded requests are to name their span.
    fn injects_context(&self) -> bool {
        false
    }

    /// Handles the items that were queued since the last call. `dropped` is the number of items lost so far.
    fn handle(&mut self, items: VecDeque<T>, dropped: u64);

    /// Completes the work.
    fn finish(&mut self, dropped: u64);
}

/// What a thread gets to observe.
#[derive(Debug)]
pub(crate) enum Item {
    Message(Arc<MessageEvent>),
    Ended(Arc<Session>),
}

impl Weighed for Item {
    fn size(&self) -> usize {
        let Self::Message(event) = self else { return 0 };
        let bytes = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        bytes(&event.message) + bytes(&event.sent)
    }

    fn is_essential(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

/// A consumer whose work is done by a thread behind a queue: it reads messages, and events are lost if it is too slow.
#[derive(Debug)]
pub struct QueuedConsumer {
    queue: Queue<Item>,
    injects_context: bool,
}

impl QueuedConsumer {
    pub(crate) fn start(name: &'static str, worker: impl Worker<Item>) -> io::Result<Arc<Self>> {
        let injects_context = worker.injects_context();
        Ok(Arc::new(Self { queue: Queue::start(name, worker)?, injects_context }))
    }

    /// Returns the number of events that were lost because the thread was too slow.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }
}

impl Consumer for QueuedConsumer {
    fn reads_messages(&self) -> bool {
        true
    }

    fn injects_context(&self) -> bool {
        self.injects_context
    }

    fn message(&self, event: &Arc<MessageEvent>) {
        self.queue.push(Item::Message(Arc::clone(event)));
    }

    fn session_ended(&self, session: &Arc<Session>) {
        self.queue.push(Item::Ended(Arc::clone(session)));
    }

    fn finish(&self) {
        self.queue.finish();
    }
}

/// The sending side.
#[derive(Debug)]
struct Queue<T>(Arc<Shared<T>>);

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
    fn start(name: &'static str, worker: impl Worker<T>) -> io::Result<Self> {
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
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || shared.run(name, worker))?;
        Ok(queue)
    }

    /// Queues an item, or drops it if the queue is full.
    fn push(&self, item: T) {
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
    fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Handles what is queued and ends the thread, within a bounded time.
    fn finish(&self) {
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

    fn run(&self, name: &str, mut worker: impl Worker<T>) {
        let mut state = self.state();
        let mut reported = 0;
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
            let dropped = self.dropped.load(Ordering::Relaxed);
            if dropped > reported {
                warn!("{name} is too slow: {} messages are left out", dropped - reported);
                reported = dropped;
            }
            worker.handle(items, dropped);
            if is_last {
                worker.finish(dropped);
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
    struct Blocked(mpsc::Receiver<()>, mpsc::Sender<usize>);

    impl Worker<u32> for Blocked {
        fn handle(&mut self, items: VecDeque<u32>, _: u64) {
            let _ = self.0.recv();
            let _ = self.1.send(items.len());
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
        let kept: usize = handled.try_iter().sum();
        assert_eq!(kept + usize::try_from(queue.dropped()).unwrap(), total);
        assert!(kept <= 2 * MAX_ITEMS);
    }
}
