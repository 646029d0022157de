//! Audits several files in parallel and, if cores are idle, reads and validates a file in separate threads.
//!
//! Files are started and reported in command-line order. A file that is ahead of the reported one blocks when its
//! channel is full, so memory stays bounded. This cannot deadlock: the reported file was started earlier, and its
//! channel is being drained.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::Setup;
use super::reader::{self, Batch};
use super::tally::Tally;
use super::validation::{AuditFinding, SessionValidator};
use crate::exit::Failure;

/// Capacity of the channels from reader to validator and from validator to report.
const BATCHES_AHEAD: usize = 2;
const EVENTS_AHEAD: usize = 16;

/// Event of a file.
pub(super) enum Event {
    Findings(Vec<AuditFinding>),
    End(End),
}

/// Result of a file.
pub(super) struct End {
    pub(super) tally: Tally,
    /// The line that could not be read, 0 for the whole file, and the error.
    pub(super) failure: Option<(usize, io::Error)>,
}

/// The receiver of the events is gone.
#[derive(Clone, Copy)]
struct ReceiverGone;

struct Job<'f> {
    path: &'f Path,
    events: SyncSender<Event>,
}

/// Audits all files and passes their events to `report`, file by file.
pub(super) fn audit(
    files: &[PathBuf],
    setup: &Setup,
    mut report: impl FnMut(&Path, Event) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (jobs, channels): (VecDeque<_>, Vec<_>) = files.iter().map(|path| job(path)).unzip();
    let jobs = Mutex::new(jobs);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores.min(files.len()) {
            scope.spawn(|| work(&jobs, setup));
        }
        for (path, events) in channels {
            for event in events {
                report(path, event)?;
            }
        }
        Ok(())
    })
}

fn job(path: &Path) -> (Job<'_>, (&Path, Receiver<Event>)) {
    let (events, receiver) = sync_channel(EVENTS_AHEAD);
    (Job { path, events }, (path, receiver))
}

fn work(jobs: &Mutex<VecDeque<Job<'_>>>, setup: &Setup) {
    let next = || {
        let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.pop_front().map(|job| (job, jobs.is_empty()))
    };
    while let Some((job, is_last)) = next() {
        // A second thread per file pays off only when no other file is waiting for a core.
        let outcome =
            if is_last { job.audit_on_two_threads(setup) } else { job.audit_on_this_thread(setup) };
        if outcome.is_err() {
            return;
        }
    }
}

impl Job<'_> {
    fn audit_on_this_thread(&self, setup: &Setup) -> Result<(), ReceiverGone> {
        let mut validator = SessionValidator::new(self.path, setup);
        let mut sent = Ok(());
        let outcome = reader::read(self.path, setup, |batch| {
            sent = validator.validate(&batch, |found| self.emit(Event::Findings(found)));
            sent.is_ok().then(|| batch.cleared())
        });
        sent?;
        self.emit(Event::End(End { tally: validator.tally, failure: outcome.err() }))
    }

    fn audit_on_two_threads(&self, setup: &Setup) -> Result<(), ReceiverGone> {
        let (full, batches) = sync_channel::<Batch>(BATCHES_AHEAD);
        let (used, spares) = sync_channel(BATCHES_AHEAD);
        thread::scope(|scope| {
            let reader = scope.spawn(move || {
                reader::read(self.path, setup, |batch| {
                    full.send(batch).ok().map(|()| spares.try_recv().unwrap_or_default())
                })
            });
            let mut validator = SessionValidator::new(self.path, setup);
            for batch in batches {
                validator.validate(&batch, |found| self.emit(Event::Findings(found)))?;
                // Dropped if there are enough spare batches.
                let _ = used.try_send(batch.cleared());
            }
            let failure = match reader.join() {
                Ok(outcome) => outcome.err(),
                Err(_) => Some((0, io::Error::other("the reader thread panicked"))),
            };
            self.emit(Event::End(End { tally: validator.tally, failure }))
        })
    }

    fn emit(&self, event: Event) -> Result<(), ReceiverGone> {
        self.events.send(event).map_err(|_| ReceiverGone)
    }
}
