//! Construction of a static function: shards, seeds, and the final bytes.
//!
//! Large key sets are split by hash into shards of about 2,000,000 keys, each an independent system with its
//! own seed, all with the same number of variables, so that a shard's offset needs no table. The largest
//! shard determines that number: at this size it exceeds the mean by a thousandth (Vigna, "ε-cost sharding",
//! 2025).
//!
//! Memory: besides the caller's 16 bytes per key for hashes and the result, 4 bytes per key, and for each
//! shard in progress (one per thread) from 60 bytes per key in a large shard to 130 in a small one; a
//! compacted vector is made from the plain one, and both exist at the end.

use rayon::prelude::*;

use super::augment::MOST_REMOVED;
use super::bits::{PADDING, pack, packed_length, unpack};
use super::compact::Compact;
use super::function::{HEADER, MOST_BITS, Plan};
use super::graph::{Construction, Graph};
use super::hash::KeyHash;
use super::peel::{Equation, solve};
use crate::{Error, Pulse, Result};

/// The maximum average number of keys per shard of a dictionary.
pub(super) const SHARD: usize = 1 << 21;

/// The number of seeds tried per graph size, and of sizes: in practice the first few are enough.
const SEEDS: u8 = 64;
const GROWTHS: u32 = 32;

/// The bytes of the function with value `values(i)` for the key with hash `hashes[i]`, in shards of at most
/// `shard` keys on average.
pub fn build(
    hashes: &[KeyHash],
    values: &(impl Fn(usize) -> u64 + Sync),
    plan: Plan,
    shard: usize,
    pulse: &Pulse,
) -> Result<Vec<u8>> {
    check(hashes, values, plan)?;
    if hashes.is_empty() || plan.bits == 0 {
        return Ok(header(hashes.len() as u64, 0, None, plan, 0).to_vec());
    }
    let shards = Shards::of(hashes, shard);
    for growth in 0..GROWTHS {
        let graph = Graph::for_edges(plan.construction, shards.largest(), growth);
        // So that each shard's variables end at a byte boundary, and shards can be packed independently.
        let graph = if shards.count() > 1 { graph.in_eights() } else { graph };
        let solve = |shard| solve_shard(hashes, shards.keys(shard), values, &graph, plan, pulse);
        let solved: Vec<Option<Solved>> =
            (0..shards.count()).into_par_iter().map(solve).collect::<Result<_>>()?;
        if let Some(solved) = solved.into_iter().collect::<Option<Vec<Solved>>>() {
            return Ok(assemble(solved, &graph, plan));
        }
    }
    Err(Error::Invalid("no graph for these keys can be peeled".to_owned()))
}

fn check(hashes: &[KeyHash], values: &impl Fn(usize) -> u64, plan: Plan) -> Result<()> {
    if plan.bits > MOST_BITS {
        return Err(Error::Invalid(format!("values have at most {MOST_BITS} bits, not {}", plan.bits)));
    }
    if u32::try_from(hashes.len()).is_err() {
        return Err(Error::Invalid("a static function has at most 2^32 - 1 keys".to_owned()));
    }
    let too_wide = (0..hashes.len()).find(|index| values(*index).checked_shr(plan.bits).unwrap_or(0) > 0);
    match too_wide {
        None => Ok(()),
        Some(index) => {
            let reason = format!("value {index} does not fit into {} bits: {}", plan.bits, values(index));
            Err(Error::Invalid(reason))
        }
    }
}

/// The keys of each shard, as indices.
struct Shards {
    order: Vec<u32>,
    ends: Vec<usize>,
}

impl Shards {
    fn of(hashes: &[KeyHash], shard: usize) -> Shards {
        let count = hashes.len().div_ceil(shard) as u32;
        let mut ends = vec![0; count as usize];
        for hash in hashes {
            ends[hash.shard(count) as usize] += 1;
        }
        let mut end = 0;
        for place in &mut ends {
            // The shard's start, for now; filling the shard advances it to the end.
            end += std::mem::replace(place, end);
        }
        let mut order = vec![0; hashes.len()];
        for (index, hash) in hashes.iter().enumerate() {
            let place = &mut ends[hash.shard(count) as usize];
            order[*place] = index as u32;
            *place += 1;
        }
        Shards { order, ends }
    }

    fn count(&self) -> usize {
        self.ends.len()
    }

    fn keys(&self, shard: usize) -> &[u32] {
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.order[start..self.ends[shard]]
    }

    fn largest(&self) -> usize {
        (0..self.count()).map(|shard| self.keys(shard).len()).max().unwrap_or(0)
    }
}

/// A shard's variables, packed.
struct Solved {
    keys: usize,
    seed: u8,
    packed: Vec<u8>,
}

/// The shard solved with the first seed for which its graph can be peeled; `None` if there is none.
fn solve_shard(
    hashes: &[KeyHash],
    keys: &[u32],
    values: &(impl Fn(usize) -> u64 + Sync),
    graph: &Graph,
    plan: Plan,
    pulse: &Pulse,
) -> Result<Option<Solved>> {
    let most_removed = match plan.construction {
        Construction::Peeling | Construction::Pairs => 0,
        Construction::Fuse => MOST_REMOVED,
    };
    let mut different = None;
    for seed in 0..SEEDS {
        pulse.beat()?;
        let keys = different.as_deref().unwrap_or(keys);
        let equation = |index: &u32| Equation {
            random: hashes[*index as usize].local(seed),
            value: values(*index as usize),
        };
        let mut equations: Vec<Equation> = keys.iter().map(equation).collect();
        equations.sort_unstable_by_key(|equation| equation.random);
        // Equal hashes make equal edges with every seed; distinct ones, in practice, never do.
        let repeated = equations.windows(2).any(|pair| pair[0].random == pair[1].random);
        if repeated && different.is_none() {
            different = Some(without_repetitions(hashes, keys, values)?);
        } else if let Some(variables) = solve(graph, &equations, most_removed) {
            let mut packed =
                Vec::with_capacity(packed_length(variables.len() as u64, plan.bits).unwrap_or(0));
            pack(variables.into_iter(), plan.bits, &mut packed);
            return Ok(Some(Solved { keys: keys.len(), seed, packed }));
        }
    }
    Ok(None)
}

/// The keys without duplicates.
fn without_repetitions(hashes: &[KeyHash], keys: &[u32], values: &impl Fn(usize) -> u64) -> Result<Vec<u32>> {
    let mut keys = keys.to_vec();
    keys.sort_unstable_by_key(|index| (hashes[*index as usize], *index));
    for pair in keys.windows(2) {
        let [one, other] = [pair[0] as usize, pair[1] as usize];
        if hashes[one] == hashes[other] && values(one) != values(other) {
            let reason = format!(
                "keys {one} and {other} have different values and the same hash of 128 bits: they are the same key"
            );
            return Err(Error::Invalid(reason));
        }
    }
    keys.dedup_by_key(|index| hashes[*index as usize]);
    Ok(keys)
}

fn header(keys: u64, shards: u32, graph: Option<&Graph>, plan: Plan, nonzero: u64) -> [u8; HEADER] {
    let (starts, length) = graph.map_or((0, 0), Graph::parts);
    let mut header = [0; HEADER];
    header[0..8].copy_from_slice(&keys.to_le_bytes());
    header[8..12].copy_from_slice(&shards.to_le_bytes());
    header[12..16].copy_from_slice(&starts.to_le_bytes());
    header[16..20].copy_from_slice(&length.to_le_bytes());
    header[20] = plan.bits as u8;
    header[21] = match plan.construction {
        Construction::Peeling => 0,
        Construction::Fuse => 1,
        Construction::Pairs => 2,
    };
    header[22] = u8::from(plan.compact);
    header[24..32].copy_from_slice(&nonzero.to_le_bytes());
    header
}

fn assemble(shards: Vec<Solved>, graph: &Graph, plan: Plan) -> Vec<u8> {
    let count = shards.len();
    let keys = shards.iter().map(|shard| shard.keys as u64).sum();
    let plain: usize = shards.iter().map(|shard| shard.packed.len()).sum();
    let mut bytes = Vec::with_capacity(HEADER + count + plain + 2 * PADDING);
    bytes.extend_from_slice(&header(keys, count as u32, Some(graph), plan, 0));
    bytes.extend(shards.iter().map(|shard| shard.seed));
    bytes.resize(HEADER + count.next_multiple_of(8), 0);
    let start = bytes.len();
    shards.into_iter().for_each(|shard| bytes.extend_from_slice(&shard.packed));
    bytes.extend_from_slice(&[0; PADDING]);
    if !plan.compact {
        return bytes;
    }
    let variables = count as u64 * u64::from(graph.vertices());
    let value = |variable| unpack(&bytes, start, variable, plan.bits).unwrap_or(0);
    let mut compact = bytes[..start].to_vec();
    let nonzero = Compact::write(variables, plan.bits, value, &mut compact);
    compact[24..32].copy_from_slice(&nonzero.to_le_bytes());
    compact
}
