//! `stickler wrap` and `unwrap`: Stickler in front of every server of a client's file, and out again.
//!
//! | file | holds |
//! | --- | --- |
//! | `entry` | one server: which of its members are concerned |
//! | `command` | a server that is started |
//! | `url` | a server that is at a URL |
//! | `program` | what Stickler is called there |
//! | `splice` | changes to a text that leave the rest of it alone |
//! | `file` | the whole file: read, changed, written so that it is always whole |

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

/// What is done to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction<'p> {
    /// Stickler, called this, is put in front of it.
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
        return Err(Failure::Usage(format!("{message}\n\nhint: it has {}", list(&names))));
    }
    if !options.dry_run && text != source.text {
        file::replace(&options.file, &source.marked(&text))
            .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", source.name())))?;
    }
    tell(&entries, options.dry_run, direction)?;
    Ok(Exit::Fine)
}

/// What was done, a line a server; for a rehearsal, what would be.
fn tell(entries: &[Entry], is_rehearsal: bool, direction: Direction<'_>) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let done = match direction {
        Direction::Wrap(_) => "wrapped",
        Direction::Unwrap => "unwrapped",
    };
    for entry in entries {
        let name = &entry.name;
        match &entry.outcome {
            Ok(after) if is_rehearsal => {
                writeln!(out, "`{name}` would be {done}:")?;
                for line in splice::difference(&entry.before, after) {
                    writeln!(out, "{line}")?;
                }
            }
            Ok(_) => writeln!(out, "`{name}` {done}")?,
            Err(reason) => writeln!(out, "`{name}` left as it is: {reason}")?,
        }
        if let Some(caution) = entry.caution.as_ref().filter(|_| entry.outcome.is_ok()) {
            writeln!(out, "  note: {caution}")?;
        }
    }
    if entries.is_empty() {
        writeln!(out, "there are no servers here")?;
    }
    Ok(())
}
