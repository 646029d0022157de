//! Measures detection, explanation and repair of invalid calls over real tool definitions.
//!
//! For every tool, valid calls are generated from its schema and confirmed by the plain schema engine,
//! which shares no code with the validator. They are then broken the way language models break them,
//! one mistake at a time and two at once. The report counts rejected valid calls, detected broken
//! calls, exact paths and kinds, correct suggestions, and corrections that restore the original.
//! Mistakes about meaning (`meaning`) are counted separately: several answers can be right.

mod break_call;
mod generate;
mod locations;
mod meaning;
mod report;
mod tools;
mod typo;

use std::path::PathBuf;

use clap::Args;
use stickler::{CompileSchemas, McpValidator, ValidationConfig};

use crate::Outcome;
use crate::paths;
use crate::random::Random;
use report::Report;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder of `tools/list` results, one file per server
    #[arg(long, value_name = "DIR")]
    tools: Option<PathBuf>,
    /// Number of valid calls generated for each tool
    #[arg(long, default_value_t = 4)]
    calls: usize,
    /// Seed of the generated calls and mistakes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum number of failures of each kind to print
    #[arg(long, default_value_t = 3)]
    show: usize,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let folder = options.tools.clone().unwrap_or_else(|| paths::shared("corpus/tools"));
    if !folder.is_dir() {
        return Err(format!("`{}` is not a folder; pass one with --tools", folder.display()));
    }
    let servers = tools::load(&folder)?;
    let mut report = Report::new(options.show)?;
    let thesaurus = meaning::Thesaurus::of(&servers);
    for server in &servers {
        let mut config = ValidationConfig::default();
        config.compile_schemas = CompileSchemas::WhenListed;
        let validator = McpValidator::new(config);
        let discovery = validator.cache().populate(&server.name, &server.tools);
        report.discovered(server, &discovery);
        for tool in &server.tools {
            let Some(cached) = validator.cache().get(&server.name, &tool.name) else {
                continue;
            };
            let Some(subject) = locations::ToolUnderTest::new(server, tool, &cached) else {
                report.note(format!(
                    "{}/{}: not compiled by the plain engine",
                    server.name, tool.name
                ));
                continue;
            };
            report.example(&subject, &cached);
            let mut random = Random::new(options.seed, &(server.name.clone() + &tool.name));
            // A generator of its own, so that the other mistakes stay the same.
            let mut other_random = Random::new(options.seed, &(tool.name.clone() + &server.name));
            for call in generate::calls(&subject, &cached, options.calls, &mut random) {
                report.valid_call(&validator, &subject, &call);
                for broken in break_call::all(&subject, server, &call, &mut random) {
                    report.broken_call(&validator, &subject, &broken);
                }
                for broken in meaning::all(&subject, server, &call, &thesaurus, &mut other_random) {
                    report.broken_call(&validator, &subject, &broken);
                }
            }
        }
    }
    report.finish()
}
