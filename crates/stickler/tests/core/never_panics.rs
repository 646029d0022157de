//! Property tests of validation with random tools, arguments and configurations.
//!
//! Nothing panics, corrected calls are valid, help is deterministic and within its budget, and masked
//! values never appear in it.

use proptest::prelude::*;
use serde_json::{Value, json};
use stickler::lint::{LintOptions, lint_with};
use stickler::tape::TapeBuffer;
use stickler::{
    HelpDetail, McpValidator, ToolDefinition, ValidationConfig, ValidationErrorKind,
    ValidationResult, estimate_tokens,
};

const SERVER: &str = "server";

/// The random inputs of one call.
#[derive(Debug, Clone)]
struct Inputs {
    config: ValidationConfig,
    schemas: Vec<Value>,
    tool: &'static str,
    arguments: String,
}

/// A validated call.
struct Call {
    validator: McpValidator,
    tool: &'static str,
    arguments: String,
    result: ValidationResult,
}

fn inputs() -> impl Strategy<Value = Inputs> {
    let tools = vec!["search_files", "search_files", "search_file", "write", "serchFiles", "else"];
    let schemas = prop::collection::vec(crate::support::calls::schema(), 1..4);
    let mistakes = prop::collection::vec(any::<u8>(), 0..40);
    let arguments =
        prop_oneof![mistakes.prop_map(Ok), crate::support::calls::arguments().prop_map(Err)];
    let all = (crate::support::calls::config(), schemas, prop::sample::select(tools), arguments);
    all.prop_map(|(config, schemas, tool, arguments)| {
        let arguments = match arguments {
            Ok(mistakes) => crate::support::near::arguments(
                &schemas[0],
                &mut crate::support::near::Dice(&mistakes),
            ),
            Err(any) => String::from_utf8_lossy(&any).into_owned(),
        };
        Inputs { config, schemas, tool, arguments }
    })
}

impl Inputs {
    /// Validates the call; `None` if the arguments are not JSON.
    fn check(self) -> Option<Call> {
        let Self { config, schemas, tool, arguments } = self;
        let validator = McpValidator::new(config);
        let names = ["search_files", "search_file", "write"].into_iter();
        let describe = |(name, schema): (&str, Value)| {
            ToolDefinition::new(name)
                .with_description("Finds `files`.\n\nReturns their paths.")
                .with_example(json!({ "path": "x" }))
                .with_input_schema(schema)
        };
        let tools: Vec<ToolDefinition> = names.zip(schemas).map(describe).collect();
        validator.cache().populate(SERVER, &tools);
        let result = validator.validate_text(SERVER, tool, Some(arguments.as_bytes())).ok()?;
        Some(Call { validator, tool, arguments, result })
    }
}

impl Call {
    fn validate(&self, tool: &str, arguments: &str) -> Option<ValidationResult> {
        self.validator.validate_text(SERVER, tool, Some(arguments.as_bytes())).ok()
    }

    fn help(&self) -> String {
        self.validator.build_help_prompt(SERVER, self.tool, &self.result).into()
    }
}

/// Collects the strings that are long enough to be recognised.
///
/// For a string that contains JSON, only its inner strings count: brackets and quotes are not secret
/// and also appear in help for other reasons.
fn long_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(within) => long_strings(&within, found),
            Err(_) if text.chars().count() > 6 => found.push(text.clone()),
            Err(_) => {}
        },
        Value::Array(items) => items.iter().for_each(|item| long_strings(item, found)),
        Value::Object(members) => members.values().for_each(|item| long_strings(item, found)),
        _ => {}
    }
}

#[test]
fn only_inner_values_of_stringified_json_are_secrets() {
    let mut found = Vec::new();
    long_strings(&json!({ "a": "\"a secret\"", "b": ["{\"c\": \"another one\"}"] }), &mut found);
    assert_eq!(found, ["a secret", "another one"]);
}

proptest! {
    #![proptest_config(crate::support::times::times(1))]

    #[test]
    fn every_definition_is_linted_and_every_finding_has_a_path(
        input in crate::support::calls::schema(), output in crate::support::calls::schema(),
    ) {
        let tool = json!({ "name": "t", "inputSchema": input, "outputSchema": output });
        let list = json!([tool]).to_string();
        let options = LintOptions::default();
        let examine = || lint_with(list.as_bytes(), &options, &|_| Vec::new()).unwrap();
        let report = examine();
        prop_assert_eq!(report.tools.len(), 1);
        for finding in &report.findings {
            prop_assert!(!finding.message.is_empty() && !finding.fix.is_empty());
            prop_assert!(stickler::rules::find(finding.rule.id).is_some());
            // A missing member is reported with the path where it belongs.
            let outer = finding.path.rsplit_once('/').map_or("", |(outer, _)| outer);
            prop_assert!(tool.pointer(outer).is_some(), "{}", finding.path);
        }
        prop_assert_eq!(format!("{report:?}"), format!("{:?}", examine()));
    }

    #[test]
    fn every_invalid_result_has_errors(inputs in inputs()) {
        let Some(call) = inputs.check() else { return Ok(()) };
        let result = &call.result;
        prop_assert!(result.is_valid || call.validator.config().limits.errors == 0
            || !result.errors.is_empty());
        prop_assert!(result.errors.iter().all(|error| !error.message.is_empty()));
        prop_assert!(!result.repaired || result.is_valid);
        let observation =
            call.validator.build_retry_observation(SERVER, call.tool, result, 7).to_json();
        prop_assert!(serde_json::from_str::<Value>(&observation).is_ok());
    }

    #[test]
    fn every_error_path_exists_in_the_arguments(inputs in inputs()) {
        let Some(call) = inputs.check() else { return Ok(()) };
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(call.arguments.as_bytes(), 128) else { return Ok(()) };
        for error in &call.result.errors {
            let place = match error.kind {
                ValidationErrorKind::MissingRequired { .. } => {
                    error.path.rsplit_once('/').map_or("", |(object, _)| object)
                }
                _ => &error.path,
            };
            prop_assert!(tape.root().pointer(place).is_some(), "{} in {}", place, tape.text());
        }
    }

    #[test]
    fn accepted_arguments_are_valid_when_checked_again(inputs in inputs()) {
        let Some(call) = inputs.check().filter(|call| call.result.is_valid) else { return Ok(()) };
        let accepted = call.result.arguments().map_or(call.arguments.as_str(), |raw| raw.get());
        let again = call.validate(call.tool, accepted);
        prop_assert!(again.is_some_and(|again| again.is_valid && !again.repaired), "{}", accepted);
    }

    #[test]
    fn corrected_call_is_valid_when_checked_again(inputs in inputs()) {
        let Some(call) = inputs.check() else { return Ok(()) };
        let Some(corrected) = &call.result.corrected else { return Ok(()) };
        prop_assert!(!call.result.edits.is_empty());
        let again = call.validate(&corrected.name, corrected.arguments.get());
        prop_assert!(
            again.as_ref().is_some_and(|again| again.is_valid && !again.repaired),
            "{} became {}: {:?}",
            call.arguments, corrected.arguments.get(), again
        );
    }

    #[test]
    fn help_is_deterministic_and_brief_help_stays_within_its_budget(inputs in inputs()) {
        let Some(call) = inputs.check() else { return Ok(()) };
        let help = call.help();
        prop_assert_eq!(&help, &call.help());
        prop_assert_eq!(help.is_empty(), call.result.errors.is_empty());
        let config = call.validator.config();
        // A smaller budget cannot hold the mandatory sentences of a help prompt.
        if config.help == HelpDetail::Brief && config.help_token_budget >= 60 {
            let tokens = estimate_tokens(&help);
            prop_assert!(tokens <= config.help_token_budget, "{} tokens:\n{}", tokens, help);
        }
    }

    #[test]
    fn masked_values_do_not_appear_in_any_output(inputs in inputs()) {
        let Some(call) = inputs.check().filter(|call| call.validator.config().mask_values) else {
            return Ok(());
        };
        let Ok(arguments) = serde_json::from_str::<Value>(&call.arguments) else {
            return Ok(());
        };
        let schema_texts: String = call.validator.cache().tool_names(SERVER).iter()
            .filter_map(|tool| Some(call.validator.cache().get(SERVER, tool)?.raw.to_string()))
            .collect();
        let mut secrets = Vec::new();
        long_strings(&arguments, &mut secrets);
        let reported = format!("{:?} {:?}", call.result.errors, call.result.edits);
        let help = call.help();
        for secret in secrets {
            // A prefix already leaks the value, and messages truncate long values.
            let secret: String = secret.chars().take(10).collect();
            let debug = format!("{secret:?}");
            let debug = debug.trim_matches('"');
            if !schema_texts.contains(json!(secret).to_string().trim_matches('"')) {
                prop_assert!(!reported.contains(debug), "{:?} is in {}", secret, reported);
                prop_assert!(!help.contains(&secret), "{:?} is in {}", secret, help);
            }
        }
    }
}
