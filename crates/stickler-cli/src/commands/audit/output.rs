//! Writes to standard output without disturbing the progress bar.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::input::STANDARD_INPUT;
use crate::style::print_message;

const BAR: &str = "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const SPINNER: &str = "{spinner} {bytes}, {bytes_per_sec}";

/// Buffer for standard output. The progress bar is hidden while it is written.
pub(super) struct Output {
    pub(super) text: Vec<u8>,
    bar: ProgressBar,
}

impl Output {
    pub(super) fn new(bar: ProgressBar) -> Self {
        Self { text: Vec::new(), bar }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        let outcome =
            self.bar.suspend(|| stdout.write_all(&self.text).and_then(|()| stdout.flush()));
        self.text.clear();
        outcome
    }

    /// Prints an error to standard error.
    pub(super) fn print_error(&mut self, message: &str) -> io::Result<()> {
        self.flush()?;
        self.bar.suspend(|| print_message("error", message));
        Ok(())
    }

    pub(super) fn clear_bar(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the progress bar, which is visible only on a terminal.
pub(super) fn progress(files: &[PathBuf]) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = match total_bytes(files) {
        Some(total) => ProgressBar::new(total).with_style(style(BAR)),
        None => ProgressBar::no_length().with_style(style(SPINNER)),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn style(template: &str) -> ProgressStyle {
    // A test checks that both templates are valid.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Returns the size of all files; `None` if it is unknown.
fn total_bytes(files: &[PathBuf]) -> Option<u64> {
    let size = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        metadata.filter(|_| path != Path::new(STANDARD_INPUT)).map(|metadata| metadata.len())
    };
    files.iter().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::{BAR, SPINNER};
    use indicatif::ProgressStyle;

    #[test]
    fn progress_templates_are_valid() {
        for template in [BAR, SPINNER] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
