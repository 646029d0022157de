//! `stickler check`: a server's tool definitions, and how it answers what is wrong.
//!
//! A [`report::Report`] is made from a file ([`file`]) or from a server that is talked to
//! ([`live`]), and printed in one of four formats.

mod baseline;
mod file;
mod json;
mod junit;
mod live;
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
use crate::style::{Ink, complain};
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
            complain("note", &format!("known from now on: {}", count(known, "finding")));
            return Ok(Exit::Fine);
        }
        let stale = baseline::apply(path, &mut report)?;
        if stale > 0 {
            let message = format!("no longer there: {} of the baseline", count(stale, "finding"));
            complain("note", &format!("{message}; `--write-baseline` drops them"));
        }
    }
    let printed = match options.format {
        CheckFormat::Text => text::print(&report, Ink::for_stdout(), options.all),
        CheckFormat::Json => json::print(&report),
        CheckFormat::Sarif => sarif::print(&report),
        CheckFormat::Junit => junit::print(&report, options.deny.into()),
    };
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(printed.as_bytes())?;
    stdout.flush()?;
    Ok(if report.reaches(options.deny.into()) { Exit::Findings } else { Exit::Fine })
}
