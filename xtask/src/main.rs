//! Developer tasks, run with `cargo xtask`.

mod bench;
mod browser;
mod corpus;
mod coverage;
mod dist;
mod enhance;
mod fleet;
mod interop;
mod packages;
mod paths;
mod random;
mod recall;
mod requirements;
mod rules_page;
mod soak;

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
    /// Run all checks of the main branch
    Ci,
    /// Measure detection, suggestions and repair over real tool definitions
    Corpus(corpus::Options),
    /// Measure suggestions and corrections on calls that a language model wrote from memory
    Recall(recall::Options),
    /// Measure what is added to the errors of real servers, on recorded responses
    Enhance(enhance::Options),
    /// Measure speed as ratios within one run
    Bench(bench::Options),
    /// Run one of the peer programs of the gateway benchmark
    #[command(hide = true, subcommand)]
    BenchPeer(bench::peers::Peer),
    /// Test the binary with third-party servers and clients and the official conformance suite
    Interop(interop::Options),
    /// Run Envoy with external processors that are killed under load, and count lost, doubled and crossed answers
    Fleet(fleet::Options),
    /// Run random clients and servers for minutes; fails if a response is lost, doubled or crossed or memory grows
    Soak(soak::Options),
    /// Test the page of `stickler ui` in a browser
    Browser(browser::Options),
    /// Check that every requirement is covered by code that exists and by tests that pass
    Requirements(requirements::Options),
    /// Measure the line coverage of the core; fails below 90 %
    Coverage,
    /// Build the packages of a release for this platform into `dist/`
    Dist(dist::Options),
    /// Build the Python and npm packages, install them into empty environments and test them there
    Packages(packages::Options),
    /// Write docs/rules.md from the table of rules
    Rules,
}

/// The result of a task; the error is a message for the user.
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
    /// Returns whether the task measures performance and needs an optimized build.
    fn measures(&self) -> bool {
        matches!(self, Self::Corpus(_) | Self::Bench(_) | Self::BenchPeer(_))
    }
}

/// Runs the same task in a release build. Other tasks do not need one.
fn optimized() -> Outcome {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--release", "--package", "xtask", "--"]);
    interop::call(cargo.args(std::env::args_os().skip(1)))
}

fn run(task: Task) -> Outcome {
    match task {
        Task::Ci => interop::run_ci(),
        Task::Corpus(options) => corpus::run(&options),
        Task::Recall(options) => recall::run(&options),
        Task::Enhance(options) => enhance::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::BenchPeer(peer) => bench::peers::run(&peer),
        Task::Interop(options) => interop::run(&options),
        Task::Fleet(options) => fleet::run(&options),
        Task::Soak(options) => soak::run(&options),
        Task::Browser(options) => browser::run(&options),
        Task::Requirements(options) => requirements::run(&options),
        Task::Coverage => coverage::run(),
        Task::Dist(options) => dist::run(&options),
        Task::Packages(options) => packages::run(&options),
        Task::Rules => rules_page::write(),
    }
}
