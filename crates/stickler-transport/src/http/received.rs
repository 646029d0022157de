//! Reads HTTP bodies up to a size limit.
//!
//! Contract: at most `limit` bytes are buffered. For a larger body, or one for which there is no memory, only a prefix is
//! returned.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Frame, Incoming};
use stickler::Reservation;
use tokio::time::{Instant, timeout_at};

/// Length of the prefix returned for a body that is not kept; enough to find the message id in it.
const PREFIX_BYTES: usize = 4096;

/// The outcome of reading a body.
pub enum Received {
    /// The complete body.
    Whole(Bytes),
    /// The body exceeds the limit; contains its prefix.
    TooLarge(Bytes),
    /// The memory for messages is used up; contains the prefix of the body.
    NoMemory(Bytes),
    /// The peer closed the connection before the end of the body.
    Broken,
}

/// The body did not arrive in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stalled {
    /// No data arrived for too long.
    Idle,
    /// The whole body took too long.
    Slow,
}

/// Limits of a body that is read.
#[derive(Debug, Default)]
pub struct BodyLimits<'m> {
    /// Maximum time between two parts.
    pub idle: Option<Duration>,
    /// Maximum time for the whole body.
    pub total: Option<Duration>,
    /// Grows with the data that arrived.
    pub memory: Option<&'m mut Reservation>,
}

/// Reads a body of at most `limit` bytes.
pub async fn receive(body: Incoming, limit: usize) -> Received {
    receive_within(body, limit, BodyLimits::default()).await.unwrap_or(Received::Broken)
}

/// Reads a body of at most `limit` bytes, within further limits.
pub async fn receive_within(
    mut body: Incoming,
    limit: usize,
    BodyLimits { idle, total, mut memory }: BodyLimits<'_>,
) -> Result<Received, Stalled> {
    let due = total.and_then(|total| Instant::now().checked_add(total));
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut rest: Option<BytesMut> = None;
    let mut first = Bytes::new();
    loop {
        let Some(frame) = next_part(&mut body, idle, due).await? else { break };
        let Ok(frame) = frame else { return Ok(Received::Broken) };
        let Ok(data) = frame.into_data() else { continue };
        let held = rest.as_ref().map_or(first.len(), BytesMut::len);
        let is_too_large = announced > limit || held + data.len() > limit;
        let has_memory = memory.as_mut().is_none_or(|memory| memory.grow(data.len()));
        if is_too_large || !has_memory {
            let mut all = rest.unwrap_or_else(|| BytesMut::from(&first[..]));
            all.extend_from_slice(&data);
            let prefix = Bytes::copy_from_slice(&all[..all.len().min(PREFIX_BYTES)]);
            let outcome = if is_too_large { Received::TooLarge } else { Received::NoMemory };
            return Ok(outcome(prefix));
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

/// Returns the next part of a body; `None` at its end.
async fn next_part(
    body: &mut Incoming,
    idle: Option<Duration>,
    due: Option<Instant>,
) -> Result<Option<Result<Frame<Bytes>, hyper::Error>>, Stalled> {
    let idle_until = idle.and_then(|idle| Instant::now().checked_add(idle));
    let (until, reason) = match (idle_until, due) {
        (None, None) => return Ok(body.frame().await),
        (Some(idle), Some(due)) if due < idle => (due, Stalled::Slow),
        (Some(idle), _) => (idle, Stalled::Idle),
        (None, Some(due)) => (due, Stalled::Slow),
    };
    timeout_at(until, body.frame()).await.map_err(|_| reason)
}
