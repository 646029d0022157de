//! The connection requests the tool list itself and holds calls until it has arrived.

use crate::support::link::{Link, call, initialize, initialized, is_help, list_of, sent, stat};
use serde_json::{Value, json};
use stickler::{MessageRule, Revision};
use stickler_protocol::{Connection, ConnectionSettings, Event, Policy, RuleAction, Side};

#[test]
fn call_without_a_known_list_is_held_until_the_gateway_fetched_it() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
    assert_eq!((waiting.client.len(), waiting.server.len()), (0, 1));
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(sent.server.is_empty(), "the bad call does not reach the server");
    assert_eq!(sent.client.len(), 1, "the response to the gateway request is not forwarded");
    assert!(is_help(&sent.client[0]) && sent.client[0]["id"] == 7);
    // From now on a valid call is forwarded immediately.
    let good = call(8, "stat", json!({ "path": "a" }));
    assert_eq!(link.client(good.clone()).server, [good]);
}

#[test]
fn call_sent_during_the_handshake_is_held_until_it_completes() {
    let mut link = Link::new();
    link.client(initialize());
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
    assert!(waiting.client.is_empty() && waiting.server.is_empty());
    let requests = link.server(initialized(json!({ "tools": {} })));
    assert_eq!((requests.client.len(), requests.server.len()), (1, 1));
    let sent = link.server(list_of(&requests.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]));
}

#[test]
fn tools_are_not_requested_from_a_server_without_tools_capability() {
    let mut link = Link::new();
    link.client(initialize());
    let waiting = link.client(call(7, "stat", json!({})));
    assert!(waiting.server.is_empty());
    let sent = link.server(initialized(json!({})));
    assert_eq!(sent.server, [call(7, "stat", json!({}))]);
    assert_eq!(sent.client, [initialized(json!({}))], "the capability is not announced");
}

#[test]
fn all_pages_of_the_list_are_requested() {
    let mut link = Link::ready();
    let first = link.client(call(7, "stat", json!({})));
    let mut page = list_of(&first.server[0], json!([{ "name": "a", "inputSchema": {} }]));
    page["result"]["nextCursor"] = "two".into();
    let second = link.server(page);
    assert_eq!(second.server[0]["params"]["cursor"], "two");
    let sent = link.server(list_of(&second.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]));
}

#[test]
fn first_page_alone_does_not_count_as_the_list() {
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let page = json!({ "tools": [stat()], "nextCursor": "2" });
    link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": page }));
    let waiting = link.client(call(7, "other", json!({})));
    assert!(waiting.client.is_empty(), "{waiting:?}");
    assert_eq!(waiting.server[0]["method"], "tools/list", "all pages are requested");
}

/// Whether a response is the help for an unknown tool.
fn names_unknown_tool(response: &Value, tool: &str) -> bool {
    let text = response["result"]["content"][0]["text"].as_str().unwrap_or_default();
    text.starts_with("Unknown tool name.") && text.contains(&format!("Unknown tool: {tool}"))
}

#[test]
fn stale_list_is_refreshed_before_a_call_is_rejected() {
    let mut link = Link::with_known_tools();
    let at_once = link.client(call(6, "stat", json!({ "pth": "a" })));
    assert!(
        is_help(&at_once.client[0]),
        "a list of the same second is fresh enough for schema checks"
    );
    let waiting = link.client(call(7, "stats", json!({})));
    assert!(waiting.client.is_empty(), "an unknown tool requires a newer list");
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(names_unknown_tool(&sent.client[0], "stats"));
    let waiting = link.client(call(8, "stats", json!({})));
    assert!(waiting.client.is_empty());
    let tools = json!([stat(), { "name": "stats", "inputSchema": { "type": "object" } }]);
    let sent = link.server(list_of(&waiting.server[0], tools));
    assert_eq!(sent.server, [call(8, "stats", json!({}))]);
    assert!(sent.client.is_empty());
}

/// The rules of all findings in the events.
fn broken(events: &[Event]) -> Vec<MessageRule> {
    let findings = events.iter().filter_map(|event| match event {
        Event::Checked { verdict, .. } => Some(&verdict.findings),
        _ => None,
    });
    findings.flatten().map(|finding| finding.rule).collect()
}

#[test]
fn call_of_an_unlisted_tool_without_a_similar_name_is_forwarded() {
    let mut link = Link::with_known_tools();
    let sent = link.client(call(7, "hidden", json!({ "any": 1 })));
    assert_eq!(sent.server, [call(7, "hidden", json!({ "any": 1 }))]);
    assert_eq!(broken(&sent.events), [MessageRule::UnknownTool], "the finding is reported");
    let answer = json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } });
    let sent = link.server(answer.clone());
    assert_eq!((sent.client, broken(&sent.events)), (vec![answer], vec![]));
}

#[test]
fn call_of_an_unlisted_tool_waits_for_a_refreshed_list() {
    let mut link = Link::with_known_tools();
    link.now = 60;
    let mut held_call = call(8, "new", json!({ "pth": "a" }));
    held_call["params"]["_meta"] = json!({ "progressToken": "t" });
    let waiting = link.client(held_call.clone());
    assert_eq!((waiting.server.len(), waiting.events.len()), (1, 0), "{waiting:?}");
    let mut tool = stat();
    tool["name"] = "new".into();
    let sent = link.server(list_of(&waiting.server[0], json!([stat(), tool])));
    assert!(is_help(&sent.client[0]), "the arguments are validated: {sent:?}");
    assert_eq!(sent.client[0]["id"], 8);
    // The first attempt of a call that is forwarded after a refresh leaves no state behind.
    link.now = 120;
    held_call["params"]["name"] = "hidden".into();
    let waiting = link.client(held_call.clone());
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!((sent.server, sent.client), (vec![held_call], vec![]));
    assert_eq!(broken(&sent.events), [MessageRule::UnknownTool]);
    assert_eq!(link.connection.pending_requests(), 1);
}

#[test]
fn strict_policies_reject_unknown_tools() {
    let enforce =
        Policy::default().with(Side::Client, MessageRule::UnknownTool, RuleAction::Enforce);
    for policy in [Policy::strict(), enforce] {
        let policy = std::sync::Arc::new(policy);
        let begin = |middleware: Connection| middleware.with_policy(std::sync::Arc::clone(&policy));
        let mut link = Link::with(begin);
        link.handshake();
        link.learn_tools();
        let waiting = link.client(call(7, "hidden", json!({})));
        let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
        assert!(sent.server.is_empty());
        assert!(names_unknown_tool(&sent.client[0], "hidden"));
    }
}

#[test]
fn call_is_forwarded_when_the_list_refresh_fails() {
    let mut link = Link::with_known_tools();
    link.now = 60;
    let waiting = link.client(call(8, "stat", json!({ "pth": "a" })));
    let id = &waiting.server[0]["id"];
    let error = json!({ "code": -32603, "message": "not now" });
    let sent = link.server(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    assert_eq!(sent.server, [call(8, "stat", json!({ "pth": "a" }))]);
    assert!(sent.client.is_empty());
    assert!(matches!(&sent.events[0], Event::Degraded { reason } if reason.contains("not now")));
}

#[test]
fn held_call_is_forwarded_after_the_maximum_hold_time() {
    let mut link = Link::ready();
    link.client(call(7, "stat", json!({ "pth": "a" })));
    let deadline = link.connection.poll_timeout().unwrap();
    assert_eq!(deadline, ConnectionSettings::default().max_hold_time);
    link.now = 6;
    let sent = sent(link.connection.handle_timeout(link.time()));
    assert_eq!(sent.server, [call(7, "stat", json!({ "pth": "a" }))]);
    assert_eq!(link.connection.poll_timeout(), None);
    // The list is not requested again immediately.
    assert_eq!(link.client(call(8, "stat", json!({}))).server, [call(8, "stat", json!({}))]);
}

#[test]
fn late_list_is_learned_and_not_forwarded() {
    let mut link = Link::ready();
    let requests = link.client(call(7, "stat", json!({ "pth": "a" }))).server;
    link.now += 6;
    let time = link.time();
    assert_eq!(
        sent(link.connection.handle_timeout(time)).server.len(),
        1,
        "the call is forwarded unchecked"
    );
    let late = link.server(list_of(&requests[0], json!([stat()])));
    assert!(late.client.is_empty() && late.server.is_empty(), "{late:?}");
    let rejected = link.client(call(8, "stat", json!({ "pth": "a" })));
    assert!(is_help(&rejected.client[0]), "{rejected:?}");
}

#[test]
fn next_call_after_list_changed_is_validated_against_the_new_list() {
    let mut link = Link::with_known_tools();
    link.server(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    let sent = link.server(list_of(&waiting.server[0], json!([])));
    assert!(names_unknown_tool(&sent.client[0], "stat"));
}

#[test]
fn only_the_listed_name_of_the_validation_tool_is_suggested() {
    let mut link = Link::with_known_tools();
    let sent = link.client(call(7, "evaluate", json!({})));
    assert_eq!(sent.server, [call(7, "evaluate", json!({}))], "`validate` is not a tool");
    let waiting = link.client(call(8, "stickler_validat", json!({})));
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    let text = sent.client[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Did you mean `stickler_validate`?"), "{text}");
}

#[test]
fn malformed_call_of_an_unlisted_tool_is_rejected() {
    let mut link = Link::with_known_tools();
    let waiting = link.client(call(7, "hidden", json!(7)));
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(sent.server.is_empty());
    let message = sent.client[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("`/params/arguments` must be an object"), "{message}");
}

#[test]
fn duplicate_id_of_a_forwarded_call_does_not_release_the_pending_request() {
    let off = Policy::default().with(Side::Client, MessageRule::DuplicateId, RuleAction::Off);
    let off = std::sync::Arc::new(off);
    let begin = |middleware: Connection| middleware.with_policy(std::sync::Arc::clone(&off));
    let mut link = Link::with(begin);
    link.handshake();
    link.learn_tools();
    link.now = 60;
    link.client(call(7, "stat", json!({ "path": "a" })));
    let sent = link.client(call(7, "hidden", json!({})));
    assert_eq!(sent.server, [call(7, "hidden", json!({}))], "the call is not held");
    assert_eq!(link.connection.pending_requests(), 1);
    let answer = json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } });
    assert_eq!(broken(&link.server(answer).events), []);
}

#[test]
fn batch_with_unlisted_tools_is_held_until_the_list_is_refreshed() {
    let mut link = Link::with(|middleware| middleware.with_revision(Revision::V2025_03_26));
    link.handshake();
    link.learn_tools();
    link.now = 60;
    let batch = json!([call(7, "hidden", json!({})), call(8, "stats", json!({}))]);
    let waiting = link.client(batch.clone());
    assert!(waiting.client.is_empty(), "{waiting:?}");
    let tools = json!([stat(), { "name": "stats", "inputSchema": { "type": "object" } }]);
    let sent = link.server(list_of(&waiting.server[0], tools));
    assert_eq!((sent.server, sent.client), (vec![batch], vec![]));
}

/// Sends one page of the list with a cursor for the next page.
fn page(link: &mut Link, request: &serde_json::Value, next: &str) -> crate::support::link::Sent {
    let mut page = list_of(request, json!([stat()]));
    page["result"]["nextCursor"] = next.into();
    link.server(page)
}

/// The reasons of all `Degraded` events.
fn degraded(events: &[Event]) -> Vec<&str> {
    let reasons = events.iter().map(|event| match event {
        Event::Degraded { reason } => Some(reason.as_str()),
        _ => None,
    });
    reasons.flatten().collect()
}

#[test]
fn list_with_a_repeating_cursor_is_discarded() {
    let mut link = Link::ready();
    let other = call(7, "other", json!({}));
    let first = link.client(other.clone());
    let second = page(&mut link, &first.server[0], "again");
    let sent = page(&mut link, &second.server[0], "again");
    assert_eq!(sent.server, [other], "an incomplete list rejects nothing");
    assert_eq!(
        degraded(&sent.events),
        ["the server's tool list does not end: the next cursor of a page is its own cursor"]
    );
    assert_eq!(sent.client, Vec::<serde_json::Value>::new());
}

#[test]
fn list_with_too_many_pages_is_discarded() {
    let mut link = Link::ready();
    let other = call(7, "other", json!({}));
    let mut sent = link.client(other.clone());
    for number in 0..1000 {
        assert_eq!(sent.server[0]["method"], "tools/list", "{number}");
        sent = page(&mut link, &sent.server[0], &number.to_string());
    }
    assert_eq!(sent.server, [other]);
    assert_eq!(
        degraded(&sent.events),
        ["the server's tool list does not end: it has more than 1000 pages"]
    );
}

/// A page of one tool with a description of 8 MiB.
fn large_page(link: &mut Link, request: &Value, number: u32) -> crate::support::link::Sent {
    let description = "x".repeat(8 << 20);
    let tool =
        json!({ "name": format!("t{number}"), "description": description, "inputSchema": {} });
    let mut page = list_of(request, json!([tool]));
    page["result"]["nextCursor"] = number.to_string().into();
    link.server(page)
}

#[test]
fn list_with_too_many_bytes_is_discarded_and_requested_again_with_growing_pauses() {
    let mut link = Link::ready();
    let good = call(7, "stat", json!({ "pth": "a" }));
    let mut sent = link.client(good.clone());
    let mut pages = 0;
    while let [request] = sent.server.as_slice()
        && request["method"] == "tools/list"
    {
        pages += 1;
        assert!(pages < 20, "the list is not bounded");
        sent = large_page(&mut link, &request.clone(), pages);
    }
    assert_eq!(pages, 8, "the page that exceeds 64 MiB ends the list");
    assert_eq!(sent.server, [good], "the held call is forwarded unchecked");
    assert!(degraded(&sent.events)[0].contains("limit of 64 MiB"), "{:?}", sent.events);
    // Each attempt fails; the pauses are 30, 60, 120, 240, 480 and 480 seconds.
    for (id, pause) in [30, 60, 120, 240, 480, 480].into_iter().enumerate() {
        let next = call(10 + 2 * u32::try_from(id).unwrap(), "stat", json!({}));
        link.now += pause - 1;
        assert_eq!(link.client(next.clone()).server, [next], "after {} s", pause - 1);
        link.now += 1;
        let requests = link.client(call(11 + 2 * u32::try_from(id).unwrap(), "stat", json!({})));
        assert_eq!(requests.server[0]["method"], "tools/list", "after {pause} s");
        let error = json!({ "code": -32603, "message": "not now" });
        link.server(json!({ "jsonrpc": "2.0", "id": requests.server[0]["id"], "error": error }));
    }
}
