//! The reason why a schema cannot be used, written for the author of the schema.

use std::fmt;

use crate::config::Limits;

/// One sentence, without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaRejection {
    reason: String,
    is_over_limit: bool,
}

impl SchemaRejection {
    /// Creates a rejection with a reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_over_limit: false }
    }

    /// The schema is valid but exceeds a limit.
    pub(crate) fn over_limit(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_over_limit: true }
    }

    /// The schema does not fit into the memory budget of its server.
    pub(crate) fn over_server_budget(limits: &Limits) -> Self {
        Self::over_limit(format!(
            "the tools of its server would need more than {} bytes of memory when compiled \
             (`limits.compiled_bytes_per_server`)",
            limits.compiled_bytes_per_server
        ))
    }

    /// The schema does not fit into the total memory budget.
    pub(crate) fn over_total_budget(limits: &Limits) -> Self {
        Self::over_limit(format!(
            "the tools of all servers would need more than {} bytes of memory when compiled \
             (`limits.compiled_bytes`)",
            limits.compiled_bytes
        ))
    }

    pub(crate) fn is_over_limit(&self) -> bool {
        self.is_over_limit
    }

    /// Converts a compilation error of the engine.
    pub(crate) fn from_engine(error: &jsonschema::ValidationError<'_>) -> Self {
        use jsonschema::error::ValidationErrorKind as Engine;
        if let Engine::Referencing(reason) = error.kind() {
            return Self::from_reference(reason);
        }
        let path = error.instance_path().as_str();
        let place = if path.is_empty() { "its root" } else { path };
        let problem = shorten(&error.to_string());
        Self::new(format!("it is not a valid JSON Schema: at `{place}`, {problem}"))
    }

    pub(crate) fn from_reference(error: &referencing::Error) -> Self {
        use referencing::Error;
        let problem = match error {
            Error::Unretrievable { uri, .. } => {
                format!("`{uri}` is outside of the schema, and nothing is fetched")
            }
            Error::PointerToNowhere { pointer } => format!("`{pointer}` does not exist"),
            Error::NoSuchAnchor { anchor } => format!("there is no anchor `{anchor}`"),
            other => other.to_string(),
        };
        Self::new(format!("a reference in it cannot be resolved: {}", shorten(&problem)))
    }
}

impl fmt::Display for SchemaRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Truncates a message of the engine, which repeats the offending value.
fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
