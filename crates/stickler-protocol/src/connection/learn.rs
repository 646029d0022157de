//! Learns from results: updates the lifecycle and the tool cache, and checks structured tool results.

use std::collections::HashMap;
use std::time::Duration;

use stickler::rules::MessageRule;
use stickler::tape::{Kind, Node};
use stickler::{Freshness, ToolDefinition, ToolList};

use super::Connection;
use super::capabilities::Capabilities;
use super::inspect::{Case, Incoming};
use super::pages::{Page, next_cursor};
use super::pending::PendingRequest;
use crate::envelope::excerpt;
use crate::protocol::Revision;
use crate::side::Side;
use crate::verdict::Finding;

const STRUCTURED_CONTENT_POINTER: &str = "/result/structuredContent";

impl Connection {
    /// Updates the lifecycle and the tool cache from a server result.
    pub(super) fn apply_result(
        &mut self,
        case: &mut Case,
        incoming: Incoming<'_>,
        pending: &PendingRequest,
        result: Node<'_>,
    ) {
        if incoming.side != Side::Server {
            return;
        }
        match &*pending.method {
            "initialize" => {
                self.lifecycle.handshake_answered(result);
                if self.lifecycle.agreed_on_unknown() {
                    case.note(unknown_revision(result));
                }
            }
            "server/discover" => {
                if let Some(capabilities) = result.get("capabilities") {
                    self.lifecycle.announce(Side::Server, Capabilities::read(capabilities));
                }
            }
            "tools/list" => self.learn_tools(case, incoming.now, pending, result),
            _ => {}
        }
    }

    fn learn_tools(
        &mut self,
        case: &mut Case,
        now: Duration,
        pending: &PendingRequest,
        result: Node<'_>,
    ) {
        let Some(entries) = result.get("tools").filter(|node| node.kind() == Kind::Array) else {
            return;
        };
        let list = ToolList::of(entries, self.limits());
        let Ok(next) = next_cursor(result) else { return };
        let page = Page {
            cursor: pending.cursor.clone(),
            next: next.map(|cursor| cursor.into_owned().into_boxed_str()),
            bytes: entries.raw().len(),
            tools: list.tools,
        };
        if page.cursor.is_none() && pending.has_cursor {
            return;
        }
        if let Some(tools) = self.pages.add(page) {
            self.populate(case, &tools, entries, Freshness::of_result(result, now));
            // A list requested before a change notification may be outdated.
            if pending.list_changes != self.validator.cache().changes(&self.server) {
                self.validator.cache().mark_stale(&self.server);
            }
        }
    }

    fn populate(
        &self,
        case: &mut Case,
        tools: &[ToolDefinition],
        entries: Node<'_>,
        freshness: Freshness,
    ) {
        let discovery = self.validator.cache().populate_with(&self.server, tools, freshness);
        if discovery.over_limit > 0 {
            let limit = self.limits().tools_per_server;
            let message = format!(
                "the server lists more than the limit of {limit} tools; calls of the other {} \
                 are not checked",
                discovery.over_limit
            );
            let finding = Finding::new(MessageRule::TooLarge, message).at("/result/tools");
            case.note(finding.with(format!("at most {limit} tools"), "more"));
        }
        if discovery.quarantined.is_empty() {
            return;
        }
        let places: HashMap<_, usize> = entries
            .elements()
            .enumerate()
            .filter_map(|(index, entry)| Some((entry.get("name")?.as_str()?, index)))
            .collect();
        for rejected in discovery.quarantined.into_iter().take(self.limits().errors) {
            let place = places.get(rejected.tool.as_str());
            let path = place.map_or_else(
                || "/result/tools".to_owned(),
                |index| format!("/result/tools/{index}/inputSchema"),
            );
            let finding = super::inspect::unusable_schema(&rejected.to_string()).at(path);
            case.note(finding.with("a usable JSON Schema", "an unusable one"));
        }
    }

    /// Checks a successful result against the tool's `outputSchema`.
    pub(super) fn check_structured_content(
        &self,
        case: &mut Case,
        now: Duration,
        pending: &PendingRequest,
        result: Node<'_>,
    ) {
        let is_structured_revision =
            pending.revision.is_none_or(|one| one >= Revision::V2025_06_18);
        let failed = result.get("isError").and_then(Node::as_bool) == Some(true);
        if !is_structured_revision || failed || !is_complete(result) || result.get("task").is_some()
        {
            return;
        }
        let Some(tool) = pending.tool.as_deref() else { return };
        if self.validator.cache().is_stale(&self.server, now) {
            return;
        }
        let structured = result.get("structuredContent");
        let errors = self.validator.validate_output_node(&self.server, tool, structured);
        case.record_schema_errors(MessageRule::InvalidResult, STRUCTURED_CONTENT_POINTER, errors);
    }
}

/// Returns whether a result is complete. Servers of older revisions omit `resultType`.
fn is_complete(result: Node<'_>) -> bool {
    result.get("resultType").is_none_or(|kind| kind.as_str().as_deref() == Some("complete"))
}

fn unknown_revision(result: Node<'_>) -> Finding {
    let version = result.get("protocolVersion").and_then(Node::as_str);
    let version = excerpt(version.as_deref().unwrap_or("none"));
    let message = format!("the server agreed on the unknown revision `{version}`");
    let finding = Finding::new(MessageRule::UnknownRevision, message).at("/result/protocolVersion");
    finding.with(Revision::ALL.map(Revision::as_str).join(", "), version)
}
