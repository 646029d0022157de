//! The configuration of a run: defaults, overridden by a file, then by the environment, then by the command line.
//!
//! | file | contents |
//! | --- | --- |
//! | `settings` | the settings and their defaults |
//! | `table` | every setting by its key, with its setter |
//! | `given` | conversion of a value from a file or the environment |
//! | `document`, `jsonc`, `yaml` | TOML, JSON and YAML as one tree of values with positions |
//! | `fault` | errors with file, line and column |
//! | `stickler_file`, `client_file` | `stickler.toml` and the configuration files of clients |
//! | `unknown` | suggestions for unknown keys in `stickler.toml` |
//! | `draft`, `expansion` | a server before the expansion of `${VAR}`, and the expansion |
//! | `routes` | the configuration of the external processor |
//! | `environment`, `options` | `STICKLER_…` variables and the command line |

mod client_file;
mod document;
mod draft;
mod environment;
mod expansion;
mod fault;
mod given;
mod jsonc;
mod options;
#[cfg(feature = "extproc")]
mod routes;
mod settings;
mod stickler_file;
mod table;
mod unknown;
mod yaml;

use std::path::Path;

pub(crate) use document::{Data, Format, Member, Value, read_text as read_document};
pub(crate) use environment::log_settings;
#[cfg(feature = "serve")]
pub(crate) use environment::mode;
pub(crate) use fault::{Fault, Source, did_you_mean};
pub(crate) use options::{positive_seconds, seconds};
#[cfg(feature = "extproc")]
pub(crate) use routes::{RouteConfiguration, load_routes};
#[cfg(feature = "extproc")]
pub(crate) use settings::ProcessorSettings;
pub(crate) use settings::{PageSettings, RunSettings, ServerSettings};

use stickler_transport::Server;

use crate::cli::RunOptions;
use crate::exit::Failure;
use crate::logging::LogLevel;
use draft::Draft;
use stickler_file::Purpose;

/// The configuration of a run, merged from all layers.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) run: RunSettings,
    /// Servers to run.
    pub(crate) servers: Vec<Configured>,
    /// Notes about ignored input, for the log.
    pub(crate) notes: Vec<(LogLevel, String)>,
}

/// A server and its settings.
#[derive(Debug)]
pub(crate) struct Configured {
    pub(crate) name: String,
    pub(crate) server: Server,
    pub(crate) settings: ServerSettings,
}

/// Contents of a file, to which the other layers are applied.
#[derive(Debug, Default)]
struct Layer {
    run: RunSettings,
    /// Settings of a server that the file does not name.
    base: ServerSettings,
    drafts: Vec<Draft>,
    notes: Vec<(LogLevel, String)>,
}

/// Merges all layers.
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

/// Logs the notes about ignored input.
pub(crate) fn log_notes(notes: &[(LogLevel, String)]) {
    for (level, note) in notes {
        if *level == LogLevel::Info {
            tracing::info!("configuration: {note}");
        } else {
            tracing::warn!("configuration: {note}");
        }
    }
}

/// Reads the servers of a file that are not disabled.
pub(crate) fn servers(path: &Path) -> Result<Vec<Configured>, Failure> {
    let source = Source::read(path)?;
    let layer = read(&source).map_err(|faults| source.failure(&faults))?;
    let drafts = layer.drafts.into_iter().filter(|draft| !draft.is_disabled);
    let resolved = drafts.map(|draft| draft.resolve(&source.folder()));
    let servers: Result<Vec<Configured>, Fault> = resolved.collect();
    log_notes(&layer.notes);
    servers.map_err(|fault| source.failure(&[fault]))
}

/// Reads a file in the syntax detected by [`Format::of`].
fn read(source: &Source) -> Result<Layer, Vec<Fault>> {
    let root = document::read(source)?;
    match Format::of(source) {
        Format::Json | Format::Yaml => client_file::read(&root),
        Format::Toml => stickler_file::read(&root, &source.folder(), Purpose::Servers),
    }
}

/// Selects and resolves the servers of a file that are to run.
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
            return Err(Failure::Usage(format!(
                "{message}\n\nhint: the servers are {}",
                list(&names)
            )));
        }
    }
    let is_selected = |draft: &Draft| match given.server.as_slice() {
        [] => !draft.is_disabled,
        selected => selected.contains(&draft.name),
    };
    let selected: Vec<Draft> = drafts.into_iter().filter(is_selected).collect();
    if selected.is_empty() {
        return Err(none_to_run(&names, source));
    }
    if selected.len() > 1 && run.listen.is_none() {
        let names: Vec<String> = selected.into_iter().map(|draft| draft.name).collect();
        return Err(Failure::Usage(format!(
            "{} defines several servers, but a client on standard input and output can use only one\n\n\
             hint: select one of {} with `--server NAME`, or serve all of them with `--listen`",
            source.name(),
            list(&names)
        )));
    }
    let resolved = selected.into_iter().map(|draft| draft.resolve(&source.folder()));
    let configured: Result<Vec<Configured>, Fault> = resolved.collect();
    let mut configured = configured.map_err(|fault| source.failure(&[fault]))?;
    if let ([only], Some(name)) = (configured.as_mut_slice(), &given.name) {
        only.name.clone_from(name);
    }
    Ok(configured)
}

/// Returns the error for a file without a server to run.
fn none_to_run(names: &[String], source: &Source) -> Failure {
    let file = source.name();
    Failure::Usage(match names {
        [] => format!("{file} defines no servers"),
        names => format!(
            "all servers in {file} are disabled: {}\n\n\
             hint: `--server NAME` runs a disabled server",
            list(names)
        ),
    })
}

/// Formats names as a quoted, comma-separated list.
pub(crate) fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn no_server() -> Failure {
    Failure::Usage(
        "no server specified: pass its command after `--`, or use `--url` or `--config`\n\n\
         hint: `stickler run -- npx -y @modelcontextprotocol/server-filesystem /data`"
            .to_owned(),
    )
}

/// Returns the folder of a file, against which its relative paths are resolved.
fn folder_of(path: &Path) -> std::path::PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => Path::new(".").to_owned(),
    }
}
