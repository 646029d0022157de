//! A lock that is waited for awake at first.
//!
//! Most messages are judged in less time than it takes to put a thread to sleep and to wake it.

use std::hint::spin_loop;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// For how long. Whoever has the lock for longer is waited for asleep.
const AWAKE: Duration = Duration::from_micros(10);

/// How long the lock is left alone between two looks at it.
const BREATH: usize = 16;

/// Whoever panicked with the lock has left a whole value behind.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let mut began = None;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(whole)) => return whole.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
        if began.get_or_insert_with(Instant::now).elapsed() > AWAKE {
            return mutex.lock().unwrap_or_else(PoisonError::into_inner);
        }
        (0..BREATH).for_each(|_| spin_loop());
    }
}

#[cfg(test)]
mod tests {
    use super::{AWAKE, lock};
    use std::sync::Mutex;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn one_at_a_time_however_long_it_takes() {
        let count = Mutex::new(0);
        thread::scope(|scope| {
            for hold in [Duration::ZERO, Duration::ZERO, AWAKE * 20, AWAKE / 4] {
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
    fn a_panic_leaves_the_value() {
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
