//! Counts the work that tests look at: tokens read and letters compared.
//!
//! Contract: in programs this is nothing at all. In the crate's own tests each thread has a counter, so
//! that a test can state how work grows with the size of a call without a clock.

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts so many units.
#[cfg(test)]
pub(crate) fn count(units: usize) {
    DONE.with(|done| done.set(done.get() + units as u64));
}

/// Counts so many units.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn count(_: usize) {}

/// What something takes.
#[cfg(test)]
pub(crate) fn of<T>(task: impl FnOnce() -> T) -> (T, u64) {
    let before = DONE.with(std::cell::Cell::get);
    let outcome = task();
    (outcome, DONE.with(std::cell::Cell::get) - before)
}
