//! Findings: the rule violations found in a message, in the form that renderers and observers share.

use crate::arguments::ValidationError;
use crate::rules::{MessageRule, Severity};

/// One rule violation in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The violated rule.
    pub rule: MessageRule,
    /// The severity under the current policy.
    pub severity: Severity,
    /// JSON Pointer within the message; empty for the whole message.
    pub path: String,
    /// JSON Pointer within the schema to the keyword that failed; empty if there is none.
    pub schema_path: String,
    /// One sentence that the sender can act on.
    pub message: String,
    /// What was expected, in a few words.
    pub expected: String,
    /// What was received, in a few words.
    pub received: String,
}

impl Finding {
    /// Creates a finding about a whole message, with the default severity of its rule.
    pub fn new(rule: MessageRule, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            path: String::new(),
            schema_path: String::new(),
            message: message.into(),
            expected: String::new(),
            received: String::new(),
        }
    }

    /// Sets the path, a JSON Pointer within the message.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets what was expected and what was received.
    #[must_use]
    pub fn with(mut self, expected: impl Into<String>, received: impl Into<String>) -> Self {
        self.expected = expected.into();
        self.received = received.into();
        self
    }

    /// Converts a schema error about the part of a message at `location`, a JSON Pointer.
    pub fn from_schema(rule: MessageRule, location: &str, error: &ValidationError) -> Self {
        let path = format!("{location}{}", error.path);
        let mut finding = Self::new(rule, error.message.as_str()).at(path);
        finding.schema_path.clone_from(&error.schema_path);
        finding.with(error.expected.as_str(), error.received.as_str())
    }

    /// Returns the finding as one log line without the values that the message may quote.
    pub fn masked(&self) -> String {
        let rule = self.rule.as_str();
        if self.expected.is_empty() || self.has_value_free_message() {
            return format!("[{rule}] {}", self.message);
        }
        let received = self.received_without_value();
        let path = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        let line = format!("[{rule}] {path}expected {}, received {received}", self.expected);
        if self.schema_path.is_empty() {
            return line;
        }
        format!("{line} (schema path {})", self.schema_path)
    }

    /// Returns the finding without the values that its message and `received` may quote.
    #[must_use]
    pub fn without_values(&self) -> Self {
        let mut finding = self.clone();
        self.received_without_value().clone_into(&mut finding.received);
        if !(self.expected.is_empty() || self.has_value_free_message()) {
            finding.message = format!("expected {}, received {}", self.expected, finding.received);
        }
        finding
    }

    /// Returns whether the message contains no values of the peer: it describes the syntax or the shape
    /// of the message with positions only.
    fn has_value_free_message(&self) -> bool {
        match self.rule {
            // Messages about a schema quote only the schema.
            MessageRule::JsonSyntax | MessageRule::UnusableSchema => true,
            MessageRule::BadEnvelope => self.path.is_empty() && self.schema_path.is_empty(),
            _ => false,
        }
    }

    /// Returns `received` without the value. For schema errors it is the type followed by the value, of
    /// which only the type is kept. A quoted field name is kept because the path contains it too.
    fn received_without_value(&self) -> &str {
        let is_schema_error =
            !self.schema_path.is_empty() || self.rule == MessageRule::InvalidArguments;
        if !is_schema_error || self.received.starts_with('`') {
            return &self.received;
        }
        self.received.split(' ').next().unwrap_or_default()
    }

    /// Returns the schema keyword that failed.
    pub fn keyword(&self) -> Option<&str> {
        self.schema_path.rsplit('/').next().filter(|keyword| !keyword.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, MessageRule};

    #[test]
    fn masked_line_contains_no_values() {
        let capability =
            Finding::new(MessageRule::Capability, "m").with("the capability", "not announced");
        assert_eq!(
            capability.masked(),
            "[capability] expected the capability, received not announced"
        );
        let arguments =
            Finding::new(MessageRule::InvalidArguments, "m").with("integer", "string \"x y\"");
        assert_eq!(arguments.masked(), "[STK-107] expected integer, received string");
    }

    #[test]
    fn masked_line_keeps_field_names_and_drops_values() {
        let finding = |received: &str| {
            let mut finding = Finding::new(MessageRule::InvalidArguments, "m").with("x", received);
            finding.schema_path = "/properties".to_owned();
            finding.masked()
        };
        let suffix = "(schema path /properties)";
        assert_eq!(
            finding("`my own field`"),
            format!("[STK-107] expected x, received `my own field` {suffix}")
        );
        // A value that looks like a quoted name is masked.
        assert_eq!(
            finding("string \"`my secret`\""),
            format!("[STK-107] expected x, received string {suffix}")
        );
    }
}
