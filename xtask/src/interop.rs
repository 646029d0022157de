//! stub
use crate::Outcome;
pub(crate) fn run() -> Outcome {
    Ok(())
}
pub(crate) fn run_ci() -> Outcome {
    Ok(())
}
