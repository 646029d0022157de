//! The native module of the Python package: the shared validator, with Python objects converted to JSON text.
//!
//! Contract: the global interpreter lock is released while a call is checked; arguments that cannot be written as JSON
//! are a result like any other bad call. The typed API with its documentation is in `python/stickler_mcp`.

mod to_json;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stickler_bindings::Validator as Shared;

use crate::to_json::to_json;

/// Validates calls to the tools of one server.
#[pyclass(frozen, module = "stickler_mcp._native")]
struct NativeValidator(Shared);

/// What a method of the shared validator needs: the text of the arguments, or why there is none.
type Arguments = Result<Option<String>, String>;

fn arguments_of(arguments: Option<&Bound<'_, PyAny>>) -> Arguments {
    arguments.map(to_json).transpose()
}

#[pymethods]
impl NativeValidator {
    #[new]
    fn new(py: Python<'_>, tools: &str, config: &str) -> PyResult<Self> {
        py.detach(|| Shared::new(tools, config)).map(Self).map_err(PyValueError::new_err)
    }

    fn set_tools(&self, py: Python<'_>, tools: &str) -> PyResult<()> {
        py.detach(|| self.0.set_tools(tools)).map_err(PyValueError::new_err)
    }

    fn problems(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.problems())
    }

    fn mode(&self) -> &'static str {
        self.0.mode()
    }

    /// Checks arguments that are a Python object; `None` means that the call is valid as given.
    #[pyo3(signature = (name, arguments))]
    fn check(
        &self,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        py: Python<'_>,
    ) -> Option<String> {
        match arguments_of(arguments) {
            Ok(text) => py.detach(|| self.0.check(name, text.as_deref())),
            Err(reason) => Some(py.detach(|| self.0.unreadable(name, &reason))),
        }
    }

    /// Checks arguments that are JSON text.
    #[pyo3(signature = (name, text))]
    fn check_json(&self, py: Python<'_>, name: &str, text: Option<&str>) -> Option<String> {
        py.detach(|| self.0.check(name, text))
    }

    #[pyo3(signature = (name, text, turn))]
    fn admit_json(
        &self,
        py: Python<'_>,
        name: &str,
        text: Option<&str>,
        turn: Option<u64>,
    ) -> Option<String> {
        py.detach(|| self.0.admit(name, text, turn))
    }

    #[pyo3(signature = (name, text))]
    fn help_prompt_json(&self, py: Python<'_>, name: &str, text: Option<&str>) -> Option<String> {
        py.detach(|| self.0.help_prompt(name, text))
    }

    #[pyo3(signature = (name, text, turn))]
    fn retry_observation_json(
        &self,
        py: Python<'_>,
        name: &str,
        text: Option<&str>,
        turn: u64,
    ) -> Option<String> {
        py.detach(|| self.0.retry_observation(name, text, turn))
    }

    fn enhance_error(&self, py: Python<'_>, name: &str, text: &str) -> Option<String> {
        py.detach(|| self.0.enhance_error(name, text))
    }

    fn enhance_reply_json(&self, py: Python<'_>, name: &str, reply: &str) -> Option<String> {
        py.detach(|| self.0.enhance_reply(name, reply))
    }

    #[pyo3(signature = (name, structured))]
    fn check_output_json(&self, py: Python<'_>, name: &str, structured: Option<&str>) -> String {
        py.detach(|| self.0.check_output(name, structured))
    }
}

/// Lints a tool list; returns a JSON array of findings.
#[pyfunction]
#[pyo3(signature = (tools, revision))]
fn lint(py: Python<'_>, tools: &str, revision: Option<&str>) -> PyResult<String> {
    py.detach(|| stickler_bindings::lint(tools, revision)).map_err(PyValueError::new_err)
}

/// Writes a Python object as JSON text, as the validator does.
#[pyfunction(name = "to_json")]
fn json_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    to_json(value).map_err(PyValueError::new_err)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<NativeValidator>()?;
    module.add_function(wrap_pyfunction!(lint, module)?)?;
    module.add_function(wrap_pyfunction!(json_of, module)?)
}
