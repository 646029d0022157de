//! Gateway and server processes that listen on a port; they are terminated on drop.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::install::Installed;

/// Long enough for a slow start on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A process that serves HTTP.
pub(super) struct HttpProcess {
    child: Child,
    pub(super) port: u16,
}

impl HttpProcess {
    /// Starts a command with a free port as its argument and waits until it listens there.
    pub(super) fn start(command: impl FnOnce(u16) -> Command) -> Result<Self, String> {
        let port = free_port()?;
        let mut command = command(port);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
        let mut listening = Self { child, port };
        let deadline = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = listening.child.try_wait() {
                return Err(format!("{command:?} exited with {status}"));
            }
            if Instant::now() > deadline {
                return Err(format!("{command:?} does not listen on its port"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(listening)
    }

    /// The gateway in front of a URL or a command.
    pub(super) fn gateway(installed: &Installed, server: &[String]) -> Result<Self, String> {
        Self::start(|port| {
            let mut command = Command::new(installed.stickler());
            command.args(["run", "--grace", "1", "--listen", &format!("127.0.0.1:{port}")]);
            command.args(server);
            command
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for HttpProcess {
    fn drop(&mut self) {
        // SIGTERM first, so that a gateway can stop its child processes.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).stderr(Stdio::null()).status();
        let deadline = Instant::now() + Duration::from_secs(10);
        while !matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
            if Instant::now() > deadline {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}
