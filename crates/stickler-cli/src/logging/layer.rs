//! The `tracing` layer that turns events into log lines.
//!
//! Whether a callsite is logged is decided once, so a disabled callsite costs one load. Logged are events of
//! this workspace (`stickler…`) up to the configured level, events of other crates at `warn` and above, and
//! at every level announcements and the standard error of servers. A line has the fields of its event,
//! followed by those of the enclosing spans.

use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::format::LogFormat;
use super::rate_limit::{Admission, RateLimit, Sample};
use super::record::Fields;
use super::writer::Writer;
use super::{ANNOUNCEMENT, SERVER_STDERR};

/// Lines of one kind that are logged per window.
const MAX_LINES_PER_WINDOW: u32 = 20;

/// The limit for the standard error of a server, which should be kept almost complete.
const MAX_STDERR_LINES_PER_WINDOW: u32 = 1000;

/// Rate limit, format and output of the log lines.
#[derive(Clone)]
pub(crate) struct Lines {
    pub(crate) format: LogFormat,
    pub(crate) writer: Writer,
    limit: Arc<Mutex<RateLimit>>,
    hasher: RandomState,
}

/// The layer of the subscriber.
pub(crate) struct LineLayer {
    pub(crate) level: LevelFilter,
    pub(crate) lines: Lines,
}

impl Lines {
    pub(crate) fn new(format: LogFormat, writer: Writer) -> Self {
        Self { format, writer, limit: Arc::default(), hasher: RandomState::new() }
    }

    /// Writes a line, unless the rate limit of its kind is exceeded.
    fn log(
        &self,
        metadata: &'static Metadata<'static>,
        server: Option<&str>,
        event: &Event<'_>,
        complete: impl FnOnce(&mut Fields),
    ) {
        let mut kind = Kind(self.hasher.build_hasher());
        (metadata.callsite(), server).hash(&mut kind.0);
        event.record(&mut kind);
        let kind = kind.0.finish();
        let limit = if metadata.target() == SERVER_STDERR {
            MAX_STDERR_LINES_PER_WINDOW
        } else {
            MAX_LINES_PER_WINDOW
        };
        let now = Instant::now();
        let admission = self.limit().admit(kind, limit, now);
        if let Admission::Suppress { is_first } = admission {
            if is_first {
                // The writer thread must schedule the end of the window.
                self.writer.wake();
            }
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        complete(&mut fields);
        let line = Sample { level: *metadata.level(), target: metadata.target(), fields };
        if admission == Admission::New {
            let summary = self.limit().open(kind, line.clone(), now);
            if let Some(summary) = summary {
                self.write(&summary);
            }
        }
        self.write(&line);
    }

    fn write(&self, line: &Sample) {
        let time = SystemTime::now();
        self.writer.push(self.format.line(time, line.level, line.target, &line.fields));
    }

    fn write_all(&self, lines: &[Sample]) {
        for line in lines {
            self.write(line);
        }
    }

    /// Writes the summaries of windows that have ended and returns the time until the next one ends.
    pub(crate) fn tick(&self) -> Option<Duration> {
        let now = Instant::now();
        let (ended, next) = {
            let mut limit = self.limit();
            (limit.expire(now), limit.next_expiry(now))
        };
        self.write_all(&ended);
        next
    }

    /// Writes the summaries of all windows.
    pub(crate) fn finish(&self) {
        let summaries = self.limit().finish();
        self.write_all(&summaries);
    }

    fn limit(&self) -> std::sync::MutexGuard<'_, RateLimit> {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LineLayer {
    fn is_logged(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        if target == SERVER_STDERR || target == ANNOUNCEMENT {
            return true;
        }
        let max_level = if target.starts_with("stickler") {
            self.level
        } else {
            self.level.min(LevelFilter::WARN)
        };
        *metadata.level() <= max_level
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LineLayer {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.is_logged(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.is_logged(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // Announcements and the standard error of servers have this level.
        Some(self.level.max(LevelFilter::from_level(Level::INFO)))
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut around = Fields::default();
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(fields) = span.extensions().get::<Fields>() {
                around.inherit(fields);
            }
        }
        let server = around.text("server").map(str::to_owned);
        self.lines.log(event.metadata(), server.as_deref(), event, |fields| {
            fields.inherit(&around);
        });
    }
}

/// Hash of the fields that, with the callsite, identify the kind of an event.
struct Kind(DefaultHasher);

impl Visit for Kind {
    fn record_str(&mut self, field: &Field, value: &str) {
        if matches!(field.name(), "rule" | "server") {
            (field.name(), value).hash(&mut self.0);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "status" {
            value.hash(&mut self.0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
