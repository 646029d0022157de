//! `stickler call`: calls a tool from the shell and validates the call first.

mod output;
mod pairs;

use std::time::Duration;

use serde_json::{Map, Value};
use stickler_rmcp::{Code, Error, McpClient, McpConfig, ToolCallResult, ValidationConfig};

use self::output::Report;
use super::validate::{SERVER, quotes_hint};
use crate::cli::CallOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::{config, logging};

pub(crate) fn run(options: &CallOptions) -> Outcome {
    logging::install(config::log_settings(options.log)?)?;
    let given = given_arguments(options.args.as_deref())?;
    let pairs = pairs::read(&options.pairs).map_err(Failure::Usage)?;
    if !pairs.is_empty() && !given.as_ref().is_none_or(Value::is_object) {
        let message = "`--args` must be an object if it is combined with `key=value` arguments";
        return Err(Failure::Usage(message.to_owned()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut client = McpClient::new(server(options)?).map_err(|error| usage(&error))?;
        client.enable_validation(ValidationConfig::from(&options.checks));
        client.connect().await.map_err(|error| unreachable(&error))?;
        let arguments = arguments(&client, &options.tool, given, &pairs);
        let outcome = client.call_tool(&options.tool, arguments.clone()).await;
        client.close().await;
        let report = Report { client: &client, tool: &options.tool, arguments: &arguments };
        report.print(options.format, &outcome)?;
        Ok(exit(&outcome))
    })
}

/// Returns the configuration of the server.
fn server(options: &CallOptions) -> Result<McpConfig, Failure> {
    let config = match (&options.url, options.command.split_first()) {
        (Some(url), _) => McpConfig::url(SERVER, url),
        (None, Some((program, arguments))) => McpConfig::new(SERVER, program).args(arguments),
        (None, None) => {
            let message = "no server specified: pass its command after `--`, or use `--url`";
            return Err(Failure::Usage(message.to_owned()));
        }
    };
    let config = match &options.bearer_token_env {
        Some(variable) => {
            let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
            let message = format!("the environment variable `{variable}` is not set or empty");
            let token = token.ok_or(Failure::Usage(message))?;
            config.header("authorization", format!("Bearer {token}"))
        }
        None => config,
    };
    Ok(config.timeout(Duration::from_secs(options.timeout)))
}

fn given_arguments(args: Option<&str>) -> Result<Option<Value>, Failure> {
    let read = |text: &str| {
        serde_json::from_str(text).map_err(|error| {
            let hint = quotes_hint(text);
            Failure::Usage(format!("`--args` is not JSON: {error}{hint}"))
        })
    };
    args.map(read).transpose()
}

/// Merges the JSON arguments with the `key=value` pairs.
fn arguments(
    client: &McpClient,
    tool: &str,
    given: Option<Value>,
    pairs: &[(String, String)],
) -> Value {
    let mut arguments = given.unwrap_or_else(|| Value::Object(Map::new()));
    let schema = client.validator().and_then(|validator| validator.cache().get(SERVER, tool));
    let schema = schema.map(|schema| schema.raw.clone()).unwrap_or_default();
    if let Value::Object(arguments) = &mut arguments {
        for (name, text) in pairs {
            arguments.insert(name.clone(), pairs::typed(&schema, name, text));
        }
    }
    arguments
}

/// Maps the outcome to an exit code: rejections and failures of the tool are findings, connection errors are
/// not.
fn exit(outcome: &Result<ToolCallResult, Error>) -> Exit {
    match outcome.as_ref().map_err(Error::code) {
        Ok(_) => Exit::Success,
        Err(
            Code::NotConnected
            | Code::CannotStart
            | Code::Protocol
            | Code::Timeout
            | Code::ServerGone,
        ) => Exit::Unreachable,
        Err(_) => Exit::Findings,
    }
}

fn unreachable(error: &Error) -> Failure {
    let message = error.to_string();
    let needs_token = message.contains("Auth required");
    let hint = "\n\nhint: the server requires a token; pass the name of the environment variable that \
        contains it with `--bearer-token-env`";
    Failure::Unreachable(format!("{message}{}", if needs_token { hint } else { "" }))
}

fn usage(error: &Error) -> Failure {
    Failure::Usage(error.to_string())
}
