//! What the terminal sees: colour only there, and never against `NO_COLOR`.

use std::io::{IsTerminal as _, Write as _};

use miette::{GraphicalReportHandler, GraphicalTheme};
use stickler::Severity;

/// A line for people on standard error, behind the log lines that wait to be written.
pub(crate) fn complain(label: &str, message: &str) {
    if let Err(line) = crate::logging::write_plain(format!("{label}: {message}\n")) {
        // Nothing can be done about a standard error that is gone.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Draws diagnostics for standard output.
pub(crate) fn report_handler() -> GraphicalReportHandler {
    let theme =
        if wants_colour() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    GraphicalReportHandler::new_themed(theme).with_wrap_lines(false).with_links(false)
}

fn wants_colour() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !no_color
}

/// Text for standard output, coloured or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    is_coloured: bool,
}

impl Ink {
    pub(crate) fn for_stdout() -> Self {
        Self { is_coloured: wants_colour() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A severity by its name.
    pub(crate) fn severity(self, severity: Severity) -> String {
        let code = match severity {
            Severity::Error => "1;31",
            Severity::Warning => "1;33",
            Severity::Note => "36",
        };
        self.paint(code, &severity.to_string())
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.is_coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A stranger's text made fit for a terminal: cut, and with its control characters spelt out.
pub(crate) fn printable(text: &str, longest: usize) -> String {
    let mut printable = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == longest {
            printable.push('…');
            break;
        }
        if character.is_control() {
            printable.extend(character.escape_unicode());
        } else {
            printable.push(character);
        }
    }
    printable
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_strangers_text_cannot_drive_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\u{9b}", 20), "a\\u{1b}[2Jb\\u{9b}");
        assert_eq!(printable("ä…ö", 2), "ä……");
    }
}
