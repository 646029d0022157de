//! Rendering: a refusal as something the caller can act on.
//!
//! Reads what validation found and nothing else; the same findings always give the same bytes.

mod detail;
mod help;
mod observation;
mod refusal;
mod tokens;
mod told;
mod unknown_tool;

pub use help::HelpPrompt;
pub use observation::{ObservedError, RetryObservation};
pub use refusal::{AnswerForm, CallAnswer, CallRefusal};
pub(crate) use tokens::cut as cut_to_tokens;
pub use tokens::estimate as estimate_tokens;
pub use told::{Told, told};
