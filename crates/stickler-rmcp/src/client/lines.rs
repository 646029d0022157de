//! Transport to a child process: one JSON message per line on its standard input and output.

use std::io;
use std::process::Stdio;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use stickler_protocol::frame::{Frame, LineFramer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::config::{Endpoint, McpConfig};
use super::drop_malformed_tools::drop_malformed_tools;

/// Size limit for one message; longer messages are discarded.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

const READ_BUFFER_BYTES: usize = 64 << 10;

/// Newline-delimited JSON to and from a child process. The child inherits standard error.
pub(super) struct LineTransport {
    name: String,
    stdout: ChildStdout,
    framer: LineFramer,
    /// `None` once it is closed, which signals the child to exit.
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    at_end: bool,
}

impl LineTransport {
    /// Starts the server. Dropping the returned child kills the process.
    pub(super) fn start(config: &McpConfig) -> io::Result<(Self, Child)> {
        let Endpoint::Command { program, args, env, directory } = &config.endpoint else {
            return Err(io::Error::other("the configuration has no command"));
        };
        let mut command = Command::new(program);
        command.args(args).envs(env).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn()?;
        let missing = || io::Error::other("the process has no pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let transport = Self {
            name: config.name.clone(),
            stdout: child.stdout.take().ok_or_else(missing)?,
            framer: LineFramer::new(MAX_MESSAGE_BYTES),
            stdin: Arc::new(Mutex::new(Some(stdin))),
            at_end: false,
        };
        Ok((transport, child))
    }

    fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let frame = if self.at_end { self.framer.finish() } else { self.framer.next_frame() };
            let line = match frame? {
                Frame::Line(line) => line,
                Frame::TooLong { .. } => {
                    tracing::warn!(server = self.name, "discarded a message over the size limit");
                    continue;
                }
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(&drop_malformed_tools(line)) {
                Ok(message) => return Some(message),
                Err(error) => {
                    tracing::warn!(server = self.name, %error, "ignored an invalid line on stdout");
                }
            }
        }
    }
}

impl Transport<RoleClient> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let stdin = Arc::clone(&self.stdin);
        async move {
            let mut line = serde_json::to_vec(&item).map_err(io::Error::other)?;
            line.push(b'\n');
            let mut stdin = stdin.lock().await;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the connection is closed");
            let stdin = stdin.as_mut().ok_or_else(closed)?;
            stdin.write_all(&line).await?;
            stdin.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let mut chunk = vec![0; READ_BUFFER_BYTES];
        loop {
            if let Some(message) = self.next_message() {
                return Some(message);
            }
            if self.at_end {
                return None;
            }
            match self.stdout.read(&mut chunk).await {
                Ok(0) | Err(_) => self.at_end = true,
                Ok(length) => self.framer.push(chunk.get(..length).unwrap_or_default()),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Dropping the pipe sends end of file to the child.
        self.stdin.lock().await.take();
        Ok(())
    }
}
