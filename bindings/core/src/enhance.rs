//! Extends the errors of a server with details from the tool's schema.

use std::borrow::Cow;

use crate::Validator;

impl Validator {
    /// Returns the addition to the text of a server's error; `None` if the error is not about the arguments.
    pub fn enhance_error(&self, name: &str, text: &str) -> Option<String> {
        self.enhancer().addition(self.server(), name, text)
    }

    /// Extends a response to a call, `{"result": …}` or `{"error": …}` as JSON text: a result with `isError` by a content
    /// block, an error in its message. `None` if the response stays as it is.
    pub fn enhance_reply(&self, name: &str, reply: &str) -> Option<String> {
        match self.enhancer().enhance_reply(self.server(), name, reply.as_bytes()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(enhanced) => String::from_utf8(enhanced).ok(),
        }
    }
}
