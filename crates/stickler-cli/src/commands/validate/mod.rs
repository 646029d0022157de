//! `stickler validate`: validates calls against tool definitions, offline.

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

use self::call::CheckedInput;
use self::record::Record;
use crate::cli::{Format, ValidateOptions};
use crate::exit::{Exit, Failure, Outcome};
use crate::lines::Lines;

/// Server name in the cache; it is not shown.
pub(crate) const SERVER: &str = "tools";

pub(crate) fn run(options: &ValidateOptions) -> Outcome {
    let validator = McpValidator::new(ValidationConfig::from(&options.checks));
    tools::load(&validator, &options.tools)?;
    let mut report = Report::new(&validator, options.format, options.calls.is_some());
    match (&options.calls, &options.tool) {
        (Some(path), _) => report.check_lines(path)?,
        (None, Some(tool)) => {
            let args = options.args.as_deref();
            let checked = call::check_parts(&validator, tool, args);
            if let (CheckedInput::NotACall { message, .. }, Format::Text) =
                (&checked, options.format)
            {
                // The message is a sentence about a line of a file; here it is about the option.
                let message = message.trim_end_matches('.').replace("The input", "`--args`");
                let message = message.replace("The line", "`--args`");
                let hint = quotes_hint(args.unwrap_or_default());
                return Err(Failure::Usage(format!("{message}{hint}")));
            }
            report.add(&checked)?;
        }
        (None, None) => return Err(Failure::Usage("specify a tool or `--calls`".to_owned())),
    }
    report.finish()
}

/// Returns a hint for a text that a shell or a habit from JavaScript has changed: single quotes, no quotes.
pub(super) fn quotes_hint(text: &str) -> String {
    let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    let double_quoted = text.replace('\'', "\"");
    let inner = text.trim_start().strip_prefix('{').map(str::trim_start);
    if text.contains('\'') && is_json(&double_quoted) {
        format!("\n\nhint: JSON needs double quotes: '{double_quoted}'")
    } else if inner.is_some() && !text.contains(['"', '\'']) {
        "\n\nhint: put the whole text in single quotes for the shell: '{\"path\": \"a.txt\"}'"
            .to_owned()
    } else if inner.is_some_and(|inner| inner.starts_with(|c: char| c != '"' && c != '}')) {
        "\n\nhint: JSON needs double quotes around names, too: '{\"path\": \"a.txt\"}'".to_owned()
    } else {
        String::new()
    }
}

/// Prints results as they arrive and counts them.
struct Report<'v> {
    validator: &'v McpValidator,
    format: Format,
    out: BufWriter<io::StdoutLock<'static>>,
    /// Whether the inputs are lines of a file, which are printed with line numbers.
    is_file: bool,
    line: usize,
    invalid: usize,
}

impl<'v> Report<'v> {
    fn new(validator: &'v McpValidator, format: Format, is_file: bool) -> Self {
        let out = BufWriter::new(io::stdout().lock());
        Self { validator, format, out, is_file, line: 0, invalid: 0 }
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
                let checked = match frame {
                    Frame::TooLong { .. } => call::too_long(self.limit()),
                    Frame::Line(text) => call::check_line(self.validator, text),
                };
                self.add(&checked)?;
            }
        }
        Ok(())
    }

    fn limit(&self) -> usize {
        self.validator.config().limits.message_bytes
    }

    fn add(&mut self, checked: &CheckedInput) -> Result<(), Failure> {
        self.line += 1;
        self.invalid += usize::from(!checked.is_valid());
        match self.format {
            Format::Json => {
                let record = Record::new(self.validator, self.line, checked);
                writeln!(self.out, "{}", record.to_json())?;
            }
            Format::Text => {
                let line = self.is_file.then_some(self.line);
                diagnostic::print(&mut self.out, self.validator, line, checked)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Outcome {
        if self.format == Format::Text && self.is_file {
            let valid = self.line - self.invalid;
            let calls = if self.line == 1 { "call" } else { "calls" };
            writeln!(self.out, "{} {calls}: {valid} valid, {} invalid", self.line, self.invalid)?;
        }
        self.out.flush()?;
        Ok(if self.invalid == 0 { Exit::Success } else { Exit::Findings })
    }
}
