//! What the shared process has for one client and the client has not taken yet.
//!
//! Contract: [`ClientQueue::deliver`] never waits for the client. Deliveries happen in order: at once as long as the client
//! reads, else in a task of this client. A client that takes too long, or lets too much wait, loses its request; no other
//! client notices.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use stickler::{MemoryBudget, Reservation};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Maximum time to deliver one message.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of deliveries that wait.
const MAX_WAITING: usize = 256;

/// Maximum size of the messages that wait, unless it is only one.
const MAX_WAITING_BYTES: usize = 4 << 20;

/// A message on its way to the client.
pub(crate) type Delivery = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Ends the request of a client that reads too slowly, and sends it the error.
pub(crate) type GiveUp = Box<dyn FnOnce() -> Delivery + Send>;

/// The deliveries to one client.
pub(crate) struct ClientQueue {
    state: Mutex<State>,
    changed: Notify,
    memory: MemoryBudget,
    /// Maximum time to deliver a message.
    timeout: Duration,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Delivery, Reservation)>,
    bytes: usize,
    is_delivering: bool,
    /// The client was given up: nothing more is delivered but the error.
    is_closed: bool,
}

impl ClientQueue {
    pub(crate) fn new(memory: &MemoryBudget) -> Arc<Self> {
        let memory = memory.clone();
        Arc::new(Self::with_timeout(memory, DELIVERY_TIMEOUT))
    }

    fn with_timeout(memory: MemoryBudget, timeout: Duration) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), memory, timeout }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers a message of that size, or lets it wait behind earlier ones.
    pub(crate) async fn deliver(
        self: &Arc<Self>,
        mut delivery: Delivery,
        bytes: usize,
        give_up: impl FnOnce() -> GiveUp,
    ) {
        {
            let mut state = self.state();
            if state.is_closed {
                return;
            }
            if state.is_delivering {
                return self.enqueue(&mut state, delivery, bytes);
            }
            state.is_delivering = true;
        }
        let is_done = poll_fn(|context| Poll::Ready(delivery.as_mut().poll(context).is_ready()));
        if is_done.await {
            self.state().is_delivering = false;
            return;
        }
        let (queue, give_up) = (Arc::clone(self), give_up());
        tokio::spawn(async move { queue.drain(delivery, give_up).await });
    }

    fn enqueue(&self, state: &mut State, delivery: Delivery, bytes: usize) {
        let is_full = state.waiting.len() >= MAX_WAITING
            || (!state.waiting.is_empty() && state.bytes.saturating_add(bytes) > MAX_WAITING_BYTES);
        if let Some(memory) = self.memory.reserve(bytes).filter(|_| !is_full) {
            state.bytes += bytes;
            state.waiting.push_back((delivery, memory));
        } else {
            *state = State { is_delivering: true, is_closed: true, ..State::default() };
            self.changed.notify_waiters();
        }
    }

    /// Delivers what waits.
    async fn drain(self: Arc<Self>, mut delivery: Delivery, give_up: GiveUp) {
        loop {
            let is_delivered = tokio::select! {
                delivered = timeout(self.timeout, &mut delivery) => delivered.is_ok(),
                () = self.until(|state| state.is_closed) => false,
            };
            let next = if is_delivered { self.next() } else { None };
            match next {
                Some(next) => delivery = next,
                None if is_delivered && !self.state().is_closed => return,
                None => {
                    self.state().is_closed = true;
                    let end = give_up();
                    // The message may have been the response.
                    if !is_delivered {
                        let _ = timeout(self.timeout * 3, delivery).await;
                    }
                    end.await;
                    self.state().is_delivering = false;
                    return self.changed.notify_waiters();
                }
            }
        }
    }

    /// Returns the next delivery; without one, the client is up to date.
    fn next(&self) -> Option<Delivery> {
        let mut state = self.state();
        let next = state.waiting.pop_front();
        match &next {
            Some((_, memory)) => state.bytes -= memory.bytes(),
            None if state.is_closed => {}
            None => {
                state.is_delivering = false;
                self.changed.notify_waiters();
            }
        }
        next.map(|(delivery, _)| delivery)
    }

    /// Waits until everything is delivered.
    pub(crate) async fn drained(&self) {
        self.until(|state| !state.is_delivering).await;
    }

    async fn until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            // Registered before the check, so that no change is missed.
            let changed = self.changed.notified();
            if condition(&self.state()) {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Semaphore;

    /// Deliveries that each need a permit of the client, and the numbers of those that were delivered.
    struct Client {
        reads: Arc<Semaphore>,
        delivered: Arc<Mutex<Vec<u32>>>,
        queue: Arc<ClientQueue>,
    }

    impl Client {
        fn new(memory: &MemoryBudget) -> Self {
            let (reads, delivered) = (Arc::new(Semaphore::new(0)), Arc::default());
            Self { reads, delivered, queue: ClientQueue::new(memory) }
        }

        async fn send(&self, number: u32, bytes: usize) {
            let (reads, delivered) = (Arc::clone(&self.reads), Arc::clone(&self.delivered));
            let error = Arc::clone(&self.delivered);
            let delivery = Box::pin(async move {
                reads.acquire().await.unwrap().forget();
                delivered.lock().unwrap().push(number);
            });
            let give_up = || -> GiveUp {
                Box::new(move || Box::pin(async move { error.lock().unwrap().push(0) }))
            };
            self.queue.deliver(delivery, bytes, give_up).await;
        }

        fn delivered(&self) -> Vec<u32> {
            self.delivered.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn messages_wait_for_a_slow_client_in_order_and_block_nothing() {
        let memory = MemoryBudget::new(1000);
        let client = Client::new(&memory);
        for number in 1..=5 {
            client.send(number, 100).await;
        }
        assert_eq!((client.delivered(), memory.used()), (vec![], 400));
        client.reads.add_permits(6);
        client.queue.drained().await;
        assert_eq!((client.delivered(), memory.used()), (vec![1, 2, 3, 4, 5], 0));
        client.send(6, 100).await;
        assert_eq!(client.delivered(), [1, 2, 3, 4, 5, 6], "delivered at once");
    }

    #[tokio::test]
    async fn client_that_lets_too_much_wait_gets_only_the_error() {
        let memory = MemoryBudget::new(100 << 20);
        let client = Client::new(&memory);
        for number in 1..=4 {
            client.send(number, 3 << 20).await;
        }
        assert_eq!(memory.used(), 0, "what waited is dropped");
        client.reads.add_permits(1);
        client.queue.drained().await;
        assert_eq!(client.delivered(), [1, 0]);
        client.send(5, 1).await;
        assert_eq!(client.delivered(), [1, 0], "nothing follows the error");
    }

    #[tokio::test]
    async fn messages_do_not_wait_without_memory() {
        let memory = MemoryBudget::new(10);
        let client = Client::new(&memory);
        client.send(1, 100).await;
        client.send(2, 100).await;
        client.reads.add_permits(1);
        client.queue.drained().await;
        assert_eq!(client.delivered(), [1, 0]);
    }

    #[tokio::test]
    async fn client_that_does_not_read_is_given_up_after_a_while() {
        let mut client = Client::new(&MemoryBudget::default());
        client.queue = Arc::new(ClientQueue::with_timeout(MemoryBudget::default(), Duration::ZERO));
        client.send(1, 1).await;
        client.queue.drained().await;
        assert_eq!(client.delivered(), [0]);
    }
}
