//! The arcs of a graph, in memory or in a file.

use std::path::PathBuf;
use std::sync::OnceLock;

use crivello_core::graph::measures::degrees;
use crivello_core::graph::{
    Adjacency, BvGraph, BvGraphWriter, GraphFile, GraphWriter, Lists, Options, View, bits_of,
};
use crivello_core::{Error, Pulse, Result};
use pyo3::prelude::*;

use crate::array::{Array, borrowed};
use crate::enter::{Progress, enter, enter_showing};

/// What is done with a list and its weights.
type Visit<'a> = dyn FnMut(&[u32], Option<&[u32]>) -> Result<()> + 'a;

/// The name of a part of the lists, its bits, and how many chunks have it in each code.
type NamedPart = (&'static str, u64, Vec<(String, usize)>);

/// The arcs of a graph: its adjacency lists, and those of its transpose once they are needed. A graph in a file is
/// decoded into memory once its lists are needed there.
#[pyclass(module = "crivello._core", frozen)]
pub struct Arcs {
    file: Option<GraphFile>,
    forward: OnceLock<Adjacency>,
    backward: OnceLock<Adjacency>,
    bits_per_link: OnceLock<f64>,
}

impl Arcs {
    /// A graph with these lists.
    pub fn of(forward: Adjacency) -> Arcs {
        Arcs {
            file: None,
            forward: OnceLock::from(forward),
            backward: OnceLock::new(),
            bits_per_link: OnceLock::new(),
        }
    }

    /// The successors of each node, in memory.
    pub fn forward(&self, pulse: &Pulse) -> Result<View<'_>> {
        self.adjacency(pulse).map(Adjacency::view)
    }

    fn adjacency(&self, pulse: &Pulse) -> Result<&Adjacency> {
        match (self.forward.get(), &self.file) {
            (Some(forward), _) => Ok(forward),
            (None, Some(file)) => {
                let forward = file.adjacency(pulse)?;
                Ok(self.forward.get_or_init(|| forward))
            }
            (None, None) => Err(Error::Stopped),
        }
    }

    /// The predecessors of each node, in memory.
    pub fn backward(&self, pulse: &Pulse) -> Result<View<'_>> {
        if let Some(backward) = self.backward.get() {
            return Ok(backward.view());
        }
        let backward = self.adjacency(pulse)?.transpose(pulse)?;
        Ok(self.backward.get_or_init(|| backward).view())
    }

    /// The lists along the arcs, or against them, in memory.
    pub fn lists(&self, backward: bool, pulse: &Pulse) -> Result<View<'_>> {
        if backward { self.backward(pulse) } else { self.forward(pulse) }
    }

    /// Does `work` on the lists along the arcs, decoded as they are read if the graph is in a file only: this takes
    /// no memory.
    pub fn stream<T>(&self, pulse: &Pulse, work: impl FnOnce(&dyn Lists) -> Result<T>) -> Result<T> {
        match (self.forward.get(), &self.file) {
            (None, Some(file)) => work(file),
            _ => work(&self.forward(pulse)?),
        }
    }

    /// Calls `visit` with the successors of every node and their weights, decoded as they are read if the graph is
    /// in a file only.
    fn each_list(&self, pulse: &Pulse, visit: &mut Visit) -> Result<()> {
        if let (None, Some(file)) = (self.forward.get(), &self.file) {
            return file.visit(pulse, visit);
        }
        let lists = self.forward(pulse)?;
        for node in 0..lists.nodes() {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
                pulse.set(node as u64, lists.nodes() as u64);
            }
            visit(lists.successors(node), lists.weights.map(|weights| &weights[lists.range(node)]))?;
        }
        Ok(())
    }

    fn size(&self) -> (usize, u64, bool) {
        match (&self.file, self.forward.get().map(Adjacency::view)) {
            (Some(file), _) => (file.nodes(), file.arcs(), file.weighted()),
            (None, Some(lists)) => (lists.nodes(), lists.targets.len() as u64, lists.weights.is_some()),
            (None, None) => (0, 0, false),
        }
    }

    fn must_exist(&self, node: u64) -> Result<()> {
        let nodes = self.size().0 as i64;
        if node < nodes as u64 {
            return Ok(());
        }
        Err(Error::Invalid(format!("there is no node {node}: they go from 0 to {}", nodes - 1)))
    }

    /// Calls `visit` with the successors of each of these nodes, by random access to the file if there is one.
    fn visit(&self, nodes: &[u64], pulse: &Pulse, visit: &mut dyn FnMut(&[u32])) -> Result<()> {
        nodes.iter().try_for_each(|node| self.must_exist(*node))?;
        if let (None, Some(file)) = (self.forward.get(), &self.file) {
            return nodes.chunks(NODES_PER_BEAT).try_for_each(|some| {
                pulse.beat()?;
                file.successors_of(some, visit)
            });
        }
        let lists = self.forward(pulse)?;
        nodes.iter().for_each(|node| visit(lists.successors(*node as usize)));
        Ok(())
    }
}

/// How many lists are read between two beats of the pulse.
const NODES_PER_BEAT: usize = 1 << 14;

/// A contiguous array of numbers, or a clear refusal.
pub fn numbers<T: pyo3::buffer::Element + Send + Sync + 'static>(
    array: &Bound<'_, PyAny>,
    what: &str,
) -> PyResult<crivello_core::graph::Numbers<T>> {
    match borrowed(array) {
        Some(numbers) => Ok(numbers),
        None => {
            let kind = std::any::type_name::<T>();
            let reason = format!("the {what} must be a contiguous array of {kind}");
            enter(array.py(), |_| Err(Error::Invalid(reason)))
        }
    }
}

#[pymethods]
impl Arcs {
    /// The graph with these adjacency lists (uint64 offsets, uint32 targets and weights), without copying.
    #[staticmethod]
    #[pyo3(signature = (offsets, targets, weights = None))]
    fn from_lists(
        py: Python<'_>,
        offsets: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Arcs> {
        let (offsets, targets) = (numbers(offsets, "offsets")?, numbers(targets, "targets")?);
        let weights = weights.map(|weights| numbers(weights, "weights")).transpose()?;
        enter_showing(py, None, |pulse| Adjacency::new(offsets, targets, weights, pulse).map(Arcs::of))
    }

    /// The graph of `nodes` nodes with these arcs; with `count` the number of parallel arcs is their weight.
    #[staticmethod]
    fn from_arcs(
        py: Python<'_>,
        nodes: usize,
        sources: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        count: bool,
    ) -> PyResult<Arcs> {
        let (sources, targets) = (numbers::<u32>(sources, "sources")?, numbers::<u32>(targets, "targets")?);
        enter(py, |pulse| {
            let (sources, targets) = ((*sources).as_ref(), (*targets).as_ref());
            if sources.len() != targets.len() {
                let reason = format!("there are {} sources for {} targets", sources.len(), targets.len());
                return Err(Error::Invalid(reason));
            }
            let arcs = sources.iter().copied().zip(targets.iter().copied()).collect();
            Adjacency::from_arcs(nodes, arcs, count, pulse).map(Arcs::of)
        })
    }

    /// The graph in a file of ours, of which `committed` bytes count.
    #[staticmethod]
    #[pyo3(signature = (path, committed = None))]
    fn open(py: Python<'_>, path: PathBuf, committed: Option<u64>) -> PyResult<Arcs> {
        enter(py, |_| {
            let file = GraphFile::open(&path, committed)?;
            let bits_per_link = OnceLock::from(file.bits_per_link());
            Ok(Arcs { file: Some(file), forward: OnceLock::new(), backward: OnceLock::new(), bits_per_link })
        })
    }

    /// The graph in the files of WebGraph with this name, read into memory.
    #[staticmethod]
    #[pyo3(signature = (basename, progress = None))]
    fn open_bvgraph(
        py: Python<'_>,
        basename: PathBuf,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<Arcs> {
        enter_showing(py, progress, |pulse| {
            let graph = BvGraph::open(&basename)?;
            let arcs = Arcs::of(graph.adjacency(pulse)?);
            arcs.bits_per_link.get_or_init(|| graph.bits_per_link());
            Ok(arcs)
        })
    }

    /// Writes the graph to a file of ours; returns the bits per link and the length of the file.
    #[pyo3(signature = (path, window = 7, chain = 3, interval = 4, progress = None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        window: u8,
        chain: u8,
        interval: u8,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<(f64, u64)> {
        let options = Options { window, chain, interval };
        enter_showing(py, progress, |pulse| {
            let (nodes, _, weighted) = self.size();
            let mut writer = GraphWriter::create(&path, nodes, weighted, options)?;
            self.each_list(pulse, &mut |list, weights| writer.push(list, weights))?;
            let written = writer.finish(pulse)?;
            Ok((written.bits_per_link(), written.length))
        })
    }

    /// Writes the arcs, without weights, to the files of WebGraph with this name; returns the bits per link.
    #[pyo3(signature = (basename, window = 7, chain = 3, interval = 4, progress = None))]
    fn save_bvgraph(
        &self,
        py: Python<'_>,
        basename: PathBuf,
        window: u8,
        chain: u8,
        interval: u8,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<f64> {
        let options = Options { window, chain, interval };
        enter_showing(py, progress, |pulse| {
            let nodes = self.size().0;
            let mut writer = BvGraphWriter::create(&basename, nodes, options)?;
            let mut wrong = Ok(());
            self.stream(pulse, |lists| {
                lists.scan(0..nodes, pulse, &mut |_, list| {
                    if wrong.is_ok() {
                        wrong = writer.push(list);
                    }
                })
            })?;
            wrong?;
            Ok(writer.finish(pulse)?.1)
        })
    }

    /// Bits per link in the lists of the file, or of the file that `save` would write.
    #[getter]
    fn bits_per_link(&self, py: Python<'_>) -> PyResult<f64> {
        enter_showing(py, None, |pulse| match self.bits_per_link.get() {
            Some(bits) => Ok(*bits),
            None => {
                let bits = bits_of(self.forward(pulse)?, Options::default(), pulse)?.bits_per_link();
                Ok(*self.bits_per_link.get_or_init(|| bits))
            }
        })
    }

    /// The length of the file, or the memory of the lists, in bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        let (nodes, arcs, weighted) = self.size();
        let in_memory = 8 * (nodes as u64 + 1) + arcs * if weighted { 8 } else { 4 };
        self.file.as_ref().map_or(in_memory, GraphFile::bytes)
    }

    /// For each part of the lists in the file: its name, its bits, and its codes with the chunks that have them.
    fn parts(&self) -> Vec<NamedPart> {
        let parts = self.file.as_ref().map(GraphFile::parts).unwrap_or_default();
        let named = |(part, bits, codes): (crivello_core::graph::Part, u64, Vec<_>)| {
            let codes: Vec<(crivello_core::codes::Code, usize)> = codes;
            (part.name(), bits, codes.into_iter().map(|(code, chunks)| (code.to_string(), chunks)).collect())
        };
        parts.into_iter().map(named).collect()
    }

    /// Decodes the whole file, in parallel, and keeps nothing: an error if it is damaged anywhere.
    #[pyo3(signature = (progress = None))]
    fn verify(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<()> {
        enter_showing(py, progress, |pulse| self.file.as_ref().map_or(Ok(()), |file| file.verify(pulse)))
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.size().0
    }

    #[getter]
    fn arcs(&self) -> u64 {
        self.size().1
    }

    #[getter]
    fn weighted(&self) -> bool {
        self.size().2
    }

    /// The adjacency lists: offsets, targets and weights.
    fn csr(&self, py: Python<'_>) -> PyResult<(Array, Array, Option<Array>)> {
        let (offsets, targets, weights) =
            enter_showing(py, None, |pulse| Ok(self.adjacency(pulse)?.arrays()))?;
        Ok((Array::shared(offsets), Array::shared(targets), weights.map(Array::shared)))
    }

    fn successors(&self, py: Python<'_>, node: u64) -> PyResult<Array> {
        enter(py, |pulse| {
            let mut successors = Vec::new();
            self.visit(&[node], pulse, &mut |list| successors.extend_from_slice(list))?;
            Ok(Array::of(successors))
        })
    }

    /// The successors of many nodes (uint64), one list after the other, and where each list starts.
    fn successors_of(&self, py: Python<'_>, nodes: &Bound<'_, PyAny>) -> PyResult<(Array, Array)> {
        let nodes = numbers::<u64>(nodes, "nodes")?;
        enter(py, |pulse| {
            let (mut offsets, mut successors) = (vec![0u64], Vec::new());
            self.visit((*nodes).as_ref(), pulse, &mut |list| {
                successors.extend_from_slice(list);
                offsets.push(successors.len() as u64);
            })?;
            Ok((Array::of(offsets), Array::of(successors)))
        })
    }

    #[pyo3(signature = (progress = None))]
    fn transpose(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<Arcs> {
        enter_showing(py, progress, |pulse| {
            self.backward(pulse)?;
            let backward = self.backward.get().cloned().ok_or(Error::Stopped)?;
            let transpose = Arcs::of(backward);
            drop(transpose.backward.set(self.adjacency(pulse)?.clone()));
            Ok(transpose)
        })
    }

    #[pyo3(signature = (backward, progress = None))]
    fn degrees(
        &self,
        py: Python<'_>,
        backward: bool,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<Array> {
        enter_showing(py, progress, |pulse| Ok(Array::of(degrees(self.lists(backward, pulse)?))))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Arcs>()
}
