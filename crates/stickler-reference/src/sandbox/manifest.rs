//! Reads the dependencies of a project from its manifest.

use serde_json::{Map, Value, json};

use crate::tool_failure::ToolFailure;
use crate::workspace::Workspace;

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Manager {
    Cargo,
    Npm,
}

impl Manager {
    /// Returns the chosen manager, or the first one with a manifest in the root.
    pub(super) fn of(workspace: &Workspace, chosen: Option<Self>) -> Result<Self, ToolFailure> {
        let all = [Self::Cargo, Self::Npm];
        let present = |manager: &Self| workspace.dir().is_file(manager.file());
        let found = match chosen {
            Some(manager) => Some(manager).filter(present),
            None => all.into_iter().find(present),
        };
        found.ok_or_else(|| match chosen {
            Some(manager) => {
                ToolFailure::runtime(format!("the root does not contain `{}`", manager.file()))
            }
            None => {
                ToolFailure::runtime("the root contains neither `Cargo.toml` nor `package.json`")
            }
        })
    }

    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo.toml",
            Self::Npm => "package.json",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Npm => "npm",
        }
    }

    /// Returns the dependencies of the manifest, by section.
    pub(super) fn dependencies(self, workspace: &Workspace) -> Result<Value, ToolFailure> {
        let text = workspace.read_text(&workspace.place(self.file())?)?;
        let manifest: Value = match self {
            Self::Cargo => toml::from_str(&text).map_err(|error| self.unreadable(&error))?,
            Self::Npm => serde_json::from_str(&text).map_err(|error| self.unreadable(&error))?,
        };
        let sections: &[&str] = match self {
            Self::Cargo => &["dependencies", "dev-dependencies", "build-dependencies"],
            Self::Npm => {
                &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]
            }
        };
        let found: Map<String, Value> = sections
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), manifest.get(*name)?.clone())))
            .collect();
        Ok(json!({ "manager": self.name(), "sections": found }))
    }

    /// Returns the section of a dependency. npm does not report an unknown one as an error.
    pub(super) fn section_of(
        self,
        workspace: &Workspace,
        package: &str,
    ) -> Result<String, ToolFailure> {
        let found = self.dependencies(workspace)?;
        let sections = || found["sections"].as_object().into_iter().flatten();
        let section = sections().find(|(_, packages)| packages.get(package).is_some());
        section.map(|(name, _)| name.clone()).ok_or_else(|| {
            let known: Vec<String> = sections()
                .filter_map(|(_, all)| all.as_object())
                .flat_map(Map::keys)
                .cloned()
                .collect();
            let meant = did_you_mean(package, known.iter().map(String::as_str));
            let all = if known.is_empty() { "none".to_owned() } else { list(&known) };
            ToolFailure::runtime(format!(
                "nothing was changed: `{package}` is not a dependency; dependencies: {all}{meant}"
            ))
        })
    }

    fn unreadable(self, error: &dyn std::fmt::Display) -> ToolFailure {
        ToolFailure::runtime(format!("`{}` cannot be read: {error}", self.file()))
    }
}

/// Formats names for a message.
fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns a suggestion for an unknown name, as the end of a sentence.
fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let nearest = stickler::nearest_names(name, known);
    nearest.first().map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}
