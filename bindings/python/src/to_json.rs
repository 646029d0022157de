//! Writes Python objects as compact JSON text, in the order of their keys.
//!
//! The types that JSON libraries produce are written here, without calls into Python; everything else (subclasses, keys
//! that are not strings, lone surrogates) is left to Python's `json` module.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Nesting beyond the limit of any message; such arguments are rejected without being written.
const MAX_DEPTH: usize = 200;

/// Maximum size of the text, the limit for messages with room for its report: a list that contains itself has no end.
const MAX_BYTES: usize = 17 << 20;

/// Why an object was not written.
enum Stop {
    /// Python's `json` module has to write it.
    NotPlain,
    /// It cannot be written.
    Failed(String),
}

/// Returns the JSON text of an object, or the reason why it has none.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> Result<String, String> {
    let mut text = String::with_capacity(512);
    match write(value, &mut text, 0) {
        Ok(()) => Ok(text),
        Err(Stop::Failed(reason)) => Err(reason),
        Err(Stop::NotPlain) => {
            by_python(value).map_err(|error| error.value(value.py()).to_string())
        }
    }
}

fn by_python(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let options = PyDict::new(py);
    options.set_item("separators", (",", ":"))?;
    py.import("json")?.call_method("dumps", (value,), Some(&options))?.extract()
}

fn write(value: &Bound<'_, PyAny>, text: &mut String, depth: usize) -> Result<(), Stop> {
    if depth > MAX_DEPTH {
        return Err(Stop::Failed("they are nested too deeply".to_owned()));
    }
    if text.len() > MAX_BYTES {
        return Err(Stop::Failed("they are too long".to_owned()));
    }
    if let Ok(string) = value.cast_exact::<PyString>() {
        write_string(string, text)
    } else if let Ok(object) = value.cast_exact::<PyDict>() {
        write_object(object, text, depth)
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        write_array(list.iter(), text, depth)
    } else if let Ok(boolean) = value.cast_exact::<PyBool>() {
        text.push_str(if boolean.is_true() { "true" } else { "false" });
        Ok(())
    } else if value.is_none() {
        text.push_str("null");
        Ok(())
    } else if value.cast_exact::<PyInt>().is_ok() || value.cast_exact::<PyFloat>().is_ok() {
        // The shortest text that reads back as the same number; `nan` and `inf` are not JSON and are left to Python.
        let number = value.repr().map_err(|_| Stop::NotPlain)?;
        let number = number.to_str().map_err(|_| Stop::NotPlain)?;
        if number.ends_with(['n', 'f']) {
            return Err(Stop::NotPlain);
        }
        text.push_str(number);
        Ok(())
    } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        write_array(tuple.iter(), text, depth)
    } else {
        Err(Stop::NotPlain)
    }
}

fn write_object(object: &Bound<'_, PyDict>, text: &mut String, depth: usize) -> Result<(), Stop> {
    text.push('{');
    for (index, (key, value)) in object.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_string(key.cast_exact::<PyString>().map_err(|_| Stop::NotPlain)?, text)?;
        text.push(':');
        write(&value, text, depth + 1)?;
    }
    text.push('}');
    Ok(())
}

fn write_array<'py>(
    elements: impl Iterator<Item = Bound<'py, PyAny>>,
    text: &mut String,
    depth: usize,
) -> Result<(), Stop> {
    text.push('[');
    for (index, element) in elements.enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(&element, text, depth + 1)?;
    }
    text.push(']');
    Ok(())
}

fn write_string(string: &Bound<'_, PyString>, text: &mut String) -> Result<(), Stop> {
    let string = string.to_str().map_err(|_| Stop::NotPlain)?;
    text.push('"');
    let mut rest = string;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    {
        text.push_str(&rest[..at]);
        write_escape(rest.as_bytes()[at], text);
        rest = &rest[at + 1..];
    }
    text.push_str(rest);
    text.push('"');
    Ok(())
}

/// Writes a control character, quote or backslash with the escapes that Python's `json` module uses.
fn write_escape(byte: u8, text: &mut String) {
    match byte {
        b'\n' => text.push_str("\\n"),
        b'\r' => text.push_str("\\r"),
        b'\t' => text.push_str("\\t"),
        0x08 => text.push_str("\\b"),
        0x0c => text.push_str("\\f"),
        b'"' | b'\\' => {
            text.push('\\');
            text.push(char::from(byte));
        }
        control => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            text.push_str("\\u00");
            text.push(char::from(DIGITS[usize::from(control >> 4)]));
            text.push(char::from(DIGITS[usize::from(control & 15)]));
        }
    }
}
