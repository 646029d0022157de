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

use super::QueuedConsumer;
use writer::Writer;

/// Creates the directory and starts to record. Fails if nothing can be written to the directory.
pub fn start(settings: RecordSettings) -> io::Result<Arc<QueuedConsumer>> {
    files::prepare(&settings.directory)?;
    QueuedConsumer::start("recording", Writer::new(settings))
}
