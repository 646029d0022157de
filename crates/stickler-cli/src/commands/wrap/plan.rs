//! Reads the files, shows what would change, asks, and writes.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use super::clients::{self, ClientFile, Folders};
use super::edit::{Edited, edit};
use super::servers::Client;
use super::{Direction, entry, file, splice};
use crate::commands::counts::count;
use crate::config::{Format, Source, did_you_mean, list};
use crate::exit::{Exit, Failure, Outcome};
use crate::style::print_message;

/// What the user asked for.
pub(super) struct Request<'r> {
    /// The files; those of all clients if empty.
    pub(super) files: &'r [PathBuf],
    pub(super) only: &'r [String],
    pub(super) is_dry_run: bool,
    pub(super) is_confirmed: bool,
    pub(super) direction: Direction<'r>,
}

/// A file with its edited text.
struct Planned {
    path: PathBuf,
    /// Name of the client, if the file was found and not given.
    client: Option<&'static str>,
    source: Source,
    edited: Edited,
}

pub(super) fn run(request: &Request<'_>) -> Outcome {
    let (planned, has_unusable) = if request.files.is_empty() {
        discover(request)?
    } else {
        let planned: Result<Vec<Planned>, Failure> =
            request.files.iter().map(|path| Planned::read(request, path, None)).collect();
        (planned?, false)
    };
    check_names(request, &planned)?;
    let has_unusable = has_unusable || has_unwrappable(request, &planned);
    if request.files.is_empty() {
        print(request, &planned, Tense::Future)?;
        let changed: usize = planned.iter().map(|file| file.edited.changed()).sum();
        if changed == 0 || request.is_dry_run || !confirm(request, &planned, changed)? {
            return Ok(if has_unusable { Exit::Usage } else { Exit::Success });
        }
        write(&planned)?;
        let what = done(request.direction);
        writeln!(std::io::stdout(), "{} {what}", count(changed, "server"))?;
        return Ok(if has_unusable { Exit::Usage } else { Exit::Success });
    }
    if !request.is_dry_run {
        write(&planned)?;
    }
    print(request, &planned, if request.is_dry_run { Tense::Future } else { Tense::Past })?;
    Ok(if has_unusable { Exit::Usage } else { Exit::Success })
}

/// Whether a server that the user named cannot be changed and is not yet as wanted.
fn has_unwrappable(request: &Request<'_>, planned: &[Planned]) -> bool {
    let entries = planned.iter().flat_map(|file| &file.edited.entries);
    let mut reasons = entries.filter_map(|entry| entry.outcome.as_ref().err());
    !request.only.is_empty() && reasons.any(|reason| !entry::DONE.contains(&reason.as_str()))
}

/// Reads the files of all clients. Returns whether there was one that cannot be read.
fn discover(request: &Request<'_>) -> Result<(Vec<Planned>, bool), Failure> {
    let mut planned = Vec::new();
    let mut has_unusable = false;
    for ClientFile { client, path } in clients::find(&Folders::of_this_machine()) {
        match Planned::read(request, &path, Some(client)) {
            Ok(file) if !file.edited.entries.is_empty() => planned.push(file),
            Ok(_) => {}
            // The settings of an editor need not contain servers.
            Err(Failure::Usage(message)) if message.contains(": no servers found") => {}
            Err(failure) => {
                has_unusable = true;
                print_message("warning", &failure.message().unwrap_or_default());
            }
        }
    }
    if let (true, Some(name)) = (planned.is_empty(), request.only.first()) {
        return Err(Failure::Usage(format!(
            "no client has a server `{name}`\n\nhint: `stickler wrap --status` lists the servers"
        )));
    }
    if planned.is_empty() && !has_unusable {
        return Err(Failure::Usage(
            "no client configuration with servers was found\n\nhint: give the file, such as \
             `stickler wrap .mcp.json`"
                .to_owned(),
        ));
    }
    Ok((planned, has_unusable))
}

impl Planned {
    fn read(
        request: &Request<'_>,
        path: &Path,
        client: Option<&'static str>,
    ) -> Result<Self, Failure> {
        let source = Source::read(path)?;
        let syntax = (Format::of(&source), Client::of(path));
        let edited = edit(&source.text, syntax, request.only, request.direction)
            .map_err(|fault| source.failure(&[fault]))?;
        Ok(Self { path: path.to_owned(), client, source, edited })
    }
}

/// Rejects names that no file has.
fn check_names(request: &Request<'_>, planned: &[Planned]) -> Result<(), Failure> {
    let mut names: Vec<String> = Vec::new();
    for name in planned.iter().flat_map(|file| &file.edited.names) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let Some(unknown) = request.only.iter().find(|name| !names.contains(name)) else {
        return Ok(());
    };
    let meant = did_you_mean(unknown, names.iter().map(String::as_str));
    let message = match planned {
        [only] => format!("{} has no server `{unknown}`{meant}", only.source.name()),
        _ => format!("no file has a server `{unknown}`{meant}"),
    };
    Err(Failure::Usage(format!("{message}\n\nhint: the servers are {}", list(&names))))
}

fn write(planned: &[Planned]) -> Result<(), Failure> {
    for Planned { path, source, edited, .. } in planned {
        if edited.text == source.text {
            continue;
        }
        let before = source.with_byte_order_mark(&source.text);
        let after = source.with_byte_order_mark(&edited.text);
        file::replace(path, &before, &after)
            .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", source.name())))?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Future,
    Past,
}

fn done(direction: Direction<'_>) -> &'static str {
    match direction {
        Direction::Wrap(_) => "wrapped",
        Direction::Unwrap => "unwrapped",
    }
}

/// Prints one line per server: what was done, or what would be done. A dry run shows the lines that change.
fn print(request: &Request<'_>, planned: &[Planned], tense: Tense) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let done = done(request.direction);
    let has_headings = planned.len() > 1 || request.files.is_empty();
    for Planned { client, source, edited, .. } in planned {
        let indent = if has_headings { "  " } else { "" };
        if has_headings {
            let client = client.map_or_else(String::new, |client| format!(" ({client})"));
            writeln!(out, "{}{client}", source.path().display())?;
        }
        for entry in &edited.entries {
            let label = &entry.label;
            match &entry.outcome {
                Ok((before, after)) if request.is_dry_run => {
                    writeln!(out, "{indent}{label} would be {done}:")?;
                    for line in splice::diff(before, after) {
                        writeln!(out, "{indent}{line}")?;
                    }
                }
                Ok(_) if tense == Tense::Future => writeln!(out, "{indent}{label} will be {done}")?,
                Ok(_) => writeln!(out, "{indent}{label} {done}")?,
                Err(reason) => writeln!(out, "{indent}{label} unchanged: {reason}")?,
            }
            if let Some(note) = entry.note {
                writeln!(out, "{indent}  note: {note}")?;
            }
        }
        if edited.entries.is_empty() {
            writeln!(out, "{indent}no servers found")?;
        }
    }
    Ok(())
}

/// Asks before files are changed that the user has not named.
fn confirm(request: &Request<'_>, planned: &[Planned], changed: usize) -> Result<bool, Failure> {
    if request.is_confirmed {
        return Ok(true);
    }
    let files = planned.iter().filter(|file| file.edited.changed() > 0).count();
    let what = format!("{} in {}", count(changed, "server"), count(files, "file"));
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(format!(
            "nothing was changed: `--yes` changes {what} without asking"
        )));
    }
    let mut out = std::io::stdout().lock();
    write!(out, "\nChange {what}? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        writeln!(out, "nothing was changed")?;
    }
    Ok(is_yes)
}
