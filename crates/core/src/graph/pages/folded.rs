//! The folded graph of a collection, in memory, and the names of its nodes.

use super::{NONE, Union, fold};
use crate::graph::{Adjacency, order};
use crate::{Error, Pulse, Result, Signature};

/// The graph of the pages of a collection, and their names.
pub struct Folded {
    /// The arcs.
    pub arcs: Adjacency,
    /// The URLs.
    pub names: PageNames,
}

/// The URLs of the nodes of a folded graph: by number, and back.
pub struct PageNames {
    union: Union,
    /// For each node of the union the node of the graph that it stands for.
    stands_for: Vec<u32>,
    /// For each node of the graph its node in the union.
    origins: Vec<u32>,
}

impl Folded {
    /// Folds a union; with `nofollow` the links that are not vouched for count like the others.
    pub fn new(union: Union, nofollow: bool, pulse: &Pulse) -> Result<Folded> {
        let (is_page, refers_to) = union.references(pulse)?;
        let pages = fold(&is_page, &refers_to);
        drop((is_page, refers_to));
        let itself = |node: &u32| pages[*node as usize] == *node;
        let origins: Vec<u32> = (0..pages.len() as u32).filter(itself).collect();
        let mut numbers = vec![NONE; pages.len()];
        for (number, origin) in origins.iter().enumerate() {
            numbers[*origin as usize] = number as u32;
        }
        let number_of = |page: &u32| if *page == NONE { NONE } else { numbers[*page as usize] };
        let stands_for: Vec<u32> = pages.iter().map(number_of).collect();

        let mut offsets = Vec::with_capacity(origins.len() + 1);
        let (mut targets, mut folded, mut list) = (Vec::new(), Vec::new(), Vec::new());
        offsets.push(0u64);
        union.lists(pulse, &mut |node, links| {
            let own = stands_for[node as usize];
            if own == NONE {
                return Ok(());
            }
            list.clear();
            let others: &[u32] = if nofollow { &links.nofollow } else { &[] };
            let numbers = links.followed.iter().chain(others).map(|target| stands_for[*target as usize]);
            list.extend(numbers.filter(|target| *target != NONE && *target != own));
            if !list.is_sorted_by(|one, other| one < other) {
                list.sort_unstable();
                list.dedup();
            }
            if pages[node as usize] == node {
                targets.extend_from_slice(&list);
                offsets.push(targets.len() as u64);
            } else {
                folded.extend(list.iter().map(|target| (own, *target)));
            }
            Ok(())
        })?;
        let arcs = with(Adjacency::trusted(offsets, targets, None), folded, pulse)?;
        Ok(Folded { arcs, names: PageNames { union, stands_for, origins } })
    }
}

/// A graph with more arcs, in any order.
fn with(graph: Adjacency, mut more: Vec<(u32, u32)>, pulse: &Pulse) -> Result<Adjacency> {
    if more.is_empty() {
        return Ok(graph);
    }
    more.sort_unstable();
    more.dedup();
    let view = graph.view();
    let mut offsets = Vec::with_capacity(view.offsets.len());
    let mut targets = Vec::with_capacity(view.targets.len() + more.len());
    offsets.push(0u64);
    let mut more = more.into_iter().peekable();
    for node in 0..view.nodes() {
        if node.is_multiple_of(1 << 14) {
            pulse.beat()?;
        }
        let start = targets.len();
        targets.extend_from_slice(view.successors(node));
        let own = targets.len();
        while let Some((_, target)) = more.next_if(|(source, _)| *source as usize == node) {
            targets.push(target);
        }
        if targets.len() > own {
            let mut list = targets.split_off(start);
            list.sort_unstable();
            list.dedup();
            targets.append(&mut list);
        }
        offsets.push(targets.len() as u64);
    }
    Ok(Adjacency::trusted(offsets, targets, None))
}

impl PageNames {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// The URL of a node.
    pub fn get(&self, node: usize) -> Result<String> {
        let no_such = || Error::Invalid(format!("there is no node {node}: there are {}", self.len()));
        let key = self.union.key(*self.origins.get(node).ok_or_else(no_such)?)?;
        order::name(&key).ok_or_else(|| Error::Invalid(format!("the URL of node {node} does not decode")))
    }

    /// The node of a URL, or of the page that it stands for.
    pub fn find(&self, url: &str) -> Result<Option<u32>> {
        let found = self.union.find_key(&order::key(url))?;
        Ok(found.map(|node| self.stands_for[node as usize]).filter(|node| *node != NONE))
    }

    /// Every URL that stands for a node, or is one, by signature, in any order.
    pub fn signatures(&self, pulse: &Pulse) -> Result<Vec<(Signature, u32)>> {
        let mut signatures = Vec::with_capacity(self.stands_for.len());
        self.union.each(pulse, |known| {
            let node = self.stands_for[known.node as usize];
            if node != NONE {
                signatures.push((known.signature, node));
            }
        })?;
        Ok(signatures)
    }

    /// The union, whose nodes are not folded.
    pub fn union(&self) -> &Union {
        &self.union
    }
}
