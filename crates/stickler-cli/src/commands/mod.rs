//! One module a command.

pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod completions;
mod counts;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod validate;
pub(crate) mod wrap;
