//! Transport to a child process: one JSON message per line on its standard input and output.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use stickler_protocol::frame::Frame;
use stickler_transport::{
    OutputHandler, ServerCommand, StderrOutput, SupervisedProcess, read_output,
};
use tokio::sync::{Mutex, mpsc};
use tracing::Span;

use super::config::{Endpoint, McpConfig};
use super::drop_malformed_tools::drop_malformed_tools;

/// Size limit for one message; longer messages are discarded.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Maximum length of other output in the log.
const MAX_NOISE_CHARS: usize = 200;

/// Messages that are read ahead; the server then waits.
const MESSAGES_AHEAD: usize = 16;

/// Newline-delimited JSON to and from a child process. The child inherits standard error.
pub(super) struct LineTransport {
    process: Arc<SupervisedProcess>,
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
}

/// A started server. Dropping it kills the process.
pub(super) struct StartedServer(Arc<SupervisedProcess>);

/// Parses the output of the server.
struct Output {
    name: String,
    /// `None` once the server has exited.
    messages: Mutex<Option<mpsc::Sender<RxJsonRpcMessage<RoleClient>>>>,
}

impl LineTransport {
    /// Starts the server. A server that does not exit at the end of its input is terminated after `grace`, and killed
    /// after `grace` again.
    pub(super) fn start(config: &McpConfig, grace: Duration) -> io::Result<(Self, StartedServer)> {
        let Endpoint::Command { program, args, env, directory } = &config.endpoint else {
            return Err(io::Error::other("the configuration has no command"));
        };
        let command = ServerCommand {
            program: program.clone(),
            arguments: args.clone(),
            environment: env.clone().into_iter().collect(),
            folder: directory.clone(),
        };
        let (process, stdout) =
            SupervisedProcess::start(&command, grace, StderrOutput::Inherit, None)?;
        let (sender, messages) = mpsc::channel(MESSAGES_AHEAD);
        let output =
            Arc::new(Output { name: config.name.clone(), messages: Mutex::new(Some(sender)) });
        let limit_and_span = (MAX_MESSAGE_BYTES, Span::current());
        tokio::spawn(read_output(Arc::clone(&process), stdout, output, limit_and_span));
        Ok((Self { process: Arc::clone(&process), messages }, StartedServer(process)))
    }
}

impl OutputHandler for Output {
    async fn on_frame(self: &Arc<Self>, frame: Frame<'_>) {
        let line = match frame {
            Frame::Line(line) if line.trim_ascii().is_empty() => return,
            Frame::Line(line) => line,
            Frame::TooLong { .. } => {
                tracing::warn!(server = self.name, "discarded a message over the size limit");
                return;
            }
        };
        let Ok(message) = serde_json::from_slice(&drop_malformed_tools(line)) else {
            let text = String::from_utf8_lossy(line);
            let start: String = text.trim().chars().take(MAX_NOISE_CHARS).collect();
            tracing::warn!(
                server = self.name,
                "ignored a line on stdout that is not a message: {start}"
            );
            return;
        };
        if let Some(messages) = &*self.messages.lock().await {
            // The client may have stopped reading.
            let _ = messages.send(message).await;
        }
    }

    async fn on_exit(self: &Arc<Self>, _: &str) {
        self.messages.lock().await.take();
    }
}

impl StartedServer {
    /// Waits for the server to exit after its input was closed, and terminates it if it does not.
    pub(super) async fn end(self) {
        self.0.end().await;
    }
}

impl Drop for StartedServer {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl Transport<RoleClient> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let process = Arc::clone(&self.process);
        async move {
            let message = serde_json::to_vec(&item).map_err(io::Error::other)?;
            process.pipe.wait_for_capacity().await;
            if !process.pipe.is_open() {
                let reason = "the connection is closed";
                return Err(io::Error::new(io::ErrorKind::NotConnected, reason));
            }
            process.pipe.send(message.into());
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        // The end of its input signals the server to exit.
        self.process.pipe.close();
        Ok(())
    }
}
