//! Reads the conformance table, `conformance/` in the root of the repository, for the runners of all adapters.
#![allow(dead_code, reason = "each runner uses a part")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stickler::{
    AnswerForm, Formats, HelpDetail, Mode, Repair, ToolDefinition, ToolList, UnknownFields,
    ValidationConfig,
};

/// The files with cases.
pub(crate) const FILES: [&str; 5] = ["mistakes", "repairs", "answers", "settings", "results"];

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The members of the line, in the order in which they are written.
    pub(crate) line: Map<String, Value>,
}

/// What a case says about the configuration: the settings of validation and those of an adapter.
pub(crate) struct Settings {
    pub(crate) validation: ValidationConfig,
    pub(crate) mode: Mode,
    pub(crate) answer: AnswerForm,
    pub(crate) retry_limit: u32,
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

/// Returns the cases of a file.
pub(crate) fn read(file: &str) -> Vec<Case> {
    let path = folder().join(format!("{file}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap();
    let case = |line: &str| Case { line: serde_json::from_str(line).unwrap() };
    text.lines().map(case).collect()
}

/// Returns the cases of all files.
pub(crate) fn all() -> Vec<Case> {
    FILES.iter().flat_map(|file| read(file)).collect()
}

/// Returns the tool definitions of a set, as a JSON array.
pub(crate) fn tools(set: &str) -> Value {
    let text = std::fs::read_to_string(folder().join("tools.json")).unwrap();
    let sets: Value = serde_json::from_str(&text).unwrap();
    sets.get(set).unwrap_or_else(|| panic!("there is no tool set {set}")).clone()
}

/// Returns the tool definitions of a set.
pub(crate) fn tool_definitions(set: &str) -> Vec<ToolDefinition> {
    let limits = ValidationConfig::default().limits;
    ToolList::read(tools(set).to_string().as_bytes(), &limits).unwrap().tools
}

impl Case {
    pub(crate) fn name(&self) -> &str {
        self.line["case"].as_str().unwrap()
    }

    pub(crate) fn tools(&self) -> &str {
        self.line["tools"].as_str().unwrap()
    }

    /// Returns the settings as written, by their names in `stickler.toml`.
    pub(crate) fn config(&self) -> Map<String, Value> {
        let config = self.line.get("config").and_then(Value::as_object);
        config.cloned().unwrap_or_default()
    }

    pub(crate) fn tool(&self) -> &str {
        self.line["call"]["name"].as_str().unwrap()
    }

    /// Returns the arguments; `None` if the call has none or if only their text is given.
    pub(crate) fn arguments(&self) -> Option<&Value> {
        self.line["call"].get("arguments")
    }

    /// Whether the arguments exist only as text, because a JSON library would change them.
    pub(crate) fn has_only_text(&self) -> bool {
        self.line["call"].get("arguments_text").is_some()
    }

    /// Returns the JSON text of the arguments.
    pub(crate) fn arguments_text(&self) -> Option<String> {
        match self.line["call"].get("arguments_text") {
            Some(text) => Some(text.as_str().unwrap().to_owned()),
            None => self.arguments().map(Value::to_string),
        }
    }

    /// How often the call is made; the expectation is about the last time.
    pub(crate) fn times(&self) -> u32 {
        self.line.get("times").and_then(Value::as_u64).map_or(1, |times| times.try_into().unwrap())
    }

    /// The turn of the conversation that the caller sends.
    pub(crate) fn turn(&self) -> Option<u64> {
        self.line.get("turn").and_then(Value::as_u64)
    }

    /// The JSON text of the `params` of the `tools/call` request.
    pub(crate) fn params(&self) -> String {
        let mut params = format!("{{\"name\":{}", self.line["call"]["name"]);
        if let Some(arguments) = self.arguments_text() {
            params.push_str(",\"arguments\":");
            params.push_str(&arguments);
        }
        if let Some(turn) = self.turn() {
            let _ = write!(params, ",\"_meta\":{{\"dev.stickler/turn_index\":{turn}}}");
        }
        params.push('}');
        params
    }

    /// The response of the server, `{"result": …}` or `{"error": …}`, if the case is about it.
    pub(crate) fn server(&self) -> Option<&Value> {
        self.line.get("server")
    }

    /// The response that the server gives to a call that reaches it.
    pub(crate) fn server_or_default(&self) -> Value {
        let default =
            || serde_json::json!({ "result": { "content": [{ "type": "text", "text": "done" }] } });
        self.server().cloned().unwrap_or_else(default)
    }

    /// Returns a member of the expectation, as it applies to a kind of adapter.
    pub(crate) fn expect(&self, adapter: &str, member: &str) -> Value {
        let different =
            self.line.get("differs").and_then(|differs| differs.get(adapter)?.get(member));
        different.or_else(|| self.line["expect"].get(member)).cloned().unwrap_or_default()
    }

    pub(crate) fn settings(&self) -> Settings {
        let config = self.config();
        let word = |key: &str| config.get(key).map(|value| value.as_str().unwrap().to_owned());
        let mode = match word("mode").as_deref() {
            None | Some("enforce") => Mode::Enforce,
            Some("assist") => Mode::Assist,
            Some("observe") => Mode::Observe,
            other => panic!("unknown mode {other:?}"),
        };
        let mut validation = ValidationConfig::in_mode(mode);
        let mut settings = (AnswerForm::ToolResult, 5);
        for (key, value) in &config {
            let text = value.as_str().unwrap_or_default();
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            match key.as_str() {
                "mode" => {}
                "answer" => settings.0 = answer_form(text),
                "retry_limit" => settings.1 = u32::try_from(number.unwrap()).unwrap(),
                "unknown_fields" => validation.unknown_fields = unknown_fields(text),
                "formats" => validation.formats = formats(text),
                "repair" => validation.repair = repair(text),
                "help" => {
                    validation.help =
                        if text == "full" { HelpDetail::Full } else { HelpDetail::Brief }
                }
                "help_token_budget" => validation.help_token_budget = number.unwrap(),
                "suggestion_distance" => validation.suggestion_distance = number.unwrap(),
                "mask" => validation.mask_values = value == true,
                "enhance_errors" => validation.enhance_errors = value == true,
                "documentation_url" => validation.documentation_url = Some(text.to_owned()),
                "injected_keys" => {
                    let keys = value.as_array().unwrap().iter();
                    validation.injected_keys =
                        keys.map(|key| key.as_str().unwrap().to_owned()).collect();
                }
                other => panic!("unknown setting {other}"),
            }
        }
        Settings { validation, mode, answer: settings.0, retry_limit: settings.1 }
    }
}

fn answer_form(text: &str) -> AnswerForm {
    match text {
        "tool-result" => AnswerForm::ToolResult,
        "json-rpc-error" => AnswerForm::JsonRpcError,
        "observation" => AnswerForm::Observation,
        other => panic!("unknown answer {other}"),
    }
}

fn unknown_fields(text: &str) -> UnknownFields {
    match text {
        "reject" => UnknownFields::Reject,
        "reject-mistakes" => UnknownFields::RejectMistakes,
        "follow-schema" => UnknownFields::FollowSchema,
        other => panic!("unknown choice {other}"),
    }
}

fn formats(text: &str) -> Formats {
    match text {
        "lenient" => Formats::Lenient,
        "strict" => Formats::Strict,
        "ignore" => Formats::Ignore,
        other => panic!("unknown choice {other}"),
    }
}

fn repair(text: &str) -> Repair {
    match text {
        "off" => Repair::Off,
        "suggest" => Repair::Suggest,
        "apply" => Repair::Apply,
        other => panic!("unknown choice {other}"),
    }
}

/// Removes what depends on the revision of the protocol from a response, for a comparison.
pub(crate) fn without_result_type(mut outcome: Value) -> Value {
    if let Some(result) = outcome.get_mut("result").and_then(Value::as_object_mut) {
        result.shift_remove("resultType");
    }
    outcome
}

/// Collects the differences of a runner, to report all of them at once.
#[derive(Default)]
pub(crate) struct Differences(Vec<String>);

impl Differences {
    pub(crate) fn compare(&mut self, case: &Case, what: &str, expected: &Value, actual: &Value) {
        if expected != actual {
            let name = case.name();
            self.0.push(format!("{name}: {what}\n  expected: {expected}\n  received: {actual}"));
        }
    }

    pub(crate) fn finish(self, cases: usize) {
        assert!(cases > 0, "no case of the table was run");
        let count = self.0.len();
        assert!(self.0.is_empty(), "{count} differences in {cases} cases\n\n{}", self.0.join("\n"));
    }
}
