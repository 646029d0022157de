//! The thread that writes recordings.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tracing::{error, warn};

use super::redaction::Redaction;
use super::settings::RecordSettings;
use super::{files, lines};
use crate::observe::queue::{Item, Worker};
use crate::observe::{Session, Tally};

/// Interval between checks for old files.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60);

pub(super) struct Writer {
    settings: RecordSettings,
    sessions: HashMap<u64, OpenSession>,
    /// Writing has failed and is not tried again.
    is_stopped: bool,
    retention_checked: Option<Instant>,
    dropped: u64,
    compressions: Vec<std::thread::JoinHandle<()>>,
}

/// A session whose file has no summary yet.
struct OpenSession {
    session: Arc<Session>,
    stem: String,
    path: PathBuf,
    part: u64,
    /// Bytes in the current part.
    bytes: u64,
    tally: Tally,
    redaction: Redaction,
    /// Lines to append.
    unwritten: Vec<u8>,
}

impl Worker<Item> for Writer {
    fn handle(&mut self, items: VecDeque<Item>, dropped: u64) {
        if self.is_stopped {
            return;
        }
        self.dropped = dropped;
        let outcome = items.into_iter().try_for_each(|item| self.take(item));
        let outcome = outcome.and_then(|()| self.write_all());
        if let Err(error) = outcome {
            self.stop(&error);
        }
        self.delete_old();
    }

    fn finish(&mut self, dropped: u64) {
        self.dropped = dropped;
        if !self.is_stopped {
            let open: Vec<u64> = self.sessions.keys().copied().collect();
            let outcome = open.into_iter().try_for_each(|number| self.end(number));
            if let Err(error) = outcome {
                self.stop(&error);
            }
        }
        for one in self.compressions.drain(..) {
            let _ = one.join();
        }
    }
}

impl Writer {
    pub(super) fn new(settings: RecordSettings) -> Self {
        Self {
            settings,
            sessions: HashMap::new(),
            is_stopped: false,
            retention_checked: None,
            dropped: 0,
            compressions: Vec::new(),
        }
    }

    /// Stops recording; the traffic continues.
    fn stop(&mut self, error: &io::Error) {
        self.is_stopped = true;
        self.sessions.clear();
        let directory = self.settings.directory.display();
        error!("recording stopped: cannot write to {directory}: {error}");
    }

    fn take(&mut self, item: Item) -> io::Result<()> {
        match item {
            Item::Message(event) => {
                let rotate_bytes = self.settings.rotate_bytes;
                let number = event.session.number;
                let open = self
                    .sessions
                    .entry(number)
                    .or_insert_with(|| OpenSession::new(&event.session, &self.settings));
                open.tally.add(&event);
                lines::record(&mut open.unwritten, &event, &mut open.redaction);
                if open.bytes + open.unwritten.len() as u64 >= rotate_bytes {
                    self.rotate(number)?;
                }
                Ok(())
            }
            Item::Ended(session) => self.end(session.number),
        }
    }

    fn write_all(&mut self) -> io::Result<()> {
        let unwritten = |open: &&mut OpenSession| !open.unwritten.is_empty();
        self.sessions.values_mut().filter(unwritten).try_for_each(OpenSession::write)
    }

    /// Closes the current part of a session; the next record begins another one.
    fn rotate(&mut self, number: u64) -> io::Result<()> {
        let Some(open) = self.sessions.get_mut(&number) else { return Ok(()) };
        open.write()?;
        open.part += 1;
        open.bytes = 0;
        let part = files::part_path(&self.settings.directory, &open.stem, open.part);
        std::fs::rename(&open.path, &part)?;
        let compress = move || {
            if let Err(error) = files::compress_part(&part) {
                warn!("cannot compress the recording {}: {error}", part.display());
            }
        };
        self.compressions.retain(|one| !one.is_finished());
        // Without a thread the part stays uncompressed.
        self.compressions.extend(std::thread::Builder::new().spawn(compress).ok());
        Ok(())
    }

    /// Writes the summary of a session and forgets it.
    fn end(&mut self, number: u64) -> io::Result<()> {
        let Some(mut open) = self.sessions.remove(&number) else { return Ok(()) };
        lines::summary(&mut open.unwritten, &open.tally, self.dropped);
        open.write()
    }

    fn delete_old(&mut self) {
        let is_due = self.retention_checked.is_none_or(|at| at.elapsed() >= RETENTION_INTERVAL);
        if is_due {
            self.retention_checked = Some(Instant::now());
            files::delete_old(&self.settings, SystemTime::now());
        }
    }
}

impl OpenSession {
    fn new(session: &Arc<Session>, settings: &RecordSettings) -> Self {
        let stem = files::stem(session);
        Self {
            session: Arc::clone(session),
            path: settings.directory.join(format!("{stem}.ndjson")),
            stem,
            part: 0,
            bytes: 0,
            tally: Tally::default(),
            redaction: Redaction::default(),
            unwritten: Vec::new(),
        }
    }

    /// Appends the unwritten lines, after a header if the file is new.
    fn write(&mut self) -> io::Result<()> {
        let (mut file, is_new) = files::append(&self.path)?;
        if is_new {
            let mut text = Vec::new();
            lines::header(&mut text, &self.session, self.part);
            text.append(&mut self.unwritten);
            self.unwritten = text;
        }
        file.write_all(&self.unwritten)?;
        self.bytes += self.unwritten.len() as u64;
        self.unwritten.clear();
        self.unwritten.shrink_to(1 << 20);
        Ok(())
    }
}
