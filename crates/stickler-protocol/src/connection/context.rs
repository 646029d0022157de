//! What a transport knows about a client message beside its bytes.

use std::sync::Arc;

use crate::headers::ParamHeaders;

/// The context of a client message. A held message keeps it until it is decided on.
///
/// The identity of the client is not part of it: it selects the tool view, and with it the connection.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// The headers of the HTTP request that mirror call arguments. They are compared as soon as the tool's schema
    /// defines which arguments are mirrored.
    pub param_headers: Option<Arc<ParamHeaders>>,
    /// The trace context of the HTTP request, for observers.
    pub trace: Option<Arc<TraceHeaders>>,
}

/// The headers of W3C Trace Context, unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHeaders {
    /// `traceparent`.
    pub traceparent: String,
    /// `tracestate`.
    pub tracestate: Option<String>,
}

impl From<ParamHeaders> for RequestContext {
    fn from(headers: ParamHeaders) -> Self {
        Self { param_headers: Some(Arc::new(headers)), ..Self::default() }
    }
}
