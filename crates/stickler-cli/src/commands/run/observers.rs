//! The observers of a run: starts them and prints the summary, at exit and on SIGUSR1.

use std::sync::Arc;

use stickler_gateway::observe::summary::Summary;
use stickler_gateway::observe::{Consumer, Observers};
use stickler_transport::on_user_signal;

use crate::cli::SummaryFormat;
use crate::config::RunSettings;
use crate::exit::Failure;
use crate::logging;

/// The observers of a run.
pub(super) struct Observing {
    pub(super) observers: Observers,
    report: Arc<Report>,
}

/// What the summary shows.
struct Report {
    format: SummaryFormat,
    summary: Arc<Summary>,
    #[cfg(feature = "record")]
    recording: Option<Arc<stickler_gateway::observe::recording::Recording>>,
}

/// Starts the observers that the settings ask for.
pub(super) fn start(run: &RunSettings) -> Result<Observing, Failure> {
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
    let report = Arc::new(Report {
        format: run.summary,
        summary,
        #[cfg(feature = "record")]
        recording,
    });
    let on_signal = Arc::clone(&report);
    on_user_signal(move || on_signal.print())?;
    Ok(Observing { observers: Observers::new(consumers), report })
}

#[cfg(feature = "record")]
fn recording(
    run: &RunSettings,
) -> Result<Option<Arc<stickler_gateway::observe::recording::Recording>>, Failure> {
    use stickler_gateway::observe::recording::{RecordSettings, Recording};

    let Some(directory) = &run.record.directory else { return Ok(None) };
    let mut settings = RecordSettings::new(directory.clone());
    settings.rotate_bytes = run.record.rotate_bytes;
    settings.max_age = run.record.max_age;
    settings.max_bytes = run.record.max_bytes;
    let started = Recording::start(settings);
    let shown = directory.display();
    started
        .map(Some)
        .map_err(|error| Failure::Usage(format!("cannot record in `{shown}`: {error}")))
}

impl Observing {
    /// Completes the recordings and prints the summary.
    pub(super) fn finish(&self) {
        self.observers.finish();
        self.report.print();
    }
}

impl Report {
    /// Returns the number of events that observers lost.
    fn dropped(&self) -> u64 {
        #[cfg(feature = "record")]
        return self.recording.as_ref().map_or(0, |recording| recording.dropped());
        #[cfg(not(feature = "record"))]
        0
    }

    fn print(&self) {
        let dropped = self.dropped();
        let text = match self.format {
            SummaryFormat::Text => self.summary.text(dropped),
            SummaryFormat::Json => Some(self.summary.json(dropped).to_string()),
            SummaryFormat::Off => None,
        };
        if let Some(text) = text {
            // Without a logger there is no gateway.
            let _ = logging::write_plain(text + "\n");
        }
    }
}
