//! Keeps the library up to date with the files: they appear, grow, are rotated and compressed, and vanish.
//!
//! One thread polls. The directory is listed a few times a second; files that grew recently are looked at more often,
//! so that a message is on the page within a tenth of a second. A file is read in pieces, and requests are served
//! between two pieces.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use stickler_recording::Outline;

use crate::files::{Found, Source, Text, look};
use crate::index::row::Place;
use crate::index::segment::Segment;
use crate::index::session::Session;
use crate::library::Library;

const LIST_INTERVAL: Duration = Duration::from_millis(300);
const POLL_INTERVAL: Duration = Duration::from_millis(30);
/// How long a file that grew is polled more often.
const ACTIVE_TIME: Duration = Duration::from_secs(20);
const PIECE_BYTES: usize = 256 << 10;
/// Longest line that is read; a longer one is skipped.
const MAX_LINE_BYTES: usize = 128 << 20;

/// The indexing thread.
pub(crate) struct Indexing {
    source: Source,
    library: Arc<Library>,
    files: HashMap<PathBuf, Tracked>,
}

/// A file that belongs to a session.
#[derive(Debug)]
struct Tracked {
    found: Found,
    session: usize,
    segment: usize,
    grew: Option<Instant>,
    /// Its first bytes when it was found.
    beginning: Vec<u8>,
    /// Size up to which it was read.
    done: Option<u64>,
}

impl Indexing {
    pub(crate) fn start(source: Source, library: Arc<Library>) -> io::Result<()> {
        let mut indexing = Self::new(source, library);
        indexing.list();
        thread::Builder::new().name("index".to_owned()).spawn(move || indexing.run())?;
        Ok(())
    }

    pub(crate) fn new(source: Source, library: Arc<Library>) -> Self {
        Self { source, library, files: HashMap::new() }
    }

    fn run(&mut self) {
        self.index_all();
        self.library.write().is_complete = true;
        let mut listed = Instant::now();
        loop {
            self.library.announce();
            thread::sleep(POLL_INTERVAL);
            if listed.elapsed() >= LIST_INTERVAL {
                self.list();
                self.index_all();
                listed = Instant::now();
            } else {
                self.poll_active();
            }
        }
    }

    /// Compares the files with what is known. Does not read them, except their first lines.
    pub(crate) fn list(&mut self) {
        let found = match self.source.list() {
            Ok(found) => found,
            Err(error) => {
                self.library.write().problem = Some(format!("cannot read the directory: {error}"));
                return;
            }
        };
        self.library.write().problem = None;
        let unknown: Vec<&Found> = found.iter().filter(|one| !self.is_same(one)).collect();
        for one in &unknown {
            self.files.remove(&one.path);
        }
        for one in unknown {
            self.track(one.clone());
        }
        for one in &found {
            if let Some(tracked) = self.files.get_mut(&one.path) {
                tracked.found = one.clone();
            }
        }
        let gone: Vec<PathBuf> = self
            .files
            .keys()
            .filter(|path| !found.iter().any(|one| one.path == **path))
            .cloned()
            .collect();
        for path in gone {
            self.files.remove(&path);
        }
        self.mark_gone();
    }

    /// Whether a file is the one that is known under its name. A file that got shorter or begins differently is a
    /// new one, even if the file system has given it the number of the old one.
    fn is_same(&self, found: &Found) -> bool {
        self.files.get(&found.path).is_some_and(|known| {
            let before = &known.found;
            before.identity == found.identity
                && found.size >= before.size
                && (found.size == before.size || found.beginning().starts_with(&known.beginning))
        })
    }

    /// Assigns a file to its session: a new one, another part of a known one, or a part that moved.
    fn track(&mut self, found: Found) {
        let (header, beginning) = (found.header(), found.beginning());
        let mut sessions = self.library.write();
        let part = header.as_ref().map_or(0, |header| header.part);
        let id = header.as_ref().map(|header| header.session.clone()).filter(|id| !id.is_empty());
        let known = id.and_then(|id| {
            let is_it = |session: &Session| {
                !session.is_gone
                    && session.header.as_ref().is_some_and(|header| header.session == id)
            };
            sessions.all.iter().position(is_it)
        });
        let number = known.unwrap_or_else(|| sessions.push(Session::new(found.name(), header)));
        let Some(session) = sessions.all.get_mut(number) else { return };
        let moved = session.segments.iter().position(|segment| segment.part == part);
        let segment = moved.unwrap_or(session.segments.len());
        if moved.is_none() {
            session.segments.push(Segment { part, ..Segment::at(&found.path) });
        }
        if let Some(segment) = session.segments.get_mut(segment) {
            segment.path.clone_from(&found.path);
            segment.size = found.size;
            // What was appended before the part moved is still to be read.
            segment.done = 0;
            segment.is_gone = false;
        }
        sessions.touch(number);
        drop(sessions);
        // Not indexed yet, whatever its size.
        let grew = Some(Instant::now());
        self.files.insert(
            found.path.clone(),
            Tracked { found, session: number, segment, grew, beginning, done: None },
        );
    }

    /// Marks the segments without a file, and the sessions without segments.
    fn mark_gone(&mut self) {
        let mut sessions = self.library.write();
        let mut changed = Vec::new();
        for (number, session) in sessions.all.iter_mut().enumerate().filter(|(_, one)| !one.is_gone)
        {
            for segment in session.segments.iter_mut().filter(|segment| !segment.is_gone) {
                if self.files.get(&segment.path).is_none_or(|file| file.session != number) {
                    segment.is_gone = true;
                    changed.push(number);
                }
            }
            if session.segments.iter().all(|segment| segment.is_gone) {
                // Its rows are not needed any more.
                *session = Session::gone();
                changed.push(number);
            }
        }
        for number in changed {
            sessions.touch(number);
        }
    }

    /// Indexes what is new in all files, newest file first and the parts of a session in order.
    pub(crate) fn index_all(&mut self) {
        let mut paths: Vec<(i64, usize, usize, PathBuf)> = self
            .files
            .iter()
            .filter(|(_, one)| one.done != Some(one.found.size))
            .map(|(path, one)| (-one.found.modified, one.session, one.segment, path.clone()))
            .collect();
        paths.sort();
        let mut order: Vec<usize> = Vec::new();
        for (_, session, ..) in &paths {
            if !order.contains(session) {
                order.push(*session);
            }
        }
        paths.sort_by_key(|(_, session, segment, _)| {
            (order.iter().position(|one| one == session), self.part_of(*session, *segment))
        });
        for (.., path) in paths {
            self.index(&path);
        }
    }

    fn part_of(&self, session: usize, segment: usize) -> u32 {
        let sessions = self.library.write();
        let session = sessions.all.get(session);
        session.and_then(|session| session.segments.get(segment)).map_or(0, |segment| segment.part)
    }

    /// Looks at the files that grew recently.
    fn poll_active(&mut self) {
        let active = |one: &Tracked| one.grew.is_some_and(|grew| grew.elapsed() < ACTIVE_TIME);
        let paths: Vec<PathBuf> = self
            .files
            .iter()
            .filter(|(_, one)| active(one))
            .map(|(path, _)| path.clone())
            .collect();
        for path in paths {
            let Some(now) = look(&path) else { continue };
            // A file that was replaced is handled with the next list.
            if self.is_same(&now) {
                if let Some(tracked) = self.files.get_mut(&path) {
                    tracked.found = now;
                }
                self.index(&path);
            }
        }
    }

    /// Indexes what is new in a file.
    fn index(&mut self, path: &Path) {
        let Some(tracked) = self.files.get_mut(path) else { return };
        let (number, index, size) = (tracked.session, tracked.segment, tracked.found.size);
        let start = {
            let sessions = self.library.write();
            let segment = sessions.all.get(number).and_then(|session| session.segments.get(index));
            match segment {
                Some(segment) if segment.done < size => segment.indexed,
                _ => return,
            }
        };
        tracked.grew = Some(Instant::now());
        tracked.done = Some(size);
        let reader = SegmentReader { library: &self.library, number, index, offset: start };
        // A file that cannot be read further is complete as far as it is readable; it is tried again when it grows.
        let _ = reader.read(path);
        let mut sessions = self.library.write();
        if let Some(segment) =
            sessions.all.get_mut(number).and_then(|one| one.segments.get_mut(index))
        {
            segment.done = size;
            segment.size = size;
        }
        sessions.touch(number);
    }
}

/// Reads the lines of a segment from an offset on.
struct SegmentReader<'l> {
    library: &'l Library,
    number: usize,
    index: usize,
    offset: u64,
}

impl SegmentReader<'_> {
    fn read(mut self, path: &Path) -> io::Result<()> {
        let mut text = Text::open(path, self.offset)?;
        let mut buffer: Vec<u8> = Vec::new();
        let mut announced = Instant::now();
        loop {
            let start = buffer.len();
            buffer.resize(start + PIECE_BYTES, 0);
            let read = match text.read(buffer.get_mut(start..).unwrap_or_default()) {
                Ok(read) => read,
                Err(error) => {
                    buffer.truncate(start);
                    self.finish(&buffer);
                    return Err(error);
                }
            };
            buffer.truncate(start + read);
            if read == 0 {
                self.finish(&buffer);
                return Ok(());
            }
            let Some(end) = memchr::memrchr(b'\n', &buffer) else {
                if buffer.len() > MAX_LINE_BYTES {
                    self.offset += buffer.len() as u64;
                    buffer.clear();
                }
                continue;
            };
            self.add(buffer.get(..=end).unwrap_or_default());
            buffer.drain(..=end);
            if announced.elapsed() > LIST_INTERVAL {
                self.library.announce();
                announced = Instant::now();
            }
        }
    }

    /// Adds the last line if it is whole although it has no line break.
    fn finish(&mut self, rest: &[u8]) {
        let is_whole = Outline::of_object(rest).is_some_and(|mut outline| {
            while outline.next_member().is_some() {}
            outline.is_whole()
        });
        if is_whole {
            self.add(rest);
        }
    }

    fn add(&mut self, lines: &[u8]) {
        let mut sessions = self.library.write();
        let Some(session) = sessions.all.get_mut(self.number) else { return };
        let segment = u16::try_from(self.index).unwrap_or(u16::MAX);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            session.add(line, Place::new(segment, self.offset));
            self.offset += line.len() as u64;
        }
        if let Some(segment) = session.segments.get_mut(self.index) {
            segment.indexed = self.offset;
        }
        sessions.touch(self.number);
    }
}
