//! Requests whose answer does not come in time.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::json;
use stickler::rules::Code;

use super::{Gatekeeper, Outbox};
use crate::envelope::RequestId;
use crate::side::Side;

impl Gatekeeper {
    /// Sees to it that somebody looks again. One moment for all requests is enough: looking too
    /// early costs little, and every request is seen at its time or before.
    pub(super) fn watch(&mut self, now: Duration) {
        if let Some(longest) = self.settings.request_timeout
            && self.overdue_at.is_none()
            && self.middleware.in_flight(Side::Client) > 0
        {
            self.overdue_at = Some(now.saturating_add(longest));
        }
    }

    /// Requests that have waited for too long get an error, and the server need not go on.
    pub(super) fn end_overdue(&mut self, now: Duration, out: &mut Outbox<'_>) {
        let Some(longest) = self.settings.request_timeout else { return };
        if self.overdue_at.is_none_or(|moment| moment > now) {
            return;
        }
        let Some(moment) = now.checked_sub(longest) else { return };
        let (overdue, oldest) = self.middleware.waiting_since(moment);
        self.overdue_at = oldest.map(|oldest| oldest.saturating_add(longest));
        let reason = format!("the server gave no answer within {} s", longest.as_secs_f64());
        for id in overdue {
            let method = self.middleware.method_of(&id);
            let error = self.middleware.abandon_one(Side::Client, &id, Code::Timeout, &reason);
            out.to_client.extend(error.map(Cow::Owned));
            // The handshake is the one request that must not be cancelled.
            if method.as_deref() != Some("initialize") {
                out.to_server.push(Cow::Owned(cancellation(&id, &reason)));
            }
        }
    }
}

/// What tells a server that nobody waits for an answer any more.
pub fn cancellation(id: &RequestId, reason: &str) -> Vec<u8> {
    let reason = json!(reason);
    let id = id.to_json();
    let method = "notifications/cancelled";
    format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{id},"reason":{reason}}}}}"#
    )
    .into_bytes()
}
