//! The observers of a run: starts them and prints the summary, at exit and on SIGUSR1.

use std::sync::Arc;

use stickler_gateway::MetricsText;
#[cfg(any(feature = "otel", feature = "record"))]
use stickler_gateway::observe::QueuedConsumer;
use stickler_gateway::observe::summary::Summary;
use stickler_gateway::observe::{Consumer, Observers};
use stickler_transport::on_user_signal;

use crate::cli::SummaryFormat;
use crate::config::RunSettings;
use crate::exit::Failure;
use crate::logging::{self, LogFormat, LogLevel, LogSettings};

/// The observers of a run.
pub(crate) struct Observing {
    pub(crate) observers: Observers,
    pub(crate) metrics: Option<MetricsText>,
    report: Arc<Report>,
}

/// What the summary shows.
struct Report {
    format: SummaryFormat,
    log: LogSettings,
    summary: Arc<Summary>,
    #[cfg(feature = "record")]
    recording: Option<Arc<QueuedConsumer>>,
    #[cfg(feature = "otel")]
    telemetry: Option<Arc<QueuedConsumer>>,
}

/// Starts the observers that the settings ask for.
pub(crate) fn start(run: &RunSettings) -> Result<Observing, Failure> {
    let summary = Summary::new();
    let mut consumers: Vec<Arc<dyn Consumer>> = Vec::new();
    if run.summary != SummaryFormat::Off {
        consumers.push(Arc::clone(&summary) as Arc<dyn Consumer>);
    }
    #[cfg(feature = "record")]
    let recording = recording(run)?;
    #[cfg(feature = "record")]
    consumers.extend(recording.clone().map(|recording| recording as Arc<dyn Consumer>));
    #[cfg(not(feature = "record"))]
    if run.record.directory.is_some() {
        return Err(Failure::Usage(
            "this build does not include recordings: rebuild stickler-cli with `--features record`"
                .to_owned(),
        ));
    }
    #[cfg(feature = "otel")]
    let telemetry = telemetry(run)?;
    #[cfg(feature = "otel")]
    consumers.extend(telemetry.clone().map(|telemetry| telemetry as Arc<dyn Consumer>));
    #[cfg(not(feature = "otel"))]
    report_missing_telemetry(run)?;
    let report = Arc::new(Report {
        format: run.summary,
        log: run.log,
        summary,
        #[cfg(feature = "record")]
        recording,
        #[cfg(feature = "otel")]
        telemetry,
    });
    let on_signal = Arc::clone(&report);
    on_user_signal(move || on_signal.print())?;
    let metrics = metrics(run, &report, &mut consumers);
    Ok(Observing { observers: Observers::new(consumers), metrics, report })
}

/// Returns whether the variables of OpenTelemetry name a collector.
fn has_collector_variable() -> bool {
    let names =
        ["", "TRACES_", "METRICS_"].map(|kind| format!("OTEL_EXPORTER_OTLP_{kind}ENDPOINT"));
    names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(feature = "otel")]
fn telemetry(run: &RunSettings) -> Result<Option<Arc<QueuedConsumer>>, Failure> {
    use stickler_gateway::observe::otel::{self, Downstream, OtelSettings};

    if run.otel_endpoint.is_none() && !has_collector_variable() {
        if run.otel_inject_context {
            return Err(Failure::Usage(
                "`otel_inject_context` requires a collector\n\n\
                 hint: set `otel_endpoint` or the variable `OTEL_EXPORTER_OTLP_ENDPOINT`"
                    .to_owned(),
            ));
        }
        return Ok(None);
    }
    let downstream = if run.listen.is_some() { Downstream::Tcp } else { Downstream::Pipe };
    let settings = OtelSettings {
        endpoint: run.otel_endpoint.clone(),
        downstream,
        inject_context: run.otel_inject_context,
    };
    otel::start(&settings)
        .map(Some)
        .map_err(|error| Failure::Usage(format!("cannot export telemetry: {error}")))
}

/// Reports that this build cannot export. A variable may be meant for other programs, so it is no error.
#[cfg(not(feature = "otel"))]
fn report_missing_telemetry(run: &RunSettings) -> Result<(), Failure> {
    let text =
        "this build does not include OpenTelemetry: rebuild stickler-cli with `--features otel`";
    if run.otel_endpoint.is_some() || run.otel_inject_context {
        return Err(Failure::Usage(text.to_owned()));
    }
    if has_collector_variable() {
        tracing::warn!("nothing is exported over OTLP: {text}");
    }
    Ok(())
}

/// Starts the metrics, which only a gateway that listens serves.
#[cfg(feature = "metrics")]
fn metrics(
    run: &RunSettings,
    report: &Arc<Report>,
    consumers: &mut Vec<Arc<dyn Consumer>>,
) -> Option<MetricsText> {
    run.listen.as_ref()?;
    let report = Arc::clone(report);
    let metrics = stickler_gateway::observe::metrics::Metrics::new(move || report.dropped());
    consumers.push(Arc::clone(&metrics) as Arc<dyn Consumer>);
    Some(MetricsText(Arc::new(move |children| metrics.text(children))))
}

#[cfg(not(feature = "metrics"))]
fn metrics(
    _: &RunSettings,
    _: &Arc<Report>,
    _: &mut Vec<Arc<dyn Consumer>>,
) -> Option<MetricsText> {
    None
}

#[cfg(feature = "record")]
fn recording(run: &RunSettings) -> Result<Option<Arc<QueuedConsumer>>, Failure> {
    use stickler_gateway::observe::recording::{self, RecordSettings};

    let Some(directory) = &run.record.directory else { return Ok(None) };
    let mut settings = RecordSettings::new(directory.clone());
    settings.rotate_bytes = run.record.rotate_bytes;
    settings.max_age = run.record.max_age;
    settings.max_bytes = run.record.max_bytes;
    let started = recording::start(settings);
    let shown = directory.display();
    started
        .map(Some)
        .map_err(|error| Failure::Usage(format!("cannot record in `{shown}`: {error}")))
}

impl Observing {
    /// Completes the recordings and prints the summary.
    pub(crate) fn finish(&self) {
        self.observers.finish();
        if self.report.is_due_at_exit() {
            self.report.print();
        }
    }
}

impl Report {
    /// Returns the number of events that observers lost.
    fn dropped(&self) -> u64 {
        let dropped: [u64; 2] = [
            #[cfg(feature = "record")]
            self.recording.as_ref().map_or(0, |recording| recording.dropped()),
            #[cfg(not(feature = "record"))]
            0,
            #[cfg(feature = "otel")]
            self.telemetry.as_ref().map_or(0, |telemetry| telemetry.dropped()),
            #[cfg(not(feature = "otel"))]
            0,
        ];
        dropped.iter().sum()
    }

    /// Returns whether the summary is printed at exit without being asked for.
    fn is_due_at_exit(&self) -> bool {
        let is_quiet = matches!(self.log.level, LogLevel::Off | LogLevel::Error);
        self.format != SummaryFormat::Auto || !is_quiet
    }

    fn print(&self) {
        let dropped = self.dropped();
        let json = || self.summary.json(dropped).to_string();
        let text = match self.format {
            SummaryFormat::Auto if self.log.format == LogFormat::Json => {
                self.summary.text(dropped).map(|_| json())
            }
            SummaryFormat::Auto | SummaryFormat::Text => self.summary.text(dropped),
            SummaryFormat::Json => Some(json()),
            SummaryFormat::Off => None,
        };
        if let Some(text) = text {
            // Without a logger there is no gateway.
            let _ = logging::write_plain(text + "\n");
        }
    }
}
