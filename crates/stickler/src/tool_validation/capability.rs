//! What a server announces.

use serde_json::{Value, json};

use super::{DEFAULT_METHOD, MAX_BATCH_SIZE};

/// The capability, version 1.0.
///
/// ```
/// use serde_json::json;
/// use stickler::ToolValidationCapability;
///
/// let least = ToolValidationCapability::read(&json!({ "supported": true })).unwrap();
/// assert_eq!(least.method, "validate");
/// assert!(!least.batch);
/// assert!(ToolValidationCapability::read(&json!({ "supported": false })).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolValidationCapability {
    /// The name of the tool that validates.
    pub method: String,
    /// Checks may take a while.
    pub is_async: bool,
    /// What is right may depend on the state of the server.
    pub context_aware: bool,
    /// How deep the checks go.
    pub levels: ValidationLevels,
    /// Several calls can be asked about at once.
    pub batch: bool,
    /// How many.
    pub max_batch_size: usize,
    /// For how many seconds an answer holds; `None` where it must not be kept.
    pub cache_seconds: Option<u64>,
}

/// How deep checks go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four switches, as in the capability")]
pub struct ValidationLevels {
    /// Do the arguments satisfy the schema?
    pub syntax: bool,
    /// Do they make sense together?
    pub semantic: bool,
    /// Could the call succeed now?
    pub runtime: bool,
    /// May it be made?
    pub security: bool,
}

impl Default for ValidationLevels {
    fn default() -> Self {
        Self { syntax: true, semantic: false, runtime: false, security: false }
    }
}

impl ValidationLevels {
    /// Whether there is more to it than the schema.
    pub fn is_deep(self) -> bool {
        self.semantic || self.runtime || self.security
    }
}

impl ToolValidationCapability {
    /// The version of the capability that is written here.
    pub const VERSION: &'static str = "1.0";

    /// A server that checks against its schemas, by a tool of that name.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            is_async: false,
            context_aware: false,
            levels: ValidationLevels::default(),
            batch: true,
            max_batch_size: MAX_BATCH_SIZE,
            cache_seconds: Some(300),
        }
    }

    /// The same with deeper checks. What depends on the state of the server is not to be kept.
    #[must_use]
    pub fn with_levels(mut self, levels: ValidationLevels) -> Self {
        self.levels = levels;
        self.is_async = levels.is_deep();
        self.context_aware = levels.runtime || levels.security;
        self.cache_seconds = self.cache_seconds.filter(|_| !self.context_aware);
        self
    }

    /// As it is announced.
    pub fn to_value(&self) -> Value {
        let ValidationLevels { syntax, semantic, runtime, security } = self.levels;
        json!({
            "supported": true,
            "version": Self::VERSION,
            "async": self.is_async,
            "streaming": false,
            "contextAware": self.context_aware,
            "cacheable": self.cache_seconds.is_some(),
            "levels": {
                "syntax": syntax, "semantic": semantic, "runtime": runtime, "security": security
            },
            "batchValidation": self.batch,
            "maxBatchSize": self.max_batch_size,
            "caching": {
                "enabled": self.cache_seconds.is_some(),
                "ttl": self.cache_seconds.unwrap_or_default(),
                "invalidateOn": ["tool_update", "resource_change"],
            },
            // Last: some readers of the wire take a message for a request when they meet a
            // `method` early in it.
            "method": self.method,
        })
    }

    /// What a server has announced under `experimental.toolValidation`; `None` where it does not
    /// support it.
    pub fn read(announced: &Value) -> Option<Self> {
        let flag = |name: &str| announced.get(name).and_then(Value::as_bool) == Some(true);
        if !flag("supported") {
            return None;
        }
        let levels = announced.get("levels");
        let level = |name: &str| levels.and_then(|levels| levels.get(name)?.as_bool());
        let method = announced.get("method").and_then(Value::as_str);
        // What depends on more than the call is not to be kept, whatever else is said.
        let may_keep =
            announced.get("cacheable") != Some(&Value::Bool(false)) && !flag("contextAware");
        let caching = announced.get("caching").filter(|caching| caching["enabled"] == true);
        let caching = caching.filter(|_| may_keep);
        let most = announced.get("maxBatchSize").and_then(Value::as_u64);
        Some(Self {
            method: method.unwrap_or(DEFAULT_METHOD).to_owned(),
            is_async: flag("async"),
            context_aware: flag("contextAware"),
            levels: ValidationLevels {
                syntax: level("syntax").unwrap_or(true),
                semantic: level("semantic").unwrap_or(false),
                runtime: level("runtime").unwrap_or(false),
                security: level("security").unwrap_or(false),
            },
            batch: flag("batchValidation"),
            max_batch_size: most.and_then(|most| usize::try_from(most).ok()).unwrap_or(1),
            cache_seconds: caching.and_then(|caching| caching.get("ttl")?.as_u64()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ToolValidationCapability, ValidationLevels};

    #[test]
    fn what_is_announced_is_read_again() {
        let plain = ToolValidationCapability::new("validate");
        assert_eq!(ToolValidationCapability::read(&plain.to_value()).as_ref(), Some(&plain));
        let levels = ValidationLevels { runtime: true, ..ValidationLevels::default() };
        let deep = plain.with_levels(levels);
        assert!(deep.is_async && deep.context_aware);
        assert_eq!(deep.cache_seconds, None);
        assert_eq!(deep.to_value()["cacheable"], false);
        assert_eq!(ToolValidationCapability::read(&deep.to_value()), Some(deep));
    }
}
