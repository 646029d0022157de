//! `stickler wrap --status`: lists the servers of the clients and whether they are wrapped.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::clients::{self, ClientFile, Folders};
use super::entry::{Members, Wrapped, text};
use super::servers::{self, Client, Server};
use crate::cli::Format as OutputFormat;
use crate::config::{Format, Source};
use crate::exit::{Exit, Failure, Outcome};
use crate::style::print_message;

/// State of a server.
struct State {
    word: &'static str,
    /// Mode of the gateway in front of it.
    mode: Option<String>,
}

pub(super) fn print(files: &[PathBuf], format: OutputFormat) -> Outcome {
    let is_given = !files.is_empty();
    let given = files.iter().map(|path| (None, path.clone()));
    let found = || clients::find(&Folders::of_this_machine()).into_iter();
    let files: Vec<(Option<&str>, PathBuf)> = if is_given {
        given.collect()
    } else {
        found().map(|ClientFile { client, path }| (Some(client), path)).collect()
    };
    let mut out = std::io::stdout().lock();
    let (mut total, mut exit) = (0, Exit::Success);
    for (client, path) in files {
        match print_file(&mut out, client, &path, format) {
            Ok(servers) => total += servers,
            Err(failure) if is_given => return Err(failure),
            Err(Failure::Usage(message)) if message.contains(": no servers found") => {}
            Err(failure) => {
                exit = Exit::Usage;
                print_message("warning", &failure.message().unwrap_or_default());
            }
        }
    }
    if total == 0 && format == OutputFormat::Text {
        writeln!(out, "no servers found")?;
    }
    Ok(exit)
}

fn print_file(
    out: &mut impl std::io::Write,
    client: Option<&str>,
    path: &std::path::Path,
    format: OutputFormat,
) -> Result<usize, Failure> {
    let source = Source::read(path)?;
    let root = servers::read(&source.text, Format::of(&source))
        .map_err(|fault| source.failure(&[fault]))?;
    let servers =
        servers::find(&root, Client::of(path), &[]).map_err(|fault| source.failure(&[fault]))?;
    if format == OutputFormat::Text && !servers.is_empty() {
        let client = client.map_or_else(String::new, |client| format!(" ({client})"));
        writeln!(out, "{}{client}", path.display())?;
    }
    for server in &servers {
        let State { word, mode } = state(server);
        match format {
            OutputFormat::Text => {
                let mode = mode.map_or_else(String::new, |mode| format!(", mode {mode}"));
                writeln!(out, "  {}: {word}{mode}", server.label())?;
            }
            OutputFormat::Json => {
                let line = json!({
                    "file": path.to_string_lossy(), "client": client, "project": server.project,
                    "server": server.name, "state": word, "mode": mode,
                });
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(servers.len())
}

fn state(server: &Server<'_>) -> State {
    let Ok(members) = Members::of(server.entry) else {
        return State { word: "not usable", mode: None };
    };
    let words = members.words();
    if members.is_gateway() && Wrapped::of(&words).is_some() {
        let mode = words.windows(2).find(|pair| pair.first() == Some(&Some("--mode")));
        let mode = mode.and_then(|pair| pair.get(1).copied().flatten()).unwrap_or("enforce");
        return State { word: "wrapped", mode: Some(mode.to_owned()) };
    }
    let is_remote = members.url.as_ref().is_some_and(|url| text(url.value).is_some());
    let word = match () {
        () if members.is_gateway() => "runs Stickler, not written by `wrap`",
        () if is_remote => "not wrapped (remote)",
        () => "not wrapped",
    };
    State { word, mode: None }
}
