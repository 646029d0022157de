//! A mutex lock that spins for a short time before it blocks.
//!
//! Most messages are processed in less time than it takes to suspend and wake a thread.

use std::hint::spin_loop;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Maximum time to spin; after that the thread blocks.
const SPIN_DURATION: Duration = Duration::from_micros(10);

/// Number of spin-loop hints between two attempts.
const SPINS_PER_ATTEMPT: usize = 16;

/// Locks the mutex. Poisoning is ignored: the values stay consistent when a holder panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let mut started = None;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
        if started.get_or_insert_with(Instant::now).elapsed() > SPIN_DURATION {
            return mutex.lock().unwrap_or_else(PoisonError::into_inner);
        }
        (0..SPINS_PER_ATTEMPT).for_each(|_| spin_loop());
    }
}

#[cfg(test)]
mod tests {
    use super::{SPIN_DURATION, lock};
    use std::sync::Mutex;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn lock_is_exclusive_for_short_and_long_holders() {
        let count = Mutex::new(0);
        thread::scope(|scope| {
            for hold in [Duration::ZERO, Duration::ZERO, SPIN_DURATION * 20, SPIN_DURATION / 4] {
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
}
