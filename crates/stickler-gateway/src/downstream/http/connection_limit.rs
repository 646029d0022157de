//! Bounds the number of open connections.
//!
//! Contract: a connection beyond the limit is answered with 503 and closed, without reading its request. The answers are
//! bounded as well; beyond that, connections are closed at once.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use stickler::rules::json_rpc;
use stickler_protocol::error_reply;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::warn;

use super::log_limit::{LogLimit, omitted};

/// Maximum number of connections that are being rejected at the same time.
const MAX_REJECTING: usize = 64;

/// Maximum time to reject a connection.
const REJECTION_TIMEOUT: Duration = Duration::from_secs(1);

/// The open connections of a listener.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    limit: usize,
    open: Arc<Semaphore>,
    rejecting: Arc<Semaphore>,
    log: LogLimit,
}

impl ConnectionLimit {
    pub(crate) fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        let (open, rejecting) = (Semaphore::new(limit), Semaphore::new(MAX_REJECTING));
        let (open, rejecting) = (Arc::new(open), Arc::new(rejecting));
        Self { limit, open, rejecting, log: LogLimit::default() }
    }

    /// Returns the connection with a permit to keep until it is closed, or rejects it.
    pub(crate) fn admit(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        if let Ok(permit) = Arc::clone(&self.open).try_acquire_owned() {
            return Some((stream, permit));
        }
        let limit = self.limit;
        if let Some(lines) = self.log.admit() {
            let omitted = omitted(lines);
            warn!(%peer, "connection rejected: {limit} connections are open{omitted}");
        }
        if let Ok(permit) = Arc::clone(&self.rejecting).try_acquire_owned() {
            tokio::spawn(async move {
                let _ = timeout(REJECTION_TIMEOUT, reject(stream, limit)).await;
                drop(permit);
            });
        }
        None
    }
}

/// Sends the answer and waits until the client has closed its side: closing the socket with unread data would discard
/// the answer.
async fn reject(mut stream: TcpStream, limit: usize) {
    let reason = format!("the limit of {limit} connections is reached; try again later");
    let body = error_reply(None, json_rpc::INTERNAL_ERROR, &reason);
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Retry-After: 1\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), &body].concat();
    if stream.write_all(&answer).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    let mut discarded = [0; 1 << 10];
    loop {
        match stream.read(&mut discarded).await {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
