//! The `stickler` command.

mod cli;
mod commands;
mod config;
mod exit;
mod gateway;
mod lines;
mod logging;
mod protocol_schema;
mod reference;
mod style;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Validate(options) => commands::validate::run(&options),
        Command::Check(options) => commands::check::run(&options),
        Command::Audit(options) => commands::audit::run(&options),
        Command::Run(options) => commands::run::run(&options),
        Command::Call(options) => commands::call::run(&options),
        Command::Wrap(options) => commands::wrap::wrap(&options),
        Command::Unwrap(options) => commands::wrap::unwrap(&options),
        Command::Explain(options) => commands::explain::run(&options),
        Command::Schema(options) => commands::schema::run(&options),
        Command::Completions(options) => commands::completions::run(&options),
        Command::Serve(options) => commands::serve::run(&options),
        Command::Demo(options) => commands::demo::run(&options),
    };
    let exit = outcome.unwrap_or_else(|failure| report(&failure));
    logging::finish();
    exit.into()
}

/// Says what kept a command from doing its work. Whoever closed our output wants to hear nothing.
fn report(failure: &Failure) -> Exit {
    if let Some(message) = failure.message() {
        style::complain("error", &message);
    }
    failure.exit()
}
