//! Rules for messages.

mod table;

use super::{Rule, Severity};
pub(super) use table::MESSAGES;

/// A rule that a message can violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MessageRule {
    /// Bytes that are not JSON.
    JsonSyntax,
    /// JSON that is not a JSON-RPC message.
    BadEnvelope,
    /// A method that the revision does not define.
    UnknownMethod,
    /// Parameters that do not match the schema.
    BadParams,
    /// A result that does not match the schema.
    BadResult,
    /// An error that does not match the schema.
    BadError,
    /// A response without a pending request.
    UnpairedResponse,
    /// The id of a request that is still pending.
    DuplicateId,
    /// An id that was used before.
    ReusedId,
    /// A cancellation or progress notification for an unknown request.
    UnknownReference,
    /// A message that only the other side may send.
    WrongDirection,
    /// A message that exceeds the size limit.
    TooLarge,
    /// A message that exceeds the nesting limit.
    TooDeep,
    /// Too many pending requests.
    TooManyRequests,
    /// Text on the server's stdout that is not a message.
    StdoutNoise,
    /// An empty line.
    EmptyLine,
    /// A duplicate key.
    DuplicateKey,
    /// A message at the wrong time.
    Lifecycle,
    /// Use of a feature that was not announced.
    Capability,
    /// An HTTP header that does not match the body.
    HeaderMismatch,
    /// An unknown revision.
    UnknownRevision,
    /// A call of an unknown tool.
    UnknownTool,
    /// A call with arguments that the tool's schema rejects.
    InvalidArguments,
    /// A tool with an unusable schema.
    UnusableSchema,
    /// A structured result that the tool's output schema rejects.
    InvalidResult,
}

impl MessageRule {
    /// All rules for messages.
    pub const ALL: [Self; 25] = [
        Self::JsonSyntax,
        Self::BadEnvelope,
        Self::UnknownMethod,
        Self::BadParams,
        Self::BadResult,
        Self::BadError,
        Self::UnpairedResponse,
        Self::DuplicateId,
        Self::ReusedId,
        Self::UnknownReference,
        Self::WrongDirection,
        Self::TooLarge,
        Self::TooDeep,
        Self::TooManyRequests,
        Self::StdoutNoise,
        Self::EmptyLine,
        Self::DuplicateKey,
        Self::Lifecycle,
        Self::Capability,
        Self::HeaderMismatch,
        Self::UnknownRevision,
        Self::UnknownTool,
        Self::InvalidArguments,
        Self::UnusableSchema,
        Self::InvalidResult,
    ];

    /// Returns the slug or code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonSyntax => "json-syntax",
            Self::BadEnvelope => "bad-envelope",
            Self::UnknownMethod => "unknown-method",
            Self::BadParams => "bad-params",
            Self::BadResult => "bad-result",
            Self::BadError => "bad-error",
            Self::UnpairedResponse => "unpaired-response",
            Self::DuplicateId => "duplicate-id",
            Self::ReusedId => "reused-id",
            Self::UnknownReference => "unknown-reference",
            Self::WrongDirection => "wrong-direction",
            Self::TooLarge => "too-large",
            Self::TooDeep => "too-deep",
            Self::TooManyRequests => "too-many-requests",
            Self::StdoutNoise => "stdout-noise",
            Self::EmptyLine => "empty-line",
            Self::DuplicateKey => "duplicate-key",
            Self::Lifecycle => "lifecycle",
            Self::Capability => "capability",
            Self::HeaderMismatch => "header-mismatch",
            Self::UnknownRevision => "unknown-revision",
            Self::UnknownTool => "STK-106",
            Self::InvalidArguments => "STK-107",
            Self::UnusableSchema => "STK-108",
            Self::InvalidResult => "STK-109",
        }
    }

    /// Returns the rule with a slug or code.
    pub fn parse(name: &str) -> Option<Self> {
        let id = super::find(name)?.id;
        Self::ALL.into_iter().find(|rule| rule.as_str() == id)
    }

    /// Returns the entry in the table. A test ensures that every rule has one.
    pub fn rule(self) -> Option<&'static Rule> {
        super::find(self.as_str())
    }

    /// Returns the default severity. A finding may override it.
    pub fn severity(self) -> Severity {
        match self {
            Self::JsonSyntax
            | Self::BadEnvelope
            | Self::BadParams
            | Self::BadResult
            | Self::BadError
            | Self::DuplicateId
            | Self::TooLarge
            | Self::TooDeep
            | Self::TooManyRequests
            | Self::HeaderMismatch
            | Self::UnknownTool
            | Self::InvalidArguments => Severity::Error,
            Self::UnpairedResponse
            | Self::WrongDirection
            | Self::StdoutNoise
            | Self::DuplicateKey
            | Self::Lifecycle
            | Self::Capability
            | Self::UnusableSchema
            | Self::InvalidResult => Severity::Warning,
            Self::UnknownMethod
            | Self::ReusedId
            | Self::UnknownReference
            | Self::EmptyLine
            | Self::UnknownRevision => Severity::Note,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MessageRule;

    #[test]
    fn rule_table_matches_the_enum() {
        for rule in MessageRule::ALL {
            assert_eq!(rule.rule().map(|entry| entry.severity), Some(rule.severity()), "{rule:?}");
            assert_eq!(MessageRule::parse(rule.as_str()), Some(rule));
        }
    }
}
