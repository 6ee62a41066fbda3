//! Fingerprints of texts, in batches on all threads: the answers are the same for every size of batch and number of
//! threads.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use crivello_core::duplicates::batch::{self, Text};
use crivello_core::duplicates::{
    self, Frequencies, Measure, MinHash, Normal, Selection, Signals, Unit, Weights, discovery,
};
use crivello_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyString};

use crate::array::Array;
use crate::enter::{Progress, enter, enter_showing};
use crate::utf8::Utf8;

/// The most units of a signal.
const MOST_UNITS: usize = 64;

fn signals_of(unit: &str, size: usize) -> Result<Signals> {
    if !(1..=MOST_UNITS).contains(&size) {
        return Err(Error::Invalid(format!("an n-gram has 1 to {MOST_UNITS} units, and not {size}")));
    }
    match unit {
        "word" => Ok(Signals { unit: Unit::Word, size }),
        "character" => Ok(Signals { unit: Unit::Character, size }),
        _ => Err(Error::Invalid(format!("n-grams are of word or character, and not of {unit}"))),
    }
}

fn selection_of(modulus: u64, window: usize) -> Result<Selection> {
    match (modulus, window) {
        (0 | 1, 0 | 1) => Ok(Selection::All),
        (modulus, 0 | 1) => Ok(Selection::Modulus(modulus)),
        (0 | 1, window) => Ok(Selection::Winnow(window)),
        _ => {
            Err(Error::Invalid("fingerprints are kept by a modulus or by winnowing, and not by both".into()))
        }
    }
}

/// Document frequencies, for tf-idf.
#[pyclass(module = "crivello._core")]
struct DocumentFrequencies(Frequencies, Signals);

#[pymethods]
impl DocumentFrequencies {
    #[new]
    fn new(py: Python<'_>, unit: &str, size: usize, memory: usize) -> PyResult<Self> {
        enter_showing(py, None, |_| {
            Ok(DocumentFrequencies(Frequencies::new(memory), signals_of(unit, size)?))
        })
    }

    /// Counts texts.
    fn add(&mut self, py: Python<'_>, texts: Vec<Utf8>) -> PyResult<()> {
        enter_showing(py, None, |pulse| {
            let mut text = Text::default();
            for added in &texts {
                pulse.beat()?;
                self.0.add(text.signals(self.1, added.as_ref()));
            }
            Ok(())
        })
    }

    fn __len__(&self) -> usize {
        self.0.documents() as usize
    }
}

/// The SimHash of each text: two numbers of 64 bits each, the lower first, if there are 128 bits; else one.
#[pyfunction]
#[pyo3(signature = (texts, unit, size, weights, bits, frequencies = None))]
fn simhashes(
    py: Python<'_>,
    texts: Vec<Utf8>,
    unit: &str,
    size: usize,
    weights: &str,
    bits: u32,
    frequencies: Option<PyRef<'_, DocumentFrequencies>>,
) -> PyResult<Array> {
    let frequencies = frequencies.as_ref().map(|frequencies| &frequencies.0);
    enter_showing(py, None, |_| {
        let signals = signals_of(unit, size)?;
        let weights = match (weights, frequencies) {
            ("set", _) => Weights::Set,
            ("frequency", _) => Weights::Frequency,
            ("tf-idf", Some(frequencies)) => Weights::TfIdf(frequencies),
            ("tf-idf", None) => {
                return Err(Error::Invalid("tf-idf weights need the frequencies of documents".into()));
            }
            _ => return Err(Error::Invalid(format!("no such weights: {weights}"))),
        };
        let hashes: Vec<u64> = match bits {
            32 | 64 => {
                let mask = u64::MAX >> (64 - bits);
                batch::map(&texts, signals, |signals| duplicates::simhash(signals, weights) & mask)
            }
            128 => {
                let halves = |hash: u128| [hash as u64, (hash >> 64) as u64];
                let two = |signals: &mut Vec<u64>| halves(duplicates::simhash_128(signals, weights));
                batch::map(&texts, signals, two).concat()
            }
            _ => return Err(Error::Invalid(format!("a SimHash has 32, 64 or 128 bits, and not {bits}"))),
        };
        Ok(Array::of(hashes))
    })
}

/// The MinHash sketch of each text: `bins` numbers each.
#[pyfunction]
fn minhashes(
    py: Python<'_>,
    texts: Vec<Utf8>,
    unit: &str,
    size: usize,
    bins: usize,
    bits: u32,
) -> PyResult<Array> {
    enter_showing(py, None, |_| {
        let signals = signals_of(unit, size)?;
        if !(1..=MinHash::MOST_BINS).contains(&bins) || !(1..=32).contains(&bits) {
            let most = MinHash::MOST_BINS;
            return Err(Error::Invalid(format!(
                "a sketch has 1 to {most} bins of 1 to 32 bits, and not {bins} of {bits}"
            )));
        }
        let minhash = MinHash { bins, bits };
        let one = |signals: &mut Vec<u64>| {
            let mut sketch = Vec::new();
            minhash.of(signals, &mut sketch);
            sketch
        };
        Ok(Array::of(batch::map(&texts, signals, one).concat()))
    })
}

/// The selected signals of each text, sorted and distinct: where those of each text end, and all of them.
#[pyfunction]
#[pyo3(signature = (texts, unit, size, modulus = 1, window = 1))]
fn fingerprints(
    py: Python<'_>,
    texts: Vec<Utf8>,
    unit: &str,
    size: usize,
    modulus: u64,
    window: usize,
) -> PyResult<(Array, Array)> {
    enter_showing(py, None, |_| {
        let (signals, selection) = (signals_of(unit, size)?, selection_of(modulus, window)?);
        let kept = batch::map(&texts, signals, |signals| {
            selection.keep(signals);
            signals.clone()
        });
        let ends = kept.iter().scan(0, |end, signals| {
            *end += signals.len() as u64;
            Some(*end)
        });
        Ok((Array::of(ends.collect::<Vec<u64>>()), Array::of(kept.concat())))
    })
}

/// The windows of `size` words of texts: how many words each text has, where each word starts in its bytes, and the
/// hashes of all windows.
#[pyfunction]
fn word_windows(py: Python<'_>, texts: Vec<Utf8>, size: usize) -> PyResult<(Array, Array, Array)> {
    enter_showing(py, None, |_| {
        let windows = batch::windows(&texts, size.max(1));
        let counts: Vec<u64> = windows.iter().map(|text| text.starts.len() as u64).collect();
        let starts: Vec<u64> = windows.iter().flat_map(|text| &text.starts).copied().collect();
        let hashes: Vec<u64> = windows.iter().flat_map(|text| &text.hashes).copied().collect();
        Ok((Array::of(counts), Array::of(starts), Array::of(hashes)))
    })
}

/// The digest of the normal form of each text: 16 bytes each.
#[pyfunction]
#[pyo3(signature = (texts, markup = false, case = false, digits = false, dates = false, space = false))]
fn digests<'py>(
    py: Python<'py>,
    texts: Vec<Utf8>,
    markup: bool,
    case: bool,
    digits: bool,
    dates: bool,
    space: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let normal = Normal { markup, case, digits, dates, space };
    let digests = enter_showing(py, None, |_| {
        Ok(batch::digests(&texts, normal).into_iter().flat_map(u128::to_be_bytes).collect::<Vec<u8>>())
    })?;
    Ok(PyBytes::new(py, &digests))
}

/// The similarity of pairs of texts.
#[pyfunction]
fn similarities(
    py: Python<'_>,
    pairs: Vec<(Utf8, Utf8)>,
    unit: &str,
    size: usize,
    measure: &str,
) -> PyResult<Array> {
    enter_showing(py, None, |_| {
        let (signals, measure) = (signals_of(unit, size)?, measure_of(measure)?);
        Ok(Array::of(batch::map_pairs(&pairs, signals, |one, other| {
            duplicates::distinct(one);
            duplicates::distinct(other);
            measure.of(one, other)
        })))
    })
}

fn measure_of(name: &str) -> Result<Measure> {
    match name {
        "jaccard" => Ok(Measure::Jaccard),
        "containment" => Ok(Measure::Containment),
        "overlap" => Ok(Measure::Overlap),
        _ => Err(Error::Invalid(format!("no such measure: {name}; there are jaccard, containment, overlap"))),
    }
}

/// The duplicates of a corpus; see `crivello_core::duplicates::discovery`.
#[pyclass(module = "crivello._core")]
struct Discovery {
    search: discovery::Discovery,
    threads: usize,
}

#[pymethods]
impl Discovery {
    /// Opens a work folder, which exists; `options` is MessagePack, the memory adapts to the corpus if it is `None`, and 0
    /// threads is one for each core.
    #[new]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        options: PyBackedBytes,
        memory: Option<usize>,
        threads: usize,
    ) -> PyResult<Self> {
        enter_showing(py, None, |_| {
            let options = discovery::Options::decode(&options)?;
            Ok(Discovery { search: discovery::Discovery::open(&folder, options, memory)?, threads })
        })
    }

    #[pyo3(signature = (texts, reference = false))]
    fn add(&mut self, py: Python<'_>, texts: Vec<Py<PyString>>, reference: bool) -> PyResult<()> {
        // Encoded group by group, while the threads sketch the one before.
        let encode = |group: &[Py<PyString>]| -> Result<Vec<Utf8>> {
            Python::attach(|py| {
                let encoded: PyResult<Vec<Utf8>> = group.iter().map(|text| Utf8::of(text.bind(py))).collect();
                encoded.map_err(|error| Error::Invalid(format!("a text is not Unicode: {error}")))
            })
        };
        enter_showing(py, None, |_| {
            let groups = texts.chunks(discovery::GROUP).map(encode);
            batch::on_threads(self.threads, || self.search.add_groups(groups, reference))
        })
    }

    fn commit(&mut self, py: Python<'_>, position: PyBackedBytes) -> PyResult<()> {
        enter_showing(py, None, |_| self.search.commit(&position))
    }

    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.search.position().map(|position| PyBytes::new(py, position))
    }

    fn __len__(&self) -> usize {
        self.search.len() as usize
    }

    #[pyo3(signature = (progress = None))]
    fn find(&mut self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<()> {
        enter_showing(py, progress, |pulse| batch::on_threads(self.threads, || self.search.find(pulse)))
    }

    /// Verified pairs: the first and the second document, and their similarity.
    fn pairs(&self, py: Python<'_>, start: u64, count: usize) -> PyResult<(Array, Array, Array)> {
        let pairs = enter_showing(py, None, |_| self.search.pairs(start, count))?;
        Ok((
            Array::of(pairs.iter().map(|pair| pair.one).collect::<Vec<u32>>()),
            Array::of(pairs.iter().map(|pair| pair.other).collect::<Vec<u32>>()),
            Array::of(pairs.iter().map(|pair| f64::from(pair.similarity)).collect::<Vec<f64>>()),
        ))
    }

    fn leaders(&self, py: Python<'_>) -> PyResult<Array> {
        enter_showing(py, None, |_| Ok(Array::of(self.search.leaders()?)))
    }
}

/// Duplicates in one pass; see `crivello_core::duplicates::OnePass`. Of several threads one adds at a time.
#[pyclass(module = "crivello._core", frozen)]
struct OnePass {
    pass: Mutex<duplicates::OnePass>,
    threads: usize,
}

#[pymethods]
impl OnePass {
    /// `options` is MessagePack, and 0 threads is one for each core.
    #[new]
    fn new(py: Python<'_>, options: PyBackedBytes, threads: usize) -> PyResult<Self> {
        enter_showing(py, None, |_| {
            let options = discovery::Options::decode(&options)?;
            Ok(OnePass { pass: Mutex::new(duplicates::OnePass::new(options)?), threads })
        })
    }

    /// A one for each text that is kept, and a zero for each other.
    fn add<'py>(&self, py: Python<'py>, texts: Vec<Utf8>) -> PyResult<Bound<'py, PyByteArray>> {
        let is_kept = enter_showing(py, None, |pulse| {
            let mut pass = self.locked()?;
            let pass = &mut *pass;
            batch::on_threads(self.threads, || pass.add(&texts, pulse))
        })?;
        Ok(PyByteArray::new(py, &is_kept.into_iter().map(u8::from).collect::<Vec<u8>>()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        enter(py, |_| Ok(self.locked()?.len()))
    }
}

impl OnePass {
    fn locked(&self) -> Result<MutexGuard<'_, duplicates::OnePass>> {
        self.pass
            .lock()
            .map_err(|_| Error::Invalid("an earlier call failed, and what it added is not known".into()))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Discovery>()?;
    module.add_class::<OnePass>()?;
    module.add_class::<DocumentFrequencies>()?;
    module.add_function(wrap_pyfunction!(simhashes, module)?)?;
    module.add_function(wrap_pyfunction!(minhashes, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(word_windows, module)?)?;
    module.add_function(wrap_pyfunction!(digests, module)?)?;
    module.add_function(wrap_pyfunction!(similarities, module)?)
}
