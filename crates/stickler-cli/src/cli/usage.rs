//! Errors in the command line: what the parser reports, and a hint where its own does not help.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use super::Cli;

/// Words that other tools use for a command.
const OTHER_NAMES: [(&str, &str); 14] = [
    ("proxy", "run"),
    ("start", "run"),
    ("gateway", "run"),
    ("install", "wrap"),
    ("add", "wrap"),
    ("uninstall", "unwrap"),
    ("remove", "unwrap"),
    ("status", "wrap --status"),
    ("list", "tools"),
    ("list-tools", "tools"),
    ("lint", "check"),
    ("test", "check"),
    ("inspect", "check"),
    ("version", "--version"),
];

/// Commands that take the command of a server after `--`.
const WITH_SERVER: [&str; 4] = ["call", "check", "tools", "run"];

/// Parses the command line. Prints help, the version or an error and exits if there is nothing to run.
pub(crate) fn parse() -> Cli {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Cli::try_parse().unwrap_or_else(|error| match hint(&error, &arguments) {
        Some(Hint::Instead(message)) => {
            crate::style::print_message("error", &message);
            std::process::exit(error.exit_code());
        }
        Some(Hint::After(hint)) => {
            let _ = error.print();
            crate::style::print_message("\nhint", &hint);
            std::process::exit(error.exit_code());
        }
        None => error.exit(),
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Hint {
    /// Replaces the message of the parser.
    Instead(String),
    /// Follows it.
    After(String),
}

fn hint(error: &clap::Error, arguments: &[String]) -> Option<Hint> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
                return None;
            };
            Some(Hint::Instead(unknown_command(word)))
        }
        // The parser suggests `-- -y`, which would make `-y` the command of the server.
        ErrorKind::UnknownArgument => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
                return None;
            };
            let hint = missing_separator(arguments).filter(|_| !word.starts_with("--"))?;
            Some(Hint::Instead(format!("unexpected argument `{word}`\n\nhint: {hint}")))
        }
        ErrorKind::MissingRequiredArgument => missing_separator(arguments).map(Hint::After),
        _ => None,
    }
}

fn unknown_command(word: &str) -> String {
    let commands = Cli::command();
    let names = commands.get_subcommands().map(clap::Command::get_name);
    let other = OTHER_NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    let nearest = other.map(|(_, command)| (*command).to_owned()).or_else(|| {
        let nearest = stickler::nearest_names(word, names);
        nearest.first().map(ToString::to_string)
    });
    let meant =
        nearest.map_or_else(String::new, |name| format!("; did you mean `stickler {name}`?"));
    format!(
        "unknown command `{word}`{meant}\n\nUsage: stickler <COMMAND>\n\nhint: `stickler help` lists the commands"
    )
}

/// Returns a hint if the command of the server may stand there without `--` before it.
fn missing_separator(arguments: &[String]) -> Option<String> {
    let command = arguments.get(1)?;
    let has_separator = arguments.iter().any(|word| word == "--");
    let is_concerned = WITH_SERVER.contains(&command.as_str()) && !has_separator;
    is_concerned.then(|| {
        format!(
            "put `--` before the command of the server: `stickler {command} … -- COMMAND`; a server at a URL \
             needs `--url`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{OTHER_NAMES, missing_separator, unknown_command};
    use crate::cli::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn unknown_command_suggests_one() {
        for (word, expected) in [
            ("chekc", "`stickler check`"),
            ("rn", "`stickler run`"),
            ("Check", "`stickler check`"),
            ("proxy", "`stickler run`"),
            ("LINT", "`stickler check`"),
            ("tool", "`stickler tools`"),
        ] {
            let message = unknown_command(word);
            assert!(message.contains(&format!("did you mean {expected}?")), "{message}");
        }
        assert!(!unknown_command("xyzzy").contains("did you mean"));
    }

    #[test]
    fn other_names_lead_to_commands_and_are_not_commands() {
        let commands = Cli::command();
        let is_command = |name: &str| commands.find_subcommand(name).is_some();
        for (name, command) in OTHER_NAMES {
            assert!(!is_command(name), "{name}");
            let first = command.split(' ').next().unwrap_or_default();
            assert!(is_command(first) || first == "--version", "{command}");
        }
    }

    #[test]
    fn missing_separator_is_explained_for_commands_with_a_server() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let call = words("stickler call read path=x npx -y server");
        assert!(
            missing_separator(&call)
                .is_some_and(|hint| hint.contains("`stickler call … -- COMMAND`"))
        );
        assert_eq!(missing_separator(&words("stickler call read -- ")), None);
        assert_eq!(missing_separator(&words("stickler validate read")), None);
    }
}
