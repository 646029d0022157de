//! What every request to a server is asked first: where it comes from, how large it is.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::header::{AUTHORIZATION, EXPECT, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use stickler::rules::json_rpc;
use stickler::{Era, Revision};
use stickler_protocol::envelope::{Glimpse, mentions};
use stickler_protocol::headers::VERSION_KEY;
use stickler_protocol::{Side, error_reply};
use stickler_transport::http::{Received, SESSION, Stalled, receive_within};

use super::letter::Letter;
use super::manners::{self, Hosts, is_loopback};
use super::parting::Parting;
use super::reading;
use super::reply::{self, Answer};
use super::sessions::Sessions;
use super::switchboard::Switchboard;
use super::to_command;
use super::to_url::Proxy;
use crate::log::Log;
use crate::recipe::Recipe;

/// Where requests go.
pub(super) enum Backend {
    Command(Arc<Sessions>, Switchboard),
    Url(Arc<Proxy>),
}

/// The way in.
pub(super) struct Front {
    pub(super) backend: Backend,
    pub(super) origins: Vec<String>,
    pub(super) token: Option<String>,
    /// Names that this machine may be called by.
    pub(super) hosts: Hosts,
    pub(super) keep_alive: Duration,
    pub(super) log: Log,
}

/// The next part of a body must have come after this long.
const BODY: Duration = Duration::from_secs(30);

pub(super) const OLD_TRANSPORT: &str = "the HTTP+SSE transport of 2024-11-05 is not served here; use \
    Streamable HTTP: POST to the path of the server";

impl Backend {
    fn recipe(&self) -> &Recipe {
        match self {
            Self::Command(sessions, _) => &sessions.recipe,
            Self::Url(proxy) => &proxy.recipe,
        }
    }

    /// Streams that have no end are ended.
    pub(super) fn hang_up(&self) {
        match self {
            Self::Command(sessions, _) => sessions.hang_up(),
            Self::Url(proxy) => proxy.hang_up(),
        }
    }

    /// Everything ends.
    pub(super) async fn close_all(&self) {
        match self {
            Self::Command(sessions, switchboard) => {
                switchboard.close().await;
                sessions.close_all().await;
            }
            Self::Url(proxy) => proxy.close_all(),
        }
    }
}

impl Front {
    pub(super) async fn handle(&self, request: Request<Incoming>, parting: &Parting) -> Answer {
        let mut answer = self.answer(request, parting).await;
        answer.body_mut().keep_alive(self.keep_alive);
        answer
    }

    async fn answer(&self, request: Request<Incoming>, parting: &Parting) -> Answer {
        if let Some(refused) = self.turn_away(&request).or_else(|| self.mind_kinds(&request)) {
            return refused;
        }
        let (mut parts, body) = request.into_parts();
        if self.token.is_some() {
            // It was meant for us.
            parts.headers.remove(AUTHORIZATION);
        }
        match parts.method {
            Method::POST => match self.receive(&parts.headers, body).await {
                Ok(body) => {
                    let letter = Letter::of(body);
                    parting.has_come(letter.wants_answer());
                    self.post(parts.headers, letter).await
                }
                Err(refused) => refused,
            },
            Method::GET => {
                parting.has_come(true);
                self.listen(parts.headers).await
            }
            Method::DELETE => {
                parting.has_come(false);
                self.close(parts.headers).await
            }
            _ => reply::not_allowed("GET, POST, DELETE", "this method of HTTP means nothing here"),
        }
    }

    /// The answer to what does not even get to the protocol.
    pub(super) fn turn_away(&self, request: &Request<Incoming>) -> Option<Answer> {
        if let Some(refused) = self.hosts.check(request.headers()) {
            return Some(refused);
        }
        if let Some(origin) = request.headers().get(ORIGIN)
            && !self.is_welcome(origin)
        {
            return Some(reply::refusal(StatusCode::FORBIDDEN, "this origin is not allowed here"));
        }
        if !self.shows_token(request.headers()) {
            let mut answer = reply::refusal(StatusCode::UNAUTHORIZED, "a bearer token is wanted");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return Some(answer);
        }
        None
    }

    /// In front of a URL the server has the word.
    fn mind_kinds(&self, request: &Request<Incoming>) -> Option<Answer> {
        match self.backend {
            Backend::Command(..) => manners::check_kinds(request.method(), request.headers()),
            Backend::Url(_) => None,
        }
    }

    fn is_welcome(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        if self.origins.iter().any(|one| one == "*" || one.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let host = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
        host.is_some_and(|host| is_loopback(&host))
    }

    fn shows_token(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let shown = shown.and_then(|value| value.split_once(' '));
        shown.is_some_and(|(scheme, shown)| {
            scheme.eq_ignore_ascii_case("bearer")
                && is_same(shown.trim().as_bytes(), token.as_bytes())
        })
    }

    async fn receive(&self, headers: &HeaderMap, incoming: Incoming) -> Result<Bytes, Answer> {
        let recipe = self.backend.recipe();
        let limit = recipe.message_bytes();
        // Whoever asks first whether to send it is not told to go on.
        let asks_first = headers.contains_key(EXPECT);
        let received = if asks_first && incoming.size_hint().lower() > limit as u64 {
            Ok(Received::TooLarge(Bytes::new()))
        } else {
            receive_within(incoming, limit, Some(BODY)).await
        };
        match received {
            Ok(Received::Whole(body)) => Ok(body),
            Ok(Received::Broken) => {
                Err(reply::refusal(StatusCode::BAD_REQUEST, "the body did not come to its end"))
            }
            Err(Stalled) => {
                let reason = format!("nothing more of the body came for {} s", BODY.as_secs());
                Err(reply::refusal(StatusCode::REQUEST_TIMEOUT, &reason))
            }
            Ok(Received::TooLarge(beginning)) => {
                let mut gatekeeper = recipe.gatekeeper(&recipe.name, None);
                let outbox = gatekeeper.overlong(Side::Client, Glimpse::of(&beginning));
                for event in &outbox.events {
                    self.log.event(event, None);
                }
                let answer = outbox.to_client.into_iter().next().unwrap_or_default();
                Err(reply::json(StatusCode::PAYLOAD_TOO_LARGE, answer.into_owned()))
            }
        }
    }

    async fn post(&self, headers: HeaderMap, letter: Letter) -> Answer {
        if letter.body.trim_ascii().is_empty() {
            // On a pipe an empty line is nothing; here somebody waits for what comes of it.
            let reason = "Parse error: the body is empty, it must be a JSON-RPC message";
            let error = error_reply(None, json_rpc::PARSE_ERROR, reason);
            return reply::rejection(StatusCode::BAD_REQUEST, error, reason);
        }
        match &self.backend {
            Backend::Command(sessions, switchboard) => {
                let answer = match era(&headers, &letter) {
                    Era::Legacy => to_command::post(sessions, &headers, &letter).await,
                    Era::Modern => {
                        to_command::post_modern(switchboard, sessions, &headers, &letter).await
                    }
                };
                reply::in_the_place_of(headers, answer)
            }
            Backend::Url(proxy) => proxy.post(headers, letter).await,
        }
    }

    async fn listen(&self, headers: HeaderMap) -> Answer {
        match &self.backend {
            Backend::Url(proxy) => proxy.get(headers).await,
            Backend::Command(..) if era(&headers, &Letter::empty()) == Era::Modern => {
                reply::not_allowed("POST", "there is no GET stream since 2026-07-28")
            }
            Backend::Command(..) if !headers.contains_key(SESSION) => {
                // Clients of the old transport begin like this.
                reply::not_allowed("POST, DELETE", OLD_TRANSPORT)
            }
            Backend::Command(sessions, _) => reading::listen(sessions, &headers),
        }
    }

    async fn close(&self, headers: HeaderMap) -> Answer {
        match &self.backend {
            Backend::Url(proxy) => proxy.delete(headers).await,
            Backend::Command(..) if era(&headers, &Letter::empty()) == Era::Modern => {
                reply::not_allowed("POST", "there are no sessions since 2026-07-28")
            }
            Backend::Command(sessions, _) => to_command::close(sessions, &headers),
        }
    }
}

/// The era that a request belongs to: its header says, or its session, or its body.
pub(super) fn era(headers: &HeaderMap, letter: &Letter) -> Era {
    let version = manners::version(headers);
    let revision = version.and_then(Revision::parse);
    let has_session = headers.contains_key(SESSION);
    let says_so = || mentions(&letter.body, VERSION_KEY);
    // Versions are dates: one that we do not know is newer or nonsense. Only the older have sessions.
    let is_newer = || revision.map_or(!has_session, |one| one.era() == Era::Modern);
    let is_modern = match version {
        // The handshake is legacy whatever version it asks for, unless both header and body say
        // that it is none.
        Some(_) if letter.is_initialize() => is_newer() && says_so(),
        Some(_) => is_newer(),
        None => !has_session && !letter.is_initialize() && says_so(),
    };
    if is_modern { Era::Modern } else { Era::Legacy }
}

/// Takes as long for a wrong token as for a right one.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differences == 0
}
