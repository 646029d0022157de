//! Runs git, confined to the repository of the root.
//!
//! The repository is given explicitly and never discovered, which excludes a repository around the
//! root and one that a caller has assembled from plain files. Hooks and helpers that a repository
//! could configure are disabled, and arguments of callers follow `--`.

use std::process::Command;
use std::time::Duration;

use super::{Finished, Running, Workspace};
use crate::tool_failure::ToolFailure;

/// Time limit for a git command.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The identity for commits if git has none configured.
const DEFAULT_IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "stickler"),
    ("GIT_AUTHOR_EMAIL", "stickler@localhost"),
    ("GIT_COMMITTER_NAME", "stickler"),
    ("GIT_COMMITTER_EMAIL", "stickler@localhost"),
];

const SETTINGS: [&str; 4] =
    ["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "diff.external="];

/// The repository that a git command uses.
pub(super) enum GitDir {
    /// `.git` in the root.
    Project,
    /// A repository of the server, without the settings of the user.
    Own(std::path::PathBuf),
}

impl Workspace {
    /// Fails unless the root is a git repository.
    pub(crate) fn require_repository(&self) -> Result<(), ToolFailure> {
        if self.dir.symlink_metadata(".git").is_ok() {
            return Ok(());
        }
        Err(ToolFailure::runtime("the root is not a git repository; create one with `git init`"))
    }

    /// Runs git; fails with git's error output if the command fails.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<Finished, ToolFailure> {
        self.require_repository()?;
        let mut command = self.git_command(&GitDir::Project);
        if arguments.first() == Some(&"commit") && !self.has_identity() {
            command.envs(DEFAULT_IDENTITY);
        }
        let finished = finish(command.args(arguments), &self.running)?;
        if finished.succeeded() {
            return Ok(finished);
        }
        let output =
            if finished.stderr.trim().is_empty() { &finished.stdout } else { &finished.stderr };
        let action = arguments.first().unwrap_or(&"git");
        Err(ToolFailure::runtime(format!("git {action}: {}", output.trim())))
    }

    /// Stages these paths, or all changes, and commits them; returns the short commit id.
    pub(crate) fn commit(&self, message: &str, paths: &[String]) -> Result<String, ToolFailure> {
        self.stage(paths)?;
        let message = format!("--message={message}");
        self.git(&["commit", "--quiet", "--no-gpg-sign", "--no-verify", &message])?;
        Ok(self.git(&["rev-parse", "--short", "HEAD"])?.stdout.trim().to_owned())
    }

    pub(crate) fn stage(&self, paths: &[String]) -> Result<(), ToolFailure> {
        let mut arguments = vec!["add", "--all", "--"];
        if paths.is_empty() {
            arguments.push(".");
        }
        arguments.extend(paths.iter().map(String::as_str));
        self.git(&arguments).map(drop)
    }

    /// Returns the branch and the uncommitted changes; `None` if the root is not a repository.
    pub(crate) fn git_status(&self) -> Option<String> {
        let finished = self.git(&["status", "--short", "--branch", "--ignore-submodules"]).ok()?;
        Some(finished.stdout.trim_end().to_owned())
    }

    fn has_identity(&self) -> bool {
        let mut command = self.git_command(&GitDir::Project);
        command.args(["config", "user.email"]);
        finish(&mut command, &self.running).is_ok_and(|finished| finished.succeeded())
    }

    pub(super) fn git_command(&self, repository: &GitDir) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            // If a git hook runs this server, these variables name the hook's repository.
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.root)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_EDITOR", "true")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .arg("--literal-pathspecs")
            .arg(format!("--work-tree={}", self.root.display()));
        match repository {
            GitDir::Project => {
                command.arg(format!("--git-dir={}", self.root.join(".git").display()));
            }
            GitDir::Own(path) => {
                command
                    .env("GIT_CONFIG_GLOBAL", "/dev/null")
                    .env("GIT_CONFIG_NOSYSTEM", "1")
                    .arg(format!("--git-dir={}", path.display()))
                    .args(["-c", "gc.auto=0", "-c", "core.autocrlf=false"])
                    .args(["-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false"]);
            }
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
    }

    /// Runs git for the server itself: the command continues if the call is cancelled.
    pub(super) fn finish_git(&self, command: &mut Command) -> Result<Finished, ToolFailure> {
        finish(command, &self.running.for_server())
    }
}

fn finish(command: &mut Command, running: &Running) -> Result<Finished, ToolFailure> {
    running.run(command, TIME_LIMIT).map_err(|error| {
        ToolFailure::runtime(format!("git cannot be started: {error}; is it installed?"))
    })
}
