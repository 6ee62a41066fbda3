//! Clusters that do not chain: similarity is not transitive, so that the closure of a relation of pairs would join
//! documents that have nothing in common.
//!
//! Documents come in their order. One that is similar to no cluster leads one of its own; else it joins the cluster it is
//! most similar to: by its leader, or by all its members (complete linkage, decided in the order of the corpus).
//! Equal documents are one. 8 bytes a document.

use std::collections::BTreeMap;

use super::files::Files;
use super::options::Linkage;
use super::verify::Pair;
use crate::{Pulse, Result};

const PAIRS: usize = 1 << 16;

/// The leader of each document, from the pairs sorted by their second document; the references, which come first, lead
/// themselves.
pub fn leaders(
    files: &Files,
    representatives: Vec<u32>,
    references: u64,
    linkage: Linkage,
    pulse: &Pulse,
) -> Result<Vec<u32>> {
    let mut clusters = Clusters { sizes: vec![1; representatives.len()], leaders: representatives, linkage };
    let (mut read, mut pending): (u64, Vec<Pair>) = (0, Vec::new());
    loop {
        pulse.beat()?;
        let pairs = files.some_pairs(read, PAIRS)?;
        read += pairs.len() as u64;
        let is_last = pairs.is_empty();
        pending.extend(pairs);
        // The pairs of the last document may go on in the next ones.
        let last = if is_last { None } else { pending.last().map(|pair| pair.other) };
        let complete = pending.iter().take_while(|pair| Some(pair.other) != last).count();
        for pairs in pending[..complete].chunk_by(|one, other| one.other == other.other) {
            clusters.join(pairs);
        }
        pending.drain(..complete);
        if is_last {
            break;
        }
    }
    // Equal documents follow the one that represents them, which comes before them.
    let mut leaders = clusters.leaders;
    for document in 0..leaders.len() {
        leaders[document] = leaders[leaders[document] as usize];
    }
    leaders.iter_mut().zip(0..references as u32).for_each(|(leader, reference)| *leader = reference);
    Ok(leaders)
}

struct Clusters {
    leaders: Vec<u32>,
    /// The number of members of the cluster that a document leads.
    sizes: Vec<u32>,
    linkage: Linkage,
}

impl Clusters {
    /// A document and the earlier ones that it is similar to.
    fn join(&mut self, pairs: &[Pair]) {
        let document = pairs[0].other;
        if self.leaders[document as usize] != document {
            return;
        }
        // Per cluster: how many members are similar, and the greatest similarity.
        let mut similar: BTreeMap<u32, (u32, f32)> = BTreeMap::new();
        for pair in pairs {
            let leader = self.leaders[pair.one as usize];
            if self.linkage == Linkage::Complete || leader == pair.one {
                let (members, similarity) = similar.entry(leader).or_default();
                *members += 1;
                *similarity = similarity.max(pair.similarity);
            }
        }
        let is_enough = |leader: u32, members: u32| {
            self.linkage == Linkage::Leader || members == self.sizes[leader as usize]
        };
        let mut best: Option<(f32, u32)> = None;
        for (leader, (members, similarity)) in similar {
            if is_enough(leader, members) && best.is_none_or(|best| similarity > best.0) {
                best = Some((similarity, leader));
            }
        }
        if let Some((_, leader)) = best {
            self.leaders[document as usize] = leader;
            self.sizes[leader as usize] += 1;
        }
    }
}
