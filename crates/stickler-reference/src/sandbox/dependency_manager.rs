//! Tool `dependency_manager`: lists, adds and removes dependencies.

use std::process::Command;

use serde::Deserialize;
use serde_json::json;

use super::manifest::Manager;
use crate::tool::{Answer, Check, Effect, Outcome, Tool, requiring, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{DEFAULT_SECONDS, MAX_SECONDS, Workspace, time_limit};

#[derive(Deserialize)]
struct Dependencies {
    action: Action,
    manager: Option<Manager>,
    package: Option<String>,
    version: Option<String>,
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Add,
    Remove,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Add => "add",
            Self::Remove => "remove",
        }
    }
}

pub(super) fn tool() -> Tool {
    let fields = strict(
        json!({
            "action": { "type": "string", "enum": ["list", "add", "remove"], "description": "The action to perform" },
            "manager": { "type": "string", "enum": ["cargo", "npm"], "description": "The package manager; default: detected from the files in the root" },
            "package": { "type": "string", "pattern": "^[A-Za-z0-9@][A-Za-z0-9@/._-]*$", "description": "The package, for `add` and `remove`" },
            "version": { "type": "string", "pattern": "^[A-Za-z0-9^~*=.+-]+$", "description": "The version for `add`, such as `1.2`; default: the newest" },
            "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "default": DEFAULT_SECONDS, "description": "The time limit, after which the package manager is terminated" },
        }),
        &["action"],
        json!({ "action": "list", "manager": "cargo" }),
    );
    let schema = requiring(fields, &[(&["add", "remove"], "package")]);
    let description = "Lists, adds or removes dependencies of the project in the root.";
    Tool::new("dependency_manager", description, Effect::Runs, schema, check, run)
}

fn check(workspace: &Workspace, call: &Dependencies) -> Check {
    if call.action != Action::List {
        workspace.require_shell("changing dependencies")?;
    }
    let manager = Manager::of(workspace, call.manager)?;
    if let (Action::Remove, Some(package)) = (call.action, &call.package) {
        manager.section_of(workspace, package)?;
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Dependencies) -> Outcome {
    let manager = Manager::of(workspace, call.manager)?;
    if call.action == Action::List {
        return Ok(Answer::data(manager.dependencies(workspace)?));
    }
    let mut command = Command::new(manager.name());
    command.current_dir(workspace.root()).args(words(workspace, manager, call)?);
    let finished = workspace.running.run(&mut command, time_limit(call.timeout_seconds));
    let finished = finished.map_err(|error| {
        ToolFailure::runtime(format!(
            "`{}` cannot be started: {error}; is it installed?",
            manager.name()
        ))
    })?;
    if !finished.succeeded() {
        return Err(ToolFailure::runtime(format!("{}: {}", manager.name(), finished.text())));
    }
    Ok(Answer::data(manager.dependencies(workspace)?))
}

/// Returns the arguments for the package manager. Install scripts are disabled.
fn words(
    workspace: &Workspace,
    manager: Manager,
    call: &Dependencies,
) -> Result<Vec<String>, ToolFailure> {
    let mut package = call.package.clone().unwrap_or_default();
    let mut words = match (manager, call.action) {
        (Manager::Cargo, Action::Remove) => {
            let mut words = vec!["remove"];
            words.extend(match manager.section_of(workspace, &package)?.as_str() {
                "dev-dependencies" => Some("--dev"),
                "build-dependencies" => Some("--build"),
                _ => None,
            });
            words
        }
        (Manager::Cargo, action) => vec![action.name()],
        (Manager::Npm, Action::Remove) => vec!["uninstall", "--ignore-scripts"],
        (Manager::Npm, _) => vec!["install", "--ignore-scripts"],
    };
    if let (Action::Add, Some(version)) = (call.action, &call.version) {
        package = format!("{package}@{version}");
    }
    words.extend(["--", &package]);
    Ok(words.into_iter().map(str::to_owned).collect())
}
