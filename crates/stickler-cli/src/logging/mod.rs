//! The global `tracing` subscriber: writes log lines to standard error without ever blocking the process.
//!
//! The commands that log call `install` once. Every event then becomes a line that is rate-limited
//! (`rate_limit`), bounded in length and free of hidden characters (`record`, `escape`), rendered as text or
//! JSON (`format`) and written by a dedicated thread (`writer`). `finish` flushes the queue for at most
//! 200 ms: if standard error is not read, log lines are lost, but traffic, signals and the exit of the
//! process are not delayed.

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

/// Target of lines from the standard error of a server.
pub(crate) const SERVER_STDERR: &str = "server_stderr";

/// Target of lines that are logged at every level except `off`, such as the listen address.
pub(crate) const ANNOUNCEMENT: &str = "announcement";

/// Maximum time that the exit of the process waits for the log to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(200);

static LINES: OnceLock<Lines> = OnceLock::new();

/// Log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// Failures of the gateway or of a server
    Error,
    /// Also rejected calls and requests, and faults of the server
    Warn,
    /// Also notes, sessions and tool lists
    Info,
    /// Also every message
    Debug,
}

/// Level and format of the log.
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

/// Flushes the log, for a bounded time.
pub(crate) fn finish() {
    if let Some(lines) = LINES.get() {
        lines.finish();
        lines.writer.flush(FLUSH_TIMEOUT);
    }
}

/// Queues a line that is not a log line; returns it if no logger is installed.
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

/// Logs a panic. The default hook would write to standard error directly and could block.
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
