//! The `stickler` command-line program: parses the options, runs the command and maps its outcome to an exit code.
// A build without these features does not use all of the code that the commands share.
#![cfg_attr(not(all(feature = "audit", feature = "run")), allow(dead_code))]

mod cli;
mod commands;
mod config;
mod exit;
mod lines;
mod logging;
mod protocol_schema;
mod style;

use std::process::ExitCode;

use crate::cli::Command;
use crate::exit::{Exit, Failure};

fn main() -> ExitCode {
    let cli = cli::parse();
    let outcome = match cli.command {
        Command::Validate(options) => commands::validate::run(&options),
        Command::Check(options) => commands::check::run(&options),
        #[cfg(feature = "audit")]
        Command::Audit(options) => commands::audit::run(&options),
        #[cfg(not(feature = "audit"))]
        Command::Audit(_) => commands::absent::run("audit"),
        #[cfg(feature = "run")]
        Command::Run(options) => commands::run::run(&options),
        #[cfg(not(feature = "run"))]
        Command::Run(_) => commands::absent::run("run"),
        #[cfg(feature = "extproc")]
        Command::Extproc(options) => commands::extproc::run(&options),
        #[cfg(not(feature = "extproc"))]
        Command::Extproc(_) => commands::absent::run("extproc"),
        #[cfg(feature = "ui")]
        Command::Ui(options) => commands::ui::run(&options),
        #[cfg(not(feature = "ui"))]
        Command::Ui(_) => commands::absent::run("ui"),
        #[cfg(feature = "call")]
        Command::Call(options) => commands::call::run(&options),
        #[cfg(not(feature = "call"))]
        Command::Call(_) => commands::absent::run("call"),
        Command::Tools(options) => commands::tools::run(&options),
        Command::Wrap(options) => commands::wrap::wrap(&options),
        Command::Unwrap(options) => commands::wrap::unwrap(&options),
        Command::Explain(options) => commands::explain::run(&options),
        Command::Schema(options) => commands::schema::run(&options),
        Command::Man(options) => commands::man::run(&options),
        Command::Completions(options) => commands::completions::run(&options),
        #[cfg(feature = "serve")]
        Command::Serve(options) => commands::serve::run(&options),
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) => commands::absent::run("serve"),
        #[cfg(feature = "serve")]
        Command::Gate(options) => commands::gate::run(&options),
        #[cfg(not(feature = "serve"))]
        Command::Gate(_) => commands::absent::run("serve"),
        #[cfg(feature = "demo")]
        Command::Demo(options) => commands::demo::run(&options),
        #[cfg(not(feature = "demo"))]
        Command::Demo(_) => commands::absent::run("demo"),
    };
    let exit = outcome.unwrap_or_else(|failure| report(&failure));
    logging::finish();
    exit.into()
}

/// Prints why a command failed. A closed output is not reported.
fn report(failure: &Failure) -> Exit {
    if let Some(message) = failure.message() {
        style::print_message("error", &message);
    }
    failure.exit()
}
