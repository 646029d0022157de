//! Observers of the traffic: log, summary, recording, metrics and traces.
//!
//! Each message yields one [`MessageEvent`], and the observers read nothing else. A [`Consumer`] is called on the
//! thread that moves the message, so it only counts or hands the event to a bounded queue (`queue`). A consumer that
//! is slow or fails loses events, which are counted; it never delays or loses a message.
//!
//! | module | contents |
//! | --- | --- |
//! | `event` | the event of a message |
//! | `session` | what is known about the server, the client and the session of an event |
//! | `emitted` | what a connection received and emitted |
//! | `exchange` | builds the events from what a connection received and sent |
//! | `queue` | a bounded queue with a thread that reads it |
//! | `tally`, `latency`, `summary` | counts by tool and client |
//! | `metrics` | counters and histograms for Prometheus |
//! | `otel` | traces and metrics over OTLP |
//! | `trace_context` | reads and injects the trace context of requests |
//! | `recording` | every message with its verdict, in files |

pub(crate) mod emitted;
mod event;
pub(crate) mod exchange;
mod latency;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "otel")]
pub mod otel;
#[cfg(any(feature = "otel", feature = "record"))]
mod queue;
#[cfg(feature = "record")]
pub mod recording;
mod secrets;
pub(crate) mod session;
pub mod summary;
mod tally;
pub(crate) mod trace_context;

use std::fmt;
use std::sync::Arc;

pub use event::MessageEvent;
#[cfg(any(feature = "otel", feature = "record"))]
pub use queue::QueuedConsumer;
pub use session::{Client, ObservedServer, RecordedValues, Session, Target};
pub use tally::Tally;
pub use trace_context::SpanIds;

/// An observer. Its methods are called on the threads that move messages and must not block.
pub trait Consumer: Send + Sync {
    /// Returns whether the consumer reads the text of messages, which otherwise is not copied.
    fn reads_messages(&self) -> bool {
        false
    }

    /// Returns whether forwarded requests name their span.
    fn injects_context(&self) -> bool {
        false
    }

    /// Takes the event of a message.
    fn message(&self, event: &Arc<MessageEvent>);

    /// Takes note of a session that has begun.
    fn session_started(&self, _session: &Arc<Session>) {}

    /// Takes note of a session that has ended.
    fn session_ended(&self, _session: &Arc<Session>) {}

    /// Takes note of a server process that is started again after a failure.
    fn server_restarted(&self, _server: &ObservedServer) {}

    /// Completes all work before the process exits, within a bounded time.
    fn finish(&self) {}
}

/// The consumers of a run.
#[derive(Clone, Default)]
pub struct Observers {
    consumers: Arc<[Arc<dyn Consumer>]>,
    reads_messages: bool,
    injects_context: bool,
}

impl Observers {
    /// Combines consumers.
    pub fn new(consumers: Vec<Arc<dyn Consumer>>) -> Self {
        let reads_messages = consumers.iter().any(|one| one.reads_messages());
        let injects_context = consumers.iter().any(|one| one.injects_context());
        Self { consumers: consumers.into(), reads_messages, injects_context }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.consumers.is_empty()
    }

    pub(crate) fn read_messages(&self) -> bool {
        self.reads_messages
    }

    pub(crate) fn inject_context(&self) -> bool {
        self.injects_context
    }

    pub(crate) fn message(&self, event: MessageEvent) {
        let event = Arc::new(event);
        self.consumers.iter().for_each(|one| one.message(&event));
    }

    pub(crate) fn session_started(&self, session: &Arc<Session>) {
        self.consumers.iter().for_each(|one| one.session_started(session));
    }

    pub(crate) fn session_ended(&self, session: &Arc<Session>) {
        self.consumers.iter().for_each(|one| one.session_ended(session));
    }

    pub(crate) fn server_restarted(&self, server: &ObservedServer) {
        self.consumers.iter().for_each(|one| one.server_restarted(server));
    }

    /// Completes the work of all consumers before the process exits.
    pub fn finish(&self) {
        self.consumers.iter().for_each(|one| one.finish());
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers")
            .field("consumers", &self.consumers.len())
            .finish_non_exhaustive()
    }
}
