//! `stickler run`: the gateway.

use std::sync::Arc;
use std::time::Duration;

use stickler::{
    AnswerForm, Gatekeeper, GatekeeperSettings, McpValidator, Policy, ValidationConfig,
    ValidationMiddleware,
};

use crate::cli::{Answer, RunOptions};
use crate::exit::{Exit, Failure, Outcome};
use crate::gateway::{self, Log, ServerCommand};

pub(crate) fn run(options: &RunOptions) -> Outcome {
    let (program, arguments) = options.command.split_first().ok_or_else(no_server)?;
    let command = ServerCommand { program: program.clone(), arguments: arguments.to_vec() };
    let name = options.name.clone().unwrap_or_else(|| command.name());
    let config = ValidationConfig::from(&options.checks);
    let message_bytes = config.limits.message_bytes;
    let validator = Arc::new(McpValidator::new(config));
    let middleware = ValidationMiddleware::new(name.clone(), Arc::clone(&validator))
        .with_policy(policy(options));
    let mut settings = GatekeeperSettings::default();
    settings.announces = !options.quiet_capability;
    let gatekeeper = Gatekeeper::new(name.clone(), validator, middleware, settings);
    let (server, stdin, stdout) = command.start().map_err(|error| {
        Failure::Unreachable(format!("[STK-101] cannot start `{}`: {error}", command.program))
    })?;
    gateway::pass_signals_on(server.pid()).map_err(Failure::Output)?;
    let log = Log { level: options.log, server: name };
    let grace = Duration::from_secs(options.grace);
    let code = gateway::relay(gatekeeper, server, (stdin, stdout), log, message_bytes, grace)?;
    Ok(Exit::Server(code))
}

fn policy(options: &RunOptions) -> Policy {
    let mut policy = if options.strict { Policy::strict() } else { Policy::default() };
    policy.answer = match options.answer {
        Answer::ToolResult => AnswerForm::ToolResult,
        Answer::JsonRpcError => AnswerForm::JsonRpcError,
        Answer::Observation => AnswerForm::Observation,
    };
    policy
}

fn no_server() -> Failure {
    Failure::Usage("no server: put its command after `--`".to_owned())
}
