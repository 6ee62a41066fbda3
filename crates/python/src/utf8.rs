//! Texts of Python as UTF-8.
//!
//! What Python encodes it keeps with the text for good, except for ASCII: a corpus of other texts would double. So those
//! are encoded into bytes that are freed after the call.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyString;

/// A text, which other threads can read without the GIL.
pub enum Utf8 {
    /// As it is in Python's memory.
    Ascii(PyBackedStr),
    /// Encoded.
    Other(PyBackedBytes),
}

impl Utf8 {
    /// A text of Python; those with halves of surrogate pairs are refused.
    pub fn of(text: &Bound<'_, PyString>) -> PyResult<Utf8> {
        if text.call_method0(intern!(text.py(), "isascii"))?.is_truthy()? {
            return text.clone().try_into().map(Utf8::Ascii);
        }
        text.encode_utf8().map(|bytes| Utf8::Other(bytes.into()))
    }
}

impl AsRef<str> for Utf8 {
    fn as_ref(&self) -> &str {
        match self {
            Utf8::Ascii(text) => text,
            // SAFETY: Python has encoded it as UTF-8, and bytes do not change.
            Utf8::Other(bytes) => unsafe { std::str::from_utf8_unchecked(bytes) },
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Utf8 {
    type Error = PyErr;

    fn extract(text: Borrowed<'_, 'py, PyAny>) -> PyResult<Utf8> {
        Utf8::of(&text.cast::<PyString>()?.to_owned())
    }
}
