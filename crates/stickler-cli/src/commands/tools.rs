//! `stickler tools`: lists the tools of a server with what they cost a model, or saves their definitions.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use stickler::tape::{Kind, Node, TapeBuffer};
use stickler_protocol::lint::{LintOptions, ToolSummary, lint};

use super::check::live::{self, Target};
use super::counts::count;
use crate::cli::{Format, LogOptions, ToolsOptions};
use crate::exit::{Exit, Failure, Outcome};
use crate::style::{Palette, print_message, printable};
use crate::{config, logging};

/// Maximum length of a name in the table.
const MAX_NAME_CHARS: usize = 48;

/// Maximum length of a description in the table.
const MAX_DESCRIPTION_CHARS: usize = 72;

/// Definitions nested deeper are saved on one line.
const MAX_DEPTH: usize = 1 << 12;

pub(crate) fn run(options: &ToolsOptions) -> Outcome {
    logging::install(config::log_settings(LogOptions::default())?)?;
    let target = Target {
        url: options.url.as_deref(),
        bearer_token_env: options.bearer_token_env.as_deref(),
        command: &options.command,
        revision: options.revision,
        timeout: live::DEFAULT_TIMEOUT,
        start_timeout: std::time::Duration::from_secs(options.start_timeout),
        is_quiet: false,
    };
    let listing = live::list(&target)?;
    let object = [br#"{"tools":"#, listing.text.as_slice(), b"}"].concat();
    if let Some(path) = &options.output {
        save(path, &object)?;
        let tools = count(listing.tools.len(), "tool");
        print_message("note", &format!("wrote {tools} to `{}`", path.display()));
        return Ok(Exit::Success);
    }
    let mut stdout = std::io::stdout().lock();
    match options.format {
        Format::Json => {
            stdout.write_all(&object)?;
            stdout.write_all(b"\n")?;
        }
        Format::Text => {
            let report = lint(&listing.text, &LintOptions::default()).map_err(|error| {
                Failure::Unreachable(format!("cannot read the tool list of the server: {error}"))
            })?;
            stdout.write_all(table(&report.tools, &listing.tools).as_bytes())?;
        }
    }
    stdout.flush()?;
    Ok(Exit::Success)
}

fn save(path: &Path, object: &[u8]) -> Result<(), Failure> {
    let mut buffer = TapeBuffer::new();
    let text = match buffer.read(object, MAX_DEPTH) {
        Ok(tape) => indented(tape.root()) + "\n",
        Err(_) => String::from_utf8_lossy(object).into_owned() + "\n",
    };
    std::fs::write(path, text)
        .map_err(|error| Failure::Usage(format!("cannot write `{}`: {error}", path.display())))
}

/// Formats a value with one member per line. Names and scalars keep their spelling.
fn indented(root: Node<'_>) -> String {
    let mut text = String::new();
    write_indented(root, 0, &mut text);
    text
}

fn write_indented(node: Node<'_>, depth: usize, text: &mut String) {
    let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
    match node.kind() {
        Kind::Object if !node.is_empty() => {
            for (index, (key, value)) in node.members().with_key_nodes().enumerate() {
                text.push_str(if index == 0 { "{" } else { "," });
                // Writing to a string cannot fail.
                let _ = write!(text, "{}{}: ", line(depth + 1), key.raw());
                write_indented(value, depth + 1, text);
            }
            text.push_str(&line(depth));
            text.push('}');
        }
        Kind::Array if !node.is_empty() => {
            for (index, element) in node.elements().enumerate() {
                text.push_str(if index == 0 { "[" } else { "," });
                text.push_str(&line(depth + 1));
                write_indented(element, depth + 1, text);
            }
            text.push_str(&line(depth));
            text.push(']');
        }
        Kind::Object => text.push_str("{}"),
        Kind::Array => text.push_str("[]"),
        _ => text.push_str(node.raw()),
    }
}

/// Formats one line per tool: its name, its tokens and the first line of its description.
fn table(summaries: &[ToolSummary], definitions: &[serde_json::Value]) -> String {
    let total: usize = summaries.iter().map(|tool| tool.tokens).sum();
    let names: Vec<String> =
        summaries.iter().map(|tool| printable(&tool.name, MAX_NAME_CHARS)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().max(4);
    let digits = total.to_string().len().max("tokens".len());
    let mut text = String::new();
    if !summaries.is_empty() {
        let heading = format!("{:<width$}  {:>digits$}  {}", "tool", "tokens", "description");
        let _ = writeln!(text, "{}", Palette::for_stdout().bold(&heading));
    }
    for (summary, name) in summaries.iter().zip(&names) {
        let definition = definitions.get(summary.index);
        let description = definition.map(first_line).unwrap_or_default();
        let line = format!("{name:<width$}  {:>digits$}  {description}", summary.tokens);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let tools = count(summaries.len(), "tool");
    let _ = writeln!(text, "{tools}, about {total} tokens in the prompt of a model");
    text
}

fn first_line(definition: &serde_json::Value) -> String {
    let text = |name: &str| definition[name].as_str().filter(|text| !text.trim().is_empty());
    let text = text("description").or_else(|| text("title")).unwrap_or_default();
    printable(text.trim().lines().next().unwrap_or_default(), MAX_DESCRIPTION_CHARS)
}

#[cfg(test)]
mod tests {
    use super::indented;
    use stickler::tape::TapeBuffer;

    #[test]
    fn saved_definitions_keep_names_numbers_and_order() {
        let text = r#"{"tools":[{"b":1.0,"a":[],"\u0061":{"x":[1e400,null]}}]}"#;
        let mut buffer = TapeBuffer::new();
        let saved = indented(buffer.read(text.as_bytes(), 64).unwrap().root());
        let blanks: String = saved.split_whitespace().collect();
        assert_eq!(blanks, text);
        assert!(saved.contains("\n      \"b\": 1.0,\n"), "{saved}");
    }
}
