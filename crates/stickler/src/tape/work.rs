//! Work counter for tests: tokens read, characters compared and strings decoded.
//!
//! Contract: compiled to nothing outside the unit tests of this crate. In unit tests each thread has a
//! counter, so that a test can measure how the work grows with the size of a call without a clock.

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Adds `units` to the counter.
#[cfg(test)]
pub(crate) fn count(units: usize) {
    DONE.with(|done| done.set(done.get() + units as u64));
}

/// Does nothing outside tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn count(_: usize) {}

/// Runs `task` and returns its result and the work it took.
#[cfg(test)]
pub(crate) fn measure<T>(task: impl FnOnce() -> T) -> (T, u64) {
    let before = DONE.with(std::cell::Cell::get);
    let outcome = task();
    (outcome, DONE.with(std::cell::Cell::get) - before)
}
