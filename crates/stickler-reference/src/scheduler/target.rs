//! Finds the tool that a job calls and validates the parameters.

use std::sync::LazyLock;

use serde_json::Value;
use stickler::{McpValidator, ToolDefinition, ValidationConfig, ValidationErrorKind};

use crate::Suite;
use crate::tool::Tool;
use crate::tool_failure::ToolFailure;

const SERVER: &str = "reference";

/// The tools that a job may call.
static TARGETS: LazyLock<Targets> = LazyLock::new(Targets::new);

struct Targets {
    tools: Vec<(Suite, Tool)>,
    validator: McpValidator,
}

impl Targets {
    fn new() -> Self {
        let suites = Suite::WITHOUT_SCHEDULER.into_iter();
        let tools: Vec<(Suite, Tool)> = suites
            .flat_map(|suite| suite.tools().into_iter().map(move |tool| (suite, tool)))
            .collect();
        let definitions: Vec<ToolDefinition> = tools
            .iter()
            .map(|(_, tool)| {
                let schema = Value::Object(tool.schema().clone());
                ToolDefinition::new(tool.name).with_input_schema(schema)
            })
            .collect();
        let validator = McpValidator::new(ValidationConfig::default());
        validator.cache().populate(SERVER, &definitions);
        Self { tools, validator }
    }
}

/// Returns the tool named `tool` or `suite:tool` if its schema accepts the parameters.
pub(super) fn find(name: &str, parameters: &Value) -> Result<&'static Tool, ToolFailure> {
    let targets = &*TARGETS;
    let (suite, tool) =
        name.split_once(':').map_or((None, name), |(suite, tool)| (Some(suite), tool));
    let result = targets.validator.validate(SERVER, tool, parameters);
    if let Some(error) = result.errors.first() {
        if let ValidationErrorKind::UnknownTool { suggestions, .. } = &error.kind {
            return Err(unknown(name, suggestions));
        }
        let problems: Vec<String> = result
            .errors
            .iter()
            .map(|error| format!("{}: {}", error.path, error.message))
            .collect();
        let problems = problems.join("; ");
        let message = format!("the parameters are invalid for `{tool}`: {problems}");
        return Err(ToolFailure::semantic(message));
    }
    let found = targets
        .tools
        .iter()
        .find(|(home, known)| known.name == tool && suite.is_none_or(|suite| suite == home.name()));
    found.map(|(_, tool)| tool).ok_or_else(|| unknown(name, &[]))
}

fn unknown(name: &str, suggestions: &[String]) -> ToolFailure {
    let hint = if let Some(suggestion) = suggestions.first() {
        format!("did you mean `{suggestion}`?")
    } else {
        let known: Vec<&str> = TARGETS.tools.iter().map(|(_, tool)| tool.name).collect();
        format!("available tools: {}", known.join(", "))
    };
    ToolFailure::semantic(format!("the tool `{name}` does not exist; {hint}"))
        .suggesting(suggestions)
}
