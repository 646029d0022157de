//! `stickler check`: checks the tool definitions of a server and its responses to invalid requests.
//!
//! A [`report::Report`] is built from a file ([`file`]) or from a running server ([`live`]) and printed in
//! one of four formats.

mod baseline;
mod file;
mod json;
mod junit;
pub(super) mod live;
mod options;
mod report;
mod sarif;
mod text;

use std::io::Write as _;

use options::CheckFormat;
pub(crate) use options::CheckOptions;

use super::counts::count;
use crate::cli::LogOptions;
use crate::exit::{Exit, Outcome};
use crate::style::{Palette, print_message};
use crate::{config, logging};

pub(crate) fn run(options: &CheckOptions) -> Outcome {
    logging::install(config::log_settings(LogOptions::default())?)?;
    let mut report = match &options.tools {
        Some(path) => file::check(path, options)?,
        None => live::check(options)?,
    };
    if let Some(path) = &options.baseline {
        if options.write_baseline {
            let known = baseline::write(path, &report)?;
            print_message("note", &format!("wrote {} to the baseline", count(known, "finding")));
            return Ok(Exit::Success);
        }
        let stale = baseline::apply(path, &mut report)?;
        if stale > 0 {
            let message = format!("no longer found: {} in the baseline", count(stale, "finding"));
            print_message("note", &format!("{message}; `--write-baseline` removes them"));
        }
    }
    let printed = match options.format {
        CheckFormat::Text => text::print(&report, Palette::for_stdout(), options.all),
        CheckFormat::Json => json::print(&report),
        CheckFormat::Sarif => sarif::print(&report),
        CheckFormat::Junit => junit::print(&report, options.deny.into()),
    };
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(printed.as_bytes())?;
    stdout.flush()?;
    Ok(if report.reaches(options.deny.into()) { Exit::Findings } else { Exit::Success })
}
