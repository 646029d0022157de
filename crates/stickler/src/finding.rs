//! One finding about a message: the rule, the place and the sentence that every renderer and
//! observer reads.

use crate::arguments::ValidationError;
use crate::rules::{MessageRule, Severity};

/// One thing there is to say about a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that it broke.
    pub rule: MessageRule,
    /// How bad that is here.
    pub severity: Severity,
    /// JSON Pointer within the message; empty for the whole.
    pub path: String,
    /// JSON Pointer within the schema to the keyword that refused; empty where none did.
    pub schema_path: String,
    /// A sentence for whoever can mend it.
    pub message: String,
    /// What would have been right, in a few words.
    pub expected: String,
    /// What came instead, in a few words.
    pub received: String,
}

impl Finding {
    /// A finding about a whole message, as severe as its rule.
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

    /// The finding at that place in the message, a JSON Pointer.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The finding with what was expected and what was received.
    #[must_use]
    pub fn with(mut self, expected: impl Into<String>, received: impl Into<String>) -> Self {
        self.expected = expected.into();
        self.received = received.into();
        self
    }

    /// What a schema has against a part of a message, which begins at that place.
    pub fn from_schema(rule: MessageRule, place: &str, error: ValidationError) -> Self {
        let mut finding = Self::new(rule, error.message).at(format!("{place}{}", error.path));
        finding.schema_path = error.schema_path;
        finding.with(error.expected, error.received)
    }

    /// The finding in one line without the values that came, which its sentence may quote: for logs.
    pub fn masked(&self) -> String {
        let rule = self.rule.as_str();
        if self.expected.is_empty() || self.says_no_values() {
            return format!("[{rule}] {}", self.message);
        }
        let received = self.received_without_value();
        let place = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        let told = format!("[{rule}] {place}expected {}, received {received}", self.expected);
        if self.schema_path.is_empty() {
            return told;
        }
        format!("{told} (by {} of the schema)", self.schema_path)
    }

    /// Whether the sentence is made of our words and of positions alone: what is wrong with bytes that
    /// are not JSON, or with a message as a whole.
    fn says_no_values(&self) -> bool {
        match self.rule {
            // Of a schema only what is in the schema is told.
            MessageRule::JsonSyntax | MessageRule::UnusableSchema => true,
            MessageRule::BadEnvelope => self.path.is_empty() && self.schema_path.is_empty(),
            _ => false,
        }
    }

    /// What a schema has refused is told as its type and its value, and only the type is no secret.
    /// A name in quotes is none either: the path has it too.
    fn received_without_value(&self) -> &str {
        let is_of_schema =
            !self.schema_path.is_empty() || self.rule == MessageRule::InvalidArguments;
        if !is_of_schema || self.received.starts_with('`') {
            return &self.received;
        }
        self.received.split(' ').next().unwrap_or_default()
    }

    /// The keyword of the schema that refused, where one did.
    pub fn keyword(&self) -> Option<&str> {
        self.schema_path.rsplit('/').next().filter(|keyword| !keyword.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, MessageRule};

    #[test]
    fn what_is_logged_has_no_values_and_whole_sentences() {
        let own =
            Finding::new(MessageRule::Capability, "m").with("the capability", "not announced");
        assert_eq!(own.masked(), "[capability] expected the capability, received not announced");
        let of_call =
            Finding::new(MessageRule::InvalidArguments, "m").with("integer", "string \"x y\"");
        assert_eq!(of_call.masked(), "[STK-107] expected integer, received string");
    }

    #[test]
    fn names_are_logged_whole_and_values_never() {
        let finding = |received: &str| {
            let mut finding = Finding::new(MessageRule::InvalidArguments, "m").with("x", received);
            finding.schema_path = "/properties".to_owned();
            finding.masked()
        };
        let by = "(by /properties of the schema)";
        assert_eq!(
            finding("`my own field`"),
            format!("[STK-107] expected x, received `my own field` {by}")
        );
        // A value that looks like a name is still one.
        assert_eq!(
            finding("string \"`my secret`\""),
            format!("[STK-107] expected x, received string {by}")
        );
    }
}
