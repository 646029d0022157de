//! `stickler check`: checks the tool definitions of a server and its responses to invalid requests.
//!
//! A [`report::Report`] is built from a file ([`file`]) or from a running server ([`live`]) and printed in
//! one of four formats.

mod artifact;
mod baseline;
mod file;
mod json;
mod junit;
pub(super) mod live;
mod options;
pub(super) mod progress;
mod report;
mod sarif;
mod selection;
mod text;

use std::io::Write as _;

use options::CheckFormat;
pub(crate) use options::CheckOptions;

use super::counts::{count, words};
use crate::cli::LogOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::style::{Palette, print_message};
use crate::{config, logging};

pub(crate) fn run(options: &CheckOptions) -> Outcome {
    logging::install(config::log_settings(LogOptions::default())?)?;
    selection::check(options)?;
    let artifact = artifact::find(options)?;
    let mut report = match &options.tools {
        Some(path) => file::check(path, options)?,
        None => live::check(options)?,
    };
    report.artifact = artifact;
    selection::apply(options, &mut report);
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
    let exit = if report.reaches(options.deny.into()) { Exit::Findings } else { Exit::Success };
    if options.quiet {
        report.findings.retain(|found| found.severity >= options.deny.into());
    }
    let printed = match options.format {
        CheckFormat::Text if options.quiet => text::print_findings(&report, Palette::for_stdout()),
        CheckFormat::Text => text::print(&report, Palette::for_stdout(), options.all),
        CheckFormat::Json => json::print(&report),
        CheckFormat::Sarif => sarif::print(&report),
        CheckFormat::Junit => junit::print(&report, options.deny.into()),
    };
    if let Some(path) = &options.output {
        std::fs::write(path, printed).map_err(|error| {
            Failure::Usage(format!("cannot write the report to `{}`: {error}", path.display()))
        })?;
        if !options.quiet {
            let found = match report.counts() {
                counts if counts.total() == 0 => "no findings".to_owned(),
                counts => words(counts),
            };
            print_message("note", &format!("wrote the report to `{}`: {found}", path.display()));
        }
        return Ok(exit);
    }
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(printed.as_bytes())?;
    stdout.flush()?;
    Ok(exit)
}
