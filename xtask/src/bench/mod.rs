//! Benchmarks of validation, as ratios within one run.
//!
//! The machine is shared and absolute times drift, so all candidates take turns in every round and each
//! is compared with sonic-rs parsing the same bytes. The figures are medians over the rounds.

mod audit;
mod channel;
mod comparison;
mod gateway;
mod learning;
mod messages;
pub(crate) mod peers;
mod program;
mod recordings;
mod rejected_calls;
mod rejections;
mod schemas;

use clap::{Args, ValueEnum};

use crate::Outcome;
use comparison::{Comparison, Goal};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Number of rounds; all candidates take turns in each
    #[arg(long, default_value_t = 60)]
    rounds: usize,

    /// Run only one part
    #[arg(long, value_enum)]
    only: Option<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Single messages, from bytes to verdict
    Messages,
    /// Tool lists, from bytes until their tools can be called
    Learning,
    /// Recorded sessions, with the release binary
    Audit,
    /// Calls through the gateway, compared with a bare relay
    Gateway,
    /// Large rejected calls, from bytes to help, as multiples of parsing them
    Rejections,
}

/// Rounds of the slow benchmarks are divided by these factors.
const AUDIT_ROUND_DIVISOR: usize = 10;
const GATEWAY_ROUND_DIVISOR: usize = 4;

/// Upper bounds of the time from bytes to verdict, as multiples of parsing alone.
const GOALS: [Goal; 4] = [
    Goal { case: "400 B call", max_ratio: 2.7 },
    Goal { case: "4 KB call", max_ratio: 2.7 },
    Goal { case: "64 KB list", max_ratio: 1.2 },
    Goal { case: "1 MB text", max_ratio: 0.3 },
];

pub(crate) fn run(options: &Options) -> Outcome {
    let selected = |part| options.only.is_none_or(|only| only == part);
    let messages = if selected(Part::Messages) { run_messages(options) } else { Ok(()) };
    let learning = if selected(Part::Learning) { learning::run(options.rounds) } else { Ok(()) };
    let audit = if selected(Part::Audit) {
        audit::run(options.rounds.div_ceil(AUDIT_ROUND_DIVISOR))
    } else {
        Ok(())
    };
    let gateway = if selected(Part::Gateway) {
        gateway::run(options.rounds.div_ceil(GATEWAY_ROUND_DIVISOR))
    } else {
        Ok(())
    };
    let rejections = if selected(Part::Rejections) { rejections::run() } else { Ok(()) };
    messages.and(learning).and(audit).and(gateway).and(rejections)
}

#[allow(clippy::print_stdout)]
fn run_messages(options: &Options) -> Outcome {
    let source = schemas::Source::find();
    println!("protocol schema: {}", source.name());
    println!("64 KB list: {}", messages::list_source());
    println!("median ratios to sonic-rs parsing alone, {} rounds\n", options.rounds);
    println!(
        "{:<12} {:>9} {:>9} {:>9} {:>9} {:>13} {:>13} {:>13}",
        "message", "bytes", "sonic-rs", "serde", "tape", "serde+schema", "tape+schema", "tape+tool"
    );
    let mut missed = Vec::new();
    for message in messages::all() {
        let comparison = Comparison::new(&source, &message)?;
        let ratios = comparison.run(options.rounds);
        let [sonic, serde, tape, serde_schema, tape_schema] = ratios.fixed;
        let tool = ratios.tool.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        println!(
            "{:<12} {:>9} {sonic:>9.2} {serde:>9.2} {tape:>9.2} {serde_schema:>13.2} {tape_schema:>13.2} {tool:>13}",
            message.name,
            message.bytes.len(),
        );
        let goal = GOALS.iter().find(|goal| goal.case == message.name);
        if let Some(goal) = goal.filter(|goal| tape_schema > goal.max_ratio) {
            missed.push(format!("{}: {tape_schema:.2} > {}", goal.case, goal.max_ratio));
        }
    }
    println!(
        "\ntape+schema: bytes to verdict against the protocol schema; tape+tool: the arguments of \
         the call against the tool's schema, unknown fields rejected"
    );
    if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.join("; "))) }
}
