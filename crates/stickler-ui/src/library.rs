//! All sessions of the directory, shared by the indexing thread and the requests.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::index::session::Session;

/// Changes are announced to the page by their number.
#[derive(Debug)]
pub(crate) struct Library {
    sessions: Mutex<Sessions>,
    /// Requests that wait for the lock, to which the indexing thread gives way.
    waiting: AtomicUsize,
    changes: watch::Sender<u64>,
}

/// The sessions by their number. A session never changes its number.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    pub(crate) all: Vec<Session>,
    /// Sessions that changed, each with the number of its last change.
    pub(crate) changed: Vec<u64>,
    pub(crate) version: u64,
    /// Whether all files that were found have been indexed once.
    pub(crate) is_complete: bool,
    /// Why the directory cannot be read.
    pub(crate) problem: Option<String>,
}

impl Library {
    pub(crate) fn new() -> Self {
        let (changes, _) = watch::channel(0);
        Self { sessions: Mutex::default(), waiting: AtomicUsize::new(0), changes }
    }

    /// Locks the sessions for a request.
    pub(crate) fn read(&self) -> MutexGuard<'_, Sessions> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let guard = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        guard
    }

    /// Locks the sessions for indexing a piece of text, after the requests that wait.
    pub(crate) fn write(&self) -> MutexGuard<'_, Sessions> {
        while self.waiting.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces the changes made so far.
    pub(crate) fn announce(&self) {
        let version = self.read().version;
        self.changes.send_if_modified(|known| {
            let is_new = *known != version;
            *known = version;
            is_new
        });
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

impl Sessions {
    pub(crate) fn push(&mut self, session: Session) -> usize {
        self.all.push(session);
        self.changed.push(0);
        let number = self.all.len() - 1;
        self.touch(number);
        number
    }

    /// Records that a session changed.
    pub(crate) fn touch(&mut self, number: usize) {
        self.version += 1;
        if let Some(changed) = self.changed.get_mut(number) {
            *changed = self.version;
        }
    }

    /// Returns the sessions that changed after a version.
    pub(crate) fn changed_since(&self, version: u64) -> BTreeSet<usize> {
        let changed = self.changed.iter().enumerate();
        changed.filter(|(_, changed)| **changed > version).map(|(number, _)| number).collect()
    }
}
