//! `stickler wrap` and `unwrap`: insert Stickler before every server in the configuration files of clients, and
//! remove it.
//!
//! | file | contents |
//! | --- | --- |
//! | `clients` | the files of the clients on this machine |
//! | `servers` | the servers in a file |
//! | `entry` | one server and its relevant members |
//! | `command`, `url` | a server that the client starts, and one at a URL |
//! | `document`, `splice` | the text, and edits that keep the rest byte for byte |
//! | `edit` | all edits of a text, proven before they are made |
//! | `plan` | reads the files, shows the changes, asks, and writes |
//! | `status` | `wrap --status` |
//! | `program`, `file` | the path of Stickler; atomic replacement of a file |

mod clients;
mod command;
mod document;
mod edit;
mod entry;
mod file;
mod plan;
mod program;
mod servers;
mod splice;
mod status;
#[cfg(test)]
mod tests;
mod url;

use clap::Parser as _;

use crate::cli::{Cli, UnwrapOptions, WrapOptions};
use crate::exit::{Failure, Outcome};
use plan::Request;

/// What `wrap` writes into an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrapping {
    /// Path of Stickler.
    pub(super) program: String,
    /// Options of the gateway.
    pub(super) options: Vec<String>,
}

/// Operation on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction<'p> {
    /// Insert Stickler before the server.
    Wrap(&'p Wrapping),
    Unwrap,
}

pub(crate) fn wrap(options: &WrapOptions) -> Outcome {
    if options.status {
        return status::print(&options.files, options.format);
    }
    let wrapping = Wrapping { program: program::path()?, options: gateway_options(options)? };
    plan::run(&Request {
        files: &options.files,
        only: &options.only,
        is_dry_run: options.dry_run,
        is_confirmed: options.yes,
        direction: Direction::Wrap(&wrapping),
    })
}

pub(crate) fn unwrap(options: &UnwrapOptions) -> Outcome {
    plan::run(&Request {
        files: &options.files,
        only: &options.only,
        is_dry_run: options.dry_run,
        is_confirmed: options.yes,
        direction: Direction::Unwrap,
    })
}

/// Returns the options of the gateway as arguments of an entry.
fn gateway_options(options: &WrapOptions) -> Result<Vec<String>, Failure> {
    let mode = clap::ValueEnum::to_possible_value(&options.mode);
    let mode = mode.map(|mode| mode.get_name().to_owned()).unwrap_or_default();
    let mut arguments = vec!["--mode".to_owned(), mode];
    if let Some(folder) = &options.record {
        // The client has another working directory.
        let path = std::path::absolute(folder).ok();
        let path = path.as_ref().and_then(|path| path.to_str()).ok_or_else(|| {
            Failure::Usage(format!("cannot use the folder `{}`", folder.display()))
        })?;
        arguments.extend(["--record".to_owned(), path.to_owned()]);
    }
    check_options(&options.gateway_options)?;
    arguments.extend(options.gateway_options.iter().cloned());
    Ok(arguments)
}

/// Rejects options that `run` would reject when the client starts it.
fn check_options(options: &[String]) -> Result<(), Failure> {
    let words = ["stickler", "run"].into_iter().map(str::to_owned);
    let words = words.chain(options.iter().cloned()).chain(["--", "x"].map(str::to_owned));
    let own = ["--name", "--url", "--config", "--server", "--listen", "--"];
    let is_own = |option: &String| own.contains(&option.split('=').next().unwrap_or_default());
    if let Some(option) = options.iter().find(|option| is_own(option)) {
        return Err(Failure::Usage(format!("`{option}` cannot be passed to wrapped servers")));
    }
    let parsed = Cli::try_parse_from(words).map(|cli| cli.command);
    match parsed {
        Ok(crate::cli::Command::Run(run)) if run.command == ["x"] => Ok(()),
        Ok(_) => Err(Failure::Usage(
            "after `--`, give options of `run` with their values, such as `-- --log info`"
                .to_owned(),
        )),
        Err(error) => {
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default();
            let message = message.trim_start_matches("error: ");
            Err(Failure::Usage(format!("{message}\n\nhint: see `stickler help run`")))
        }
    }
}
