//! Search within a Hamming distance among fingerprints of 64 bits; see `crivello_core::duplicates::hamming`.

use std::path::PathBuf;

use crivello_core::duplicates::hamming::{self, Join, Run};
use crivello_core::graph::Numbers;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::array::{Array, borrowed};
use crate::enter::enter_showing;

const NONE: u64 = u64::MAX;

/// The numbers and distances of what was found, each −1 where nothing was.
type Nearest = (Array, Array);

fn words(array: &Bound<'_, PyAny>) -> PyResult<Numbers<u64>> {
    borrowed::<u64>(array)
        .ok_or_else(|| PyTypeError::new_err("fingerprints are a contiguous array of uint64 in one dimension"))
}

/// Fingerprints in memory.
#[pyclass(module = "crivello._core", frozen)]
struct HammingTable(hamming::Table);

#[pymethods]
impl HammingTable {
    #[new]
    fn new(py: Python<'_>, simhashes: &Bound<'_, PyAny>, distance: u32) -> PyResult<Self> {
        let words = words(simhashes)?;
        let table = enter_showing(py, None, |_| hamming::Table::new((*words).as_ref(), distance))?;
        Ok(HammingTable(table))
    }

    /// The number and the distance of the nearest fingerprint of each; 2⁶⁴ − 1 and 2³² − 1 where there is none.
    fn nearest(&self, py: Python<'_>, simhashes: &Bound<'_, PyAny>) -> PyResult<Nearest> {
        let asked = words(simhashes)?;
        let distance = self.0.layout().distance;
        let found = enter_showing(py, None, |pulse| self.0.nearest((*asked).as_ref(), distance, pulse))?;
        let numbers = found.iter().map(|found| found.map_or(NONE, |(number, _)| u64::from(number)));
        let distances = found.iter().map(|found| found.map_or(u32::MAX, |(_, distance)| distance));
        Ok((Array::of(numbers.collect::<Vec<_>>()), Array::of(distances.collect::<Vec<_>>())))
    }

    /// All fingerprints within the distance of each: where those of each end, their numbers and distances.
    fn within(&self, py: Python<'_>, simhashes: &Bound<'_, PyAny>) -> PyResult<(Array, Array, Array)> {
        let asked = words(simhashes)?;
        let distance = self.0.layout().distance;
        let found = enter_showing(py, None, |pulse| self.0.within((*asked).as_ref(), distance, pulse))?;
        let ends = found.iter().scan(0, |end, found| {
            *end += found.len() as u64;
            Some(*end)
        });
        let ends: Vec<u64> = ends.collect();
        let numbers = found.iter().flatten().map(|(number, _)| u64::from(*number)).collect::<Vec<_>>();
        let distances = found.iter().flatten().map(|(_, distance)| *distance).collect::<Vec<_>>();
        Ok((Array::of(ends), Array::of(numbers), Array::of(distances)))
    }

    /// All pairs within the distance: the numbers of both, the less first, and the distance.
    fn pairs(&self, py: Python<'_>) -> PyResult<(Array, Array, Array)> {
        let pairs = enter_showing(py, None, |pulse| {
            let words = self.0.words();
            let join = Join::<u64>::new(u64::BITS, words.len() as u64, self.0.layout().distance);
            join.all(&words, pulse)
        })?;
        let of = |column: fn(&(u32, u32, u32)) -> u32| pairs.iter().map(column).collect::<Vec<_>>();
        Ok((Array::of(of(|pair| pair.0)), Array::of(of(|pair| pair.1)), Array::of(of(|pair| pair.2))))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Its size in memory.
    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    #[getter]
    fn distance(&self) -> u32 {
        self.0.layout().distance
    }

    /// The number of leading bits, and the radius, of each table.
    #[getter]
    fn layout(&self) -> Vec<(u32, u32)> {
        self.0.layout().leads.iter().map(|lead| (lead.prefix(), lead.radius)).collect()
    }
}

/// Fingerprints on disk.
#[pyclass(module = "crivello._core", frozen)]
struct HammingFile(Run);

#[pymethods]
impl HammingFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter_showing(py, None, |_| Ok(HammingFile(Run::open(&path)?)))
    }

    /// Writes a file of fingerprints, numbered in their order, in parts that fit in the memory and are merged.
    #[staticmethod]
    fn write(
        py: Python<'_>,
        path: PathBuf,
        simhashes: &Bound<'_, PyAny>,
        distance: u32,
        memory: usize,
    ) -> PyResult<()> {
        let words = words(simhashes)?;
        enter_showing(py, None, |pulse| hamming::build(&path, (*words).as_ref(), distance, memory, pulse))
    }

    /// See `HammingTable.nearest`.
    fn nearest(&self, py: Python<'_>, simhashes: &Bound<'_, PyAny>) -> PyResult<Nearest> {
        let asked = words(simhashes)?;
        let distance = self.0.layout().distance;
        let found = enter_showing(py, None, |pulse| self.0.nearest_of((*asked).as_ref(), distance, pulse))?;
        let found = found.into_iter().map(|found| found.unwrap_or((u32::MAX, NONE)));
        let (distances, numbers): (Vec<u32>, Vec<u64>) = found.unzip();
        Ok((Array::of(numbers), Array::of(distances)))
    }

    fn __len__(&self) -> usize {
        self.0.entries() as usize
    }

    #[getter]
    fn distance(&self) -> u32 {
        self.0.layout().distance
    }

    /// See `HammingTable.layout`.
    #[getter]
    fn layout(&self) -> Vec<(u32, u32)> {
        self.0.layout().leads.iter().map(|lead| (lead.prefix(), lead.radius)).collect()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HammingTable>()?;
    module.add_class::<HammingFile>()
}
