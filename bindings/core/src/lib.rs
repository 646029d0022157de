//! The validator behind the Python and JavaScript packages.
//!
//! Contract: JSON text goes in and comes out, so both packages behave the same. Bad arguments are a result, never an
//! error; only an invalid configuration or a text without a tool list is one, because it is a mistake of the program.
//! A valid call that needs no change is answered with `None`, without building any text.

mod admission;
mod check;
mod config;
mod enhance;
mod lint;

use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::json;
use stickler::{CallRejection, McpValidator, SchemaStore, ToolList, ValidationResult};
use stickler_protocol::RejectionCounts;

pub use check::CheckedArguments;
use config::Settings;
pub use lint::lint;

/// The name of the server in the tool cache. A validator has the tools of one server; it replaces `{server}` in a
/// documentation link unless the configuration names the server.
const DEFAULT_SERVER: &str = "tools";

/// Compiled schemas are shared by all validators of a process: programs create one for each session or tool list.
static SCHEMAS: LazyLock<SchemaStore> = LazyLock::new(SchemaStore::new);

/// Validates calls to the tools of one server.
pub struct Validator {
    core: McpValidator,
    settings: Settings,
    session: Mutex<Session>,
}

/// What is remembered between rejected calls.
#[derive(Default)]
struct Session {
    counts: RejectionCounts,
    turns: u64,
}

impl Validator {
    /// Creates a validator from a tool list and a configuration, both as JSON text. The list is a `tools/list` result,
    /// a JSON-RPC response with one, or an array of tools.
    pub fn new(tools: &str, config: &str) -> Result<Self, String> {
        let settings = Settings::parse(config)?;
        let core = McpValidator::new(settings.validation()).with_schema_store(&SCHEMAS);
        let created = Self { core, settings, session: Mutex::default() };
        created.set_tools(tools)?;
        Ok(created)
    }

    /// Replaces the tool list.
    pub fn set_tools(&self, tools: &str) -> Result<(), String> {
        let limits = &self.core.config().limits;
        let list = ToolList::read(tools.as_bytes(), limits)
            .map_err(|error| format!("the tool list cannot be used: {error}"))?;
        self.core.cache().populate(self.server(), &list.tools);
        Ok(())
    }

    /// Returns the reasons why tools cannot be checked, as a JSON array of sentences. Compiles all schemas.
    pub fn problems(&self) -> String {
        let problems = self.core.cache().compile_all(self.server());
        json!(problems.iter().map(ToString::to_string).collect::<Vec<_>>()).to_string()
    }

    /// Returns the mode: `enforce`, `assist` or `observe`.
    pub fn mode(&self) -> &'static str {
        self.settings.mode.as_str()
    }

    /// Returns the help prompt of a rejected call; `None` for a call that is not rejected.
    pub fn help_prompt(&self, name: &str, arguments: Option<&str>) -> Option<String> {
        let result = self.validate(name, arguments).into_result();
        (!result.is_valid).then(|| self.prompt(name, &result))
    }

    /// Returns the retry observation of a rejected call; `None` for a call that is not rejected.
    pub fn retry_observation(
        &self,
        name: &str,
        arguments: Option<&str>,
        turn: u64,
    ) -> Option<String> {
        let result = self.validate(name, arguments).into_result();
        if result.is_valid {
            return None;
        }
        let observed = self.core.build_retry_observation(self.server(), name, &result, turn);
        Some(observed.to_json())
    }

    fn prompt(&self, name: &str, result: &ValidationResult) -> String {
        self.core.build_help_prompt(self.server(), name, result).into()
    }

    fn server(&self) -> &str {
        self.settings.server.as_deref().unwrap_or(DEFAULT_SERVER)
    }

    /// Renders a rejection and counts it. `turn` is the caller's turn number, if it has one.
    fn rejection<'r>(
        &'r self,
        name: &'r str,
        arguments: Option<&str>,
        result: &'r ValidationResult,
        turn: Option<u64>,
    ) -> CallRejection<'r> {
        let (count, turn) = {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            let count = session.counts.count(name, arguments.unwrap_or_default());
            let turn = turn.unwrap_or_else(|| {
                session.turns += 1;
                session.turns
            });
            (count, turn)
        };
        CallRejection::new(&self.core, self.server(), name, result)
            .repeated(count, self.settings.retry_limit)
            .in_turn(turn)
    }
}

#[cfg(test)]
mod tests;
