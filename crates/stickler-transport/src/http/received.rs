//! Reads the body of a message within a limit.
//!
//! Contract: at most `limit` bytes are kept. Of a body that is larger only the beginning is returned.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

/// How much is kept of a body that is too large: enough to find the id in it.
const PREFIX: usize = 4096;

/// What came as a body.
pub enum Received {
    /// All of it.
    Whole(Bytes),
    /// More than allowed; its beginning.
    TooLarge(Bytes),
    /// The other side went away.
    Broken,
}

/// Nothing came for too long.
pub struct Stalled;

/// Reads a body of at most `limit` bytes.
pub async fn receive(body: Incoming, limit: usize) -> Received {
    receive_within(body, limit, None).await.unwrap_or(Received::Broken)
}

/// The same of a sender that says something at least this often.
pub async fn receive_within(
    mut body: Incoming,
    limit: usize,
    patience: Option<Duration>,
) -> Result<Received, Stalled> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut rest: Option<BytesMut> = None;
    let mut first = Bytes::new();
    loop {
        let next = match patience {
            None => body.frame().await,
            Some(patience) => match timeout(patience, body.frame()).await {
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
            all.truncate(PREFIX);
            return Ok(Received::TooLarge(all.freeze()));
        }
        // Nearly every body arrives in one piece, which is then not copied.
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
        // Asking for more would only wake whoever brings it.
        if body.is_end_stream() {
            break;
        }
    }
    Ok(Received::Whole(rest.map_or(first, BytesMut::freeze)))
}
