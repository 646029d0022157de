//! What each path does. `GET` reads; what acts is `POST` with a JSON body.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, LOCATION, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::CallSender;
use crate::api::call_check::{self, EditedCall};
use crate::api::definitions::Definitions;
use crate::api::{exchange, rows, sessions, tools};
use crate::filter::Filter;
use crate::http::access::Access;
use crate::http::response::{self, Body};
use crate::http::{assets, events};
use crate::library::Library;
use crate::view::{Query, View};

const MAX_BODY_BYTES: usize = 4 << 20;
/// Number of views that are kept up to date.
const MAX_VIEWS: usize = 6;

/// Everything that requests need.
pub(crate) struct Page {
    pub(crate) library: Arc<Library>,
    pub(crate) access: Access,
    pub(crate) definitions: Definitions,
    pub(crate) sender: Option<Arc<dyn CallSender>>,
    pub(crate) source: String,
    pub(crate) views: Mutex<Vec<Arc<Mutex<View>>>>,
}

/// A call to send, from the page.
#[derive(Deserialize)]
struct Sending {
    server: String,
    tool: String,
    arguments: String,
    confirmed: bool,
}

impl Page {
    pub(crate) async fn handle(self: &Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let parameters = parameters(request.uri().query().unwrap_or_default());
        if let Err(denied) = self.access.check_source(request.headers()) {
            return response::text(StatusCode::FORBIDDEN, denied.reason());
        }
        let has_token = parameters.get("token").is_some_and(|token| self.access.is_token(token));
        if has_token && request.uri().path() == "/" {
            return self.enter();
        }
        if !has_token && let Err(denied) = self.access.check(request.headers()) {
            return response::text(StatusCode::FORBIDDEN, denied.reason());
        }
        let path = request.uri().path().to_owned();
        match (request.method().clone(), path.as_str()) {
            (Method::GET, "/api/events") => events::stream(Arc::clone(&self.library)),
            (method, "/api/validate" | "/api/send") if method != Method::POST => {
                not_allowed("POST")
            }
            (Method::GET, path) if path.starts_with("/api/") => {
                self.read(path.to_owned(), parameters).await
            }
            (Method::GET, path) => match assets::find(path) {
                Some(asset) => response::bytes(StatusCode::OK, asset.media_type, asset.text),
                None => response::error(StatusCode::NOT_FOUND, "There is no such page."),
            },
            (Method::POST, "/api/validate" | "/api/send") => match body(request).await {
                Ok(body) => self.act(&path, body).await,
                Err(rejection) => rejection,
            },
            _ => not_allowed("GET"),
        }
    }

    /// Exchanges the token for the cookie.
    fn enter(&self) -> Response<Body> {
        let mut answer = response::text(StatusCode::SEE_OTHER, "");
        if let Some(cookie) = self.access.set_cookie() {
            answer.headers_mut().insert(SET_COOKIE, cookie);
        }
        answer.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
        answer
    }

    /// Reads from the index and from files, off the threads that serve connections.
    async fn read(
        self: &Arc<Self>,
        path: String,
        parameters: HashMap<String, String>,
    ) -> Response<Body> {
        let page = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || page.read_now(&path, &parameters)).await;
        done.unwrap_or_else(|_| {
            response::error(StatusCode::INTERNAL_SERVER_ERROR, "The request failed.")
        })
    }

    fn read_now(&self, path: &str, parameters: &HashMap<String, String>) -> Response<Body> {
        let number =
            |name: &str| parameters.get(name).and_then(|value| value.parse::<usize>().ok());
        let scope = number("scope");
        match path {
            "/api/start" => response::json(&json!({
                "source": self.source,
                "servers": self.sender.as_ref().map(|sender| sender.servers()).unwrap_or_default(),
                "version": env!("CARGO_PKG_VERSION"),
            })),
            "/api/sessions" => response::json(&sessions::list(&self.library.read())),
            "/api/rows" => {
                self.rows(scope, parameters, number("from"), number("count").unwrap_or(100))
            }
            "/api/tools" => response::json(&tools::list(&self.library, &self.definitions, scope)),
            "/api/tool" => {
                let validator = scope.and_then(|scope| self.definitions.of(&self.library, scope));
                let name = parameters.get("tool").map_or("", String::as_str);
                response::json(&tools::definition(validator.as_deref(), name))
            }
            "/api/exchange" => {
                let id = |name| number(name).and_then(|value| u32::try_from(value).ok());
                let found = id("s").zip(id("r")).and_then(|entry| {
                    let is_whole = parameters.contains_key("whole");
                    exchange::detail(&self.library, &self.definitions, entry, is_whole)
                });
                match found {
                    Some(found) => response::json(&found),
                    None => response::error(
                        StatusCode::NOT_FOUND,
                        "This exchange does not exist any more.",
                    ),
                }
            }
            _ => response::error(StatusCode::NOT_FOUND, "There is no such page."),
        }
    }

    fn rows(
        &self,
        scope: Option<usize>,
        parameters: &HashMap<String, String>,
        from: Option<usize>,
        count: usize,
    ) -> Response<Body> {
        let filter = match Filter::parse(parameters.get("filter").map_or("", String::as_str)) {
            Ok(filter) => filter,
            Err(problem) => return response::json(&json!({ "problem": problem })),
        };
        let query =
            Query { scope, filter, folds: parameters.get("fold").is_some_and(|fold| fold == "1") };
        let view = self.view(query);
        let mut view = view.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = view.search.jobs(&self.library.read(), view.query.scope);
        for job in &jobs {
            view.search.run(job);
        }
        let sessions = self.library.read();
        view.update(&sessions);
        response::json(&rows::window(&view, &sessions, from, count))
    }

    /// Returns the kept view of a query, or a new one.
    fn view(&self, query: Query) -> Arc<Mutex<View>> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |view: &Arc<Mutex<View>>| {
            // A view that is locked is being updated, for this query or another one.
            view.lock().unwrap_or_else(PoisonError::into_inner).query == query
        };
        let view = match views.iter().position(is_it) {
            Some(index) => views.remove(index),
            None => Arc::new(Mutex::new(View::new(query))),
        };
        views.insert(0, Arc::clone(&view));
        views.truncate(MAX_VIEWS);
        view
    }

    async fn act(self: &Arc<Self>, path: &str, body: Bytes) -> Response<Body> {
        if path == "/api/send" {
            return match serde_json::from_slice(&body) {
                Ok(sending) => self.send(sending).await,
                Err(error) => response::error(StatusCode::BAD_REQUEST, &error.to_string()),
            };
        }
        let call: EditedCall = match serde_json::from_slice(&body) {
            Ok(call) => call,
            Err(error) => return response::error(StatusCode::BAD_REQUEST, &error.to_string()),
        };
        let page = Arc::clone(self);
        let checked = tokio::task::spawn_blocking(move || {
            let validator = page.definitions.of(&page.library, call.session);
            call_check::check(validator.as_deref(), &call)
        });
        match checked.await {
            Ok(checked) => response::json(&checked),
            Err(_) => {
                response::error(StatusCode::INTERNAL_SERVER_ERROR, "The call cannot be checked.")
            }
        }
    }

    /// Sends a call to a configured server, after the person has confirmed it.
    async fn send(
        &self,
        Sending { server, tool, arguments, confirmed }: Sending,
    ) -> Response<Body> {
        let Some(sender) = self.sender.as_ref().filter(|sender| sender.servers().contains(&server))
        else {
            let reason = "Calls are sent only to a server that `stickler ui --config FILE` names.";
            return response::error(StatusCode::FORBIDDEN, reason);
        };
        if !confirmed {
            return response::error(StatusCode::BAD_REQUEST, "The call was not confirmed.");
        }
        let arguments: Value = match serde_json::from_str(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => {
                return response::error(StatusCode::BAD_REQUEST, &format!("Not JSON: {error}."));
            }
        };
        match sender.call(server, tool, arguments).await {
            Ok(result) => response::json(&json!({ "result": result })),
            Err(message) => response::json(&json!({ "failed": message })),
        }
    }
}

fn not_allowed(allowed: &'static str) -> Response<Body> {
    let message = "This method is not supported here.";
    let mut answer = response::error(StatusCode::METHOD_NOT_ALLOWED, message);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

/// Reads the JSON body of an action.
async fn body(request: Request<Incoming>) -> Result<Bytes, Response<Body>> {
    let media_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if media_type.is_none_or(|value| !value.starts_with("application/json")) {
        return Err(response::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body must be JSON."));
    }
    match Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(_) => Err(response::error(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The body is too large or incomplete.",
        )),
    }
}

/// Decodes the parameters of an address.
fn parameters(query: &str) -> HashMap<String, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let decode = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    pairs.map(decode).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after
            .get(..2)
            .and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        rest = after;
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::parameters;

    #[test]
    fn parameters_are_decoded() {
        let found = parameters("filter=tool%3Aa+b%20%C3%A9&x&y=%zz%2");
        assert_eq!(found["filter"], "tool:a b é");
        assert_eq!((found["x"].as_str(), found["y"].as_str()), ("", "%zz%2"));
    }
}
