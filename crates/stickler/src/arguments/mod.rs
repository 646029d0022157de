//! Layer 2, before the call: do the arguments satisfy the tool's schema, and if not, why?

mod choices;
mod closed;
mod closest;
mod describe;
mod effort;
mod error;
mod explain;
mod fields;
#[cfg(test)]
mod growth;
mod oddities;
mod place;
mod problem;
mod result;
mod survey;
mod validator;
mod verdict;
mod wording;

pub(crate) use describe::{names, type_of};
pub(crate) use effort::Effort;
pub use error::{ValidationError, ValidationErrorKind};
pub(crate) use explain::Explanation;
pub use explain::explain_part;
pub(crate) use place::join;
pub use result::{ARGUMENTS, CorrectedCall, ValidationResult};
pub use validator::McpValidator;
pub(crate) use verdict::Verdict;
pub(crate) use wording::{cut, literal};
