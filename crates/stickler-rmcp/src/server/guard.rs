//! Catches panics of the handler and hides the texts of its internal errors from callers.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::model::ErrorCode;
use rmcp::{ErrorData, ServerHandler};

use super::Validated;

impl<H: ServerHandler> Validated<H> {
    /// Runs a method of the handler. A panic becomes an error response, which rmcp would not send,
    /// and the texts of internal errors are only logged.
    pub(super) async fn guard<T, F>(
        &self,
        method: &'static str,
        run: impl FnOnce() -> F + Send,
    ) -> Result<T, ErrorData>
    where
        F: Future<Output = Result<T, ErrorData>> + Send,
    {
        // The method may panic before it returns a future.
        let whole = async move { run().await };
        match AssertUnwindSafe(whole).catch_unwind().await {
            Ok(Err(error)) if error.code == ErrorCode::INTERNAL_ERROR => {
                Err(self.without_internals(method, error))
            }
            Ok(outcome) => outcome,
            Err(panic) => {
                let text = text_of(&*panic);
                tracing::error!(server = self.name, method, panic = text, "the handler panicked");
                Err(failed(method))
            }
        }
    }

    fn without_internals(&self, method: &'static str, error: ErrorData) -> ErrorData {
        tracing::error!(server = self.name, method, %error, "the handler failed");
        if self.settings.reveals_internal_errors { error } else { failed(method) }
    }
}

fn failed(method: &str) -> ErrorData {
    let message = format!("Internal error: the server failed to handle `{method}`; see its log");
    ErrorData::internal_error(message, None)
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}
