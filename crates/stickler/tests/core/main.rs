//! Tools, schemas and calls, without I/O.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests panic on failure, read files and start processes"
)]

mod choices;
mod conformance;
mod discovery;
mod enhancer;
mod examples;
mod formats;
mod help;
mod injected_keys;
mod json_grammar;
mod json_grammar_table;
mod large_calls;
mod masking;
mod modes;
mod never_panics;
mod never_panics_after_the_call;
mod purity;
mod regressions;
mod repair;
mod strictness;
mod suggestions;
mod tape_properties;
mod tool_schemas;
mod validation;
#[path = "../support"]
mod support {
    pub(crate) mod calls;
    pub(crate) mod conformance;
    pub(crate) mod json_texts;
    pub(crate) mod near;
    pub(crate) mod times;
}
