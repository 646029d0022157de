//! What the terminal sees: colour only there, and never against `NO_COLOR`.

use std::io::{IsTerminal as _, Write as _};

use miette::{GraphicalReportHandler, GraphicalTheme};

/// A line for people on standard error.
pub(crate) fn complain(label: &str, message: &str) {
    // Nothing can be done about a standard error that is gone.
    let _ = writeln!(std::io::stderr(), "{label}: {message}");
}

/// Draws diagnostics for standard output.
pub(crate) fn report_handler() -> GraphicalReportHandler {
    let theme =
        if wants_colour() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    GraphicalReportHandler::new_themed(theme).with_width(100).with_links(false)
}

fn wants_colour() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !no_color
}
