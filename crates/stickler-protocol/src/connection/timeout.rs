//! Timeouts of client requests.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stickler::rules::Code;

use super::{Action, Actions, Connection};
use crate::envelope::{Header, RequestId};
use crate::side::Side;

impl Connection {
    /// Sets the next timeout check if none is set. One timer covers all requests: a check that runs
    /// early is cheap, and no request is checked late.
    pub(super) fn arm_timeout(&mut self, now: Duration) {
        if let Some(timeout) = self.settings.request_timeout
            && self.timeout_at.is_none()
            && self.pending_requests() > 0
        {
            self.timeout_at = Some(now.saturating_add(timeout));
        }
    }

    /// Answers timed-out requests with an error and cancels them at the server.
    pub(super) fn expire_requests(&mut self, now: Duration, out: &mut Actions<'_>) {
        let Some(timeout) = self.settings.request_timeout else { return };
        if self.timeout_at.is_none_or(|deadline| deadline > now) {
            return;
        }
        let Some(cutoff) = now.checked_sub(timeout) else { return };
        // A subscription has no timeout: it stays pending until a peer ends it.
        let has_no_timeout = |method: &str| method == "subscriptions/listen";
        let (overdue, oldest) = self.pending.of(Side::Client).overdue(cutoff, has_no_timeout);
        self.timeout_at = oldest.map(|oldest| oldest.saturating_add(timeout));
        let reason = format!("the server did not respond within {} s", timeout.as_secs_f64());
        for id in overdue {
            // MCP forbids cancelling `initialize`.
            let may_cancel = self.pending.of(Side::Client).method_of(&id) != Some("initialize");
            let error = self.abandon_request(&id, Code::Timeout, &reason);
            out.extend(error.map(|reply| Action::Reply { to: Side::Client, reply }));
            if may_cancel {
                let (header, bytes) = cancellation(&id, &reason);
                out.push(Action::Cancel { header, bytes });
            }
        }
    }
}

/// Returns a `notifications/cancelled` message for a request, with its header.
pub fn cancellation(id: &RequestId, reason: &str) -> (Arc<Header>, Vec<u8>) {
    let method = "notifications/cancelled";
    let mut header = Header::own(method, None);
    header.cancels = Some(id.clone());
    let reason = json!(reason);
    let id = id.to_json();
    let bytes = format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{id},"reason":{reason}}}}}"#
    );
    (Arc::new(header), bytes.into_bytes())
}
