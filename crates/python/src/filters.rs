//! Filters, and the keys that go into them.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use crivello_core::filters::{self, BlockedBloom, Bloom, Draws, Hashing, Size, StableBloom};
use crivello_core::prefetch::prefetch_lines;
use crivello_core::{Error, Pulse, Result, Signature};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyString};
use pyo3::{Borrowed, ffi};

use crate::enter::enter;

/// A filter of any kind. The lock lets threads share it, and is only taken without the GIL.
#[pyclass(module = "crivello._core", frozen)]
pub struct Filter(RwLock<Box<dyn filters::Filter>>);

impl Filter {
    fn of<F: filters::Filter + 'static>(filter: F) -> Box<dyn filters::Filter> {
        Box::new(filter)
    }

    fn make(
        py: Python<'_>,
        make: impl FnOnce() -> Result<Box<dyn filters::Filter>> + Send,
    ) -> PyResult<Self> {
        enter(py, |_| make()).map(|filter| Filter(RwLock::new(filter)))
    }

    fn read<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn filters::Filter, &Pulse) -> Result<T> + Send,
    ) -> PyResult<T> {
        enter(py, |pulse| work(&**self.0.read().unwrap_or_else(PoisonError::into_inner), pulse))
    }

    /// Runs `work` with the filter, without the GIL.
    pub fn write<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn filters::Filter, &Pulse) -> Result<T> + Send,
    ) -> PyResult<T> {
        enter(py, |pulse| work(&mut **self.0.write().unwrap_or_else(PoisonError::into_inner), pulse))
    }
}

#[pymethods]
impl Filter {
    /// A Bloom filter, of one of the kinds that never forget, in memory or in a new file.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn bloom(
        py: Python<'_>,
        kind: &str,
        capacity: Option<u64>,
        error: Option<f64>,
        bits: Option<u64>,
        hashes: Option<u32>,
        hashing: &str,
        path: Option<PathBuf>,
    ) -> PyResult<Self> {
        let blocked = match kind {
            "bloom" => false,
            "blocked" => true,
            _ => return Err(PyValueError::new_err(format!("no such filter: {kind}"))),
        };
        Filter::make(py, || {
            let size = Size::from_either(capacity, error, bits, hashes)?;
            let hashing: Hashing = hashing.parse()?;
            match (blocked, path) {
                (false, None) => Bloom::new(size, hashing).map(Filter::of),
                (false, Some(path)) => Bloom::create(&path, size, hashing).map(Filter::of),
                (true, None) => BlockedBloom::new(size).map(Filter::of),
                (true, Some(path)) => BlockedBloom::create(&path, size).map(Filter::of),
            }
        })
    }

    /// A stable Bloom filter, in memory or in a new file.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn stable(
        py: Python<'_>,
        bits: u64,
        max: u8,
        k: u32,
        p: u64,
        seed: u64,
        decay: &str,
        hashing: &str,
        path: Option<PathBuf>,
    ) -> PyResult<Self> {
        Filter::make(py, || {
            let stability = filters::Stability::new(bits, max, k, p)?;
            let draws = Draws { seed, decay: decay.parse()?, hashing: hashing.parse()? };
            match path {
                None => StableBloom::new(stability, draws).map(Filter::of),
                Some(path) => StableBloom::create(&path, stability, draws).map(Filter::of),
            }
        })
    }

    /// The filter in a file; if `mapped`, it stays memory-mapped.
    #[staticmethod]
    fn open(py: Python<'_>, kind: &str, path: PathBuf, mapped: bool) -> PyResult<Self> {
        let open = match kind {
            "bloom" => |path: PathBuf, mapped| Bloom::open(&path, mapped).map(Filter::of),
            "blocked" => |path: PathBuf, mapped| BlockedBloom::open(&path, mapped).map(Filter::of),
            "stable" => |path: PathBuf, mapped| StableBloom::open(&path, mapped).map(Filter::of),
            _ => return Err(PyValueError::new_err(format!("no such filter: {kind}"))),
        };
        Filter::make(py, || open(path, mapped))
    }

    /// Adds keys; returns a byte for each: 1 if it was reported as present before.
    fn add<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let py = keys.py();
        let keys = signatures_of(keys)?;
        let seen = self.write(py, |filter, pulse| {
            let mut seen = vec![false; keys.len()];
            filter.add(&keys, &mut seen, pulse)?;
            Ok(seen)
        })?;
        answers(py, &seen)
    }

    fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = keys.py();
        let keys = signatures_of(keys)?;
        self.write(py, |filter, pulse| filter.update(&keys, pulse))
    }

    /// A byte for each key: 1 if it is reported as present.
    fn contains<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let py = keys.py();
        let keys = signatures_of(keys)?;
        let seen = self.read(py, |filter, pulse| {
            let mut seen = vec![false; keys.len()];
            filter.contains(&keys, &mut seen, pulse)?;
            Ok(seen)
        })?;
        answers(py, &seen)
    }

    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |filter, _| Ok(filter.count()))
    }

    #[getter]
    fn bits(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |filter, _| Ok(filter.bits()))
    }

    #[getter]
    fn hashes(&self, py: Python<'_>) -> PyResult<u32> {
        self.read(py, |filter, _| Ok(filter.hashes()))
    }

    #[getter]
    fn fill(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, |filter, _| Ok(filter.fill()))
    }

    #[getter]
    fn expected_error(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, |filter, _| Ok(filter.expected_error()))
    }

    #[getter]
    fn stability(&self, py: Python<'_>) -> PyResult<Option<Stability>> {
        self.read(py, |filter, _| Ok(filter.stability().map(Stability)))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.read(py, |filter, _| filter.save(&path))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.write(py, |filter, _| filter.flush())
    }

    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.read(py, |filter, _| filter.copy()).map(|filter| Filter(RwLock::new(filter)))
    }
}

/// The parameters of a stable filter.
#[pyclass(module = "crivello._core", frozen)]
struct Stability(filters::Stability);

#[pymethods]
impl Stability {
    /// The parameters for `bits` bits that keep the false-positive rate below a bound; without `k`, with the
    /// best one.
    #[staticmethod]
    fn for_bound(
        py: Python<'_>,
        bits: u64,
        false_positives: f64,
        max: u8,
        k: Option<u32>,
    ) -> PyResult<Stability> {
        enter(py, |_| filters::Stability::for_bound(bits, false_positives, max, k)).map(Stability)
    }

    #[getter]
    fn max(&self) -> u8 {
        self.0.max
    }

    #[getter]
    fn k(&self) -> u32 {
        self.0.k
    }

    #[getter]
    fn p(&self) -> u64 {
        self.0.p
    }

    #[getter]
    fn bound(&self) -> f64 {
        self.0.bound()
    }

    fn recall(&self, gap: f64) -> f64 {
        self.0.recall(gap)
    }
}

/// A byte for each boolean.
pub fn answers<'py>(py: Python<'py>, seen: &[bool]) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, seen.len(), |bytes| {
        bytes.iter_mut().zip(seen).for_each(|(byte, there)| *byte = u8::from(*there));
        Ok(())
    })
}

/// How many keys ahead a string is prefetched into the cache, and how many cache lines: those of a usual URL.
const AHEAD: usize = 8;
const LINES: usize = 3;

/// The signatures of a list of str or bytes, or those in a uint64 array.
pub fn signatures_of(keys: &Bound<'_, PyAny>) -> PyResult<Vec<Signature>> {
    keys_of(keys, Signature::of, Signature)
}

/// Maps each key of a list of str or bytes, or of a uint64 array.
#[inline]
pub fn keys_of<T>(
    keys: &Bound<'_, PyAny>,
    of_bytes: impl Fn(&[u8]) -> T,
    of_number: impl Fn(u64) -> T,
) -> PyResult<Vec<T>> {
    let py = keys.py();
    let refuse = |reason: String| enter(py, |_| Err(Error::Invalid(reason))).map(|()| Vec::new());
    if let Ok(list) = keys.cast::<PyList>() {
        let length = list.len();
        let mut found = Vec::with_capacity(length);
        for index in 0..length {
            if index + AHEAD < length {
                prefetch_lines(item(list, index + AHEAD)?.as_ptr().cast(), LINES);
            }
            let key = item(list, index)?;
            match bytes_of(&key) {
                Some(bytes) => found.push(of_bytes(bytes)),
                None => {
                    let name = key.get_type().name()?;
                    return refuse(format!(
                        "key {index} is no str that can be written as UTF-8, nor bytes: {name}"
                    ));
                }
            }
        }
        return Ok(found);
    }
    let Ok(buffer) = PyBuffer::<u64>::get(keys) else {
        let name = keys.get_type().name()?;
        return refuse(format!("keys must be a list of str or bytes, or an array of uint64, not {name}"));
    };
    Ok(buffer.to_vec(py)?.into_iter().map(of_number).collect())
}

/// An item of a list, borrowed: the reference count, which would be a write to cold memory, is not changed.
#[inline]
fn item<'a, 'py>(list: &'a Bound<'py, PyList>, index: usize) -> PyResult<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: the list checks the index. The reference belongs to the list, which keeps it as long as no
    // Python code runs; none does while signatures are computed, and the GIL is held.
    unsafe {
        Borrowed::from_ptr_or_err(list.py(), ffi::PyList_GetItem(list.as_ptr(), index as ffi::Py_ssize_t))
    }
}

#[inline]
fn bytes_of<'a>(key: &'a Bound<'_, PyAny>) -> Option<&'a [u8]> {
    // The exact type first: it is compared inline, while the check for a subclass is a call.
    if let Ok(text) = key.cast_exact::<PyString>().or_else(|_| key.cast::<PyString>()) {
        return Some(text.to_str().ok()?.as_bytes());
    }
    Some(key.cast::<PyBytes>().ok()?.as_bytes())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Filter>()?;
    module.add_class::<Stability>()
}
