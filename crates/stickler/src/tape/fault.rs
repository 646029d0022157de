//! Why a text is not JSON, and where.

use std::fmt;

/// A text that is not a JSON text, with the byte offset at which that became certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    offset: usize,
}

/// What is wrong with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text ends before the value does.
    UnexpectedEnd,
    /// A value was expected.
    ExpectedValue,
    /// A member name in double quotes was expected.
    ExpectedKey,
    /// A colon after a member name was expected.
    ExpectedColon,
    /// A comma or the closing brace was expected.
    ExpectedCommaOrBrace,
    /// A comma or the closing bracket was expected.
    ExpectedCommaOrBracket,
    /// Something follows the value.
    TrailingCharacters,
    /// A number that JSON does not allow, such as `01`, `1.` or `+1`.
    BadNumber,
    /// An unescaped control character in a string.
    ControlCharacter,
    /// A backslash sequence that JSON does not know.
    BadEscape,
    /// More arrays and objects open at once than the limit allows.
    TooDeep,
    /// Longer than a tape can address.
    TooLarge,
}

impl SyntaxError {
    pub(super) fn new(kind: SyntaxErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// What is wrong.
    pub fn kind(&self) -> SyntaxErrorKind {
        self.kind
    }

    /// Where, in bytes from the beginning.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether the text may be good JSON that a limit keeps out.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, SyntaxErrorKind::TooDeep | SyntaxErrorKind::TooLarge)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl fmt::Display for SyntaxErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "the text is not UTF-8",
            Self::UnexpectedEnd => "the text ends before the JSON value does",
            Self::ExpectedValue => "expected a JSON value",
            Self::ExpectedKey => "expected a member name in double quotes",
            Self::ExpectedColon => "expected `:` after the member name",
            Self::ExpectedCommaOrBrace => "expected `,` or `}`",
            Self::ExpectedCommaOrBracket => "expected `,` or `]`",
            Self::TrailingCharacters => "unexpected text after the JSON value",
            Self::BadNumber => "this is not a JSON number",
            Self::ControlCharacter => "a control character must be escaped in a string",
            Self::BadEscape => "this is not a JSON escape sequence",
            Self::TooDeep => "nested too deeply",
            Self::TooLarge => "too large",
        })
    }
}

impl std::error::Error for SyntaxError {}
