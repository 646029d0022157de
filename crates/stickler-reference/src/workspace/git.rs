//! Git, kept to the repository of the root and to itself.
//!
//! The repository is named, never looked for, so that neither one around the root nor one that a
//! caller has put together of plain files is taken. Hooks and helpers that a repository could name
//! are switched off, and arguments that callers give stand behind `--`.

use std::process::Command;
use std::time::Duration;

use super::{Finished, Workspace};
use crate::trouble::Trouble;

/// How long git may take.
const TIME: Duration = Duration::from_secs(60);

/// Said of every commit where nobody has told git who commits.
const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "stickler"),
    ("GIT_AUTHOR_EMAIL", "stickler@localhost"),
    ("GIT_COMMITTER_NAME", "stickler"),
    ("GIT_COMMITTER_EMAIL", "stickler@localhost"),
];

const SETTINGS: [&str; 4] =
    ["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "diff.external="];

impl Workspace {
    /// An error unless the root is a repository.
    pub(crate) fn require_repository(&self) -> Result<(), Trouble> {
        if self.dir.symlink_metadata(".git").is_ok() {
            return Ok(());
        }
        Err(Trouble::runtime("the root is no git repository; `git init` makes it one"))
    }

    /// Runs git, and gives what it says; an error with its words where it fails.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<Finished, Trouble> {
        self.require_repository()?;
        let mut command = self.git_command();
        if arguments.first() == Some(&"commit") && !self.knows_who_commits() {
            command.envs(NOBODY);
        }
        let finished = self.finish(command.args(arguments))?;
        if finished.succeeded() {
            return Ok(finished);
        }
        let said =
            if finished.stderr.trim().is_empty() { &finished.stdout } else { &finished.stderr };
        let action = arguments.first().unwrap_or(&"git");
        Err(Trouble::runtime(format!("git {action}: {}", said.trim())))
    }

    /// Stages these paths, or everything, and commits what is staged; gives the new commit's name.
    pub(crate) fn commit(&self, message: &str, paths: &[String]) -> Result<String, Trouble> {
        self.stage(paths)?;
        let message = format!("--message={message}");
        self.git(&["commit", "--quiet", "--no-gpg-sign", "--no-verify", &message])?;
        Ok(self.git(&["rev-parse", "--short", "HEAD"])?.stdout.trim().to_owned())
    }

    pub(crate) fn stage(&self, paths: &[String]) -> Result<(), Trouble> {
        let mut arguments = vec!["add", "--all", "--"];
        if paths.is_empty() {
            arguments.push(".");
        }
        arguments.extend(paths.iter().map(String::as_str));
        self.git(&arguments).map(drop)
    }

    /// The branch and what is not committed; `None` where the root is no repository.
    pub(crate) fn git_status(&self) -> Option<String> {
        let finished = self.git(&["status", "--short", "--branch", "--ignore-submodules"]).ok()?;
        Some(finished.stdout.trim_end().to_owned())
    }

    fn knows_who_commits(&self) -> bool {
        let mut command = self.git_command();
        command.args(["config", "user.email"]);
        self.finish(&mut command).is_ok_and(|finished| finished.succeeded())
    }

    fn git_command(&self) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            // A hook that runs us has its own repository in mind.
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
            .arg(format!("--git-dir={}", self.root.join(".git").display()))
            .arg(format!("--work-tree={}", self.root.display()));
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
    }

    fn finish(&self, command: &mut Command) -> Result<Finished, Trouble> {
        self.running.run(command, TIME).map_err(|error| {
            Trouble::runtime(format!("git cannot be started: {error}; is it installed?"))
        })
    }
}
