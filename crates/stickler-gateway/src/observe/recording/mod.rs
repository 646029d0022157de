//! Records every message with its verdict, one file per session.
//!
//! The format is described in docs/observability.md. A thread behind a bounded queue (`queue`) formats and writes the
//! records, so a slow disk delays no message. Each batch is appended and the file closed again: a crash leaves complete
//! lines, except for the last one, and many sessions need no file descriptors. If a write fails, for example because the
//! disk is full, the recording stops with one log line.
//!
//! | module | contents |
//! | --- | --- |
//! | `settings` | where and what to record |
//! | `writer` | the thread: sessions and their files |
//! | `lines` | header, record and summary as JSON |
//! | `redaction` | removes values from a record |
//! | `files` | names, rotation, compression and retention of files |

mod files;
mod lines;
mod redaction;
mod settings;
mod writer;

use std::io;
use std::sync::Arc;

pub use settings::RecordSettings;

use super::queue::{Queue, Weighed};
use super::{Consumer, MessageEvent, Session};
use writer::Writer;

/// Records all messages.
#[derive(Debug)]
pub struct Recording {
    queue: Queue<Item>,
}

/// What the thread gets.
#[derive(Debug)]
enum Item {
    Message(Arc<MessageEvent>),
    Ended(Arc<Session>),
}

impl Weighed for Item {
    fn size(&self) -> usize {
        let Self::Message(event) = self else { return 0 };
        let bytes = |bytes: &Option<bytes::Bytes>| bytes.as_ref().map_or(0, bytes::Bytes::len);
        bytes(&event.message) + bytes(&event.sent)
    }

    fn is_essential(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl Recording {
    /// Creates the directory and starts the thread. Fails if nothing can be written to the directory.
    pub fn start(settings: RecordSettings) -> io::Result<Arc<Self>> {
        files::prepare(&settings.directory)?;
        let queue = Queue::start("recording", Writer::new(settings))?;
        Ok(Arc::new(Self { queue }))
    }

    /// Returns the number of events that were not recorded because the disk was too slow.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }
}

impl Consumer for Recording {
    fn reads_messages(&self) -> bool {
        true
    }

    fn message(&self, event: &Arc<MessageEvent>) {
        self.queue.push(Item::Message(Arc::clone(event)));
    }

    fn session_ended(&self, session: &Arc<Session>) {
        self.queue.push(Item::Ended(Arc::clone(session)));
    }

    fn finish(&self) {
        self.queue.finish();
    }
}
