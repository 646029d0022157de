//! Developer tasks. `cargo xtask` runs them; nothing else has to be installed.

mod bench;
mod corpus;
mod coverage;
mod interop;
mod paths;
mod random;
mod requirements;
mod rules_page;

use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

/// Developer tasks of Stickler.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything that guards the main branch
    Ci,
    /// Measure detection, suggestions and repair over real tool definitions
    Corpus(corpus::Options),
    /// Measure speed as ratios within one run
    Bench(bench::Options),
    /// One of the programs that the gateway is measured with
    #[command(hide = true, subcommand)]
    BenchPeer(bench::peers::Peer),
    /// Try the binary on real third-party servers and clients, and on the official suite
    Interop(interop::Options),
    /// Check that every requirement is covered by files and tests that exist
    Requirements(requirements::Options),
    /// Measure the line coverage of the core; fails below 90 %
    Coverage,
    /// Write docs/rules.md from the table of rules
    Rules,
}

/// How a task ends: a sentence about what went wrong.
pub(crate) type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let task = Cli::parse().task;
    let outcome = if task.measures() && cfg!(debug_assertions) { optimized() } else { run(task) };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("error: {message}");
            }
            ExitCode::FAILURE
        }
    }
}

impl Task {
    /// Whether its figures mean something only if it is optimized.
    fn measures(&self) -> bool {
        matches!(self, Self::Corpus(_) | Self::Bench(_) | Self::BenchPeer(_))
    }
}

/// The same task, by a program that is optimized. The others need not wait for that to be built.
fn optimized() -> Outcome {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--release", "--package", "xtask", "--"]);
    interop::call(cargo.args(std::env::args_os().skip(1)))
}

fn run(task: Task) -> Outcome {
    match task {
        Task::Ci => interop::run_ci(),
        Task::Corpus(options) => corpus::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::BenchPeer(peer) => bench::peers::run(&peer),
        Task::Interop(options) => interop::run(&options),
        Task::Requirements(options) => requirements::run(&options),
        Task::Coverage => coverage::run(),
        Task::Rules => rules_page::write(),
    }
}
