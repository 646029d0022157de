//! stub
pub(crate) fn generate(_s: &serde_json::Value, _a: &dyn Fn(&serde_json::Value) -> bool) -> Option<serde_json::Value> { None }
