//! Terminal output: colors, diagnostics and escaping of untrusted text.
//!
//! Colors are used only if standard output is a terminal and `NO_COLOR` is not set.

use std::io::{IsTerminal as _, Write as _};

use miette::{GraphicalReportHandler, GraphicalTheme};
use stickler::Severity;

/// Prints `label: message` to standard error, after the queued log lines.
pub(crate) fn print_message(label: &str, message: &str) {
    if let Err(line) = crate::logging::write_plain(format!("{label}: {message}\n")) {
        // A closed standard error leaves no other place to report to.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Returns the handler that renders diagnostics for standard output.
pub(crate) fn report_handler() -> GraphicalReportHandler {
    let theme =
        if use_color() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    GraphicalReportHandler::new_themed(theme).with_wrap_lines(false).with_links(false)
}

fn use_color() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !no_color
}

/// Colors for standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    use_color: bool,
}

impl Palette {
    pub(crate) fn for_stdout() -> Self {
        Self { use_color: use_color() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Returns the name of a severity in its color.
    pub(crate) fn severity(self, severity: Severity) -> String {
        let code = match severity {
            Severity::Error => "1;31",
            Severity::Warning => "1;33",
            Severity::Note => "36",
        };
        self.paint(code, &severity.to_string())
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.use_color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Truncates untrusted text and escapes its control characters, so that it cannot control the terminal.
pub(crate) fn printable(text: &str, max_chars: usize) -> String {
    let mut printable = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == max_chars {
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
    fn control_characters_are_escaped_and_long_text_is_truncated() {
        assert_eq!(printable("a\x1b[2Jb\u{9b}", 20), "a\\u{1b}[2Jb\\u{9b}");
        assert_eq!(printable("ä…ö", 2), "ä……");
    }
}
