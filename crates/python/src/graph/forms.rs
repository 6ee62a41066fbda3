//! Graphs as text, and the names of nodes.

use std::ops::Range;
use std::path::PathBuf;

use crivello_core::graph::{Names, Recipe, forms, generate, order};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use super::arcs::{Arcs, numbers};
use crate::array::Array;
use crate::enter::{Progress, enter, enter_showing};

/// The names of the nodes of a graph, in a file.
#[pyclass(module = "crivello._core", frozen)]
pub struct NodeNames(pub Names);

#[pymethods]
impl NodeNames {
    /// The names in a file, of which `committed` bytes are read.
    #[staticmethod]
    #[pyo3(signature = (path, committed = None))]
    fn open(py: Python<'_>, path: PathBuf, committed: Option<u64>) -> PyResult<NodeNames> {
        enter(py, |_| Names::open(&path, committed)).map(NodeNames)
    }

    /// The names in a list, in node order, in a temporary file.
    #[staticmethod]
    fn of(py: Python<'_>, names: Vec<String>) -> PyResult<NodeNames> {
        enter(py, |pulse| Names::temporary(names.iter().map(String::as_str), pulse)).map(NodeNames)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, py: Python<'_>, node: usize) -> PyResult<String> {
        match u32::try_from(node).ok().filter(|_| node < self.0.len()) {
            Some(node) => enter(py, |_| self.0.get(node)),
            None => Err(PyIndexError::new_err(format!("there is no node {node}"))),
        }
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<Option<u32>> {
        enter(py, |_| self.0.find(name))
    }

    /// Whether the nodes are in the order of their names.
    #[getter]
    fn sorted(&self) -> bool {
        self.0.is_sorted()
    }

    /// The length of the file in bytes.
    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The first node of a host, and the one after its last.
    fn site(&self, py: Python<'_>, host: &str) -> PyResult<(u32, u32)> {
        enter(py, |_| self.0.site(host).map(ends))
    }

    /// The same for a domain and its subdomains.
    fn domain(&self, py: Python<'_>, domain: &str) -> PyResult<(u32, u32)> {
        enter(py, |_| self.0.domain(domain).map(ends))
    }

    /// The same for the names that begin with a text (of URLs: the host and the start of the path).
    fn prefix(&self, py: Python<'_>, text: &str) -> PyResult<(u32, u32)> {
        enter(py, |_| self.0.range(&order::prefix(text)).map(ends))
    }

    /// Writes a copy; returns its length.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        enter(py, |_| self.0.copy(&path))
    }
}

fn ends(range: Range<u32>) -> (u32, u32) {
    (range.start, range.end)
}

/// The form of the graph at a path, by its content.
#[pyfunction]
fn graph_form(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    enter(py, |pulse| forms::detect(&path, pulse).map(|form| form.to_string()))
}

/// What the files of a BVGraph have in common, by the path of one of them.
#[pyfunction]
fn bvgraph_basename(path: PathBuf) -> PathBuf {
    forms::bare(&path)
}

/// Where the names of a compressed graph are.
#[pyfunction]
fn graph_names_path(py: Python<'_>, path: PathBuf, form: &str) -> PyResult<PathBuf> {
    enter(py, |_| Ok(forms::names_beside(&path, form.parse()?)))
}

/// Reads a graph in a text form: its arcs and its names, sorted within `memory` bytes.
#[pyfunction]
#[pyo3(signature = (path, form, memory, count, scratch = None, progress = None))]
fn read_graph(
    py: Python<'_>,
    path: PathBuf,
    form: &str,
    memory: usize,
    count: bool,
    scratch: Option<PathBuf>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<(Arcs, Option<NodeNames>)> {
    enter_showing(py, progress, |pulse| {
        let loaded = forms::load(&path, form.parse()?, memory, count, scratch.as_deref(), pulse)?;
        Ok((Arcs::of(loaded.0), loaded.1.map(NodeNames)))
    })
}

/// Writes a graph in a text form; returns the number of bytes.
#[pyfunction]
#[pyo3(signature = (arcs, names, path, form, progress = None))]
fn write_graph(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    names: Option<&Bound<'_, NodeNames>>,
    path: PathBuf,
    form: &str,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<u64> {
    let (arcs, names) = (arcs.get(), names.map(|names| &names.get().0));
    enter_showing(py, progress, |pulse| {
        forms::write(arcs.forward(pulse)?, names, &path, form.parse()?, || arcs.backward(pulse), pulse)
    })
}

/// Converts a graph from a text form to any other; returns the numbers of nodes, arcs and bytes, and the bits per link.
#[pyfunction]
#[pyo3(signature = (source, form, target, target_form, memory, count, scratch = None, progress = None))]
#[allow(clippy::too_many_arguments)]
fn convert_graph(
    py: Python<'_>,
    source: PathBuf,
    form: &str,
    target: PathBuf,
    target_form: &str,
    memory: usize,
    count: bool,
    scratch: Option<PathBuf>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<(usize, u64, u64, f64)> {
    enter_showing(py, progress, |pulse| {
        let conversion = forms::Conversion {
            source: (&source, form.parse()?),
            target: (&target, target_form.parse()?),
            memory,
            count,
            scratch: scratch.as_deref(),
        };
        let done = forms::convert(&conversion, pulse)?;
        Ok((done.nodes, done.arcs, done.bytes, done.bits_per_link))
    })
}

/// Generates a graph that resembles the web, in memory.
#[pyfunction]
#[pyo3(signature = (nodes, seed, degree, copying, progress = None))]
fn generate_graph(
    py: Python<'_>,
    nodes: usize,
    seed: u64,
    degree: f64,
    copying: f64,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Arcs> {
    enter_showing(py, progress, |pulse| {
        let mut lists = forms::Collected::new(nodes, false);
        generate(&Recipe { nodes, seed, degree, copying }, &mut lists, pulse)?;
        Ok(Arcs::of(lists.finish()))
    })
}

/// Generates the same graph as an edge list in a file; returns the number of arcs.
#[pyfunction]
#[pyo3(signature = (path, nodes, seed, degree, copying, progress = None))]
fn generate_edge_list(
    py: Python<'_>,
    path: PathBuf,
    nodes: usize,
    seed: u64,
    degree: f64,
    copying: f64,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<u64> {
    enter_showing(py, progress, |pulse| {
        let mut writer = forms::EdgeListWriter::create(&path, nodes, None)?;
        let arcs = generate(&Recipe { nodes, seed, degree, copying }, &mut writer, pulse)?;
        writer.finish()?;
        Ok(arcs)
    })
}

/// The columns of a file of host ranks: hosts, harmonic centralities, positions by PageRank, PageRanks, sizes.
type Columns = (Vec<String>, Array, Array, Array, Array);

/// Reads a file of host ranks in Common Crawl's form.
#[pyfunction]
fn read_host_ranks(py: Python<'_>, path: PathBuf) -> PyResult<Columns> {
    let ranks = enter(py, |pulse| forms::read_ranks(&path, pulse))?;
    Ok((
        ranks.hosts,
        Array::of(ranks.harmonic),
        Array::of(ranks.positions),
        Array::of(ranks.pagerank),
        Array::of(ranks.sizes),
    ))
}

/// Writes the ranks of nodes in Common Crawl's form; returns the length of the file.
#[pyfunction]
#[pyo3(signature = (path, names, harmonic, pagerank, sizes = None))]
fn write_host_ranks(
    py: Python<'_>,
    path: PathBuf,
    names: &Bound<'_, NodeNames>,
    harmonic: &Bound<'_, PyAny>,
    pagerank: &Bound<'_, PyAny>,
    sizes: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let names = &names.get().0;
    let (harmonic, pagerank) = (numbers::<f64>(harmonic, "values")?, numbers::<f64>(pagerank, "values")?);
    let sizes = sizes.map(|sizes| numbers::<u64>(sizes, "sizes")).transpose()?;
    enter(py, |pulse| {
        let sizes = sizes.as_ref().map(|sizes| (**sizes).as_ref());
        forms::write_ranks(names, (*harmonic).as_ref(), (*pagerank).as_ref(), sizes, &path, pulse)
    })
}

/// The order of names: the places of the least, the next, ….
#[pyfunction]
fn name_order(py: Python<'_>, names: Vec<String>) -> PyResult<Vec<u32>> {
    enter(py, |_| Ok(order::sorted(&names)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NodeNames>()?;
    module.add_function(wrap_pyfunction!(graph_form, module)?)?;
    module.add_function(wrap_pyfunction!(bvgraph_basename, module)?)?;
    module.add_function(wrap_pyfunction!(graph_names_path, module)?)?;
    module.add_function(wrap_pyfunction!(read_graph, module)?)?;
    module.add_function(wrap_pyfunction!(write_graph, module)?)?;
    module.add_function(wrap_pyfunction!(convert_graph, module)?)?;
    module.add_function(wrap_pyfunction!(generate_graph, module)?)?;
    module.add_function(wrap_pyfunction!(generate_edge_list, module)?)?;
    module.add_function(wrap_pyfunction!(read_host_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(write_host_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(name_order, module)?)
}
