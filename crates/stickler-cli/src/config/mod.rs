//! What a run is told: defaults, then a file, then the environment, then the command line.
//!
//! | file | holds |
//! | --- | --- |
//! | `settings` | the values, and what they are when nobody says anything |
//! | `table` | every setting by its key, and how it is set |
//! | `given` | one value, from a file or from the environment, as the setting wants it |
//! | `document` | a file as a tree in which everything knows its place, TOML or JSON |
//! | `fault` | what is wrong, with file, line and column |
//! | `own_file`, `client_file` | `stickler.toml`, and the files that clients keep their servers in |
//! | `unknown` | what to say of a name in `stickler.toml` that is no setting |
//! | `draft`, `expansion` | a server as a file describes it, `${VAR}` replaced when it is used |
//! | `environment`, `options` | `STICKLER_…`, and the command line |

mod client_file;
mod document;
mod draft;
mod environment;
mod expansion;
mod fault;
mod given;
mod options;
mod own_file;
mod settings;
mod table;
mod unknown;

use std::path::Path;

pub(crate) use client_file::{HOLDERS, no_holder};
pub(crate) use environment::log_settings;
pub(crate) use fault::{Fault, Source, did_you_mean, no_json};
pub(crate) use options::{pause, seconds};
pub(crate) use settings::{RunSettings, ServerSettings};

use stickler_transport::Server;

use crate::cli::RunOptions;
use crate::exit::Failure;
use crate::logging::LogLevel;
use document::Format;
use draft::Draft;

/// A run, as all layers together describe it.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) run: RunSettings,
    /// Those that are to be run.
    pub(crate) servers: Vec<Configured>,
    /// What was left out of account, for the log.
    pub(crate) notes: Vec<(LogLevel, String)>,
}

/// A server and how it is treated.
#[derive(Debug)]
pub(crate) struct Configured {
    pub(crate) name: String,
    pub(crate) server: Server,
    pub(crate) settings: ServerSettings,
}

/// What a file says.
#[derive(Debug, Default)]
struct Layer {
    run: RunSettings,
    /// For a server that the file does not name.
    base: ServerSettings,
    drafts: Vec<Draft>,
    notes: Vec<(LogLevel, String)>,
}

/// Puts all layers together.
pub(crate) fn load(given: &RunOptions) -> Result<Configuration, Failure> {
    let (mut layer, source) = match &given.config {
        Some(path) => {
            let source = Source::read(path)?;
            (read(&source).map_err(|faults| source.failure(&faults))?, Some(source))
        }
        None => (Layer::default(), None),
    };
    environment::apply(&mut layer)?;
    options::apply(given, &mut layer)?;
    let Layer { run, base, drafts, notes } = layer;
    let servers = if let Some(server) = options::server(given)? {
        let name = given.name.clone().unwrap_or_else(|| server.name());
        vec![Configured { name, server, settings: base }]
    } else {
        let source = source.ok_or_else(no_server)?;
        chosen(given, drafts, &run, &source)?
    };
    Ok(Configuration { run, servers, notes })
}

/// What kind of file it is shows in its name or its first character.
fn read(source: &Source) -> Result<Layer, Vec<Fault>> {
    let root = document::read(source)?;
    match Format::of(source) {
        Format::Json => client_file::read(&root),
        Format::Toml => own_file::read(&root, &source.folder()),
    }
}

/// The servers of a file that are to be run.
fn chosen(
    given: &RunOptions,
    drafts: Vec<Draft>,
    run: &RunSettings,
    source: &Source,
) -> Result<Vec<Configured>, Failure> {
    let names: Vec<String> = drafts.iter().map(|draft| draft.name.clone()).collect();
    for name in &given.server {
        if !names.contains(name) {
            let meant = fault::did_you_mean(name, names.iter().map(String::as_str));
            let message = format!("{} has no server `{name}`{meant}", source.name());
            return Err(Failure::Usage(format!("{message}\n\nhint: it has {}", list(&names))));
        }
    }
    let is_wanted = |draft: &Draft| match given.server.as_slice() {
        [] => !draft.is_disabled,
        wanted => wanted.contains(&draft.name),
    };
    let wanted: Vec<Draft> = drafts.into_iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Err(none_to_run(&names, source));
    }
    if wanted.len() > 1 && run.listen.is_none() {
        let names: Vec<String> = wanted.into_iter().map(|draft| draft.name).collect();
        return Err(Failure::Usage(format!(
            "{} has several servers, and a client on standard input and output can have one\n\n\
             hint: choose with `--server NAME` among {}, or serve all of them with `--listen`",
            source.name(),
            list(&names)
        )));
    }
    let resolved = wanted.into_iter().map(|draft| draft.resolve(&source.folder()));
    let configured: Result<Vec<Configured>, Fault> = resolved.collect();
    let mut configured = configured.map_err(|fault| source.failure(&[fault]))?;
    if let ([only], Some(name)) = (configured.as_mut_slice(), &given.name) {
        only.name.clone_from(name);
    }
    Ok(configured)
}

/// A file of which nothing is left to run.
fn none_to_run(names: &[String], source: &Source) -> Failure {
    let file = source.name();
    Failure::Usage(match names {
        [] => format!("{file} names no server"),
        names => format!(
            "all servers of {file} are disabled: {}\n\n\
             hint: `--server NAME` runs one all the same",
            list(names)
        ),
    })
}

/// Names for people.
pub(crate) fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn no_server() -> Failure {
    Failure::Usage(
        "no server: put its command after `--`, or give `--url` or `--config`\n\n\
         hint: `stickler run -- npx -y @modelcontextprotocol/server-filesystem /data`"
            .to_owned(),
    )
}

/// The folder that relative paths of a file are relative to.
fn folder_of(path: &Path) -> std::path::PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => Path::new(".").to_owned(),
    }
}
