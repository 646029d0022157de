//! `stickler ui`: serves the page over recordings. A gateway that listens can serve it too.

mod browser;
mod sender;

use std::io::Write as _;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stickler_ui::{CallSender, Settings, Source};

use self::sender::ConfiguredServers;
use crate::cli::UiOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::{config, logging};

pub(crate) fn run(options: &UiOptions) -> Outcome {
    logging::install(config::log_settings(options.log)?)?;
    let source = source(options.directory.as_deref())?;
    let sender = options.config.as_deref().map(servers_of).transpose()?;
    serve(Settings { source, listen: address(&options.listen)?, sender }, options.open)
}

/// Opens the page over recordings that were named on the command line of `audit`.
#[cfg(feature = "audit")]
pub(crate) fn open_files(files: &[PathBuf]) -> Outcome {
    logging::install(config::log_settings(crate::cli::LogOptions::default())?)?;
    for file in files {
        check_readable(file)?;
    }
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    serve(Settings { source: Source::Files(files.to_vec()), listen, sender: None }, true)
}

fn serve(settings: Settings, opens: bool) -> Outcome {
    let listen = settings.listen;
    let ready = |url: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{url}")?;
        out.flush()?;
        if opens {
            browser::open(url);
        }
        Ok(())
    };
    match stickler_ui::serve(settings, ready) {
        Ok(()) => Ok(Exit::Success),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        Err(error) => Err(cannot_listen(listen, &error, "`--listen 127.0.0.1:0`")),
    }
}

/// Serves the page of a gateway in the background and returns its address; `None` without an address to listen on.
/// Calls can be sent to the servers of the configuration file.
#[cfg(feature = "run")]
pub(crate) fn of_gateway(
    page: &config::PageSettings,
    recorded_to: Option<&Path>,
    file: Option<&Path>,
) -> Result<Option<String>, Failure> {
    let Some(listen) = &page.listen else { return Ok(None) };
    let Some(directory) = page.directory.as_deref().or(recorded_to) else {
        let text = "`ui.listen` is set, but there are no recordings to show\n\n\
                    hint: record with `--record DIR`, or set `ui.directory`";
        return Err(Failure::Usage(text.to_owned()));
    };
    let listen = address(listen)?;
    let sender = file.map(servers_of).transpose()?;
    let source = Source::Directory(directory.to_owned());
    let started = stickler_ui::serve_in_background(Settings { source, listen, sender });
    started
        .map(Some)
        .map_err(|error| cannot_listen(listen, &error, "`listen = \"127.0.0.1:0\"` in `[ui]`"))
}

/// Returns what sends calls to the servers of a configuration file.
fn servers_of(file: &Path) -> Result<Arc<dyn CallSender>, Failure> {
    Ok(Arc::new(ConfiguredServers::new(config::servers(file)?)))
}

fn cannot_listen(listen: SocketAddr, error: &std::io::Error, any_port: &str) -> Failure {
    let reason = if error.kind() == std::io::ErrorKind::AddrInUse {
        format!("the port is in use\n\nhint: {any_port} selects a free port")
    } else {
        error.to_string()
    };
    Failure::Unreachable(format!("[STK-101] cannot listen on `{listen}`: {reason}"))
}

/// Returns what the page shows. Only the default directory may be missing: it is created by the first recording.
fn source(given: Option<&Path>) -> Result<Source, Failure> {
    let Some(path) = given else {
        return Ok(Source::Directory(default_directory()?));
    };
    check_readable(path)?;
    Ok(if path.is_dir() {
        Source::Directory(path.to_owned())
    } else {
        Source::Files(vec![path.to_owned()])
    })
}

fn check_readable(path: &Path) -> Result<(), Failure> {
    let readable = if path.is_dir() {
        path.read_dir().map(|_| ())
    } else {
        std::fs::File::open(path).map(|_| ())
    };
    readable.map_err(|error| Failure::Usage(format!("cannot read `{}`: {error}", path.display())))
}

fn default_directory() -> Result<PathBuf, Failure> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    let missing =
        "the default directory is unknown because `HOME` is not set\n\nhint: pass the directory";
    Ok(state.ok_or_else(|| Failure::Usage(missing.to_owned()))?.join("stickler"))
}

/// Resolves the address, which must be one of this machine only.
fn address(listen: &str) -> Result<SocketAddr, Failure> {
    let resolved = listen.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    match resolved {
        None => Err(Failure::Usage(format!(
            "`{listen}` is not an address\n\nhint: a loopback address such as `127.0.0.1:8789`"
        ))),
        Some(address) if !address.ip().is_loopback() => Err(Failure::Usage(format!(
            "`{listen}` can be reached from other machines, and the page shows recorded messages\n\n\
             hint: use a loopback address, and a tunnel such as `ssh -L` to reach it from elsewhere"
        ))),
        Some(address) => Ok(address),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn only_loopback_addresses_are_served() {
        assert!(address("127.0.0.1:0").is_ok());
        assert!(address("[::1]:8000").is_ok());
        assert!(address("0.0.0.0:8000").is_err());
        assert!(address("8000").is_err());
    }
}
