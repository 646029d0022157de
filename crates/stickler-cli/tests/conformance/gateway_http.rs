//! The gateway over HTTP, in front of a server at a URL.

use serde_json::{Value, json};

use crate::table::{Case, Differences, all, tools};
use crate::upstream::{Upstream, default_response, json_response};
use crate::{compare, support_http, variables};

#[test]
fn gateway_over_http_conforms_to_the_table() {
    let mut differences = Differences::default();
    let cases = all();
    for case in &cases {
        let upstream = server(case);
        let url = upstream.url();
        let variables = variables(case);
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let arguments = ["--quiet-capability", "--url", &url];
        let gateway = support_http::Gateway::launch(&arguments, &variables, false);
        let session = gateway.session();
        let mut response = Value::Null;
        for id in 0..case.times() {
            let body = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{}}}",
                id + 1,
                case.params()
            );
            let answer = gateway.post(&[("mcp-session-id", &session)], &body);
            response = answer.events().pop().unwrap_or_else(|| answer.json());
        }
        compare(&mut differences, case, &last(&upstream), &response);
    }
    differences.finish(cases.len());
}

/// A server at a URL that lists the tools of a case and answers as the case says.
fn server(case: &Case) -> Upstream {
    let (tools, response) = (tools(case.tools()), case.server_or_default());
    Upstream::start(move |message| {
        let mut answer = json!({ "jsonrpc": "2.0", "id": message["id"] });
        match message["method"].as_str() {
            Some("tools/list") => answer["result"] = json!({ "tools": tools }),
            Some("tools/call") => {
                answer.as_object_mut().unwrap().extend(response.as_object().unwrap().clone());
            }
            Some("initialize") => {
                answer["result"] = json!({
                    "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "table", "version": "1" },
                });
                let body = answer.to_string();
                return format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\n\
                     content-length: {}\r\n\r\n{body}",
                    body.len()
                )
                .into_bytes();
            }
            _ => return default_response(message).unwrap_or_else(|| json_response(&answer)),
        }
        json_response(&answer)
    })
}

/// Returns the arguments of the last call that reached the server, or `null`.
fn last(upstream: &Upstream) -> Value {
    let seen = upstream.seen.lock().unwrap();
    let mut calls = seen.iter().filter(|(_, body)| body.contains("\"tools/call\""));
    let last = calls.next_back().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap());
    last.map(|message| message["params"]["arguments"].clone()).unwrap_or_default()
}
