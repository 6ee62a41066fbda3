//! The graph of the pages of a collection, and their ranks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crivello_core::collection::{
    GraphBase, Snapshot, layout, merge_page_links, merged_page_links, page_links,
};
use crivello_core::graph::pages::{self, Folded, Nodes};
use crivello_core::graph::{self, Rank};
use crivello_core::{Error, Signature};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use super::arcs::{Arcs, numbers};
use crate::enter::{Progress, enter, enter_showing};
use crate::table::Table;

/// The memory for the ranges of a merge, in bytes.
const MEMORY: usize = 256 << 20;

/// The base of a graph: its number, and the bytes of the table and of the log of links that it covers.
type Given = (u64, u64, u64);

fn base_of(given: Option<Given>) -> Option<GraphBase> {
    given.map(|(number, rows, links)| GraphBase { number, rows, links })
}

/// The URLs of the nodes of a collection's graph.
#[pyclass(module = "crivello._core", frozen)]
struct PageNames(pages::PageNames);

#[pymethods]
impl PageNames {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, py: Python<'_>, node: isize) -> PyResult<String> {
        let count = self.0.len() as isize;
        let place = if node < 0 { node + count } else { node };
        if !(0..count).contains(&place) {
            return Err(PyIndexError::new_err(format!("there is no node {node}: there are {count}")));
        }
        enter(py, |_| self.0.get(place as usize))
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<Option<u32>> {
        enter(py, |_| self.0.find(name))
    }

    /// Writes the value and the strength of each node as the ranks of its URLs; returns the file's length.
    fn write_ranks(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        strengths: &Bound<'_, PyAny>,
        target: PathBuf,
    ) -> PyResult<u64> {
        let (values, strengths) =
            (numbers::<f64>(values, "values")?, numbers::<f64>(strengths, "strengths")?);
        enter(py, |pulse| {
            let (values, strengths) = ((*values).as_ref(), (*strengths).as_ref());
            if values.len() != self.0.len() || strengths.len() != self.0.len() {
                let reason = format!("there are {} values for {} nodes", values.len(), self.0.len());
                return Err(Error::Invalid(reason));
            }
            let rank = |node: u32| Rank {
                value: values[node as usize] as f32,
                strength: strengths[node as usize] as f32,
            };
            let signatures = self.0.signatures(pulse)?;
            let ranks = signatures.into_iter().map(|(signature, node)| (signature, rank(node))).collect();
            graph::write_ranks(ranks, &target, pulse)
        })
    }
}

/// The arcs of the graph of a collection whose files have these committed lengths, and the names of its nodes.
#[pyfunction]
#[pyo3(signature = (folder, base, committed, nofollow = false, progress = None))]
fn page_graph(
    py: Python<'_>,
    folder: PathBuf,
    base: Option<Given>,
    committed: HashMap<String, u64>,
    nofollow: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<(Arcs, PageNames)> {
    enter_showing(py, progress, |pulse| {
        let length = |name: &str| committed.get(name).copied().unwrap_or(0);
        let union = page_links(&folder, base_of(base), length, pulse)?;
        let Folded { arcs, names } = Folded::new(union, nofollow, pulse)?;
        Ok((Arcs::of(arcs), PageNames(names)))
    })
}

/// Writes the base with a number, which covers everything committed; returns its files with their lengths.
#[pyfunction]
fn write_page_graph(
    py: Python<'_>,
    folder: PathBuf,
    base: Option<Given>,
    committed: HashMap<String, u64>,
    number: u64,
) -> PyResult<HashMap<String, u64>> {
    enter(py, |pulse| {
        let length = |name: &str| committed.get(name).copied().unwrap_or(0);
        let union = page_links(&folder, base_of(base), length, pulse)?;
        let lengths = union.write(&GraphBase::files(&folder, number), pulse)?;
        Ok(layout::graph_files(number).into_iter().zip(lengths).collect())
    })
}

fn snapshots(tables: &[Bound<'_, Table>]) -> Vec<Arc<Snapshot>> {
    tables.iter().map(|table| Arc::clone(&table.get().0)).collect()
}

/// The arcs and the names of the graph of several collections as one, given by their tables. With `folds_copies` a page
/// with the text of another collection's stands for that one.
#[pyfunction]
#[pyo3(signature = (tables, folds_copies, nofollow = false, progress = None, memory = MEMORY))]
fn merged_page_graph(
    py: Python<'_>,
    tables: Vec<Bound<'_, Table>>,
    folds_copies: bool,
    nofollow: bool,
    progress: Option<&Bound<'_, Progress>>,
    memory: usize,
) -> PyResult<(Arcs, PageNames)> {
    let snapshots = snapshots(&tables);
    enter_showing(py, progress, |pulse| {
        let union = merged_page_links(&snapshots, folds_copies, memory, pulse)?;
        let Folded { arcs, names } = Folded::new(union, nofollow, pulse)?;
        Ok((Arcs::of(arcs), PageNames(names)))
    })
}

/// Writes that graph as the base with a number; returns its files with their lengths.
#[pyfunction]
#[pyo3(signature = (folder, tables, folds_copies, number, memory = MEMORY))]
fn write_merged_page_graph(
    py: Python<'_>,
    folder: PathBuf,
    tables: Vec<Bound<'_, Table>>,
    folds_copies: bool,
    number: u64,
    memory: usize,
) -> PyResult<HashMap<String, u64>> {
    let snapshots = snapshots(&tables);
    enter(py, |pulse| {
        let files = GraphBase::files(&folder, number);
        let lengths = merge_page_links(&snapshots, folds_copies, memory, &files, pulse)?;
        Ok(layout::graph_files(number).into_iter().zip(lengths).collect())
    })
}

/// Whether each page has the text of another by the nodes of a merged base, by signature.
#[pyfunction]
fn are_copies(py: Python<'_>, path: PathBuf, committed: u64, signatures: Vec<u64>) -> PyResult<Vec<bool>> {
    enter(py, |_| {
        let nodes = Nodes::open(&path, committed)?;
        let is_copy = |page| Ok(nodes.find(Signature(page))?.is_some_and(|node| node.is_copy));
        signatures.into_iter().map(is_copy).collect()
    })
}

/// The ranks of the pages by a measure.
#[pyclass(module = "crivello._core", frozen)]
pub struct Ranks(pub graph::Ranks);

#[pymethods]
impl Ranks {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, committed: u64) -> PyResult<Self> {
        enter(py, |_| graph::Ranks::open(&path, committed)).map(Ranks)
    }

    /// The values of pages, by their signatures.
    fn get(&self, py: Python<'_>, signatures: Vec<u64>) -> PyResult<Vec<Option<f32>>> {
        let value = |signature| Ok(self.0.get(Signature(signature))?.map(|rank| rank.value));
        enter(py, |_| signatures.into_iter().map(value).collect())
    }

    /// The value of a page, its position from 1 on, and the number of pages.
    fn standing(&self, py: Python<'_>, signature: u64) -> PyResult<Option<(f32, usize, usize)>> {
        let standing = enter(py, |pulse| self.0.standing(Signature(signature), pulse))?;
        Ok(standing.map(|standing| (standing.value, standing.position, standing.pages)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Writes the ranks of pages, by signature, each a value and a strength; returns the length of the file.
#[pyfunction]
fn write_ranks(py: Python<'_>, pages: Vec<(u64, f64, f64)>, target: PathBuf) -> PyResult<u64> {
    enter(py, |pulse| {
        let rank = |(page, value, strength): (u64, f64, f64)| {
            (Signature(page), Rank { value: value as f32, strength: strength as f32 })
        };
        graph::write_ranks(pages.into_iter().map(rank).collect(), &target, pulse)
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PageNames>()?;
    module.add_class::<Ranks>()?;
    module.add_function(wrap_pyfunction!(page_graph, module)?)?;
    module.add_function(wrap_pyfunction!(write_page_graph, module)?)?;
    module.add_function(wrap_pyfunction!(merged_page_graph, module)?)?;
    module.add_function(wrap_pyfunction!(write_merged_page_graph, module)?)?;
    module.add_function(wrap_pyfunction!(are_copies, module)?)?;
    module.add_function(wrap_pyfunction!(write_ranks, module)?)
}
