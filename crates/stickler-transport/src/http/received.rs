//! Reads HTTP bodies up to a size limit.
//!
//! Contract: at most `limit` bytes are buffered. For a larger body only a prefix is returned.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

/// Length of the prefix returned for a body that is too large; enough to find the message id in it.
const TOO_LARGE_PREFIX_BYTES: usize = 4096;

/// The outcome of reading a body.
pub enum Received {
    /// The complete body.
    Whole(Bytes),
    /// The body exceeds the limit; contains its prefix.
    TooLarge(Bytes),
    /// The peer closed the connection before the end of the body.
    Broken,
}

/// The sender was idle for longer than the timeout.
pub struct Stalled;

/// Reads a body of at most `limit` bytes.
pub async fn receive(body: Incoming, limit: usize) -> Received {
    receive_within(body, limit, None).await.unwrap_or(Received::Broken)
}

/// Reads a body of at most `limit` bytes. Fails if no data arrives for `idle_timeout`.
pub async fn receive_within(
    mut body: Incoming,
    limit: usize,
    idle_timeout: Option<Duration>,
) -> Result<Received, Stalled> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut rest: Option<BytesMut> = None;
    let mut first = Bytes::new();
    loop {
        let next = match idle_timeout {
            None => body.frame().await,
            Some(idle_timeout) => match timeout(idle_timeout, body.frame()).await {
                Ok(next) => next,
                Err(_) => return Err(Stalled),
            },
        };
        let Some(frame) = next else { break };
        let Ok(frame) = frame else { return Ok(Received::Broken) };
        let Ok(data) = frame.into_data() else { continue };
        let held = rest.as_ref().map_or(first.len(), BytesMut::len);
        if announced > limit || held + data.len() > limit {
            let mut all = rest.unwrap_or_else(|| BytesMut::from(&first[..]));
            all.extend_from_slice(&data);
            all.truncate(TOO_LARGE_PREFIX_BYTES);
            return Ok(Received::TooLarge(all.freeze()));
        }
        // Most bodies arrive in one chunk, which is returned without a copy.
        match &mut rest {
            None if first.is_empty() => first = data,
            None => {
                let mut all =
                    BytesMut::with_capacity(announced.clamp(first.len() + data.len(), limit));
                all.extend_from_slice(&first);
                all.extend_from_slice(&data);
                rest = Some(all);
            }
            Some(all) => all.extend_from_slice(&data),
        }
        // Polling for another frame would wake the connection task without need.
        if body.is_end_stream() {
            break;
        }
    }
    Ok(Received::Whole(rest.map_or(first, BytesMut::freeze)))
}
