//! Server-sent events: tells the page that something changed.
//!
//! An event names the sessions that changed, not what changed. The page then requests the rows that are on the
//! screen, so that a burst of messages costs one request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use http_body_util::channel::Channel;
use hyper::{Response, StatusCode};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::http::response::{self, Body};
use crate::library::Library;

/// Shortest time between two events.
const MIN_INTERVAL: Duration = Duration::from_millis(40);
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Most sessions named by an event; without names the page looks at all.
const MAX_NAMED: usize = 200;

pub(crate) fn stream(library: Arc<Library>) -> Response<Body> {
    let (mut sender, body) = Channel::<Bytes>::new(8);
    tokio::spawn(async move {
        let mut changes = library.subscribe();
        let mut known = library.read().version;
        let hello = format!(
            "retry: 1000\nevent: change\ndata: {}\n\n",
            json!({ "version": known, "sessions": null })
        );
        let mut next = Bytes::from(hello);
        // The page is gone when the body cannot be sent any more.
        while sender.send_data(next).await.is_ok() {
            next = match timeout(KEEP_ALIVE, changes.changed()).await {
                Ok(Ok(())) => {
                    let sessions = library.read();
                    let numbers = sessions.changed_since(known);
                    known = sessions.version;
                    let named = (numbers.len() <= MAX_NAMED).then_some(numbers);
                    let data = json!({ "version": known, "sessions": named });
                    Bytes::from(format!("event: change\ndata: {data}\n\n"))
                }
                Ok(Err(_)) => return,
                Err(_) => Bytes::from_static(b": keep-alive\n\n"),
            };
            sleep(MIN_INTERVAL).await;
        }
    });
    response::with(
        StatusCode::OK,
        "text/event-stream",
        body.map_err(|never| match never {}).boxed(),
    )
}
