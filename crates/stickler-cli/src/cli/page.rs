//! Generates `docs/cli.md` from the command line definition.
//!
//! A test fails if the page is out of date; with `STICKLER_UPDATE_DOCS` set, it writes the page.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;

const INTRODUCTION: &str = "\
# The command line

This page lists every command with its options and defaults, as `stickler COMMAND --help` prints them. The
[guide](guide.md) explains when to use which command. The page is generated from the command line definition in
`crates/stickler-cli/src/cli.rs`; do not edit it. To regenerate it, run
`STICKLER_UPDATE_DOCS=1 cargo test -p stickler-cli --bin stickler cli::page`.
";

fn page() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n| command | purpose |\n| --- | --- |\n");
    for command in shown(&cli) {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "| [`{name}`](#stickler-{name}) | {} |", about.replace('|', "\\|"));
    }
    notes(&mut page, &cli);
    for command in shown(&cli) {
        section(&mut page, command);
    }
    page
}

fn shown(cli: &Command) -> impl Iterator<Item = &Command> {
    cli.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn section(page: &mut String, command: &Command) {
    let _ = write!(page, "\n## stickler {}\n", command.get_name());
    if let Some(about) = command.get_about() {
        let _ = write!(page, "\n{}.\n", about.to_string().trim_end_matches('.'));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(page, "\n```text\n{usage}\n```\n");
    subcommands(page, command);
    let positionals = command.get_positionals().filter(|argument| !argument.is_hide_set());
    arguments(page, "Arguments", positionals);
    for heading in headings(command) {
        let of_heading = options(command).filter(|option| option.get_help_heading() == heading);
        arguments(page, heading.unwrap_or("Options"), of_heading);
    }
    notes(page, command);
}

/// Lists the subcommands of a command with their own arguments.
fn subcommands(page: &mut String, command: &Command) {
    let mut is_first = true;
    for subcommand in shown(command).filter(|subcommand| subcommand.get_name() != "help") {
        if std::mem::take(&mut is_first) {
            page.push_str("\nCommands:\n\n");
        }
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "- `{}`: {about}.", subcommand.get_name());
        for argument in subcommand.get_arguments() {
            if !argument.is_global_set() && argument.get_id() != "help" {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                let _ = writeln!(page, "  - `{argument}`: {help}.");
            }
        }
    }
}

/// Returns the visible options of a command, except `--help`.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| {
        !argument.is_positional() && !argument.is_hide_set() && argument.get_id() != "help"
    })
}

/// Returns the headings of the options in the order of their definition; `None` comes first.
fn headings(command: &Command) -> Vec<Option<&str>> {
    let mut headings = vec![None];
    for option in options(command) {
        let heading = option.get_help_heading();
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    headings
}

fn arguments<'a>(page: &mut String, heading: &str, arguments: impl Iterator<Item = &'a Arg>) {
    let mut is_first = true;
    for argument in arguments {
        if std::mem::take(&mut is_first) {
            let _ = write!(page, "\n{heading}:\n\n");
        }
        entry(page, argument);
    }
}

fn entry(page: &mut String, argument: &Arg) {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let (sentence, default) = sentence_and_default(&help, argument);
    let _ = write!(page, "- `{argument}`: {sentence}.");
    if let Some(default) = default {
        let _ = write!(page, " Default: `{default}`.");
    }
    page.push('\n');
    values(page, argument);
}

/// Writes the possible values: one line for each value with a help text, one line for all others.
fn values(page: &mut String, argument: &Arg) {
    let mut names = Vec::new();
    for value in argument.get_possible_values() {
        match value.get_help() {
            Some(help) => {
                let _ = writeln!(page, "  - `{}`: {help}", value.get_name());
            }
            None => names.push(format!("`{}`", value.get_name())),
        }
    }
    let is_switch = names == ["`true`", "`false`"];
    if !names.is_empty() && !is_switch {
        let _ = writeln!(page, "  - {}", names.join(", "));
    }
}

/// Returns the help text and the default value. Options that a file or a variable can set have their default in
/// the help text, all others in clap.
fn sentence_and_default(help: &str, argument: &Arg) -> (String, Option<String>) {
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((sentence, default)) = help.split_once(" [default: ") {
        return (sentence.to_owned(), Some(default.trim_end_matches(']').to_owned()));
    }
    let defaults = argument.get_default_values();
    let shows_default = argument.get_action().takes_values() && !defaults.is_empty();
    let joined =
        || defaults.iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(" ");
    (help.trim_end_matches('.').to_owned(), shows_default.then(joined))
}

/// Writes the text below the options: sentences, and indented blocks with a heading.
fn notes(page: &mut String, command: &Command) {
    let Some(text) = command.get_after_help().map(ToString::to_string) else { return };
    let mut is_open = false;
    for line in text.lines() {
        let is_indented = line.starts_with("  ");
        if is_open && !is_indented {
            page.push_str("```\n");
        }
        match (is_open, is_indented) {
            (false, true) => {
                let _ = writeln!(page, "\n```text\n{}", line.trim_start());
            }
            (true, true) => {
                let _ = writeln!(page, "{}", line.trim_start());
            }
            (_, false) if line.is_empty() => {}
            (_, false) => {
                let _ = write!(page, "\n{line}\n");
            }
        }
        is_open = is_indented;
    }
    if is_open {
        page.push_str("```\n");
    }
}

#[test]
fn cli_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let expected = page();
    if std::env::var_os("STICKLER_UPDATE_DOCS").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == expected,
        "run this test with STICKLER_UPDATE_DOCS=1 and review the difference"
    );
}

#[test]
fn cli_page_lists_every_command_and_option() {
    let page = page();
    let mut cli = Cli::command();
    cli.build();
    for command in shown(&cli) {
        assert!(page.contains(&format!("\n## stickler {}\n", command.get_name())));
        for option in options(command) {
            assert!(page.contains(&format!("\n- `{option}`: ")), "{option}");
            assert!(option.get_help().is_some(), "{option} has no help");
        }
    }
}
