//! All cores: several files at a time, and where cores are left for it, the reading of a file
//! beside its judging.
//!
//! Files are begun in the order in which they were named and told in that order too. A file that is
//! ahead of the one being told waits when its channel is full, so memory stays bounded; the one
//! being told was begun before it and waits for nobody.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::Setup;
use super::judging::{Found, Judge};
use super::reading::{self, Batch};
use super::tally::Tally;
use crate::exit::Failure;

/// How far reading may be ahead of judging, and judging ahead of telling.
const BATCHES_AHEAD: usize = 2;
const EVENTS_AHEAD: usize = 16;

/// What there is to tell about a file.
pub(super) enum Event {
    Found(Vec<Found>),
    End(End),
}

/// What a file came to.
pub(super) struct End {
    pub(super) tally: Tally,
    /// The line that could not be read, 0 for the whole file, and why.
    pub(super) failure: Option<(usize, io::Error)>,
}

/// Nobody listens any more.
#[derive(Clone, Copy)]
struct Unheard;

struct Job<'f> {
    path: &'f Path,
    events: SyncSender<Event>,
}

/// Audits all files and tells what comes of it, file by file.
pub(super) fn audit(
    files: &[PathBuf],
    setup: &Setup,
    mut tell: impl FnMut(&Path, Event) -> Result<(), Failure>,
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
                tell(path, event)?;
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
        // While files are waiting, a second thread for this one would only be in their way.
        let outcome = if is_last { job.audit_in_two(setup) } else { job.audit_in_one(setup) };
        if outcome.is_err() {
            return;
        }
    }
}

impl Job<'_> {
    fn audit_in_one(&self, setup: &Setup) -> Result<(), Unheard> {
        let mut judge = Judge::new(self.path, setup);
        let mut heard = Ok(());
        let outcome = reading::read(self.path, setup, |batch| {
            heard = judge.judge(&batch, |found| self.tell(Event::Found(found)));
            heard.is_ok().then(|| batch.emptied())
        });
        heard?;
        self.tell(Event::End(End { tally: judge.tally, failure: outcome.err() }))
    }

    fn audit_in_two(&self, setup: &Setup) -> Result<(), Unheard> {
        let (full, batches) = sync_channel::<Batch>(BATCHES_AHEAD);
        let (used, spares) = sync_channel(BATCHES_AHEAD);
        thread::scope(|scope| {
            let reader = scope.spawn(move || {
                reading::read(self.path, setup, |batch| {
                    full.send(batch).ok().map(|()| spares.try_recv().unwrap_or_default())
                })
            });
            let mut judge = Judge::new(self.path, setup);
            for batch in batches {
                judge.judge(&batch, |found| self.tell(Event::Found(found)))?;
                // Where there are spares enough, this one is let go.
                let _ = used.try_send(batch.emptied());
            }
            let failure = match reader.join() {
                Ok(outcome) => outcome.err(),
                Err(_) => Some((0, io::Error::other("the reader stopped"))),
            };
            self.tell(Event::End(End { tally: judge.tally, failure }))
        })
    }

    fn tell(&self, event: Event) -> Result<(), Unheard> {
        self.events.send(event).map_err(|_| Unheard)
    }
}
