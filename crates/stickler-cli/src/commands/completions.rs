//! `stickler completions`: prints the completion script of a shell.

use std::io::Write as _;

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsOptions};
use crate::exit::{Exit, Outcome};

pub(crate) fn run(options: &CompletionsOptions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "stickler", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Success)
}
