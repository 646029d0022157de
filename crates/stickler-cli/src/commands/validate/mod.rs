//! `stickler validate`: calls against tool definitions, offline.

pub(super) mod call;
pub(super) mod diagnostic;
mod layout;
pub(super) mod record;
pub(super) mod tools;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use stickler::{McpValidator, ValidationConfig};
use stickler_protocol::frame::Frame;

use self::call::Judged;
use self::record::Record;
use crate::cli::{Format, ValidateOptions};
use crate::exit::{Exit, Failure, Outcome};
use crate::lines::Lines;

/// Offline there is one server, and nobody sees its name.
pub(crate) const SERVER: &str = "tools";

pub(crate) fn run(options: &ValidateOptions) -> Outcome {
    let validator = McpValidator::new(ValidationConfig::from(&options.checks));
    tools::learn(&validator, &options.tools)?;
    let mut report = Report::new(&validator, options.format, options.calls.is_some());
    match (&options.calls, &options.tool) {
        (Some(path), _) => report.check_lines(path)?,
        (None, Some(tool)) => {
            let judged = call::judge_parts(&validator, tool, options.args.as_deref());
            report.add(&judged)?;
        }
        (None, None) => return Err(Failure::Usage("name a tool or give `--calls`".to_owned())),
    }
    report.finish()
}

/// Prints as it goes and counts.
struct Report<'v> {
    validator: &'v McpValidator,
    format: Format,
    out: BufWriter<io::StdoutLock<'static>>,
    /// Inputs are lines, which are told apart by their numbers.
    many: bool,
    line: usize,
    invalid: usize,
}

impl<'v> Report<'v> {
    fn new(validator: &'v McpValidator, format: Format, many: bool) -> Self {
        let out = BufWriter::new(io::stdout().lock());
        Self { validator, format, out, many, line: 0, invalid: 0 }
    }

    fn check_lines(&mut self, path: &Path) -> Result<(), Failure> {
        let unreadable = |error: io::Error| {
            Failure::Usage(format!("cannot read the calls in `{}`: {error}", path.display()))
        };
        if path == Path::new("-") {
            return self.check_each(Lines::new(io::stdin().lock(), self.limit()), unreadable);
        }
        let file = File::open(path).map_err(unreadable)?;
        self.check_each(Lines::new(file, self.limit()), unreadable)
    }

    fn check_each(
        &mut self,
        mut lines: Lines<impl io::Read>,
        unreadable: impl Fn(io::Error) -> Failure,
    ) -> Result<(), Failure> {
        while lines.fill().map_err(&unreadable)? {
            while let Some(frame) = lines.next() {
                let judged = match frame {
                    Frame::TooLong { .. } => call::too_long(self.limit()),
                    Frame::Line(text) => call::judge_line(self.validator, text),
                };
                self.add(&judged)?;
            }
        }
        Ok(())
    }

    fn limit(&self) -> usize {
        self.validator.config().limits.message_bytes
    }

    fn add(&mut self, judged: &Judged) -> Result<(), Failure> {
        self.line += 1;
        self.invalid += usize::from(!judged.is_valid());
        match self.format {
            Format::Json => {
                let record = Record::new(self.validator, self.line, judged);
                writeln!(self.out, "{}", record.to_json())?;
            }
            Format::Text => {
                let line = self.many.then_some(self.line);
                diagnostic::print(&mut self.out, self.validator, line, judged)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Outcome {
        if self.format == Format::Text && self.many {
            let valid = self.line - self.invalid;
            let calls = if self.line == 1 { "call" } else { "calls" };
            writeln!(self.out, "{} {calls}: {valid} valid, {} invalid", self.line, self.invalid)?;
        }
        self.out.flush()?;
        Ok(if self.invalid == 0 { Exit::Fine } else { Exit::Findings })
    }
}
