//! An adapter that polls a future again immediately if it woke itself during the poll.
//!
//! hyper's connection future wakes itself whenever the body of a request is read by its handler. tokio
//! treats this as a yield: the task moves to the end of the queue and another thread is woken to run it,
//! which costs more than a small request. This adapter polls the future again in place, up to a limit that
//! keeps scheduling fair.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Maximum number of polls before the task yields to others.
const MAX_CONSECUTIVE_POLLS: usize = 8;

pub(crate) struct SelfWake<F> {
    future: Pin<Box<F>>,
    wakes: Arc<Wakes>,
}

/// The waker passed to the inner future, and its state.
#[derive(Default)]
struct Wakes {
    is_polling: AtomicBool,
    is_woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Wakes {
    /// Sets the task to wake if the inner future is woken outside of a poll.
    fn set_task(&self, waker: &Waker) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.as_ref().is_some_and(|task| task.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Store `is_woken` before loading `is_polling`; `poll` does the reverse.
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_polling.load(Ordering::SeqCst) {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

impl<F: Future> SelfWake<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future: Box::pin(future), wakes: Arc::default() }
    }

    pub(crate) fn future(&mut self) -> Pin<&mut F> {
        self.future.as_mut()
    }
}

impl<F: Future> Future for SelfWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.wakes.set_task(context.waker());
        let wakes = Arc::clone(&self.wakes);
        let ours = Waker::from(Arc::clone(&wakes));
        for _ in 0..MAX_CONSECUTIVE_POLLS {
            // A swap, so that everything before the cleared wake-up is visible to this poll.
            wakes.is_woken.swap(false, Ordering::SeqCst);
            wakes.is_polling.store(true, Ordering::SeqCst);
            let polled = self.future.as_mut().poll(&mut Context::from_waker(&ours));
            wakes.is_polling.store(false, Ordering::SeqCst);
            if polled.is_ready() || !wakes.is_woken.load(Ordering::SeqCst) {
                return polled;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CONSECUTIVE_POLLS, SelfWake};
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Counts how often the task is woken by a future that wakes itself `self_wakes` times.
    fn wakes_of_task(self_wakes: usize) -> usize {
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut left = self_wakes;
        let mut future = pin!(SelfWake::new(poll_fn(|context| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })));
        while future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {}
        count.0.load(Ordering::SeqCst)
    }

    #[test]
    fn future_that_wakes_itself_is_polled_again_up_to_the_limit() {
        assert_eq!(wakes_of_task(0), 0);
        assert_eq!(wakes_of_task(MAX_CONSECUTIVE_POLLS - 1), 0);
        assert_eq!(wakes_of_task(MAX_CONSECUTIVE_POLLS), 1);
        assert_eq!(wakes_of_task(MAX_CONSECUTIVE_POLLS * 3), 3);
    }

    #[test]
    fn wake_from_another_thread_is_not_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..200 {
            let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
            let writer = thread::spawn(move || {
                (0..50).for_each(|number| sender.blocking_send(number).unwrap());
            });
            let sum: usize = runtime.block_on(SelfWake::new(async move {
                let mut sum = 0;
                while let Some(number) = receiver.recv().await {
                    sum += number;
                }
                sum
            }));
            writer.join().unwrap();
            assert_eq!(sum, 1225);
        }
    }
}
