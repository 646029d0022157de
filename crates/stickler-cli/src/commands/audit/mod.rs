//! `stickler audit`: validates recorded sessions.
//!
//! A file is read by one thread ([`reader`]) and validated by another ([`validation`]). Several files are audited
//! in parallel ([`parallel`]) and reported in order by the main thread.

mod input;
mod json;
mod output;
mod parallel;
mod reader;
mod record;
mod summary;
mod tally;
mod text;
mod validation;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use indicatif::ProgressBar;
use stickler::{CompileSchemas, Repair, Revision, SchemaStore, UnknownFields, ValidationConfig};
use stickler_protocol::{ProtocolSchemas, Side};
use stickler_recording::Senders;

use self::output::Output;
use self::parallel::{End, Event};
use self::summary::Summary;
use self::text::FileText;
use self::validation::AuditFinding;
use crate::cli::{AuditOptions, Deny, Format};
use crate::exit::{Exit, Failure, Outcome};
use crate::style::Palette;

/// Parameters shared by all files.
struct Setup {
    config: ValidationConfig,
    /// Overrides the mode of a recording.
    unknown_fields: Option<UnknownFields>,
    schemas: Arc<ProtocolSchemas>,
    /// Recordings often repeat the same tool lists.
    tool_schemas: SchemaStore,
    revision: Option<Revision>,
    /// Computed when the first raw message is read.
    senders: OnceLock<Senders>,
    /// Sender of raw messages, if the user specifies it.
    raw_sender: Option<Side>,
    bar: ProgressBar,
}

pub(crate) fn run(options: &AuditOptions) -> Outcome {
    #[cfg(feature = "ui")]
    if options.open {
        return super::ui::open_files(&options.files);
    }
    let setup = Setup::new(options)?;
    let mut report = Report::new(options, Output::new(setup.bar.clone()));
    parallel::audit(&options.files, &setup, |path, event| report.handle(path, event))?;
    report.finish()
}

impl Setup {
    fn new(options: &AuditOptions) -> Result<Self, Failure> {
        let schemas = options.protocol.schemas()?;
        let revision = options.protocol.revision;
        let mut config = ValidationConfig::default();
        config.mask_values = !options.show_values;
        // A recorded call cannot be corrected any more.
        config.repair = Repair::Off;
        config.compile_schemas = CompileSchemas::WhenListed;
        Ok(Self {
            config,
            unknown_fields: options.unknown_fields.map(Into::into),
            senders: OnceLock::new(),
            schemas: Arc::new(schemas),
            tool_schemas: SchemaStore::new(),
            revision,
            raw_sender: options.direction.map(Into::into),
            bar: output::progress(&options.files),
        })
    }

    fn senders(&self) -> &Senders {
        self.senders.get_or_init(|| Senders::new(&self.schemas, self.revision))
    }
}

/// Prints events in order and counts findings.
struct Report<'o> {
    options: &'o AuditOptions,
    out: Output,
    file_text: FileText,
    summary: Summary,
    is_unreadable: bool,
}

impl<'o> Report<'o> {
    fn new(options: &'o AuditOptions, out: Output) -> Self {
        let file_text = FileText::new(Palette::for_stdout(), options.all);
        Self { options, out, file_text, summary: Summary::default(), is_unreadable: false }
    }

    fn handle(&mut self, path: &Path, event: Event) -> Result<(), Failure> {
        let file = path.to_string_lossy();
        match event {
            Event::Findings(found) => found.iter().for_each(|found| self.found(&file, found)),
            Event::End(end) => self.end(&file, &end)?,
        }
        Ok(self.out.flush()?)
    }

    fn found(&mut self, file: &str, found: &AuditFinding) {
        match self.options.format {
            Format::Text => self.file_text.finding(&mut self.out.text, file, found),
            Format::Json => json::finding(&mut self.out.text, file, found),
        }
    }

    fn end(&mut self, file: &str, End { tally, failure }: &End) -> Result<(), Failure> {
        let next = FileText::new(Palette::for_stdout(), self.options.all);
        let file_text = std::mem::replace(&mut self.file_text, next);
        if self.options.format == Format::Text {
            file_text.end(&mut self.out.text, file, tally);
        }
        if let Some((line, error)) = failure {
            self.is_unreadable = true;
            let from = if *line > 1 { format!(" from line {line}") } else { String::new() };
            self.out.print_error(&format!("cannot read `{file}`{from}: {error}"))?;
        }
        // A file that could not be opened does not count as audited.
        if !matches!(failure, Some((0, _))) {
            self.summary.add(file, tally);
        }
        Ok(())
    }

    fn finish(mut self) -> Outcome {
        self.out.clear_bar();
        let counts = self.summary.counts();
        match self.options.format {
            Format::Text => self.summary.write(&mut self.out.text),
            Format::Json => {
                let Summary { files, messages, .. } = self.summary;
                json::summary(&mut self.out.text, files, messages, counts);
            }
        }
        self.out.flush()?;
        let denied = match self.options.deny {
            Some(Deny::Warning) => counts.errors + counts.warnings,
            None => counts.errors,
        };
        Ok(match (self.is_unreadable, denied) {
            (true, _) => Exit::Usage,
            (false, 0) => Exit::Success,
            (false, _) => Exit::Findings,
        })
    }
}
