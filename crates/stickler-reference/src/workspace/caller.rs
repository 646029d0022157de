//! The client that made a call: its progress notifications, and questions to its user.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationSchema, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{ElicitationMode, Peer, RequestContext};
use serde_json::Value;
use tokio::runtime::Handle;

use super::stop::Stop;

/// Interval for checking whether the call was cancelled while its user is asked.
const CANCELLATION_POLL: Duration = Duration::from_millis(100);

/// The client of a call, for the thread that executes the call.
#[derive(Clone)]
pub(crate) struct Caller {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    runtime: Handle,
    /// Whether the revision lets a server send requests to its client.
    takes_requests: bool,
    /// The task that the client has named for the call.
    pub(crate) task: Option<String>,
}

impl Caller {
    /// Must be called on a thread of the runtime.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let task = context.meta.get("dev.stickler/task_id").and_then(Value::as_str);
        let revision = context.protocol_version();
        Self {
            takes_requests: revision.is_some_and(|revision| revision.has_initialize()),
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            runtime: Handle::current(),
            task: task.map(str::to_owned),
        }
    }

    /// Whether the client has asked for progress notifications.
    pub(crate) fn wants_progress(&self) -> bool {
        self.token.is_some()
    }

    /// Sends a progress notification, if the client has asked for them.
    pub(crate) fn progress(&self, progress: f64, message: &str) {
        let Some(token) = self.token.clone() else { return };
        let progress = ProgressNotificationParam::new(token, progress).with_message(message);
        // A client that has gone cancels the call, which ends it.
        let _ = self.runtime.block_on(self.peer.notify_progress(progress));
    }

    /// Whether the client can ask its user.
    pub(crate) fn can_ask(&self) -> bool {
        self.takes_requests
            && self.peer.supported_elicitation_modes().contains(&ElicitationMode::Form)
    }

    /// Asks the user of the client. Returns `None` if there is no answer within `limit`, or the
    /// call is cancelled.
    pub(crate) fn ask(
        &self,
        message: &str,
        requested_schema: ElicitationSchema,
        limit: Duration,
        stop: &Stop,
    ) -> Option<ElicitResult> {
        let message = message.to_owned();
        let question =
            ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
        let cancelled = async {
            while !stop.is_set() {
                tokio::time::sleep(CANCELLATION_POLL).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                answer = self.peer.create_elicitation_with_timeout(question, Some(limit)) => answer.ok(),
                () = cancelled => None,
            }
        })
    }
}
