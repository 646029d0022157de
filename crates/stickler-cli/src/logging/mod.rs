//! The one `tracing` subscriber: lines on standard error that never keep the process waiting.
//!
//! `install` is called once by the commands that log. From then on every event becomes a line that is
//! rate-limited (`rate_limit`), bounded in length and free of hidden characters (`record`, `escape`),
//! rendered as text or JSON (`format`), and written by a thread of its own (`writer`). `finish` writes
//! what is left, for at most 200 ms: an unread standard error loses lines, never traffic, signals or the
//! end of the process.

mod escape;
mod format;
mod layer;
mod rate_limit;
mod record;
mod writer;

use std::io;
use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;

pub(crate) use format::LogFormat;
use layer::{LineLayer, Lines};
use record::Fields;
use writer::Writer;

/// The target of lines that a server wrote to its standard error.
pub(crate) const SERVER_STDERR: &str = "server_stderr";

/// The target of what is logged at every level but `off`: the address that is listened on.
pub(crate) const ANNOUNCEMENT: &str = "announcement";

/// The longest that the end of the process waits for lines to be written.
const FLUSH: Duration = Duration::from_millis(200);

static LINES: OnceLock<Lines> = OnceLock::new();

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// What keeps the gateway or a server from working
    Error,
    /// Rejected calls and requests, and faults of the server
    Warn,
    /// Notes, sessions and tool lists too
    Info,
    /// Every message
    Debug,
}

/// What is logged, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogSettings {
    pub(crate) level: LogLevel,
    pub(crate) format: LogFormat,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: LogLevel::Warn, format: LogFormat::Text }
    }
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}

/// Installs the subscriber. Only the first call has an effect.
pub(crate) fn install(settings: LogSettings) -> io::Result<()> {
    let report = match settings.format {
        LogFormat::Text => |lost| lost_lines(LogFormat::Text, lost),
        LogFormat::Json => |lost| lost_lines(LogFormat::Json, lost),
    };
    let lines = Lines::new(settings.format, Writer::new(report));
    if LINES.set(lines.clone()).is_err() {
        return Ok(());
    }
    let ticking = lines.clone();
    lines.writer.start(move || ticking.tick())?;
    if settings.level != LogLevel::Off {
        let layer = LineLayer { level: settings.level.into(), lines };
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::set_global_default(subscriber).map_err(io::Error::other)?;
        std::panic::set_hook(Box::new(log_panic));
    }
    Ok(())
}

/// Writes what is left, for a bounded time.
pub(crate) fn finish() {
    if let Some(lines) = LINES.get() {
        lines.finish();
        lines.writer.flush(FLUSH);
    }
}

/// Writes a line that is not part of the log through the same queue; gives it back where there is none.
pub(crate) fn write_plain(line: String) -> Result<(), String> {
    match LINES.get() {
        Some(lines) => {
            lines.writer.push(line);
            Ok(())
        }
        None => Err(line),
    }
}

fn lost_lines(format: LogFormat, lost: u64) -> String {
    let lines = if lost == 1 { "log line was" } else { "log lines were" };
    let text = format!("{lost} {lines} lost because standard error was not read");
    let mut fields = Fields::with_message(&text);
    fields.set_number("lost", lost);
    format.line(SystemTime::now(), tracing::Level::WARN, "stickler::logging", &fields)
}

/// The default hook would write to standard error itself, and wait for its reader.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("no message");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!("thread `{name}` panicked at {place}: {message}");
}
