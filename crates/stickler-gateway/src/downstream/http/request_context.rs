//! What the headers of an HTTP request say about the message in its body.

use std::sync::Arc;

use hyper::HeaderMap;
use stickler_protocol::{RequestContext, TraceHeaders};

use super::modern;

/// Returns the context of a message. Only modern requests have headers that mirror arguments.
pub(crate) fn request_context(headers: &HeaderMap, is_modern: bool) -> RequestContext {
    let context: RequestContext =
        if is_modern { modern::param_headers(headers).into() } else { RequestContext::default() };
    RequestContext { trace: trace(headers), ..context }
}

fn trace(headers: &HeaderMap) -> Option<Arc<TraceHeaders>> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    let traceparent = text("traceparent")?;
    Some(Arc::new(TraceHeaders { traceparent, tracestate: text("tracestate") }))
}
