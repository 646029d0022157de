//! A tool: its description and schema, its check before execution, and its implementation.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::tool_failure::ToolFailure;
use super::workspace::Workspace;

/// The outcome of a check: warnings, or the reason why the call would fail.
pub(crate) type Check = Result<Vec<String>, ToolFailure>;

/// The outcome of a call.
pub(crate) type Outcome = Result<Answer, ToolFailure>;

type CheckFn = dyn Fn(&Workspace, Value) -> Check + Send + Sync;
type PrepareFn = dyn Fn(&Workspace, Value) -> Result<PreparedCall, ToolFailure> + Send + Sync;

/// A call whose check has passed.
pub(crate) type PreparedCall = Box<dyn FnOnce(&Workspace) -> Outcome>;

/// One tool of a suite.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    description: &'static str,
    schema: Arc<JsonObject>,
    pub(crate) effect: Effect,
    /// Whether calls are recorded in the history.
    pub(crate) is_recorded: bool,
    check: Box<CheckFn>,
    prepare: Box<PrepareFn>,
}

/// The side effects of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Has no side effects.
    Reads,
    /// Adds data without replacing any.
    Adds,
    /// May replace or remove data below the root.
    Changes,
    /// Runs a program, which may have any side effect.
    Runs,
}

impl Tool {
    /// Creates a tool. `schema` is created by [`strict`]; `C` is the type of the arguments.
    pub(crate) fn new<C: DeserializeOwned + 'static>(
        name: &'static str,
        description: &'static str,
        effect: Effect,
        schema: Value,
        check: fn(&Workspace, &C) -> Check,
        run: fn(&Workspace, &C) -> Outcome,
    ) -> Self {
        let schema = if let Value::Object(schema) = schema { schema } else { JsonObject::new() };
        Self {
            name,
            description,
            schema: Arc::new(schema),
            effect,
            is_recorded: true,
            check: Box::new(move |workspace, arguments| check(workspace, &read(arguments)?)),
            prepare: Box::new(move |workspace, arguments| {
                let call = read(arguments)?;
                check(workspace, &call)?;
                Ok(Box::new(move |workspace| run(workspace, &call)))
            }),
        }
    }

    /// Marks a tool whose calls are not recorded: it adds its own events, or shows the history.
    pub(crate) fn unrecorded(mut self) -> Self {
        self.is_recorded = false;
        self
    }

    /// Checks whether a call could succeed, without executing it.
    pub(crate) fn check(&self, workspace: &Workspace, arguments: JsonObject) -> Check {
        (self.check)(workspace, Value::Object(arguments))
    }

    /// Checks a call and returns it for execution.
    pub(crate) fn prepare(
        &self,
        workspace: &Workspace,
        arguments: JsonObject,
    ) -> Result<PreparedCall, ToolFailure> {
        (self.prepare)(workspace, Value::Object(arguments))
    }

    pub(crate) fn schema(&self) -> &JsonObject {
        &self.schema
    }

    /// Returns the entry for the tool list.
    pub(crate) fn listed(&self) -> rmcp::model::Tool {
        let annotations = ToolAnnotations::new()
            .read_only(self.effect == Effect::Reads)
            .destructive(matches!(self.effect, Effect::Changes | Effect::Runs))
            .idempotent(self.effect == Effect::Reads)
            .open_world(self.effect == Effect::Runs);
        rmcp::model::Tool::new(
            Cow::Borrowed(self.name),
            Cow::Borrowed(self.description),
            Arc::clone(&self.schema),
        )
        .with_annotations(annotations)
    }
}

/// Deserializes arguments. Fails only if `C` is stricter than the schema, which they satisfy.
fn read<C: DeserializeOwned>(arguments: Value) -> Result<C, ToolFailure> {
    serde_json::from_value(arguments).map_err(|error| ToolFailure::semantic(error.to_string()))
}

/// Builds a schema for an object with only these properties, and an example call.
pub(crate) fn strict(properties: Value, required: &[&str], example: Value) -> Value {
    let members = [
        ("type", "object".into()),
        ("properties", properties),
        ("required", required.into()),
        ("additionalProperties", false.into()),
        ("examples", vec![example].into()),
    ];
    members.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect()
}

/// Adds to a schema that some actions require a field: `(actions, field)`, each action at most once.
///
/// The conditions are nested in `else`, because several model APIs reject `allOf`, `anyOf` and `oneOf`
/// at the root of a schema.
pub(crate) fn requiring(mut schema: Value, rules: &[(&[&str], &str)]) -> Value {
    let mut nested = None;
    for (actions, field) in rules.iter().rev() {
        let kind = schema["properties"][field]["type"].clone();
        let mut rule = json!({
            "if": { "properties": { "action": { "enum": actions } }, "required": ["action"] },
            "then": { "properties": { *field: { "type": kind } }, "required": [field] },
        });
        if let Some(other) = nested {
            rule["else"] = other;
        }
        nested = Some(rule);
    }
    if let (Some(Value::Object(rule)), Value::Object(schema)) = (nested, &mut schema) {
        schema.extend(rule);
    }
    schema
}

/// For tools that have nothing to check before execution.
#[allow(clippy::unnecessary_wraps, reason = "must have the signature of a check")]
pub(crate) fn no_check<C>(_: &Workspace, _: &C) -> Check {
    Ok(Vec::new())
}

/// The result of a successful call.
#[derive(Debug)]
pub(crate) struct Answer {
    text: String,
    data: Option<Value>,
}

impl Answer {
    /// A result that consists of text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: None }
    }

    /// Structured content, with its JSON as the text.
    pub(crate) fn data(data: Value) -> Self {
        Self { text: format!("{data:#}"), data: Some(data) }
    }

    /// Structured content with a separate text.
    pub(crate) fn both(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data: Some(data) }
    }
}

impl Answer {
    pub(crate) fn as_text(&self) -> &str {
        &self.text
    }
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> Self {
        let mut result = Self::success(vec![ContentBlock::text(answer.text)]);
        result.structured_content = answer.data;
        result
    }
}
