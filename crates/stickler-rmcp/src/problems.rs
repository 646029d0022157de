//! What a log line says of a message that has problems: the first one in full, and how many more there are.

use std::fmt;

use stickler::Finding;

/// Findings for one log line, without the values of arguments.
pub(crate) struct Problems<'f>(pub(crate) &'f [Finding]);

impl Problems<'_> {
    /// The rule of the first.
    pub(crate) fn rule(&self) -> Option<&'static str> {
        self.0.first().map(|finding| finding.rule.as_str())
    }
}

impl fmt::Display for Problems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, more)) = self.0.split_first() else { return Ok(()) };
        f.write_str(&first.masked())?;
        match more.len() {
            0 => Ok(()),
            1 => f.write_str(", and 1 more problem"),
            more => write!(f, ", and {more} more problems"),
        }
    }
}
