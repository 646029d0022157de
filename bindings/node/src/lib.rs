//! The native module of the npm package: the shared validator, with JSON text on both sides.
//!
//! Contract: bad arguments are a result; only a configuration or tool list that cannot be used throws. The typed API is
//! in `lib/`, which also converts values to text.

#![allow(
    missing_docs,
    reason = "the macro generates undocumented items; lib/index.d.ts documents the API"
)]
#![allow(clippy::needless_pass_by_value, reason = "the macro passes owned values")]

use std::sync::Arc;

use napi::bindgen_prelude::{Buffer, Function};
use napi::{Env, Error, Result};
use napi_derive::napi;
use stickler_bindings::Validator as Shared;

/// Validates calls to the tools of one server.
#[napi]
pub struct NativeValidator(Arc<Shared>);

#[napi]
impl NativeValidator {
    #[napi(constructor)]
    pub fn new(tools: String, config: String) -> Result<Self> {
        Shared::new(&tools, &config)
            .map(|created| Self(Arc::new(created)))
            .map_err(Error::from_reason)
    }

    #[napi]
    pub fn set_tools(&self, tools: String) -> Result<()> {
        self.0.set_tools(&tools).map_err(Error::from_reason)
    }

    #[napi]
    pub fn problems(&self) -> String {
        self.0.problems()
    }

    #[napi]
    pub fn mode(&self) -> &'static str {
        self.0.mode()
    }

    /// Checks a call; `null` means that it is valid as given.
    #[napi]
    pub fn check(&self, name: String, arguments: Option<String>) -> Option<String> {
        self.0.check(&name, arguments.as_deref())
    }

    /// Returns a function for the valid calls of one tool. Its argument is the length of the arguments at the start of
    /// `text`, its result whether the call is valid as given. It takes half of the time of `check`, because no string
    /// crosses into native code (decision 0089).
    #[napi]
    pub fn acceptor<'e>(
        &self,
        env: &'e Env,
        name: String,
        text: Buffer,
    ) -> Result<Function<'e, u32, bool>> {
        let validator = Arc::clone(&self.0);
        env.create_function_from_closure("accepts", move |call| {
            let length = usize::try_from(call.get::<u32>(0)?).unwrap_or(usize::MAX);
            Ok(text.get(..length).is_some_and(|text| validator.accepts(&name, text)))
        })
    }

    #[napi]
    pub fn unreadable(&self, name: String, reason: String) -> String {
        self.0.unreadable(&name, &reason)
    }

    #[napi]
    pub fn admit(
        &self,
        name: String,
        arguments: Option<String>,
        turn: Option<u32>,
    ) -> Option<String> {
        self.0.admit(&name, arguments.as_deref(), turn.map(u64::from))
    }

    #[napi]
    pub fn help_prompt(&self, name: String, arguments: Option<String>) -> Option<String> {
        self.0.help_prompt(&name, arguments.as_deref())
    }

    #[napi]
    pub fn retry_observation(
        &self,
        name: String,
        arguments: Option<String>,
        turn: u32,
    ) -> Option<String> {
        self.0.retry_observation(&name, arguments.as_deref(), u64::from(turn))
    }

    #[napi]
    pub fn enhance_error(&self, name: String, text: String) -> Option<String> {
        self.0.enhance_error(&name, &text)
    }

    #[napi]
    pub fn enhance_reply(&self, name: String, reply: String) -> Option<String> {
        self.0.enhance_reply(&name, &reply)
    }

    #[napi]
    pub fn check_output(&self, name: String, structured: Option<String>) -> String {
        self.0.check_output(&name, structured.as_deref())
    }
}

/// Lints a tool list; returns a JSON array of findings.
#[napi]
pub fn lint(tools: String, revision: Option<String>) -> Result<String> {
    stickler_bindings::lint(&tools, revision.as_deref()).map_err(Error::from_reason)
}
