//! Hook for work that takes long: compiling a schema, and explaining a large rejected call.
//!
//! The core does this work on the thread of its caller, and by default nothing else happens. A program that
//! serves many peers on few threads sets a [`SlowWork`] that keeps those threads free in the meantime.

use std::fmt;
use std::sync::Arc;

/// Runs work that takes long, for example after it has handed the thread's other duties to another thread.
pub trait SlowWork: Send + Sync {
    /// Runs `work` once, on the current thread, and returns when it is done. May wait first, in order to
    /// bound how much of it runs at the same time. Work can start other work: a nested call must not wait.
    fn run(&self, work: &mut dyn FnMut());
}

/// The hook of a validator, shared with its tool cache.
#[derive(Clone, Default)]
pub(crate) struct SlowWorkHook(Option<Arc<dyn SlowWork>>);

impl SlowWorkHook {
    pub(crate) fn new(hook: Arc<dyn SlowWork>) -> Self {
        Self(Some(hook))
    }

    /// Returns the result of the work.
    pub(crate) fn run<T>(&self, mut work: impl FnMut() -> T) -> T {
        let mut result = None;
        if let Some(hook) = &self.0 {
            hook.run(&mut || result = Some(work()));
        }
        result.unwrap_or_else(work)
    }
}

impl fmt::Debug for SlowWorkHook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.0.is_some() { "set" } else { "not set" };
        write!(formatter, "SlowWorkHook({state})")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::SlowWork;
    use crate::{McpValidator, ToolDefinition, ValidationConfig};
    use serde_json::json;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl SlowWork for Counter {
        fn run(&self, work: &mut dyn FnMut()) {
            self.0.fetch_add(1, Ordering::Relaxed);
            work();
        }
    }

    fn validator(hook: &Arc<Counter>) -> McpValidator {
        let hook: Arc<dyn SlowWork> = Arc::<Counter>::clone(hook);
        let validator = McpValidator::new(ValidationConfig::default()).with_slow_work(hook);
        let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        validator.cache().populate("s", &[ToolDefinition::new("t").with_input_schema(schema)]);
        validator
    }

    #[test]
    fn first_call_compiles_in_the_hook_and_later_calls_do_not_use_it() {
        let hook = Arc::default();
        let validator = validator(&hook);
        assert_eq!(hook.0.load(Ordering::Relaxed), 0, "a list is learnt without compiling");
        for _ in 0..3 {
            assert!(validator.validate("s", "t", &json!({ "text": "a" })).is_valid);
            assert!(!validator.validate("s", "t", &json!({ "txt": "a" })).is_valid);
            assert_eq!(hook.0.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn large_rejected_call_is_explained_in_the_hook_and_a_large_valid_call_is_not() {
        let hook = Arc::default();
        let validator = validator(&hook);
        let large = "a".repeat(crate::arguments::LARGE_CALL_BYTES);
        assert!(validator.validate("s", "t", &json!({ "text": large })).is_valid);
        assert_eq!(hook.0.load(Ordering::Relaxed), 1, "only the schema was compiled");
        let result = validator.validate("s", "t", &json!({ "txt": large }));
        assert!(result.corrected.is_some());
        assert!(hook.0.load(Ordering::Relaxed) > 1);
    }

    #[test]
    fn work_is_done_even_if_the_hook_does_not_run_it() {
        struct Forgetful;
        impl SlowWork for Forgetful {
            fn run(&self, _: &mut dyn FnMut()) {}
        }
        assert_eq!(super::SlowWorkHook::new(Arc::new(Forgetful)).run(|| 7), 7);
    }
}
