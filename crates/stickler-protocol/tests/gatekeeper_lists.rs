//! The gatekeeper learns the tools itself, and lets calls wait for them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "tests are blunt"
)]

mod support {
    pub(crate) mod link;
}

use serde_json::json;
use stickler::{MessageRule, Revision};
use stickler_protocol::{Action, Event, GatekeeperSettings, Policy, Side, ValidationMiddleware};
use support::link::{Link, call, initialize, initialized, is_help, list_of, sent, stat};

#[test]
fn a_call_before_any_list_waits_for_the_list_that_the_gateway_asks_for() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
    assert_eq!((waiting.client.len(), waiting.server.len()), (0, 1));
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(sent.server.is_empty(), "the bad call does not reach the server");
    assert_eq!(sent.client.len(), 1, "the client sees no answer to a question it did not ask");
    assert!(is_help(&sent.client[0]) && sent.client[0]["id"] == 7);
    // A good one goes straight on from now on.
    let good = call(8, "stat", json!({ "path": "a" }));
    assert_eq!(link.client(good.clone()).server, [good]);
}

#[test]
fn a_call_sent_before_the_handshake_is_over_waits_for_it() {
    let mut link = Link::new();
    link.client(initialize());
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
    assert!(waiting.client.is_empty() && waiting.server.is_empty());
    let asked = link.server(initialized(json!({ "tools": {} })));
    assert_eq!((asked.client.len(), asked.server.len()), (1, 1));
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]));
}

#[test]
fn a_server_without_tools_is_not_asked_for_them() {
    let mut link = Link::new();
    link.client(initialize());
    let waiting = link.client(call(7, "stat", json!({})));
    assert!(waiting.server.is_empty());
    let sent = link.server(initialized(json!({})));
    assert_eq!(sent.server, [call(7, "stat", json!({}))]);
    assert_eq!(sent.client, [initialized(json!({}))], "and nothing is announced for it");
}

#[test]
fn all_pages_are_asked_for() {
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
fn the_first_page_of_a_list_is_no_list() {
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let page = json!({ "tools": [stat()], "nextCursor": "2" });
    link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": page }));
    let waiting = link.client(call(7, "other", json!({})));
    assert!(waiting.client.is_empty(), "{waiting:?}");
    assert_eq!(waiting.server[0]["method"], "tools/list", "all pages are asked for");
}

#[test]
fn an_old_list_is_fetched_again_before_it_refuses() {
    let mut link = Link::informed();
    let at_once = link.client(call(6, "stat", json!({ "pth": "a" })));
    assert!(is_help(&at_once.client[0]), "a list of this second is fresh enough for a schema");
    let waiting = link.client(call(7, "stats", json!({})));
    assert!(waiting.client.is_empty(), "but a tool may be newer than that");
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!(sent.client[0]["error"]["code"], -32602);
    let waiting = link.client(call(8, "stats", json!({})));
    assert!(waiting.client.is_empty());
    let tools = json!([stat(), { "name": "stats", "inputSchema": { "type": "object" } }]);
    let sent = link.server(list_of(&waiting.server[0], tools));
    assert_eq!(sent.server, [call(8, "stats", json!({}))]);
    assert!(sent.client.is_empty());
}

/// The rules that were broken by what has been judged.
fn broken(events: &[Event]) -> Vec<MessageRule> {
    let findings = events.iter().filter_map(|event| match event {
        Event::Judged { verdict, .. } => Some(&verdict.findings),
        _ => None,
    });
    findings.flatten().map(|finding| finding.rule).collect()
}

#[test]
fn a_tool_that_was_never_listed_and_is_like_none_is_left_to_the_server() {
    let mut link = Link::informed();
    let sent = link.client(call(7, "hidden", json!({ "any": 1 })));
    assert_eq!(sent.server, [call(7, "hidden", json!({ "any": 1 }))]);
    assert_eq!(broken(&sent.events), [MessageRule::UnknownTool], "and the log says so");
    let answer = json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } });
    let sent = link.server(answer.clone());
    assert_eq!((sent.client, broken(&sent.events)), (vec![answer], vec![]));
}

#[test]
fn a_tool_that_was_never_listed_is_looked_for_in_a_new_list_first() {
    let mut link = Link::informed();
    link.now = 60;
    let mut asked = call(8, "new", json!({ "pth": "a" }));
    asked["params"]["_meta"] = json!({ "progressToken": "t" });
    let waiting = link.client(asked.clone());
    assert_eq!((waiting.server.len(), waiting.events.len()), (1, 0), "{waiting:?}");
    let mut tool = stat();
    tool["name"] = "new".into();
    let sent = link.server(list_of(&waiting.server[0], json!([stat(), tool])));
    assert!(is_help(&sent.client[0]), "its arguments are checked: {sent:?}");
    assert_eq!(sent.client[0]["id"], 8);
    // Nor does anything remain of the first try of one that goes on in the end.
    link.now = 120;
    asked["params"]["name"] = "hidden".into();
    let waiting = link.client(asked.clone());
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!((sent.server, sent.client), (vec![asked], vec![]));
    assert_eq!(broken(&sent.events), [MessageRule::UnknownTool]);
    assert_eq!(link.gatekeeper.in_flight(), 1);
}

#[test]
fn whoever_is_strict_leaves_no_unknown_tool_to_the_server() {
    let enforce = Policy::default().with(Side::Client, MessageRule::UnknownTool, Action::Enforce);
    for policy in [Policy::strict(), enforce] {
        let policy = std::sync::Arc::new(policy);
        let begin = |middleware: ValidationMiddleware| {
            middleware.with_policy(std::sync::Arc::clone(&policy))
        };
        let mut link = Link::with(begin);
        link.shake_hands();
        link.learn_tools();
        let waiting = link.client(call(7, "hidden", json!({})));
        let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
        assert!(sent.server.is_empty());
        assert_eq!(sent.client[0]["error"]["code"], -32602);
        assert_eq!(sent.client[0]["error"]["data"]["available"][0], "stat");
    }
}

#[test]
fn a_list_that_cannot_be_confirmed_refuses_nothing() {
    let mut link = Link::informed();
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
fn a_call_does_not_wait_for_ever() {
    let mut link = Link::ready();
    link.client(call(7, "stat", json!({ "pth": "a" })));
    let deadline = link.gatekeeper.next_deadline().unwrap();
    assert_eq!(deadline, GatekeeperSettings::default().longest_wait);
    link.now = 6;
    let sent = sent(link.gatekeeper.timeout(link.time()));
    assert_eq!(sent.server, [call(7, "stat", json!({ "pth": "a" }))]);
    assert_eq!(link.gatekeeper.next_deadline(), None);
    // The server is left in peace for a while.
    assert_eq!(link.client(call(8, "stat", json!({}))).server, [call(8, "stat", json!({}))]);
}

#[test]
fn a_list_that_comes_too_late_is_learnt_and_not_passed_on() {
    let mut link = Link::ready();
    let asked = link.client(call(7, "stat", json!({ "pth": "a" }))).server;
    link.now += 6;
    let time = link.time();
    assert_eq!(sent(link.gatekeeper.timeout(time)).server.len(), 1, "the call goes on unchecked");
    let late = link.server(list_of(&asked[0], json!([stat()])));
    assert!(late.client.is_empty() && late.server.is_empty(), "{late:?}");
    let refused = link.client(call(8, "stat", json!({ "pth": "a" })));
    assert!(is_help(&refused.client[0]), "{refused:?}");
}

#[test]
fn a_cancellation_does_not_overtake_the_call_it_is_about() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert!(link.client(cancel.clone()).server.is_empty());
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!(sent.server, [call(7, "stat", json!({ "path": "a" })), cancel]);
}

#[test]
fn after_a_change_the_next_call_is_judged_by_the_new_list() {
    let mut link = Link::informed();
    link.server(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    let sent = link.server(list_of(&waiting.server[0], json!([])));
    assert_eq!(sent.client[0]["error"]["message"], "Unknown tool: stat");
}

#[test]
fn a_tool_is_not_taken_for_the_name_that_only_the_gateway_answers_to() {
    let mut link = Link::informed();
    let sent = link.client(call(7, "evaluate", json!({})));
    assert_eq!(sent.server, [call(7, "evaluate", json!({}))], "`validate` is on no list");
    let waiting = link.client(call(8, "stickler_validat", json!({})));
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!(sent.client[0]["error"]["data"]["suggestions"][0], "stickler_validate");
}

#[test]
fn what_is_wrong_with_a_call_of_an_unlisted_tool_beside_its_name_is_refused() {
    let mut link = Link::informed();
    let waiting = link.client(call(7, "hidden", json!(7)));
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(sent.server.is_empty());
    let message = sent.client[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("`/params/arguments` must be an object"), "{message}");
}

#[test]
fn an_id_that_is_in_use_is_not_taken_back_with_a_call_that_has_it_too() {
    let off = Policy::default().with(Side::Client, MessageRule::DuplicateId, Action::Off);
    let off = std::sync::Arc::new(off);
    let begin =
        |middleware: ValidationMiddleware| middleware.with_policy(std::sync::Arc::clone(&off));
    let mut link = Link::with(begin);
    link.shake_hands();
    link.learn_tools();
    link.now = 60;
    link.client(call(7, "stat", json!({ "path": "a" })));
    let sent = link.client(call(7, "hidden", json!({})));
    assert_eq!(sent.server, [call(7, "hidden", json!({}))], "it does not wait");
    assert_eq!(link.gatekeeper.in_flight(), 1);
    let answer = json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } });
    assert_eq!(broken(&link.server(answer).events), []);
}

#[test]
fn a_batch_waits_for_a_new_list_whatever_becomes_of_its_calls() {
    let mut link = Link::with(|middleware| middleware.with_revision(Revision::V2025_03_26));
    link.shake_hands();
    link.learn_tools();
    link.now = 60;
    let batch = json!([call(7, "hidden", json!({})), call(8, "stats", json!({}))]);
    let waiting = link.client(batch.clone());
    assert!(waiting.client.is_empty(), "{waiting:?}");
    let tools = json!([stat(), { "name": "stats", "inputSchema": { "type": "object" } }]);
    let sent = link.server(list_of(&waiting.server[0], tools));
    assert_eq!((sent.server, sent.client), (vec![batch], vec![]));
}

/// Answers the question for a page, with another page to follow.
fn page(link: &mut Link, request: &serde_json::Value, next: &str) -> support::link::Sent {
    let mut page = list_of(request, json!([stat()]));
    page["result"]["nextCursor"] = next.into();
    link.server(page)
}

/// Why calls go on unchecked.
fn degraded(events: &[Event]) -> Vec<&str> {
    let reasons = events.iter().map(|event| match event {
        Event::Degraded { reason } => Some(reason.as_str()),
        _ => None,
    });
    reasons.flatten().collect()
}

#[test]
fn a_page_that_is_followed_by_itself_makes_no_list() {
    let mut link = Link::ready();
    let other = call(7, "other", json!({}));
    let first = link.client(other.clone());
    let second = page(&mut link, &first.server[0], "again");
    let sent = page(&mut link, &second.server[0], "again");
    assert_eq!(sent.server, [other], "the list is not known to be without it");
    assert_eq!(
        degraded(&sent.events),
        ["the server's tool list does not end: a page has itself for its next page"]
    );
    assert_eq!(sent.client, Vec::<serde_json::Value>::new());
}

#[test]
fn a_list_of_too_many_pages_is_none() {
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
