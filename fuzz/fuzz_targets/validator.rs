//! No schema and arguments make Stickler panic, and a corrected call is valid.
//!
//! Input: one byte for the configuration, a schema, a zero byte, and the text of the arguments.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use stickler::{
    ErrorEnhancer, HelpDetail, McpValidator, Repair, ToolDefinition, UnknownFields,
    ValidationConfig, estimate_tokens,
};

fn config(bits: u8) -> ValidationConfig {
    let bit = |index: u8| bits & (1 << index) != 0;
    let mut config = ValidationConfig::default();
    config.unknown_fields = if bit(0) {
        UnknownFields::FollowSchema
    } else {
        UnknownFields::Reject
    };
    config.repair = if bit(1) {
        Repair::Apply
    } else {
        Repair::Suggest
    };
    config.help = if bit(2) {
        HelpDetail::Full
    } else {
        HelpDetail::Brief
    };
    config.mask_values = bit(3);
    config.help_token_budget = if bit(4) { 60 } else { 500 };
    if bit(5) {
        config.injected_keys = vec!["a".to_owned()];
    }
    // Low limits keep inputs fast; worst-case times are measured by the benchmarks.
    config.limits.verdict_steps = 200_000;
    config.limits.explain_steps = 20_000;
    config
}

fuzz_target!(|data: &[u8]| {
    let Some((&bits, rest)) = data.split_first() else {
        return;
    };
    let mut parts = rest.splitn(2, |byte| *byte == 0);
    let (Some(schema), Some(arguments)) = (parts.next(), parts.next()) else {
        return;
    };
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else {
        return;
    };
    let validator = McpValidator::new(config(bits));
    let tool = ToolDefinition::new("tool").with_input_schema(schema);
    validator.cache().populate("server", &[tool]);
    for name in ["tool", "tol"] {
        let Ok(result) = validator.validate_text("server", name, Some(arguments)) else {
            return;
        };
        assert!(result.is_valid || !result.errors.is_empty());
        let observation = validator.build_retry_observation("server", name, &result, 0);
        assert_eq!(
            observation,
            validator.build_retry_observation("server", name, &result, 0)
        );
        let brief = validator.config().help == HelpDetail::Brief;
        let budget = validator.config().help_token_budget;
        assert!(!brief || estimate_tokens(observation.stdout()) <= budget);
        if let Some(corrected) = &result.corrected {
            let text = corrected.arguments.get().as_bytes();
            let again = validator.validate_text("server", &corrected.name, Some(text));
            assert!(again.is_ok_and(|again| again.is_valid && !again.repaired));
        }
    }
    let error_text = String::from_utf8_lossy(arguments);
    let enhancer = ErrorEnhancer::of(&validator);
    assert!(
        enhancer
            .enhance_text("server", "tool", &error_text)
            .starts_with(error_text.as_ref())
    );
    let _ = enhancer.enhance_reply("server", "tool", arguments);
});
