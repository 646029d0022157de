//! A future that goes on by itself when it has woken itself.
//!
//! hyper's connection wakes itself whenever a request's body is read where the request is handled.
//! To tokio that is a task that gives way to others: it goes to the end of the queue, and another
//! thread is woken to take it over, which costs more than a small request. Here it is polled again
//! at once, for as often as is fair to others.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// How often in a row. Then others have their turn.
const IN_A_ROW: usize = 8;

pub(super) struct OwnPace<F> {
    future: Pin<Box<F>>,
    wakes: Arc<Wakes>,
}

/// What is known of wake-ups.
#[derive(Default)]
struct Wakes {
    is_polled: AtomicBool,
    is_woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Wakes {
    /// Whose task it is now.
    fn belong_to(&self, waker: &Waker) {
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
        // In this order: whoever polls looks at the one after he has changed the other.
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_polled.load(Ordering::SeqCst) {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

impl<F: Future> OwnPace<F> {
    pub(super) fn new(future: F) -> Self {
        Self { future: Box::pin(future), wakes: Arc::default() }
    }

    pub(super) fn future(&mut self) -> Pin<&mut F> {
        self.future.as_mut()
    }
}

impl<F: Future> Future for OwnPace<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.wakes.belong_to(context.waker());
        let wakes = Arc::clone(&self.wakes);
        let ours = Waker::from(Arc::clone(&wakes));
        for _ in 0..IN_A_ROW {
            // Looks at what it forgets: whatever happened before that wake-up is seen by this poll.
            wakes.is_woken.swap(false, Ordering::SeqCst);
            wakes.is_polled.store(true, Ordering::SeqCst);
            let polled = self.future.as_mut().poll(&mut Context::from_waker(&ours));
            wakes.is_polled.store(false, Ordering::SeqCst);
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
    use super::{IN_A_ROW, OwnPace};
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

    /// How often the task was woken until a future was ready that wakes itself so many times.
    fn wakes_of_task(itself: usize) -> usize {
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut left = itself;
        let mut future = pin!(OwnPace::new(poll_fn(|context| {
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
    fn it_goes_on_by_itself_until_others_are_due() {
        assert_eq!(wakes_of_task(0), 0);
        assert_eq!(wakes_of_task(IN_A_ROW - 1), 0);
        assert_eq!(wakes_of_task(IN_A_ROW), 1);
        assert_eq!(wakes_of_task(IN_A_ROW * 3), 3);
    }

    #[test]
    fn no_wake_up_from_elsewhere_is_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..200 {
            let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
            let writer = thread::spawn(move || {
                (0..50).for_each(|number| sender.blocking_send(number).unwrap());
            });
            let sum: usize = runtime.block_on(OwnPace::new(async move {
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
