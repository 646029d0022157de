//! How much work one question about a value may take.
//!
//! Contract: whoever looks into an array or object takes a step, and stops when none are left. The
//! answer to a question whose budget is spent is not to be trusted.

use std::sync::atomic::{AtomicU32, Ordering};

use super::Node;

/// How much work one question to the engine may still take.
#[derive(Debug)]
pub(crate) struct StepBudget {
    left: AtomicU32,
    /// What each error takes beside the value that it is about.
    pub(super) per_error: u32,
    /// Errors are given the values that they are about.
    pub(super) copies: bool,
}

/// What each error takes beside the value that it is about: none of many wrong scalars is for nothing.
const PER_ERROR: u32 = 64;

/// Steps for each token of a value that is to be explained: a large one is looked at, too.
const PER_TOKEN: u32 = 4;

/// Bytes of an error's path for one step: every error has its own copy of it.
const PATH_BYTES_PER_STEP: usize = 64;

impl StepBudget {
    pub(crate) fn new(steps: u32) -> Self {
        Self { left: AtomicU32::new(steps), per_error: PER_ERROR, copies: true }
    }

    /// For finding out all that is wrong with a value: so many steps, or what its size asks for where that
    /// is more. The errors come without the values, which an explanation looks up by their paths.
    pub(crate) fn to_explain(value: Node<'_>, steps: u32) -> Self {
        let tokens = u32::try_from(value.tokens().len()).unwrap_or(u32::MAX);
        let steps = steps.max(tokens.saturating_mul(PER_TOKEN));
        let path = u32::try_from(value.longest_path() / PATH_BYTES_PER_STEP).unwrap_or(u32::MAX);
        Self { per_error: PER_ERROR.saturating_add(path), copies: false, ..Self::new(steps) }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Takes `cost` steps; false when there were not as many.
    ///
    /// Two relaxed operations instead of one atomic subtraction: a budget is used by one thread,
    /// and this compiles to plain moves.
    pub(crate) fn take(&self, cost: u32) -> bool {
        let left = self.left.load(Ordering::Relaxed).saturating_sub(cost);
        self.left.store(left, Ordering::Relaxed);
        left > 0
    }

    /// The same for a cost that is counted in a wider type.
    pub(crate) fn pays(&self, cost: usize) -> bool {
        self.take(u32::try_from(cost).unwrap_or(u32::MAX))
    }
}
