//! Step budget that limits the work of one validation.
//!
//! Contract: every access to an array or object takes a step; the work stops when no steps are left.
//! The result of a validation with an exhausted budget is incomplete and must not be used.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use super::Node;

/// The remaining steps of one validation by the engine.
#[derive(Debug)]
pub(crate) struct StepBudget {
    left: AtomicU32,
    /// Steps for each error, in addition to the cost of its value.
    pub(super) per_error: u32,
    /// Whether errors contain a copy of the invalid value.
    pub(super) copies: bool,
    /// The value as a whole, if errors must contain it.
    whole: OnceLock<((usize, u32), Value)>,
}

/// Base cost of an error in steps, so that many errors about scalars are limited, too.
const STEPS_PER_ERROR: u32 = 64;

/// Minimum steps per token of a value to explain, so that large values are fully examined.
const STEPS_PER_TOKEN: u32 = 4;

/// Bytes of an error's path that cost one step; every error has a copy of its path.
const PATH_BYTES_PER_STEP: usize = 8;

impl StepBudget {
    pub(crate) fn new(steps: u32) -> Self {
        Self {
            left: AtomicU32::new(steps),
            per_error: STEPS_PER_ERROR,
            copies: true,
            whole: OnceLock::new(),
        }
    }

    /// Creates a budget for collecting all errors of a value: `steps`, or more if the size of the value
    /// requires it. The errors do not contain values; the explanation looks them up by path.
    pub(crate) fn to_explain(value: Node<'_>, steps: u32) -> Self {
        let tokens = u32::try_from(value.tokens().len()).unwrap_or(u32::MAX);
        let steps = steps.max(tokens.saturating_mul(STEPS_PER_TOKEN));
        let path = u32::try_from(value.longest_path() / PATH_BYTES_PER_STEP).unwrap_or(u32::MAX);
        Self { per_error: STEPS_PER_ERROR.saturating_add(path), copies: false, ..Self::new(steps) }
    }

    /// Makes errors about `node` contain its value at any cost. The engine looks up the place of a match that
    /// it could not finish in the value as a whole, and panics if that place is missing.
    pub(crate) fn keep_whole(&self, node: Node<'_>) {
        self.whole.get_or_init(|| (node.identity(), node.to_value()));
    }

    pub(super) fn whole(&self, node: Node<'_>) -> Option<&Value> {
        self.whole
            .get()
            .filter(|(identity, _)| *identity == node.identity())
            .map(|(_, value)| value)
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Takes `cost` steps. Returns false if that exhausts the budget.
    ///
    /// Uses two relaxed operations instead of an atomic subtraction: only one thread uses a budget,
    /// and this compiles to plain moves.
    pub(crate) fn take(&self, cost: u32) -> bool {
        let left = self.left.load(Ordering::Relaxed).saturating_sub(cost);
        self.left.store(left, Ordering::Relaxed);
        left > 0
    }

    /// Same as [`take`](Self::take) for a cost of type `usize`.
    pub(crate) fn take_usize(&self, cost: usize) -> bool {
        self.take(u32::try_from(cost).unwrap_or(u32::MAX))
    }
}
