//! Commands that this build does not have, because a Cargo feature is off. They are listed all the same,
//! and each says how to get it.

use clap::Args;

use crate::exit::{Failure, Outcome};

/// Takes the words of any command.
#[derive(Debug, Args)]
pub(crate) struct AbsentOptions {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<String>,
}

/// Says how to get the command, which has a feature of the same name.
pub(crate) fn run(command: &str) -> Outcome {
    Err(Failure::Usage(format!(
        "this build has no `{command}`: build stickler-cli with `--features {command}`"
    )))
}
