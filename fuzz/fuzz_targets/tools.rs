//! No tool list makes Stickler panic: reading, compiling, linting, and a call of each tool.
//!
//! Input: a tool list.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickler::{McpValidator, ToolList, ValidationConfig};
use stickler_protocol::{Revision, lint};

fuzz_target!(|data: &[u8]| {
    let mut config = ValidationConfig::default();
    config.limits.verdict_steps = 200_000;
    config.limits.explain_steps = 20_000;
    let options = stickler::lint::LintOptions::default().with_revision(Some(Revision::LATEST));
    let report = lint::lint(data, &options);
    let list = ToolList::read(data, &config.limits);
    assert_eq!(report.is_ok(), list.is_ok());
    let Ok(list) = list else { return };
    let validator = McpValidator::new(config);
    validator.cache().populate("s", &list.tools);
    let failed = validator.cache().compile_all("s");
    for tool in list.tools.iter().take(4) {
        let Ok(result) = validator.validate_text("s", &tool.name, Some(b"{}")) else { continue };
        let _ = validator.build_retry_observation("s", &tool.name, &result, 0);
        let is_quarantined = failed.iter().any(|error| error.tool == tool.name);
        let is_duplicate = list.tools.iter().filter(|one| one.name == tool.name).count() > 1;
        assert!(result.is_valid || is_duplicate || !is_quarantined, "rejected without a schema");
    }
});
