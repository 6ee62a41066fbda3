//! Dictionaries: static functions, ranks, approximate sets and front-coded lists.

use std::path::PathBuf;

use crivello_core::Error;
use crivello_core::dictionaries::{self, Approximate, Construction, FrontCoded, Kept, KeyHash, Plan, Ranks};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyByteArray;

use crate::enter::enter;
use crate::filters::{answers, keys_of};

/// The hashes of keys; a number in an array stands for the key of its eight bytes.
fn hashes_of(keys: &Bound<'_, PyAny>) -> PyResult<Vec<KeyHash>> {
    keys_of(keys, KeyHash::of, |number| KeyHash::of(&number.to_le_bytes()))
}

/// 64-bit integers as bytes, for NumPy.
fn array<'py>(py: Python<'py>, numbers: &[u64]) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, 8 * numbers.len(), |bytes| {
        let (words, _) = bytes.as_chunks_mut::<8>();
        words.iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_le_bytes());
        Ok(())
    })
}

/// A static function from keys to numbers.
#[pyclass(module = "crivello._core", frozen)]
struct StaticFunction(Kept<dictionaries::StaticFunction>);

#[pymethods]
impl StaticFunction {
    #[staticmethod]
    fn build(
        keys: &Bound<'_, PyAny>,
        values: PyBuffer<u64>,
        bits: Option<u32>,
        construction: &str,
        compact: bool,
    ) -> PyResult<Self> {
        let py = keys.py();
        let (hashes, values) = (hashes_of(keys)?, values.to_vec(py)?);
        let construction: Construction = enter(py, |_| construction.parse())?;
        enter(py, |pulse| {
            if hashes.len() != values.len() {
                let reason = format!("{} keys and {} values", hashes.len(), values.len());
                return Err(Error::Invalid(reason));
            }
            let widest = values.iter().fold(0, |widest, value| widest | value);
            let plan = Plan { construction, bits: bits.unwrap_or(64 - widest.leading_zeros()), compact };
            Kept::built(dictionaries::StaticFunction::build(&hashes, |index| values[index], plan, pulse)?)
        })
        .map(StaticFunction)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, |_| Kept::load(&path)).map(StaticFunction)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, |_| self.0.save(&path))
    }

    /// The value of each key, as a uint64.
    fn get<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let py = keys.py();
        let hashes = hashes_of(keys)?;
        let values = enter(py, |pulse| {
            let mut values = vec![Some(0); hashes.len()];
            self.0.get_many(self.0.bytes(), &hashes, pulse, |index, value| values[index] = value)?;
            values.into_iter().collect::<Option<Vec<u64>>>().ok_or_else(|| self.0.damage())
        })?;
        array(py, &values)
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.len()
    }

    #[getter]
    fn value_bits(&self) -> u32 {
        self.0.bits()
    }

    #[getter]
    fn construction(&self) -> String {
        self.0.construction().to_string()
    }

    #[getter]
    fn compact(&self) -> bool {
        self.0.is_compact()
    }

    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes().len()
    }
}

/// The ranks of keys.
#[pyclass(module = "crivello._core", frozen)]
struct KeyRanks(Kept<Ranks>);

#[pymethods]
impl KeyRanks {
    #[staticmethod]
    fn build(
        keys: &Bound<'_, PyAny>,
        signature_bits: u32,
        construction: &str,
        compact: bool,
    ) -> PyResult<Self> {
        let py = keys.py();
        let hashes = hashes_of(keys)?;
        let construction: Construction = enter(py, |_| construction.parse())?;
        enter(py, |pulse| Kept::built(Ranks::build(&hashes, construction, signature_bits, compact, pulse)?))
            .map(KeyRanks)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, |_| Kept::load(&path)).map(KeyRanks)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, |_| self.0.save(&path))
    }

    /// The rank of each key, as an int64; -1 if it has none.
    fn get<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let py = keys.py();
        let hashes = hashes_of(keys)?;
        let ranks = enter(py, |pulse| {
            let mut ranks = vec![u64::MAX; hashes.len()];
            let answer = |index: usize, rank: Option<u64>| ranks[index] = rank.unwrap_or(u64::MAX);
            self.0.get_many(self.0.bytes(), &hashes, pulse, answer)?;
            Ok(ranks)
        })?;
        array(py, &ranks)
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.len()
    }

    #[getter]
    fn signature_bits(&self) -> u32 {
        self.0.signature_bits()
    }

    #[getter]
    fn construction(&self) -> String {
        self.0.function().construction().to_string()
    }

    #[getter]
    fn compact(&self) -> bool {
        self.0.function().is_compact()
    }

    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes().len()
    }

    #[getter]
    fn function_bytes(&self) -> u64 {
        self.0.bits().function / 8
    }
}

/// An approximate set of keys, with false positives.
#[pyclass(module = "crivello._core", frozen)]
struct ApproximateDictionary(Kept<Approximate>);

#[pymethods]
impl ApproximateDictionary {
    #[staticmethod]
    fn build(keys: &Bound<'_, PyAny>, bits: u32, construction: &str, compact: bool) -> PyResult<Self> {
        let py = keys.py();
        let hashes = hashes_of(keys)?;
        let construction: Construction = enter(py, |_| construction.parse())?;
        enter(py, |pulse| Kept::built(Approximate::build(&hashes, construction, bits, compact, pulse)?))
            .map(ApproximateDictionary)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, |_| Kept::load(&path)).map(ApproximateDictionary)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, |_| self.0.save(&path))
    }

    /// A byte for each key: 1 if it is reported as present.
    fn contains<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let py = keys.py();
        let hashes = hashes_of(keys)?;
        let there = enter(py, |pulse| {
            let mut there = vec![false; hashes.len()];
            self.0.contains_many(self.0.bytes(), &hashes, pulse, |index, answer| there[index] = answer)?;
            Ok(there)
        })?;
        answers(py, &there)
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.function().len()
    }

    #[getter]
    fn signature_bits(&self) -> u32 {
        self.0.function().bits()
    }

    #[getter]
    fn construction(&self) -> String {
        self.0.function().construction().to_string()
    }

    #[getter]
    fn compact(&self) -> bool {
        self.0.function().is_compact()
    }

    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes().len()
    }
}

/// A sorted, front-coded list of strings.
#[pyclass(module = "crivello._core", frozen)]
struct FrontCodedList(Kept<FrontCoded>);

#[pymethods]
impl FrontCodedList {
    #[staticmethod]
    fn build(py: Python<'_>, keys: Vec<PyBackedStr>, block: u32) -> PyResult<Self> {
        enter(py, |_| Kept::built(FrontCoded::build(keys.iter().map(|key| key.as_bytes()), block)?))
            .map(FrontCodedList)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, |_| Kept::load(&path)).map(FrontCodedList)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, |_| self.0.save(&path))
    }

    /// The keys whose ranks are from `start` to before `end`, as UTF-8.
    fn keys(&self, py: Python<'_>, start: u64, end: u64) -> PyResult<Vec<String>> {
        enter(py, |_| {
            let keys = self.0.keys(self.0.bytes(), start..end).ok_or_else(|| self.0.damage())?;
            let texts = keys.into_iter().map(|key| String::from_utf8(key).map_err(|_| self.0.damage()));
            texts.collect()
        })
    }

    /// The rank of each key, as an int64; -1 if it has none.
    fn ranks<'py>(&self, py: Python<'py>, keys: Vec<PyBackedStr>) -> PyResult<Bound<'py, PyByteArray>> {
        let ranks = enter(py, |pulse| {
            let mut ranks = Vec::with_capacity(keys.len());
            for key in &keys {
                if ranks.len() % 1024 == 0 {
                    pulse.beat()?;
                }
                let found = self.0.rank(self.0.bytes(), key.as_bytes()).ok_or_else(|| self.0.damage())?;
                ranks.push(found.unwrap_or(u64::MAX));
            }
            Ok(ranks)
        })?;
        array(py, &ranks)
    }

    /// The range of ranks of the keys with a prefix: the first, and one past the last.
    fn prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<(u64, u64)> {
        enter(py, |_| {
            let range = self.0.prefix(self.0.bytes(), prefix.as_bytes()).ok_or_else(|| self.0.damage())?;
            Ok((range.start, range.end))
        })
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.len()
    }

    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes().len()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StaticFunction>()?;
    module.add_class::<KeyRanks>()?;
    module.add_class::<ApproximateDictionary>()?;
    module.add_class::<FrontCodedList>()
}
