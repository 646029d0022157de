//! Layer 2, before the call: do the arguments satisfy the tool's schema, and if not, why?

mod choices;
mod closed;
mod closest;
mod describe;
mod error;
mod explain;
mod place;
mod result;
mod validator;
mod verdict;
mod wording;

pub(crate) use describe::{names, type_of};
pub use error::{ValidationError, ValidationErrorKind};
pub(crate) use explain::Explanation;
pub use explain::explain_part;
pub(crate) use place::join;
pub use result::{ARGUMENTS, CorrectedCall, ValidationResult};
pub use validator::McpValidator;
pub(crate) use verdict::Verdict;
pub(crate) use wording::{cut, literal};
