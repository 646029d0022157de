//! A client built on rmcp, the Rust SDK.

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use super::clients::Observation;
use super::drivers::Target;

pub(super) fn run(target: &Target, calls: &[Value]) -> Result<Observation, String> {
    let Target::Command(command) = target else {
        return Err("this client supports stdio only".to_owned());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(converse(command, calls))
}

async fn converse(command: &[String], calls: &[Value]) -> Result<Observation, String> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments);
    let transport = TokioChildProcess::builder(command).stderr(std::process::Stdio::null());
    let (transport, _) = transport.spawn().map_err(|error| error.to_string())?;
    let client = ().serve(transport).await.map_err(|error| error.to_string())?;
    let tools = client.list_all_tools().await.map_err(|error| error.to_string())?;
    let mut results = Vec::new();
    for call in calls {
        let params: CallToolRequestParams =
            serde_json::from_value(call.clone()).map_err(|error| error.to_string())?;
        results.push(match client.call_tool(params).await {
            Ok(result) => serde_json::to_value(result).unwrap_or_default(),
            Err(error) => json!({ "error": error.to_string() }),
        });
    }
    client.cancel().await.map_err(|error| error.to_string())?;
    Ok(Observation { tools: tools.iter().map(|tool| tool.name.to_string()).collect(), results })
}
