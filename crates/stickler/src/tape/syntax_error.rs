//! Syntax errors: why and at which byte a text is not JSON.

use std::fmt;

/// The reason why a text is not valid JSON, with the byte offset of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    offset: usize,
}

/// The kind of a syntax error.
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
    /// The value is followed by other characters.
    TrailingCharacters,
    /// A number that JSON does not allow, such as `01`, `1.` or `+1`.
    BadNumber,
    /// An unescaped control character in a string.
    ControlCharacter,
    /// An escape sequence that JSON does not define.
    BadEscape,
    /// Arrays and objects are nested more deeply than the limit allows.
    TooDeep,
    /// The text is longer than a tape can address.
    TooLarge,
}

impl SyntaxError {
    pub(super) fn new(kind: SyntaxErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> SyntaxErrorKind {
        self.kind
    }

    /// Returns the byte offset of the error.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether the text may be valid JSON that exceeds a limit of the parser.
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
