//! What is said about messages, by slug.

mod table;

use super::{Rule, Severity};
pub(super) use table::MESSAGES;

/// The rules that a message can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MessageRule {
    /// Bytes that are not JSON.
    JsonSyntax,
    /// JSON that is no JSON-RPC message.
    BadEnvelope,
    /// A method that the revision does not know.
    UnknownMethod,
    /// Parameters of the wrong shape.
    BadParams,
    /// A result of the wrong shape.
    BadResult,
    /// An error of the wrong shape.
    BadError,
    /// An answer to nothing, or a second answer.
    UnpairedResponse,
    /// An id that is still in flight.
    DuplicateId,
    /// An id that was used before.
    ReusedId,
    /// A cancellation or progress that refers to nothing.
    UnknownReference,
    /// A message that only the other side may send.
    WrongDirection,
    /// More bytes than a message may have.
    TooLarge,
    /// Deeper than a message may be.
    TooDeep,
    /// More requests in flight than there may be.
    TooManyRequests,
    /// Text of the server's that is no message.
    StdoutNoise,
    /// A line without anything in it.
    EmptyLine,
    /// A key given twice.
    DuplicateKey,
    /// A message at the wrong time.
    Lifecycle,
    /// Something used that was not announced.
    Capability,
    /// An HTTP header that does not agree with the body.
    HeaderMismatch,
    /// A revision that is not known here.
    UnknownRevision,
    /// A call of a tool that is not there.
    UnknownTool,
    /// A call whose arguments the tool's schema refuses.
    InvalidArguments,
    /// A tool whose schema cannot be used.
    UnusableSchema,
    /// A structured result that the tool's output schema refuses.
    InvalidResult,
}

impl MessageRule {
    /// Every one of them.
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

    /// The slug or code that it is known by.
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

    /// The rule with that slug or code.
    pub fn parse(name: &str) -> Option<Self> {
        let id = super::find(name)?.id;
        Self::ALL.into_iter().find(|rule| rule.as_str() == id)
    }

    /// Its entry in the table. A test holds every rule to having one.
    pub fn rule(self) -> Option<&'static Rule> {
        super::find(self.as_str())
    }

    /// How bad it is, unless the circumstances say otherwise.
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
    fn the_table_and_the_enum_agree() {
        for rule in MessageRule::ALL {
            assert_eq!(rule.rule().map(|entry| entry.severity), Some(rule.severity()), "{rule:?}");
            assert_eq!(MessageRule::parse(rule.as_str()), Some(rule));
        }
    }
}
