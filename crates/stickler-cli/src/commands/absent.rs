//! Commands that are disabled in this build because their Cargo feature is off. They are listed in the
//! help, and running one explains how to enable it.

use clap::Args;

use crate::exit::{Failure, Outcome};

/// Accepts the arguments of any command.
#[derive(Debug, Args)]
pub(crate) struct AbsentOptions {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<String>,
}

/// Fails with the name of the missing feature, which is that of the command.
pub(crate) fn run(command: &str) -> Outcome {
    Err(Failure::Usage(format!(
        "this build does not include `{command}`: rebuild stickler-cli with `--features {command}`"
    )))
}
