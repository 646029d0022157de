//! A mutex lock that spins and yields for a short time before it blocks.
//!
//! Most messages are processed in less time than it takes to suspend and wake a thread. A holder that keeps the
//! lock for longer than [`YIELD_DURATION`] is doing slow work: only then does the waiting thread hand its tasks to
//! another thread and block. Handing over at every short wait would start a thread for each of many clients.

use std::hint::spin_loop;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use crate::slow_work;

/// Maximum time to spin; after that the thread yields its core between attempts.
const SPIN_DURATION: Duration = Duration::from_micros(10);

/// Maximum time to spin and yield; after that the thread blocks.
const YIELD_DURATION: Duration = Duration::from_millis(2);

/// Number of spin-loop hints between two attempts.
const SPINS_PER_ATTEMPT: usize = 16;

/// Locks the mutex. Poisoning is ignored: the values stay consistent when a holder panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let mut started = None;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
        let waited = started.get_or_insert_with(Instant::now).elapsed();
        if waited <= SPIN_DURATION {
            (0..SPINS_PER_ATTEMPT).for_each(|_| spin_loop());
        } else if waited <= YIELD_DURATION {
            yield_now();
        } else {
            return slow_work::block_in_place(|| {
                mutex.lock().unwrap_or_else(PoisonError::into_inner)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SPIN_DURATION, YIELD_DURATION, lock};
    use std::sync::{Arc, Mutex, mpsc};
    use std::thread;
    use std::time::Duration;

    use tokio::runtime::Builder;

    #[test]
    fn lock_is_exclusive_for_short_and_long_holders() {
        let count = Mutex::new(0);
        thread::scope(|scope| {
            for hold in [Duration::ZERO, Duration::ZERO, SPIN_DURATION * 20, YIELD_DURATION * 2] {
                let count = &count;
                scope.spawn(move || {
                    for _ in 0..50 {
                        let mut held = lock(count);
                        let before = *held;
                        thread::sleep(hold);
                        *held = before + 1;
                    }
                });
            }
        });
        assert_eq!(*lock(&count), 200);
    }

    #[test]
    fn poisoned_lock_returns_the_value() {
        let value = Mutex::new(7);
        let panicked = thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _held = lock(&value);
                std::panic::resume_unwind(Box::new("on purpose"));
            });
            panics.join().is_err()
        });
        assert!(panicked && value.is_poisoned());
        assert_eq!(*lock(&value), 7);
    }

    /// A task that waits for a connection does not keep its thread from the task that releases it.
    #[test]
    fn other_tasks_run_while_a_task_waits_for_a_lock() {
        let connection = Arc::new(Mutex::new(()));
        let (send, receive) = mpsc::channel();
        let (locked_send, locked) = mpsc::channel();
        let holder = Arc::clone(&connection);
        let thread = thread::spawn(move || {
            let _held = holder.lock().unwrap();
            locked_send.send(()).unwrap();
            receive.recv().unwrap();
        });
        locked.recv().unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let waiting = tokio::spawn(async move { drop(lock(&connection)) });
            let releasing = tokio::spawn(async move { send.send(()).unwrap() });
            releasing.await.unwrap();
            waiting.await.unwrap();
        });
        thread.join().unwrap();
    }
}
