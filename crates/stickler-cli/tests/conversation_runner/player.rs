//! Plays one conversation over one pairing: both peers, step by step.

use std::collections::BTreeMap;
use std::time::Duration;

use super::client_http::HttpClient;
use super::client_stdio::StdioClient;
use super::gateway::Gateway;
use super::script::{Action, Conversation, Pairing, Step};
use super::server_http::Upstream;
use super::server_process::Processes;
use super::template::{Bindings, decide, difference, matches, record, visible};

/// Maximum time to wait for an expected message.
const DEADLINE: Duration = Duration::from_secs(30);

/// Shorter while recording, when scripts often have wrong steps.
const RECORDING_DEADLINE: Duration = Duration::from_secs(4);

/// Recorded texts by line number.
pub(crate) type Recorded = BTreeMap<usize, String>;

/// Why a run failed.
pub(crate) struct Failure {
    /// The number of the step, from 1, and its line.
    pub(crate) step: usize,
    pub(crate) line: usize,
    pub(crate) expected: String,
    pub(crate) actual: String,
    /// Unconsumed messages, and the last lines of the log.
    pub(crate) context: String,
}

enum Client {
    Stdio(StdioClient),
    Http(HttpClient),
}

enum Server {
    Processes(Processes),
    Upstream(Upstream),
}

struct Player {
    gateway: Gateway,
    client: Client,
    server: Server,
    bindings: Bindings,
    deadline: Duration,
}

/// Plays a conversation. With `recorded`, expectations that do not match are replaced by the actual messages.
pub(crate) fn play(
    conversation: &Conversation,
    pairing: Pairing,
    version: &str,
    mut recorded: Option<&mut Recorded>,
) -> Result<(), Failure> {
    let deadline = if recorded.is_some() { RECORDING_DEADLINE } else { DEADLINE };
    let steps: Vec<Step> = conversation
        .steps
        .iter()
        .filter(|step| step.is_for(pairing))
        .map(|step| decided(step, pairing))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut player = Player::start(conversation, pairing, (&steps, folder.path()), deadline)
        .map_err(|actual| Failure {
            step: 0,
            line: 1,
            expected: "a running gateway".to_owned(),
            actual,
            context: String::new(),
        })?;
    player.bindings.insert("version".to_owned(), version.to_owned());
    for (number, step) in (1..).zip(&steps) {
        let outcome = player.step(step, recorded.as_deref_mut());
        outcome.map_err(|actual| player.failure((number, step.line), describe(step), actual))?;
    }
    let (number, line) = (steps.len() + 1, steps.last().map_or(1, |step| step.line));
    let end = player.finish(pairing);
    end.map_err(|actual| {
        player.failure((number, line), "the end, without further messages".to_owned(), actual)
    })
}

/// Selects the placeholder or the literal of each `${name~literal}` in a step.
fn decided(step: &Step, pairing: Pairing) -> Step {
    let text = decide(&step.text, pairing == Pairing::HttpCommand);
    let mut step = step.clone();
    step.text = text;
    step
}

fn describe(step: &Step) -> String {
    let action = match step.action {
        Action::ClientSends => "the client sends",
        Action::ClientReceives => "the client receives",
        Action::ServerSends => "the server sends",
        Action::ServerReceives => "the server receives",
        Action::SignalGateway => "the gateway gets a signal",
        Action::GatewayExits => "the gateway exits",
    };
    let options = step.options.to_string();
    let options = if options.is_empty() { options } else { format!(" ({options})") };
    format!("{action}{options} {}", step.text)
}

impl Player {
    fn start(
        conversation: &Conversation,
        pairing: Pairing,
        (steps, folder): (&[Step], &std::path::Path),
        deadline: Duration,
    ) -> Result<Self, String> {
        let socket = folder.join("socket");
        let mut port = 1;
        let server = if pairing.is_url() {
            let upstream = Upstream::listen(steps);
            // Nothing listens on port 1.
            port = if conversation.has_no_server { 1 } else { upstream.port };
            Server::Upstream(upstream)
        } else {
            Server::Processes(Processes::listen(&socket, steps))
        };
        let mut gateway = Gateway::start(conversation, pairing, &socket, port);
        let mut bindings = Bindings::new();
        let pipes = gateway.child.stdin.take().zip(gateway.child.stdout.take());
        let client = if let Some((input, output)) = pipes {
            Client::Stdio(StdioClient::new(input, output))
        } else {
            let port = gateway.port(deadline);
            // A gateway that cannot start its server may exit before it listens.
            let port = if conversation.has_no_server { port.or(Ok(0)) } else { port };
            let port = port.map_err(|error: String| format!("{error}\n{}", gateway.log()))?;
            bindings.insert("port".to_owned(), port.to_string());
            Client::Http(HttpClient::new(port))
        };
        if pairing.is_url() {
            bindings.insert("upstream".to_owned(), format!("127.0.0.1:{port}"));
        }
        Ok(Self { gateway, client, server, bindings, deadline })
    }

    fn step(&mut self, step: &Step, recorded: Option<&mut Recorded>) -> Result<(), String> {
        let (bindings, deadline) = (&mut self.bindings, self.deadline);
        let actual = match step.action {
            Action::ClientSends => {
                return match &mut self.client {
                    Client::Stdio(client) => client.send(step, bindings),
                    Client::Http(client) => client.send(step, bindings, deadline),
                };
            }
            Action::ServerSends => {
                return match &mut self.server {
                    Server::Processes(server) => server.send(step, bindings),
                    Server::Upstream(server) => server.send(step, bindings),
                };
            }
            Action::SignalGateway => {
                self.gateway.signal(step.options.method.as_deref().unwrap_or("TERM"));
                return Ok(());
            }
            Action::GatewayExits => {
                let code = self.gateway.exit_code(deadline)?;
                let is_expected = step.options.number.map(i32::from) == Some(code);
                return if is_expected { Ok(()) } else { Err(format!("exit code {code}")) };
            }
            Action::ClientReceives => match &mut self.client {
                Client::Stdio(client) => client.receive(step, deadline)?,
                Client::Http(client) => client.receive(step, bindings, deadline)?,
            },
            Action::ServerReceives => match &mut self.server {
                Server::Processes(server) => server.receive(step, bindings, deadline)?,
                Server::Upstream(server) => server.receive(step, bindings, deadline)?,
            },
        };
        let Some(actual) = actual else { return Ok(()) };
        if matches(&step.text, &actual, bindings) {
            return Ok(());
        }
        match recorded.filter(|_| !step.is_shared) {
            Some(recorded) if !recorded.contains_key(&step.line) => {
                recorded.insert(step.line, record(&actual, bindings));
                Ok(())
            }
            Some(recorded) if matches(&recorded[&step.line], &actual, bindings) => Ok(()),
            _ => Err(format!("{actual}\n  {}", difference(&step.text, &actual, bindings))),
        }
    }

    /// Ends the conversation; fails if there are unconsumed messages.
    fn finish(&mut self, pairing: Pairing) -> Result<(), String> {
        if let Server::Processes(server) = &self.server {
            server.finish();
        }
        match &mut self.client {
            Client::Stdio(client) => client.close(),
            Client::Http(_) => self.gateway.signal("TERM"),
        }
        self.gateway.exit_code(self.deadline)?;
        if !pairing.is_http() {
            // The output ends after everything that the gateway has written.
            let end = Step::end_of_output();
            if let Client::Stdio(client) = &self.client {
                client
                    .receive(&end, self.deadline)
                    .map_err(|actual| format!("the client received more: {actual}"))?;
            }
        }
        let unconsumed = self.unconsumed();
        if unconsumed.is_empty() { Ok(()) } else { Err(unconsumed) }
    }

    /// Formats the messages that no step has consumed.
    fn unconsumed(&self) -> String {
        let client = match &self.client {
            Client::Stdio(client) => client.unconsumed(),
            Client::Http(client) => client.unconsumed(),
        };
        let server = match &self.server {
            Server::Processes(server) => server.unconsumed(),
            Server::Upstream(server) => server.unconsumed(),
        };
        let client = client.iter().map(|text| format!("  the client has received: {text}\n"));
        let server = server.iter().map(|text| format!("  the server has received: {text}\n"));
        client.chain(server).collect()
    }

    fn failure(&self, (step, line): (usize, usize), expected: String, actual: String) -> Failure {
        let log = visible(self.gateway.log().as_bytes()).replace('␊', "\n    ");
        let context = format!("{}  last lines of the gateway's log:\n    {log}", self.unconsumed());
        Failure { step, line, expected, actual, context }
    }
}
