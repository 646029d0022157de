//! Calls of tools that the server does not list.

use serde_json::value::RawValue;

use super::McpValidator;
use super::result::{CorrectedCall, ValidationResult};
use super::wording::Wording;
use crate::config::Repair;
use crate::discovery::{CachedSchema, Lookup, ServerTools};
use crate::error::UnknownToolError;
use crate::render::HelpPrompt;
use crate::repair::Edit;
use crate::suggest::tool_names::{self, Listed};
use crate::suggest::{self, Candidate, ComparisonBudget};
use crate::tape::Node;

impl McpValidator {
    /// Returns an error if the server is known not to have the tool.
    pub fn require_tool(&self, server: &str, tool: &str) -> Result<(), UnknownToolError> {
        match self.cache.lookup(server, tool) {
            Lookup::Unknown(tools) => Err(UnknownToolError {
                name: tool.to_owned(),
                suggestions: self.suggested_tools(&tools, tool),
                help: self.build_unknown_tool_help(server, tool).into(),
            }),
            _ => Ok(()),
        }
    }

    /// Builds the help for a name that is not a tool: the available tools, nearest first.
    pub fn build_unknown_tool_help(&self, server: &str, name: &str) -> HelpPrompt {
        let suggestions = match self.cache.lookup(server, name) {
            Lookup::Unknown(tools) => self.suggested_tools(&tools, name),
            _ => Vec::new(),
        };
        let error = Wording::unknown_tool(name, suggestions);
        self.build_help_prompt(server, name, &ValidationResult::rejected(vec![error], false))
    }

    /// Returns the listed tools that an unlisted name resembles by form (case, separators, typos) or by its last
    /// segment after a prefix, best first. Suggestions by meaning are not included.
    pub fn tools_resembling(&self, server: &str, name: &str) -> Vec<String> {
        match self.cache.lookup(server, name) {
            Lookup::Unknown(tools) => {
                let near = self.resembling(&tools, name).into_iter();
                near.map(|candidate| candidate.name.to_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the known names that may be meant by an unknown one, best first.
    pub fn find_suggestions(&self, name: &str, known: &[String]) -> Vec<String> {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let budget = ComparisonBudget::unlimited();
        let distance = self.config.suggestion_distance;
        let nearest = suggest::nearest_of(name, &known, |_| true, distance, &budget);
        nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
    }

    pub(super) fn unknown_tool(
        &self,
        tools: &ServerTools,
        name: &str,
        arguments: Node<'_>,
    ) -> ValidationResult {
        let error = Wording::unknown_tool(name, self.suggested_tools(tools, name));
        let mut result = ValidationResult::rejected(vec![error], false);
        if self.config.repair != Repair::Off
            && let Some(intended) = self.intended_tool(tools, name)
            && let Some((arguments, edits)) = self.arguments_for(intended, arguments)
        {
            result.edits = vec![Edit::rename_tool(name, &intended.tool)];
            result.edits.extend(edits);
            result.corrected = Some(CorrectedCall { name: intended.tool.clone(), arguments });
        }
        result
    }

    /// Returns the tool that an unlisted name resembles, if one stands out.
    fn intended_tool<'t>(&self, tools: &'t ServerTools, name: &str) -> Option<&'t CachedSchema> {
        let intended = suggest::unambiguous_best(&self.resembling(tools, name))?;
        tools.get(intended.name).map(AsRef::as_ref)
    }

    /// Returns the arguments in a form that the tool accepts, with the edits made.
    fn arguments_for(
        &self,
        tool: &CachedSchema,
        arguments: Node<'_>,
    ) -> Option<(Box<RawValue>, Vec<Edit>)> {
        let result = self.validate_cached(tool, arguments);
        if result.is_valid && !result.repaired {
            let text = arguments.raw().to_owned();
            return Some((RawValue::from_string(text).ok()?, Vec::new()));
        }
        Some((result.corrected?.arguments, result.edits))
    }

    fn resembling<'t>(&self, tools: &'t ServerTools, name: &str) -> Vec<Candidate<'t>> {
        let known: Vec<&str> = tools.names().iter().map(String::as_str).collect();
        let distance = self.config.suggestion_distance;
        tool_names::resembling(name, &known, distance, &self.comparison_budget())
    }

    fn suggested_tools(&self, tools: &ServerTools, name: &str) -> Vec<String> {
        let listed: Vec<Listed<'_>> = tools.described();
        let distance = self.config.suggestion_distance;
        let names = tool_names::suggestions(name, &listed, distance, &self.comparison_budget());
        names.into_iter().map(str::to_owned).collect()
    }

    /// Returns the budget for comparing names that a peer sent.
    fn comparison_budget(&self) -> ComparisonBudget {
        ComparisonBudget::new(self.config.limits.explain_steps)
    }
}
