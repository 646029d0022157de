//! `stickler man`: prints a manual page in roff.

use std::io::Write as _;

use clap::CommandFactory as _;

use crate::cli::{Cli, ManOptions};
use crate::config::did_you_mean;
use crate::exit::{Exit, Failure, Outcome};

pub(crate) fn run(options: &ManOptions) -> Outcome {
    let mut cli = Cli::command();
    cli.build();
    let page = match &options.command {
        None => cli,
        Some(name) => {
            let names: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
            let meant = did_you_mean(name, names);
            let found = cli.find_subcommand(name).cloned();
            found.ok_or_else(|| Failure::Usage(format!("there is no command `{name}`{meant}")))?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    std::io::stdout().write_all(&text)?;
    Ok(Exit::Success)
}
