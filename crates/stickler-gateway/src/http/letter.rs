//! A message from a client, and where it belongs: read once, asked by all who handle it.

use bytes::Bytes;
use stickler_protocol::envelope::{Address, Bearing, RequestId, requests_in};

/// The body of a POST.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    pub(super) body: Bytes,
    address: Address,
}

impl Letter {
    pub(super) fn of(body: Bytes) -> Self {
        let address = Address::of(&body);
        Self { body, address }
    }

    /// Of a request of HTTP that brings no message.
    pub(super) fn empty() -> Self {
        Self::of(Bytes::new())
    }

    pub(super) fn bearing(&self) -> Bearing {
        self.address.bearing
    }

    /// Whether its sender waits for more than that it was taken.
    pub(super) fn wants_answer(&self) -> bool {
        !matches!(self.address.bearing, Bearing::Notification | Bearing::Response)
    }

    /// The requests in it.
    pub(super) fn requests(&self) -> Vec<RequestId> {
        match self.address.bearing {
            Bearing::Request => self.address.request_id(&self.body).into_iter().collect(),
            Bearing::Batch => requests_in(&self.body),
            _ => Vec::new(),
        }
    }

    pub(super) fn has_method(&self, method: &str) -> bool {
        self.address.has_method(&self.body, method)
    }

    pub(super) fn is_initialize(&self) -> bool {
        self.has_method("initialize")
    }

    pub(super) fn is_initialized(&self) -> bool {
        self.has_method("notifications/initialized")
    }
}
