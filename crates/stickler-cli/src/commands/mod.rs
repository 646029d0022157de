//! The commands, one module each.

#[cfg(not(all(
    feature = "audit",
    feature = "call",
    feature = "demo",
    feature = "extproc",
    feature = "run",
    feature = "serve",
    feature = "ui"
)))]
pub(crate) mod absent;
#[cfg(feature = "audit")]
pub(crate) mod audit;
#[cfg(feature = "call")]
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod completions;
mod counts;
#[cfg(feature = "demo")]
pub(crate) mod demo;
pub(crate) mod explain;
#[cfg(feature = "extproc")]
pub(crate) mod extproc;
#[cfg(feature = "serve")]
pub(crate) mod gate;
pub(crate) mod man;
#[cfg(feature = "run")]
pub(crate) mod run;
pub(crate) mod schema;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod tools;
#[cfg(feature = "ui")]
pub(crate) mod ui;
pub(crate) mod validate;
pub(crate) mod wrap;
