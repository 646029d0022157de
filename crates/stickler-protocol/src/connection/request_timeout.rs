//! Timeouts of client requests.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::json;
use stickler::rules::Code;

use super::{Connection, Outbox};
use crate::envelope::RequestId;
use crate::side::Side;

impl Connection {
    /// Sets the next timeout check if none is set. One timer covers all requests: a check that runs
    /// early is cheap, and no request is checked late.
    pub(super) fn arm_timeout(&mut self, now: Duration) {
        if let Some(timeout) = self.settings.request_timeout
            && self.timeout_at.is_none()
            && self.middleware.pending_requests(Side::Client) > 0
        {
            self.timeout_at = Some(now.saturating_add(timeout));
        }
    }

    /// Answers timed-out requests with an error and cancels them at the server.
    pub(super) fn expire_requests(&mut self, now: Duration, out: &mut Outbox<'_>) {
        let Some(timeout) = self.settings.request_timeout else { return };
        if self.timeout_at.is_none_or(|deadline| deadline > now) {
            return;
        }
        let Some(cutoff) = now.checked_sub(timeout) else { return };
        let (overdue, oldest) = self.middleware.overdue(cutoff);
        self.timeout_at = oldest.map(|oldest| oldest.saturating_add(timeout));
        let reason = format!("the server did not respond within {} s", timeout.as_secs_f64());
        for id in overdue {
            let method = self.middleware.method_of(&id);
            let error = self.middleware.abandon_one(Side::Client, &id, Code::Timeout, &reason);
            out.to_client.extend(error.map(Cow::Owned));
            // MCP forbids cancelling `initialize`.
            if method.as_deref() != Some("initialize") {
                out.to_server.push(Cow::Owned(cancellation(&id, &reason)));
            }
        }
    }
}

/// Returns a `notifications/cancelled` message for a request.
pub fn cancellation(id: &RequestId, reason: &str) -> Vec<u8> {
    let reason = json!(reason);
    let id = id.to_json();
    let method = "notifications/cancelled";
    format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{id},"reason":{reason}}}}}"#
    )
    .into_bytes()
}
