//! `stickler wrap` and `unwrap`: insert Stickler before every server in a client configuration file, and remove it.
//!
//! | file | contents |
//! | --- | --- |
//! | `entry` | one server and its relevant members |
//! | `command` | a server that the client starts |
//! | `url` | a server at a URL |
//! | `program` | the command under which the client finds Stickler |
//! | `splice` | edits of a text that keep the rest byte for byte |
//! | `file` | the file: parse, edit, replace atomically |

mod command;
mod entry;
mod file;
mod program;
mod splice;
#[cfg(test)]
mod tests;
mod url;

use std::io::Write as _;

use crate::cli::WrapOptions;
use crate::config::{Source, list};
use crate::exit::{Exit, Failure, Outcome};
use file::{Changed, Entry};

/// Operation on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction<'p> {
    /// Insert Stickler, under this command, before the server.
    Wrap(&'p str),
    Unwrap,
}

pub(crate) fn wrap(options: &WrapOptions) -> Outcome {
    run(options, Direction::Wrap(&program::name()?))
}

pub(crate) fn unwrap(options: &WrapOptions) -> Outcome {
    run(options, Direction::Unwrap)
}

fn run(options: &WrapOptions, direction: Direction<'_>) -> Outcome {
    let source = Source::read(&options.file)?;
    let changed = file::change(&source.text, &options.only, direction)
        .map_err(|fault| source.failure(&[fault]))?;
    let Changed { text, entries, names } = changed;
    if let Some(unknown) = options.only.iter().find(|name| !names.contains(name)) {
        let meant = crate::config::did_you_mean(unknown, names.iter().map(String::as_str));
        let message = format!("{} has no server `{unknown}`{meant}", source.name());
        return Err(Failure::Usage(format!("{message}\n\nhint: the servers are {}", list(&names))));
    }
    if !options.dry_run && text != source.text {
        file::replace(&options.file, &source.with_byte_order_mark(&text))
            .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", source.name())))?;
    }
    print_outcomes(&entries, options.dry_run, direction)?;
    Ok(Exit::Success)
}

/// Prints one line per server: what was done, or what a run without `--dry-run` would do.
fn print_outcomes(
    entries: &[Entry],
    is_dry_run: bool,
    direction: Direction<'_>,
) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let done = match direction {
        Direction::Wrap(_) => "wrapped",
        Direction::Unwrap => "unwrapped",
    };
    for entry in entries {
        let name = &entry.name;
        match &entry.outcome {
            Ok(after) if is_dry_run => {
                writeln!(out, "`{name}` would be {done}:")?;
                for line in splice::diff(&entry.before, after) {
                    writeln!(out, "{line}")?;
                }
            }
            Ok(_) => writeln!(out, "`{name}` {done}")?,
            Err(reason) => writeln!(out, "`{name}` unchanged: {reason}")?,
        }
        if let Some(note) = entry.note.as_ref().filter(|_| entry.outcome.is_ok()) {
            writeln!(out, "  note: {note}")?;
        }
    }
    if entries.is_empty() {
        writeln!(out, "no servers found")?;
    }
    Ok(())
}
