//! Opens recordings: plain, gzip or zstd files, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use indicatif::ProgressBar;

/// Path that denotes standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// Opens a file and advances the progress bar as it is read.
pub(super) fn open(path: &Path, bar: &ProgressBar) -> io::Result<Box<dyn Read>> {
    let source: Box<dyn Read> = if path == Path::new(STANDARD_INPUT) {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path)?)
    };
    stickler_recording::decompressed(bar.wrap_read(source))
}
