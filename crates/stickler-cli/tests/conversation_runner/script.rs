//! Parses conversation files. README.md next to the files describes the format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::options::Options;
use super::template::{Bindings, expand};

/// The transports of the client and of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pairing {
    StdioCommand,
    HttpCommand,
    HttpUrl,
    StdioUrl,
}

/// The action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    ClientSends,
    ClientReceives,
    ServerSends,
    ServerReceives,
    SignalGateway,
    GatewayExits,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The line in the file, from 1.
    pub(crate) line: usize,
    /// The step is part of a `steps` block, which recording does not change.
    pub(crate) is_shared: bool,
    only: Vec<String>,
    pub(crate) action: Action,
    /// The number of the server process, from 1.
    pub(crate) server: usize,
    pub(crate) options: Options,
    pub(crate) text: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) file: PathBuf,
    pub(crate) name: String,
    pub(crate) pairings: Vec<Pairing>,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) has_no_server: bool,
    pub(crate) steps: Vec<Step>,
    /// The constants that are defined for the conversation.
    pub(crate) constants: Bindings,
    is_described: bool,
}

/// Constants and `steps` blocks.
#[derive(Clone, Default)]
pub(crate) struct Definitions {
    constants: Bindings,
    steps: BTreeMap<String, Vec<(usize, String)>>,
}

impl Pairing {
    pub(crate) const ALL: [Self; 4] =
        [Self::StdioCommand, Self::HttpCommand, Self::HttpUrl, Self::StdioUrl];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::StdioCommand => "stdio-command",
            Self::HttpCommand => "http-command",
            Self::HttpUrl => "http-url",
            Self::StdioUrl => "stdio-url",
        }
    }

    pub(crate) fn is_http(self) -> bool {
        self.name().starts_with("http")
    }

    pub(crate) fn is_url(self) -> bool {
        self.name().ends_with("url")
    }

    /// Returns whether a word of a script (`http`, `url`, `stdio-command`, …) includes this pairing.
    fn is(self, word: &str) -> bool {
        self.name() == word || self.name().split('-').any(|part| part == word)
    }
}

impl Step {
    pub(crate) fn is_for(&self, pairing: Pairing) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| pairing.is(word))
    }

    /// Returns a step in which the client expects the end of the gateway's output.
    pub(crate) fn end_of_output() -> Self {
        let options = Options::read("end");
        let (only, text) = (Vec::new(), String::new());
        Self {
            line: 0,
            is_shared: true,
            only,
            action: Action::ClientReceives,
            server: 1,
            options,
            text,
        }
    }

    fn read(line: usize, text: &str) -> Option<Self> {
        let mut rest = text;
        let mut only = Vec::new();
        while let Some(filtered) = rest.strip_prefix('@') {
            let (word, after) = filtered.split_once(' ')?;
            only.push(word.to_owned());
            rest = after;
        }
        let arrow = rest.find(['<', '>'])?;
        let (peer, after) = rest.split_at(arrow);
        let (arrow, after) = after.split_at(1);
        let action = match (peer.get(..1)?, arrow) {
            ("C", ">") => Action::ClientSends,
            ("C", "<") => Action::ClientReceives,
            ("S", ">") => Action::ServerSends,
            ("S", "<") => Action::ServerReceives,
            ("G", ">") => Action::SignalGateway,
            ("G", "<") => Action::GatewayExits,
            _ => return None,
        };
        let server = peer.get(1..).filter(|number| !number.is_empty());
        let server = server.map_or(Some(1), |number| number.parse().ok())?;
        let (options, text) = match after.strip_prefix('(') {
            Some(after) => after.split_once(')')?,
            None => ("", after),
        };
        let text = text.strip_prefix(' ').unwrap_or(text).to_owned();
        let options = Options::read(options);
        Some(Self { line, is_shared: false, only, action, server, options, text })
    }
}

/// Reads a file and adds its definitions to the given ones.
pub(crate) fn read(
    path: &Path,
    definitions: &mut Definitions,
) -> Result<Vec<Conversation>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut conversations: Vec<Conversation> = Vec::new();
    let mut open: Option<String> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let invalid = |what: &str| format!("{}:{number}: {what}: {line}", path.display());
        let word = line.split([' ', ':']).next().unwrap_or_default();
        let value = line.get(word.len()..).unwrap_or_default();
        let value = value.trim_start_matches(':').trim();
        if line.trim().is_empty() {
            open = None;
            continue;
        }
        if let Some(name) = open.as_ref().filter(|_| !line.starts_with('#')) {
            definitions.steps.entry(name.clone()).or_default().push((number, line.to_owned()));
            continue;
        }
        match word {
            "let" => {
                let (name, value) =
                    value.split_once(" = ").ok_or_else(|| invalid("not a constant"))?;
                let value = expand(value, &definitions.constants);
                definitions.constants.insert(name.to_owned(), value);
                continue;
            }
            "steps" => {
                open = Some(value.to_owned());
                definitions.steps.insert(value.to_owned(), Vec::new());
                continue;
            }
            "conversation" => {
                let constants = definitions.constants.clone();
                conversations.push(Conversation { constants, ..Conversation::new(path, value) });
                continue;
            }
            _ => {}
        }
        let Some(current) = conversations.last_mut() else {
            if word.starts_with('#') {
                continue;
            }
            return Err(invalid("not within a conversation"));
        };
        current
            .take(definitions, number, (word, value, line))
            .ok_or_else(|| invalid("not a step"))?;
    }
    match conversations.iter().find(|one| !one.is_described) {
        Some(one) => Err(format!(
            "{}: `{}` has no `#` line that describes the behaviour",
            path.display(),
            one.name
        )),
        None => Ok(conversations),
    }
}

impl Conversation {
    fn new(path: &Path, name: &str) -> Self {
        let (file, name) = (path.to_owned(), name.to_owned());
        Self { file, name, pairings: Pairing::ALL.to_vec(), ..Self::default() }
    }

    /// Parses a line of the conversation; `None` if it is invalid.
    fn take(
        &mut self,
        definitions: &Definitions,
        number: usize,
        (word, value, line): (&str, &str, &str),
    ) -> Option<()> {
        match word {
            "over" => {
                let words: Vec<&str> = value.split_whitespace().collect();
                self.pairings.retain(|pairing| words.iter().any(|word| pairing.is(word)));
            }
            "options" => self.arguments.extend(value.split_whitespace().map(str::to_owned)),
            "env" => {
                let (name, value) = value.split_once('=')?;
                self.variables.push((name.to_owned(), value.to_owned()));
            }
            "server" => self.has_no_server = value == "none",
            "do" => {
                let mut words = value.split_whitespace();
                for (line, step) in definitions.steps.get(words.next()?)? {
                    let mut step = step.clone();
                    for (index, argument) in (1..).zip(words.clone()) {
                        step = step.replace(&format!("${index}"), argument);
                    }
                    let mut step = Step::read(*line, &expand(&step, &definitions.constants))?;
                    step.is_shared = true;
                    self.steps.push(step);
                }
            }
            _ if line.starts_with('#') => self.is_described = true,
            _ => self.steps.push(Step::read(number, &expand(line, &definitions.constants))?),
        }
        Some(())
    }
}
