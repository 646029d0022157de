//! How well suggestions and corrections match what a language model meant.
//!
//! The calls were written from memory by a model, without the schema in view; an expert wrote for each
//! wrong call what it means (the key). The report counts wrong calls detected, unknown fields whose right
//! name is the first suggestion, corrected calls that are right, corrected calls that are wrong, and
//! valid calls rejected, and lists what was missed.

mod case;
mod score;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stickler::{Signals, UnknownFields};

use crate::Outcome;
use crate::paths;
use case::{Case, ValidCall};
use score::Score;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder with `cases.ndjson`, `key.ndjson` and `valid.ndjson`
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Also measure without each signal
    #[arg(long)]
    ablate: bool,
    /// Only the servers of one half, to tune on one and test on the other
    #[arg(long, value_enum)]
    half: Option<Half>,
    /// Print at most this many missed names and calls each
    #[arg(long, default_value_t = 10)]
    show: usize,
    /// Fail below the thresholds that the project guarantees
    #[arg(long)]
    check: bool,
}

/// One half of the servers, divided by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    First,
    Second,
}

/// Thresholds in per cent: right name first, corrected, and wrong corrections of those offered.
const MIN_FIRST: f64 = 80.0;
const MIN_CORRECTED: f64 = 55.0;
const MAX_WRONG: f64 = 5.0;

pub(crate) fn run(options: &Options) -> Outcome {
    let folder = options.data.clone().unwrap_or_else(|| paths::shared("corpus/recall"));
    if !folder.join("cases.ndjson").is_file() {
        let shown = folder.display();
        say(&format!("recall: skipped, there is no data in `{shown}`; name a folder with --data"));
        return Ok(());
    }
    let mut cases = case::load(&folder)?;
    let mut valid = case::load_valid(&folder)?;
    if let Some(half) = options.half {
        cases.retain(|case| half.contains(&case.server));
        valid.retain(|call| half.contains(&call.server));
    }
    let score = measure(&cases, Signals::default());
    score.missed(options.show).iter().for_each(|line| say(line));
    say(&score.line("all signals"));
    let rejected = report_valid(&valid);
    if options.ablate {
        ablate(&cases, &score);
    }
    let fails = score.first() < MIN_FIRST
        || score.corrected() < MIN_CORRECTED
        || score.wrong() > MAX_WRONG
        || rejected > 0;
    if options.check && fails {
        return Err(format!(
            "below the thresholds: first ≥ {MIN_FIRST} %, corrected ≥ {MIN_CORRECTED} %, wrong ≤ {MAX_WRONG} %, 0 valid calls rejected"
        ));
    }
    Ok(())
}

/// Reports the valid calls that are rejected, and returns how many are rejected although unlisted fields are
/// admitted as the schema says.
///
/// The calls are valid by their schemas as written. An object that lists its fields and does not mention
/// others is closed by default ([`UnknownFields::Reject`]), so a field that it does not list is reported.
fn report_valid(valid: &[ValidCall]) -> usize {
    let rejected = |mode| valid.iter().filter_map(|call| call.rejection(mode)).collect::<Vec<_>>();
    let as_written = rejected(UnknownFields::FollowSchema);
    let by_default = rejected(UnknownFields::Reject);
    for text in &by_default {
        say(&format!("valid call rejected: {text}"));
    }
    say(&format!(
        "valid calls rejected: {} of {} by their schemas as written, {} because an object does not list a field",
        as_written.len(),
        valid.len(),
        by_default.len() - as_written.len().min(by_default.len()),
    ));
    as_written.len()
}

fn measure(cases: &[Case], signals: Signals) -> Score {
    let mut score = Score::default();
    for case in cases {
        score.add(case, &case.validate(signals));
    }
    score
}

/// Prints a table of the figures without each signal.
fn ablate(cases: &[Case], all: &Score) {
    let none = Signals {
        form: true,
        words: false,
        synonyms: false,
        text: false,
        value: false,
        elimination: false,
    };
    let full = Signals::default();
    let variants = [
        ("without form", Signals { form: false, ..full }),
        ("without words and synonyms", Signals { words: false, synonyms: false, ..full }),
        ("without synonyms", Signals { synonyms: false, ..full }),
        ("without text", Signals { text: false, ..full }),
        ("without value", Signals { value: false, ..full }),
        ("without elimination", Signals { elimination: false, ..full }),
        ("form only", none),
    ];
    say("| signals | right name first | corrected | wrong of offered |\n| --- | --- | --- | --- |");
    say(&all.row("all"));
    for (label, signals) in variants {
        say(&measure(cases, signals).row(label));
    }
}

impl Half {
    fn contains(self, server: &str) -> bool {
        let sum: u32 = server.bytes().map(u32::from).sum();
        sum.is_multiple_of(2) == (self == Self::First)
    }
}

#[allow(clippy::print_stdout, reason = "the report is the output of the task")]
fn say(line: &str) {
    println!("{line}");
}
