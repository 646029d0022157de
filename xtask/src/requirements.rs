//! stub
use crate::Outcome;
use clap::Args;
#[derive(Debug, Args)]
pub(crate) struct Options {}
pub(crate) fn run(_: &Options) -> Outcome {
    Ok(())
}
