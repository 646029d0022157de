//! Judges a request of a data plane.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use stickler::{Era, Revision};
use stickler_protocol::envelope::PartialHeader;
use stickler_protocol::{Connection, Header, RequestContext, Side};

use super::{ExternalExchange, ExternalServer, Judgement};
use crate::connection_factory::Handshake;
use crate::downstream::http::content_negotiation::version;
use crate::downstream::http::frontend::era;
use crate::downstream::http::inbound_message::InboundMessage;
use crate::downstream::http::modern;
use crate::downstream::http::reply;
use crate::driver::Driver;
use crate::log::Log;
use crate::tool_views::ToolView;
use crate::upstream::http::admission::{Admission, admit};
use crate::upstream::http::gateway_requests::UrlLink;
use crate::upstream::http::hop_by_hop_headers::strip_request;
use crate::upstream::http::session_id;

/// A POST of a client.
#[derive(Debug)]
pub struct ExternalRequest {
    /// The authority that the client addressed.
    pub authority: String,
    /// The path and query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl ExternalServer {
    /// Judges a request. Waits for the tool list if the decision depends on it.
    pub async fn judge(&self, mut request: ExternalRequest) -> Judgement {
        if request.body.trim_ascii().is_empty() {
            return Judgement::Answer(reply::empty_body().into());
        }
        let inbound = InboundMessage::of(request.body.clone());
        let era = era(&request.headers, &inbound);
        // Observers forget what belongs to a session when it ends. Most responses are never seen, so each exchange is one.
        let session = session_id(&request.headers).filter(|_| era == Era::Legacy);
        let log = self.log.for_session(session.as_deref());
        let capabilities_hash = match era {
            Era::Legacy => 0,
            Era::Modern => match modern::admit(&request.headers, &inbound.body, &log) {
                Ok(hash) => hash,
                Err(rejection) => return Judgement::Answer((*rejection).into()),
            },
        };
        let view = self.view(&request, era, capabilities_hash);
        let begun = self.started.elapsed();
        let needs_list = inbound.has_method("tools/call") && !self.has_list_since(&view, None);
        let turn = if needs_list { Some(view.listing.turn.lock().await) } else { None };
        let fetches = self.upstream.is_some() && !view.listing.is_paused();
        if !fetches {
            self.distrust_old_list(&view);
        }
        let driver = self.driver(&request.headers, (&inbound, era), (&view, log), fetches);
        if inbound.body.len() > self.message_bytes() {
            return oversized(&driver, &inbound.body);
        }
        let context = match era {
            Era::Modern => modern::param_headers(&request.headers).into(),
            Era::Legacy => RequestContext::default(),
        };
        strip_request(&mut request.headers);
        let admission = admit(&driver, (&request.headers, &inbound.body), &context, era).await;
        if needs_list && fetches && !self.has_list_since(&view, Some(begun)) {
            view.listing.pause(self.factory.settings.fetch_backoff);
        }
        drop(turn);
        match admission {
            Admission::Answer(answer) => Judgement::Answer(answer.into()),
            Admission::Forward { message, ids, answers } => {
                let is_read = is_checked(&message.header) || !answers.is_empty();
                let body = (message.bytes != inbound.body).then(|| message.bytes.clone());
                let limit = self.message_bytes();
                let exchange = (is_read && !ids.is_empty())
                    .then(|| Box::new(ExternalExchange::new(driver, view, (ids, answers), limit)));
                Judgement::Forward { body, exchange }
            }
        }
    }

    /// Returns whether the tools of a view are known, and have not changed since; with a time, whether they were learned
    /// after it.
    fn has_list_since(&self, view: &ToolView, begun: Option<Duration>) -> bool {
        let freshness = self.factory.validator.cache().freshness(&view.name);
        let is_recent = |learned_at| begun.is_none_or(|begun| learned_at >= begun);
        freshness.is_some_and(|one| !one.changed && is_recent(one.learned_at))
    }

    /// Marks a list that can neither be trusted nor refreshed, so that it rejects nothing.
    fn distrust_old_list(&self, view: &ToolView) {
        let cache = self.factory.validator.cache();
        let Some(freshness) = cache.freshness(&view.name) else { return };
        let age = self.started.elapsed().saturating_sub(freshness.learned_at);
        if age > self.passive.max_list_age {
            cache.mark_stale(&view.name);
        }
    }

    fn driver(
        &self,
        headers: &HeaderMap,
        (inbound, era): (&InboundMessage, Era),
        (view, log): (&Arc<ToolView>, Log),
        fetches: bool,
    ) -> Arc<Driver> {
        let version = version(headers);
        let handshake = match era {
            Era::Modern => Handshake::Known(version.and_then(Revision::parse)),
            Era::Legacy if inbound.is_initialize() => Handshake::Now,
            // Without the header the revision is the last one that did not define it.
            Era::Legacy => {
                let version = version.unwrap_or(Revision::V2025_03_26.as_str());
                match session_id(headers) {
                    Some(_) => Handshake::Before(version),
                    None => Handshake::Known(Revision::parse(version)),
                }
            }
        };
        let settings = if fetches { &self.factory.settings } else { &self.passive };
        let connection: Connection =
            self.factory.for_exchange(&view.name, handshake, Arc::clone(settings));
        let upstream = self.upstream.clone().filter(|_| fetches);
        let link = UrlLink::new(upstream, self.message_bytes(), Arc::clone(view));
        Arc::new(self.factory.driver(connection, Box::new(link), log, self.started))
    }
}

/// Returns whether the response to a message is checked or learned from.
fn is_checked(header: &Header) -> bool {
    let mut all = std::iter::once(header).chain(&header.batch);
    all.any(|one| one.has_method("tools/list") || one.has_method("tools/call"))
}

/// Answers a request whose body is over the limit.
fn oversized(driver: &Arc<Driver>, body: &[u8]) -> Judgement {
    let outgoing = driver.handle_oversized(Side::Client, PartialHeader::of(body));
    let answer = outgoing.to_client.into_iter().next();
    let bytes = answer.map(|answer| answer.bytes).unwrap_or_default();
    Judgement::Answer(reply::json(StatusCode::PAYLOAD_TOO_LARGE, bytes).into())
}
