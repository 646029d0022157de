//! Formats the findings of a rejected message for one log line.

use std::fmt;

use stickler::Finding;

/// Displays the first finding and the number of further findings, without argument values.
pub(crate) struct Problems<'f>(pub(crate) &'f [Finding]);

impl Problems<'_> {
    /// Returns the rule of the first finding.
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
