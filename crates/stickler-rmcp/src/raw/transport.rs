//! Transport for stdio and other pipes that validates messages before rmcp parses them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use stickler::rules::json_rpc;
use stickler_protocol::envelope::MessageKind;
use stickler_protocol::frame::{Frame, LineFramer};
use stickler_protocol::{Decision, Header, Side, ValidationMiddleware, Verdict, error_reply};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::settings::{RawSettings, log};

/// Read buffer size in bytes.
const READ_BUFFER_BYTES: usize = 64 << 10;

/// Newline-delimited JSON, validated line by line before rmcp parses it.
///
/// ```no_run
/// use rmcp::{ServerHandler, ServiceExt};
/// use stickler_rmcp::{RawSettings, RawTransport, ValidationConfig, Validated};
///
/// # struct MyServer;
/// # impl ServerHandler for MyServer {}
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Validated::new(MyServer, ValidationConfig::default());
/// let transport = RawTransport::stdio(&RawSettings::default());
/// server.serve(transport).await?.waiting().await?;
/// # Ok(())
/// # }
/// ```
pub struct RawTransport<R, W> {
    reader: R,
    framer: LineFramer,
    shared: Arc<Shared<W>>,
    /// Tasks that write responses; a cancelled `receive` must not truncate one.
    answers: JoinSet<io::Result<()>>,
    /// Error responses to rejected requests of rmcp.
    returned: mpsc::UnboundedReceiver<Vec<u8>>,
    at_end: bool,
}

/// State shared by both directions.
struct Shared<W> {
    writer: tokio::sync::Mutex<W>,
    settings: RawSettings,
    middleware: Mutex<ValidationMiddleware>,
    started: Instant,
    return_to_rmcp: mpsc::UnboundedSender<Vec<u8>>,
}

impl RawTransport<tokio::io::Stdin, tokio::io::Stdout> {
    /// Uses standard input and output.
    pub fn stdio(settings: &RawSettings) -> Self {
        Self::new(tokio::io::stdin(), tokio::io::stdout(), settings)
    }
}

impl<R, W> RawTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Uses any reader and writer.
    pub fn new(reader: R, writer: W, settings: &RawSettings) -> Self {
        let (return_to_rmcp, returned) = mpsc::unbounded_channel();
        let shared = Shared {
            writer: tokio::sync::Mutex::new(writer),
            settings: settings.clone(),
            middleware: Mutex::new(settings.middleware(None)),
            started: Instant::now(),
            return_to_rmcp,
        };
        Self {
            reader,
            framer: LineFramer::new(settings.message_bytes()),
            shared: Arc::new(shared),
            answers: JoinSet::new(),
            returned,
            at_end: false,
        }
    }

    /// Returns the next message from the data that has been read.
    fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let frame = if self.at_end { self.framer.finish() } else { self.framer.next_frame() };
            let (line, verdict) = match frame? {
                Frame::Line(line) => (line.to_vec(), self.shared.validate_client(line)),
                Frame::TooLong { partial, .. } => {
                    let verdict = self.shared.middleware().handle_oversized(Side::Client, partial);
                    (Vec::new(), verdict)
                }
            };
            log(Side::Client, &verdict);
            let forward = match verdict.decision {
                Decision::Forward => Some(line),
                Decision::Rewrite(bytes) => Some(bytes),
                Decision::Answer(reply) => {
                    self.answer(reply.bytes);
                    None
                }
                Decision::Split { forward, answer } => {
                    self.answer(answer.bytes);
                    Some(forward)
                }
                Decision::Drop => None,
            };
            if let Some(message) = forward.and_then(|bytes| self.parse(&bytes, &verdict.header)) {
                return Some(message);
            }
        }
    }

    /// Parses a message with rmcp. Answers requests that rmcp cannot parse, because rmcp would not
    /// respond to them.
    fn parse(&mut self, bytes: &[u8], header: &Header) -> Option<RxJsonRpcMessage<RoleServer>> {
        match serde_json::from_slice(bytes) {
            Ok(message) => Some(message),
            Err(error) => {
                tracing::warn!(%error, "rmcp cannot read a message");
                if header.kind == MessageKind::Request
                    && let Some(id) = &header.id
                {
                    let reason = "Invalid request: the server cannot read this message";
                    let id = id.to_json();
                    self.answer(error_reply(Some(&id), json_rpc::INVALID_REQUEST, reason));
                }
                None
            }
        }
    }

    fn answer(&mut self, answer: Vec<u8>) {
        let shared = Arc::clone(&self.shared);
        self.answers.spawn(async move { shared.write(answer).await });
    }
}

impl<R, W> Transport<RoleServer> for RawTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        // Validated here and not in the future, to keep the messages in the order of the calls.
        let outgoing = serde_json::to_vec(&item).map(|bytes| shared.outgoing(bytes));
        async move {
            match outgoing.map_err(io::Error::other)? {
                Some(bytes) => shared.write(bytes).await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut chunk = vec![0; READ_BUFFER_BYTES];
        loop {
            if let Some(message) = self.next_message() {
                return Some(message);
            }
            if self.at_end {
                while self.answers.join_next().await.is_some() {}
                return None;
            }
            tokio::select! {
                Some(bytes) = self.returned.recv() => {
                    if let Ok(message) = serde_json::from_slice(&bytes) {
                        return Some(message);
                    }
                }
                Some(_) = self.answers.join_next() => {}
                read = self.reader.read(&mut chunk) => match read {
                    Ok(0) | Err(_) => self.at_end = true,
                    Ok(length) => self.framer.push(chunk.get(..length).unwrap_or_default()),
                },
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        while self.answers.join_next().await.is_some() {}
        self.shared.writer.lock().await.shutdown().await
    }
}

impl<W: AsyncWrite + Send + Unpin> Shared<W> {
    fn middleware(&self) -> std::sync::MutexGuard<'_, ValidationMiddleware> {
        self.middleware.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn validate_client(&self, message: &[u8]) -> Verdict {
        self.settings.validate(&mut self.middleware(), message, self.started.elapsed())
    }

    /// Returns the bytes to send to the client for a message of rmcp.
    fn outgoing(&self, message: Vec<u8>) -> Option<Vec<u8>> {
        let now = self.started.elapsed();
        let verdict = self.middleware().handle(Side::Server, &message, now);
        log(Side::Server, &verdict);
        match verdict.decision {
            Decision::Forward => Some(message),
            Decision::Rewrite(bytes) => Some(bytes),
            Decision::Split { forward, .. } => Some(forward),
            Decision::Answer(reply) => {
                // Fails only if the transport has been closed.
                let _ = self.return_to_rmcp.send(reply.bytes);
                None
            }
            Decision::Drop => None,
        }
    }

    async fn write(&self, mut message: Vec<u8>) -> io::Result<()> {
        message.push(b'\n');
        let mut writer = self.writer.lock().await;
        writer.write_all(&message).await?;
        writer.flush().await
    }
}

impl<R, W> std::fmt::Debug for RawTransport<R, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawTransport").field("at_end", &self.at_end).finish_non_exhaustive()
    }
}
