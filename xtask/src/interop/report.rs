//! Runs jobs in parallel and prints one line for each check.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Outcome;

/// Counts of the checks so far.
#[derive(Default)]
pub(super) struct Report {
    passed: AtomicUsize,
    failed: AtomicUsize,
}

/// A named check.
pub(super) struct Job<'j> {
    pub(super) name: String,
    pub(super) run: Box<dyn FnOnce() -> Result<String, String> + Send + 'j>,
}

impl<'j> Job<'j> {
    pub(super) fn new(
        name: impl Into<String>,
        run: impl FnOnce() -> Result<String, String> + Send + 'j,
    ) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }
}

impl Report {
    #[allow(clippy::print_stdout)]
    pub(super) fn line(&self, name: &str, outcome: &Result<String, String>) {
        match outcome {
            Ok(note) if note.is_empty() => println!("ok: {name}"),
            Ok(note) => println!("ok: {name}: {note}"),
            Err(reason) => println!("FAILED: {name}: {reason}"),
        }
        let counter = if outcome.is_ok() { &self.passed } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs the jobs, several at a time: they mostly wait.
    pub(super) fn run_all(&self, jobs: Vec<Job<'_>>, at_once: usize) {
        let queue = Mutex::new(VecDeque::from(jobs));
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    while let Some(job) = next() {
                        self.line(&job.name, &(job.run)());
                    }
                });
            }
        });
    }

    #[allow(clippy::print_stdout)]
    pub(super) fn finish(&self) -> Outcome {
        let (passed, failed) =
            (self.passed.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
        println!("{passed} passed, {failed} failed");
        if failed == 0 { Ok(()) } else { Err(format!("{failed} interop checks failed, see above")) }
    }
}
