//! What a value is.

/// The six kinds of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null = 0,
    /// `true` or `false`
    Boolean = 1,
    /// A number
    Number = 2,
    /// A string
    String = 3,
    /// An array
    Array = 4,
    /// An object
    Object = 5,
}

impl Kind {
    /// The name that JSON Schema has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}
