//! A server as a configuration file describes it. Environment variables are expanded only for the servers
//! that run, so those of other servers may be missing.

use std::ops::Range;
use std::path::Path;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use stickler_transport::{Server, ServerCommand};

use super::Configured;
use super::document::{Data, Member, Value};
use super::expansion;
use super::fault::Fault;
use super::settings::ServerSettings;

/// Keys that describe how to reach a server.
pub(super) const KEYS: [&str; 6] = ["command", "args", "env", "cwd", "url", "headers"];

/// A string with its position in the file.
#[derive(Debug, Clone)]
struct Word {
    text: String,
    span: Range<usize>,
}

/// A server before the expansion of its variables.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) name: String,
    name_span: Range<usize>,
    pub(super) is_disabled: bool,
    pub(super) settings: ServerSettings,
    command: Option<Word>,
    args: Vec<Word>,
    env: Vec<(String, Word)>,
    cwd: Option<Word>,
    url: Option<Word>,
    headers: Vec<(Word, Word)>,
    /// Why the server cannot run; reported only if it is selected.
    pub(super) rejection: Option<Fault>,
}

impl Draft {
    pub(super) fn new(member: &Member, settings: ServerSettings) -> Result<Self, Fault> {
        if member.key.is_empty() {
            return Err(Fault::new(&member.key_span, "the server name is empty"));
        }
        Ok(Self {
            name: member.key.clone(),
            name_span: member.key_span.clone(),
            is_disabled: false,
            settings,
            command: None,
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            url: None,
            headers: Vec::new(),
            rejection: None,
        })
    }

    /// Stores the value of one of [`KEYS`].
    pub(super) fn take(&mut self, member: &Member) -> Result<(), Fault> {
        let key = member.key.as_str();
        let value = &member.value;
        match key {
            "command" => self.command = Some(word(key, value)?),
            "cwd" => self.cwd = Some(word(key, value)?),
            "url" => self.url = Some(word(key, value)?),
            "args" => {
                let Data::List(elements) = &value.data else {
                    return Err(invalid_value(key, value, "an array of strings"));
                };
                let words = elements.iter().map(|element| word(key, element));
                self.args = words.collect::<Result<_, _>>()?;
            }
            "env" => {
                for one in value.table("`env`")? {
                    self.env.push((one.key.clone(), word(&one.key, &one.value)?));
                }
            }
            _ => {
                for one in value.table("`headers`")? {
                    let name = Word { text: one.key.clone(), span: one.key_span.clone() };
                    self.headers.push((name, word(&one.key, &one.value)?));
                }
            }
        }
        Ok(())
    }

    /// Whether there is a `command` or a `url`.
    pub(super) fn is_reachable(&self) -> bool {
        self.command.is_some() || self.url.is_some()
    }

    /// Checks that the combination of keys is valid.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let name = &self.name;
        let problem = match (&self.command, &self.url) {
            (None, None) => format!("server `{name}` needs a `command` or a `url`"),
            (Some(_), Some(_)) => format!("server `{name}` has both a `command` and a `url`"),
            (None, Some(_)) if !(self.args.is_empty() && self.env.is_empty()) => {
                format!("`args` and `env` require a `command`, but server `{name}` has a `url`")
            }
            (Some(_), None) if !self.headers.is_empty() => {
                format!("`headers` require a `url`, but server `{name}` has a `command`")
            }
            _ => return Ok(()),
        };
        Err(Fault::new(&self.name_span, problem))
    }

    /// Expands the variables and returns the server.
    pub(super) fn resolve(self, folder: &Path) -> Result<Configured, Fault> {
        if let Some(rejection) = self.rejection {
            return Err(rejection);
        }
        let server = match (&self.command, &self.url) {
            (Some(command), _) => Server::Command(ServerCommand {
                program: expand(command)?,
                arguments: self.args.iter().map(expand).collect::<Result<_, _>>()?,
                environment: self
                    .env
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), expand(value)?)))
                    .collect::<Result<_, _>>()?,
                folder: self.cwd.as_ref().map(expand).transpose()?.map(|cwd| folder.join(cwd)),
            }),
            (None, Some(url)) => {
                let uri = Server::parse_url(&expand(url)?);
                Server::Url(
                    uri.map_err(|reason| Fault::new(&url.span, reason))?,
                    self.header_map()?,
                )
            }
            (None, None) => return Err(Fault::new(&self.name_span, "neither `command` nor `url`")),
        };
        Ok(Configured { name: self.name, server, settings: self.settings })
    }

    fn header_map(&self) -> Result<HeaderMap, Fault> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let header: HeaderName = name.text.parse().map_err(|_| {
                Fault::new(&name.span, format!("`{}` is not a valid header name", name.text))
            })?;
            let mut value: HeaderValue = expand(value)?.parse().map_err(|_| {
                Fault::new(
                    &value.span,
                    "invalid header value: only visible ASCII characters are allowed",
                )
            })?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }
}

fn word(key: &str, value: &Value) -> Result<Word, Fault> {
    match &value.data {
        // Clients convert numbers and booleans to strings here.
        Data::Text(text) | Data::Number(text) => {
            Ok(Word { text: text.clone(), span: value.span.clone() })
        }
        Data::Flag(flag) => Ok(Word { text: flag.to_string(), span: value.span.clone() }),
        _ => Err(invalid_value(key, value, "a string in quotes")),
    }
}

fn invalid_value(key: &str, value: &Value, expected: &str) -> Fault {
    Fault::new(&value.span, format!("`{key}` is {}, expected {expected}", value.kind()))
}

fn expand(word: &Word) -> Result<String, Fault> {
    let variable = |name: &str| std::env::var(name).ok();
    expansion::expand(&word.text, variable).map_err(|reason| Fault::new(&word.span, reason))
}
