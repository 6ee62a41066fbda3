//! The union of a base and of what was logged since: nodes, and their successors, not folded.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use tempfile::TempDir;

use super::base::{Base, BaseFiles, LinkWriter};
use super::nodes::{BaseNode, NodeWriter};
use super::pending::Pending;
use super::{NONE, PageRow};
use crate::disk::log::LogReader;
use crate::graph::blocks::MOST_NODES;
use crate::graph::{LINKS, targets_of};
use crate::{Error, Pulse, Result, Signature};

/// The nodes of a base and of the rows since, in the order of their keys.
pub struct Union {
    base: Option<Base>,
    /// The number of each node of the base.
    base_to_node: Vec<u32>,
    /// What was logged since, by key.
    since: Vec<Since>,
    /// The place in `since` of a signature.
    places: FxHashMap<Signature, u32>,
    /// The links from pages of the base to new pages.
    onwards: FxHashMap<u32, Links>,
    links: PathBuf,
    log: Option<LogReader>,
    nodes: usize,
    /// The folder of a temporary base, removed with this.
    _folder: Option<TempDir>,
}

/// A node of which something was logged since the base.
pub(super) struct Since {
    pub row: PageRow,
    /// Its number.
    pub node: u32,
    /// The number of nodes of the base before it.
    before: u32,
    /// Whether it is in the base.
    in_base: bool,
    /// The offset of its newest record in the log of links, if that came after the base.
    record: Option<u64>,
}

impl Since {
    /// Whether the links that the base has of it count no more.
    fn is_replaced(&self) -> bool {
        self.record.is_some() || !self.row.is_page
    }
}

/// The links of a node.
#[derive(Default)]
pub(super) struct Links {
    /// The successors by links that are vouched for, increasing and distinct and not the node itself.
    pub followed: Vec<u32>,
    /// The successors by others only.
    pub nofollow: Vec<u32>,
    /// The targets of its record that are no nodes, if it was read, and whether the link is nofollow.
    pending: Vec<(Signature, bool)>,
}

impl Links {
    pub(super) fn clear(&mut self) {
        self.followed.clear();
        self.nofollow.clear();
        self.pending.clear();
    }

    /// Makes both lists increasing and distinct, and leaves out of the second what is in the first.
    pub(super) fn order(&mut self, own: u32) {
        for list in [&mut self.followed, &mut self.nofollow] {
            list.retain(|target| *target != own);
            list.sort_unstable();
            list.dedup();
        }
        let followed = &self.followed;
        self.nofollow.retain(|target| followed.binary_search(target).is_err());
    }
}

impl Union {
    /// The union of a base and of the rows since (a later row of a URL replaces an earlier one), whose links
    /// are in the first `committed` bytes of the log at `links`.
    pub fn open(
        base: Option<Base>,
        rows: Vec<PageRow>,
        links: &Path,
        committed: u64,
        pulse: &Pulse,
    ) -> Result<Union> {
        let log = (committed > 0).then(|| LogReader::open(links, LINKS, committed)).transpose()?;
        let mut union = Union {
            base_to_node: Vec::new(),
            since: ordered(base.as_ref(), rows, pulse)?,
            places: FxHashMap::default(),
            onwards: FxHashMap::default(),
            links: links.to_path_buf(),
            log,
            nodes: 0,
            base,
            _folder: None,
        };
        union.number()?;
        union.find_records(pulse)?;
        union.find_links_to_new_pages()?;
        Ok(union)
    }

    /// A base in a temporary folder, which is removed with it.
    pub fn temporary(base: Base, folder: TempDir, pulse: &Pulse) -> Result<Union> {
        let union = Union::open(Some(base), Vec::new(), Path::new(""), 0, pulse)?;
        Ok(Union { _folder: Some(folder), ..union })
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes == 0
    }

    /// Numbers the nodes of the base and the new ones in one order.
    fn number(&mut self) -> Result<()> {
        let in_base = self.base.as_ref().map_or(0, Base::nodes);
        let new = self.since.iter().filter(|since| !since.in_base).count();
        self.nodes = in_base + new;
        if self.nodes as u64 >= MOST_NODES {
            return Err(Error::Invalid(format!("a graph of {} nodes is too large", self.nodes)));
        }
        self.base_to_node.reserve(in_base);
        let mut new = 0;
        for (place, since) in self.since.iter_mut().enumerate() {
            let reached = self.base_to_node.len() as u32;
            self.base_to_node.extend((reached..since.before).map(|node| node + new));
            since.node = since.before + new;
            new += u32::from(!since.in_base);
            self.places.insert(since.row.signature, place as u32);
        }
        let reached = self.base_to_node.len() as u32;
        self.base_to_node.extend((reached..in_base as u32).map(|node| node + new));
        Ok(())
    }

    /// Finds the newest record of each page since the base.
    fn find_records(&mut self, pulse: &Pulse) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let start = self.base.as_ref().map_or(0, Base::logged);
        log.scan(start, pulse, |record| {
            if let Some(place) = self.places.get(&record.key) {
                self.since[*place as usize].record = Some(record.offset);
            }
            Ok(())
        })
    }

    /// Finds the links from the pages of the base to those that are new.
    fn find_links_to_new_pages(&mut self) -> Result<()> {
        let Some(base) = &self.base else { return Ok(()) };
        for new in self.since.iter().filter(|since| !since.in_base) {
            base.links_to(new.row.signature, |source, nofollow| {
                let links = self.onwards.entry(source).or_default();
                if nofollow { &mut links.nofollow } else { &mut links.followed }.push(new.node);
            })?;
        }
        Ok(())
    }

    /// The node of a URL, by signature.
    pub fn find(&self, signature: Signature) -> Result<Option<u32>> {
        if let Some(place) = self.places.get(&signature) {
            return Ok(Some(self.since[*place as usize].node));
        }
        let Some(base) = &self.base else { return Ok(None) };
        Ok(base.find(signature)?.map(|node| self.base_to_node[node as usize]))
    }

    /// The node with a key.
    pub fn find_key(&self, key: &[u8]) -> Result<Option<u32>> {
        if let Ok(place) = self.since.binary_search_by(|since| since.row.key.as_slice().cmp(key)) {
            return Ok(Some(self.since[place].node));
        }
        let Some(base) = &self.base else { return Ok(None) };
        Ok(base.rank(key)?.ok().map(|node| self.base_to_node[node as usize]))
    }

    /// The key of a node.
    pub fn key(&self, node: u32) -> Result<Vec<u8>> {
        let place = self.since.partition_point(|since| since.node < node);
        match (self.since.get(place).filter(|since| since.node == node), &self.base) {
            (Some(since), _) => Ok(since.row.key.clone()),
            (None, Some(base)) => {
                let before = self.base_to_node.partition_point(|other| *other < node);
                base.key(before as u32)
            }
            (None, None) => Err(Error::Invalid(format!("there is no node {node}"))),
        }
    }

    /// Every node: its signature, its number, whether it is a page, and what it stands for.
    pub(super) fn each(&self, pulse: &Pulse, mut visit: impl FnMut(BaseNode)) -> Result<()> {
        if let Some(base) = &self.base {
            base.each(pulse, |known| {
                if !self.places.contains_key(&known.signature) {
                    visit(BaseNode { node: self.base_to_node[known.node as usize], ..known });
                }
            })?;
        }
        for since in &self.since {
            let PageRow { signature, is_page, alias, .. } = since.row;
            visit(BaseNode { signature, node: since.node, is_page, alias, is_copy: false });
        }
        Ok(())
    }

    /// The node that each node refers to (`u32::MAX`: none), and whether it is a page.
    pub(super) fn references(&self, pulse: &Pulse) -> Result<(Vec<bool>, Vec<u32>)> {
        let mut is_page = vec![false; self.nodes];
        let mut aliases = Vec::new();
        self.each(pulse, |known| {
            is_page[known.node as usize] = known.is_page;
            aliases.extend(known.alias.map(|alias| (known.node, alias)));
        })?;
        let mut refers_to = vec![NONE; self.nodes];
        for (node, alias) in aliases {
            refers_to[node as usize] = self.find(alias)?.unwrap_or(NONE);
        }
        Ok((is_page, refers_to))
    }

    /// Calls `visit` with every node and its links.
    pub(super) fn lists(
        &self,
        pulse: &Pulse,
        visit: &mut dyn FnMut(u32, &Links) -> Result<()>,
    ) -> Result<()> {
        let mut since = self.since.iter().peekable();
        let mut links = Links::default();
        if let Some(base) = &self.base {
            let mut outcome = Ok(());
            base.scan(pulse, |node, followed, nofollow| {
                if outcome.is_ok() {
                    outcome = (|| {
                        while let Some(new) = since.next_if(|new| !new.in_base && new.before <= node) {
                            self.read(new, &mut links)?;
                            visit(new.node, &links)?;
                        }
                        let own = self.base_to_node[node as usize];
                        let again = since.next_if(|again| again.before == node);
                        match again.filter(|again| again.is_replaced()) {
                            Some(again) => self.read(again, &mut links)?,
                            None => {
                                let number = |other: &u32| self.base_to_node[*other as usize];
                                links.clear();
                                links.followed.extend(followed.iter().map(number));
                                links.nofollow.extend(nofollow.iter().map(number));
                                if let Some(onwards) = self.onwards.get(&node) {
                                    links.followed.extend(&onwards.followed);
                                    links.nofollow.extend(&onwards.nofollow);
                                    links.order(own);
                                }
                            }
                        }
                        visit(own, &links)
                    })();
                }
            })?;
            outcome?;
        }
        for (count, new) in since.enumerate() {
            if count.is_multiple_of(1 << 10) {
                pulse.beat()?;
            }
            self.read(new, &mut links)?;
            visit(new.node, &links)?;
        }
        Ok(())
    }

    /// The links of a node by its newest record. A redirect has none: it stands for its target.
    fn read(&self, since: &Since, links: &mut Links) -> Result<()> {
        links.clear();
        let (Some(offset), Some(log), true) = (since.record, &self.log, since.row.is_page) else {
            return Ok(());
        };
        let (followed, nofollow) = targets_of(&self.links, &log.get(offset)?)?;
        for target in followed {
            match self.find(target)? {
                Some(node) => links.followed.push(node),
                None => links.pending.push((target, false)),
            }
        }
        for target in nofollow {
            match self.find(target)? {
                Some(node) => links.nofollow.push(node),
                None => links.pending.push((target, true)),
            }
        }
        links.order(since.node);
        Ok(())
    }

    /// Writes the union as the next base; returns the lengths of its files, in the order of [`BaseFiles`]. URLs
    /// that are no longer nodes are left out.
    pub fn write(&self, files: &BaseFiles, pulse: &Pulse) -> Result<[u64; 5]> {
        let mut number = vec![true; self.nodes];
        for gone in self.since.iter().filter(|since| !since.row.is_node()) {
            number[gone.node as usize] = false;
        }
        let mut next = 0;
        let number: Vec<u32> = number
            .into_iter()
            .map(|is_node| {
                next += u32::from(is_node);
                if is_node { next - 1 } else { NONE }
            })
            .collect();
        let mut writer = LinkWriter::create(files, next as usize)?;
        let gone = self.since.iter().filter(|since| !since.row.is_node());
        let gone: FxHashMap<u32, Signature> = gone.map(|gone| (gone.node, gone.row.signature)).collect();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        self.lists(pulse, &mut |node, links| {
            let source = number[node as usize];
            if source == NONE {
                return Ok(());
            }
            for (target, nofollow) in &links.pending {
                writer.push_pending(Pending { target: *target, source, nofollow: *nofollow })?;
            }
            for (list, into, nofollow) in
                [(&links.followed, &mut one, false), (&links.nofollow, &mut other, true)]
            {
                into.clear();
                into.extend(list.iter().map(|node| number[*node as usize]).filter(|node| *node != NONE));
                if into.len() < list.len() {
                    for target in list.iter().filter_map(|node| gone.get(node)) {
                        writer.push_pending(Pending { target: *target, source, nofollow })?;
                    }
                }
            }
            writer.push(&one, &other)
        })?;
        if let Some(base) = &self.base {
            let replaced = self.since.iter().filter(|since| since.in_base && since.is_replaced());
            let replaced: FxHashSet<u32> = replaced.map(|since| since.before).collect();
            base.pending().each(pulse, &mut |link| {
                if self.places.contains_key(&link.target) || replaced.contains(&link.source) {
                    return Ok(());
                }
                let source = number[self.base_to_node[link.source as usize] as usize];
                writer.push_pending(Pending { source, ..link })
            })?;
        }
        let [links, nofollow, pending] = writer.finish(pulse)?;
        let mut writer = NodeWriter::create(files)?;
        let mut outcome = Ok(());
        self.each(pulse, |known| {
            let node = number[known.node as usize];
            if node != NONE && outcome.is_ok() {
                outcome = writer.push(BaseNode { node, ..known });
            }
        })?;
        outcome?;
        for (count, key) in self.keys().enumerate() {
            if count.is_multiple_of(1 << 14) {
                pulse.beat()?;
            }
            writer.push_key(&key?)?;
        }
        let [urls, nodes] = writer.finish(pulse)?;
        Ok([urls, nodes, links, nofollow, pending])
    }

    /// The keys of the nodes, in node order, without those of URLs that are no longer nodes.
    fn keys(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        let mut since = self.since.iter().peekable();
        let mut base = self.base.iter().flat_map(Base::keys).enumerate().peekable();
        std::iter::from_fn(move || {
            loop {
                let reached = base.peek().map_or(u32::MAX, |(node, _)| *node as u32);
                if let Some(new) = since.next_if(|new| !new.in_base && new.before <= reached) {
                    return Some(Ok(new.row.key.clone()));
                }
                let (node, key) = base.next()?;
                let again = since.next_if(|again| again.before == node as u32);
                if again.is_none_or(|again| again.row.is_node()) {
                    return Some(key);
                }
            }
        })
    }
}

/// The newest row of each URL that is a node, or was one, in the order of their keys.
fn ordered(base: Option<&Base>, mut rows: Vec<PageRow>, pulse: &Pulse) -> Result<Vec<Since>> {
    rows.reverse();
    rows.sort_by_key(|row| row.signature);
    rows.dedup_by_key(|row| row.signature);
    pulse.beat()?;
    rows.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    let mut since = Vec::with_capacity(rows.len());
    for (count, row) in rows.into_iter().enumerate() {
        if count.is_multiple_of(1 << 12) {
            pulse.beat()?;
        }
        let rank = base.map_or(Ok(Err(0)), |base| base.rank(&row.key))?;
        let (before, in_base) = rank.map_or_else(|before| (before, false), |node| (node, true));
        if in_base || row.is_node() {
            since.push(Since { row, node: 0, before, in_base, record: None });
        }
    }
    Ok(since)
}
