//! The type of a JSON value.

/// The six types of JSON values.
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
    /// Returns the name of the type in JSON Schema.
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
