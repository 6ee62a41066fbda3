//! Integer codes: the numbers are passed as arrays of 64 bits.

use crivello_core::codes::{Code, mathematics, measure, streams};
use crivello_core::{Error, Result};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

use crate::enter::enter;

fn numbers_of(numbers: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let py = numbers.py();
    match PyBuffer::<u64>::get(numbers) {
        Ok(buffer) => buffer.to_vec(py),
        Err(_) => {
            let reason = format!("numbers must be an array of uint64, not {}", numbers.get_type().name()?);
            enter(py, |_| Err(Error::Invalid(reason)))
        }
    }
}

fn bytes_of<'py, T, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes_of_one: impl Fn(&T) -> [u8; N],
) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, values.len() * N, |bytes| {
        bytes
            .chunks_exact_mut(N)
            .zip(values)
            .for_each(|(place, value)| place.copy_from_slice(&bytes_of_one(value)));
        Ok(())
    })
}

fn named(code: &str) -> Result<Code> {
    code.parse()
}

/// The names of the codes that can encode any list.
#[pyfunction]
fn code_names() -> Vec<String> {
    Code::all().iter().map(Code::to_string).collect()
}

/// The canonical name of a code; fails for an unknown one.
#[pyfunction]
fn code_checked(py: Python<'_>, code: &str) -> PyResult<String> {
    enter(py, |_| named(code).map(|code| code.to_string()))
}

#[pyfunction]
fn code_encode<'py>(code: &str, numbers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = numbers.py();
    let numbers = numbers_of(numbers)?;
    let bytes = enter(py, |pulse| streams::encode(named(code)?, &numbers, pulse))?;
    Ok(PyBytes::new(py, &bytes))
}

/// The numbers, as the bytes of a uint64 array.
#[pyfunction]
fn code_decode<'py>(py: Python<'py>, code: &str, data: &[u8], n: usize) -> PyResult<Bound<'py, PyByteArray>> {
    let numbers = enter(py, |pulse| streams::decode(named(code)?, data, n, pulse))?;
    bytes_of(py, &numbers, |number| number.to_ne_bytes())
}

/// The lengths, as the bytes of a uint64 array.
#[pyfunction]
fn code_lengths<'py>(code: &str, numbers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
    let py = numbers.py();
    let numbers = numbers_of(numbers)?;
    let lengths = enter(py, |_| mathematics::lengths(named(code)?, &numbers))?;
    bytes_of(py, &lengths, |length| length.to_ne_bytes())
}

/// The intended probabilities, as the bytes of a float64 array.
#[pyfunction]
fn code_intended<'py>(code: &str, numbers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
    let py = numbers.py();
    let numbers = numbers_of(numbers)?;
    let probabilities = enter(py, |_| mathematics::intended(named(code)?, &numbers))?;
    bytes_of(py, &probabilities, |probability| probability.to_ne_bytes())
}

#[pyfunction]
fn code_kraft(py: Python<'_>, code: &str, upto: u64) -> PyResult<f64> {
    enter(py, |pulse| mathematics::kraft(named(code)?, upto, pulse))
}

#[pyfunction]
fn code_words(py: Python<'_>, code: &str, upto: u64) -> PyResult<Vec<String>> {
    enter(py, |pulse| mathematics::words(named(code)?, upto, pulse))
}

#[pyfunction]
fn code_canonical(py: Python<'_>, lengths: Vec<u64>) -> PyResult<Vec<String>> {
    enter(py, |_| mathematics::canonical(&lengths))
}

#[pyfunction]
fn code_golomb_modulus(py: Python<'_>, p: f64) -> PyResult<u64> {
    enter(py, |_| mathematics::golomb_modulus(p))
}

#[pyfunction]
fn code_entropy(numbers: &Bound<'_, PyAny>) -> PyResult<f64> {
    let py = numbers.py();
    let numbers = numbers_of(numbers)?;
    enter(py, |pulse| mathematics::entropy(&numbers, pulse))
}

/// The encoded size of the numbers in bytes, and the seconds to encode and to decode them.
#[pyfunction]
fn code_measure(code: &str, numbers: &Bound<'_, PyAny>) -> PyResult<(u64, f64, f64)> {
    let py = numbers.py();
    let numbers = numbers_of(numbers)?;
    let measured = enter(py, |pulse| measure::measure(named(code)?, &numbers, pulse))?;
    Ok((measured.bytes, measured.encoding, measured.decoding))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(code_names, module)?)?;
    module.add_function(wrap_pyfunction!(code_checked, module)?)?;
    module.add_function(wrap_pyfunction!(code_encode, module)?)?;
    module.add_function(wrap_pyfunction!(code_decode, module)?)?;
    module.add_function(wrap_pyfunction!(code_lengths, module)?)?;
    module.add_function(wrap_pyfunction!(code_intended, module)?)?;
    module.add_function(wrap_pyfunction!(code_kraft, module)?)?;
    module.add_function(wrap_pyfunction!(code_words, module)?)?;
    module.add_function(wrap_pyfunction!(code_canonical, module)?)?;
    module.add_function(wrap_pyfunction!(code_golomb_modulus, module)?)?;
    module.add_function(wrap_pyfunction!(code_entropy, module)?)?;
    module.add_function(wrap_pyfunction!(code_measure, module)?)
}
