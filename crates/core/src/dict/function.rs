//! Static functions: any f from n keys to numbers of b bits, in c b bits a key, without the keys.
//!
//! A vector w of cn variables of b bits is chosen so that w_h(x) ⊕ w_g(x) ⊕ w_k(x) = f(x) for every key x, where h, g and
//! k are random functions: a linear system over F2, solved once (see [`super::graph`] for c and [`super::peel`] for
//! how). f(x) is then read with three cache misses. No function can be written in less than nb bits. For what is
//! no key the answer is any number.
//!
//! Many keys are split by their hashes into shards of about 2,000,000, each a system of its own with its own seed, all
//! with the same number of variables, so that the place of a shard needs no table. The largest of them decides how
//! many: with such large shards it exceeds the mean by a thousandth (Vigna, "ε-cost sharding", 2025).
//!
//! Building takes, beside the caller's 16 bytes a key for hashes and the result, 4 bytes a key, and for each shard in
//! work (one a thread) from 60 bytes a key of a large shard to 130 of a small one; a compacted vector is made from the
//! plain one, and takes both at the end.
//!
//! The bytes, all little-endian:
//!
//! ```text
//! bytes  0..8   u64 keys
//! bytes  8..12  u32 shards (0 if there are no keys or no bits: nothing follows the header)
//! bytes 12..16  u32 segments of a graph in which an edge can begin
//! bytes 16..20  u32 length of a segment
//! byte  20      b
//! byte  21      construction: 0 peeling, 1 fuse
//! byte  22      1 if the vector is compacted
//! byte  23      zero
//! bytes 24..32  u64 variables that are not 0, if the vector is compacted, otherwise zero
//! bytes 32..    u8 seed of each shard, filled up with zeros to a multiple of 8 bytes
//! then          the variables of all shards, packed (see `bits`) or compacted (see `compact`), and 8 bytes of zeros
//! ```

use rayon::prelude::*;

use super::augment::MOST_REMOVED;
use super::bits::{PADDING, pack, packed_length, unpack};
use super::compact::Compact;
use super::graph::{Construction, Edge, Graph};
use super::hash::KeyHash;
use super::peel::{Equation, solve};
use crate::prefetch::Prefetch;
use crate::{Error, Pulse, Result};

/// The widest values.
pub const MOST_BITS: u32 = 64;

const HEADER: usize = 32;

/// How many keys a shard has on average, at most.
const SHARD: usize = 1 << 21;

/// How many graphs of one size are tried, and how many sizes: past the first few no key set needs more.
const SEEDS: u8 = 64;
const GROWTHS: u32 = 32;

/// How many keys are looked up at the same time, and how many between two beats of the pulse.
pub(super) const TOGETHER: usize = 64;
const KEYS_PER_BEAT: usize = 1 << 13;

/// A vector that is larger is far from the processor for the most part, so that it pays to look for values twice.
const CACHE: usize = 8 << 20;

/// What a function is made with.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How graphs are drawn.
    pub construction: Construction,
    /// How many bits values have, up to [`MOST_BITS`].
    pub bits: u32,
    /// Whether the vector is compacted.
    pub compact: bool,
}

/// Where the variables lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variables {
    /// Nowhere: every value is 0.
    None,
    /// Packed, from this byte on.
    Packed(usize),
    /// Without zeros.
    Compact(Compact),
}

/// The header of a static function, by which its bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticFunction {
    keys: u64,
    shards: u32,
    graph: Option<Graph>,
    construction: Construction,
    bits: u32,
    variables: Variables,
    length: usize,
}

/// What is read for a key: its three variables.
type Places = [u64; 3];

impl StaticFunction {
    /// The bytes of the function that has the value `values(i)` for the key with hash `hashes[i]`.
    ///
    /// A key may come twice, with the same value; with two values it is an error.
    pub fn build(
        hashes: &[KeyHash],
        values: impl Fn(usize) -> u64 + Sync,
        plan: Plan,
        pulse: &Pulse,
    ) -> Result<Vec<u8>> {
        check(hashes, &values, plan)?;
        if hashes.is_empty() || plan.bits == 0 {
            return Ok(header(hashes.len() as u64, 0, None, plan, 0).to_vec());
        }
        let shards = Shards::of(hashes);
        for growth in 0..GROWTHS {
            let graph = Graph::for_edges(plan.construction, shards.largest(), growth);
            // So that the variables of each shard end with a byte, and shards can be packed apart.
            let graph = if shards.count() > 1 { graph.in_eights() } else { graph };
            let solve = |shard| solve_shard(hashes, shards.keys(shard), &values, &graph, plan, pulse);
            let solved: Vec<Option<Solved>> =
                (0..shards.count()).into_par_iter().map(solve).collect::<Result<_>>()?;
            if let Some(solved) = solved.into_iter().collect::<Option<Vec<Solved>>>() {
                return Ok(assemble(solved, &graph, plan));
            }
        }
        Err(Error::Invalid("no graph for these keys can be peeled".to_owned()))
    }

    /// Reads the header of such bytes; `None` where they make no sense.
    pub fn open(bytes: &[u8]) -> Option<StaticFunction> {
        let header = bytes.first_chunk::<HEADER>()?;
        let u32_at = |at: usize| header[at..].first_chunk().map(|word| u32::from_le_bytes(*word));
        let u64_at = |at: usize| header[at..].first_chunk().map(|word| u64::from_le_bytes(*word));
        let (keys, shards, nonzero) = (u64_at(0)?, u32_at(8)?, u64_at(24)?);
        let bits = u32::from(header[20]);
        let construction = match header[21] {
            0 => Construction::Peeling,
            1 => Construction::Fuse,
            _ => return None,
        };
        if bits > MOST_BITS || header[22] > 1 || header[23] != 0 {
            return None;
        }
        let (graph, variables, length) = match shards {
            0 if keys > 0 && bits > 0 => return None,
            0 => (None, Variables::None, HEADER),
            _ => {
                let graph = Graph::from_parts(u32_at(12)?, u32_at(16)?)?;
                let count = u64::from(shards) * u64::from(graph.vertices());
                let start = HEADER + (shards as usize).next_multiple_of(8);
                match header[22] {
                    0 => {
                        let end = packed_length(count, bits)?.checked_add(start + PADDING)?;
                        (Some(graph), Variables::Packed(start), end)
                    }
                    _ => {
                        let (compact, end) = Compact::place(start, count, bits, nonzero)?;
                        (Some(graph), Variables::Compact(compact), end)
                    }
                }
            }
        };
        let function = StaticFunction { keys, shards, graph, construction, bits, variables, length };
        (bytes.len() == length).then_some(function)
    }

    /// The value of a key, and any number for what is none; `bytes` are the same as were opened.
    ///
    /// `None` where they were damaged since, in a way that is noticed.
    #[inline]
    pub fn get(&self, bytes: &[u8], hash: KeyHash) -> Option<u64> {
        self.value(bytes, self.places(bytes, hash)?)
    }

    /// Gives to `answer`, with its index, the value of each key as [`StaticFunction::get`] does, faster.
    pub fn get_many(
        &self,
        bytes: &[u8],
        hashes: &[KeyHash],
        pulse: &Pulse,
        mut answer: impl FnMut(usize, Option<u64>),
    ) -> Result<()> {
        self.in_groups(bytes, hashes, pulse, |start, _, values| {
            values.iter().enumerate().for_each(|(index, value)| answer(start + index, *value));
        })
    }

    /// Gives to `answer` the values of some keys at a time, with the index of the first and their hashes.
    #[inline]
    pub(super) fn in_groups(
        &self,
        bytes: &[u8],
        hashes: &[KeyHash],
        pulse: &Pulse,
        mut answer: impl FnMut(usize, &[KeyHash], &[Option<u64>]),
    ) -> Result<()> {
        let lines = Prefetch::of(bytes);
        for (group, hashes) in hashes.chunks(TOGETHER).enumerate() {
            if (group * TOGETHER).is_multiple_of(KEYS_PER_BEAT) {
                pulse.beat()?;
            }
            let mut places = [None; TOGETHER];
            for (place, hash) in places.iter_mut().zip(hashes) {
                *place = self.places(bytes, *hash);
                place.iter().flatten().for_each(|variable| lines.line(self.offset(*variable)));
            }
            if let Variables::Compact(compact) = &self.variables
                && self.length > CACHE
            {
                for variable in places.iter().flatten().flatten() {
                    compact.value_offset(bytes, *variable).into_iter().for_each(|offset| lines.line(offset));
                }
            }
            let values = places.map(|places| self.value(bytes, places?));
            answer(group * TOGETHER, hashes, &values[..hashes.len()]);
        }
        Ok(())
    }

    /// How many keys it has.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// How its graphs were drawn.
    pub fn construction(&self) -> Construction {
        self.construction
    }

    /// How many bits its values have.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Whether its vector is compacted.
    pub fn is_compact(&self) -> bool {
        matches!(self.variables, Variables::Compact(_))
    }

    /// How many bytes it takes.
    pub fn length(&self) -> usize {
        self.length
    }

    #[inline]
    fn places(&self, bytes: &[u8], hash: KeyHash) -> Option<Places> {
        let Some(graph) = &self.graph else { return Some([0; 3]) };
        let shard = hash.shard(self.shards);
        let seed = *bytes.get(HEADER + shard as usize)?;
        let first = u64::from(shard) * u64::from(graph.vertices());
        let edge: Edge = graph.edge(hash.local(seed));
        Some(edge.map(|vertex| first + u64::from(vertex)))
    }

    #[inline]
    fn value(&self, bytes: &[u8], places: Places) -> Option<u64> {
        let variable = |place| match &self.variables {
            Variables::None => Some(0),
            Variables::Packed(start) => unpack(bytes, *start, place, self.bits),
            Variables::Compact(compact) => compact.get(bytes, place),
        };
        Some(variable(places[0])? ^ variable(places[1])? ^ variable(places[2])?)
    }

    /// The byte that is read first for a variable.
    #[inline]
    fn offset(&self, variable: u64) -> usize {
        match &self.variables {
            Variables::None => 0,
            Variables::Packed(start) => start + (variable * u64::from(self.bits) / 8) as usize,
            Variables::Compact(compact) => compact.offset(variable),
        }
    }
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
    fn of(hashes: &[KeyHash]) -> Shards {
        let count = hashes.len().div_ceil(SHARD) as u32;
        let mut ends = vec![0; count as usize];
        for hash in hashes {
            ends[hash.shard(count) as usize] += 1;
        }
        let mut end = 0;
        for place in &mut ends {
            // Where the shard begins, for now; filling it moves this to its end.
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

/// The first seed with which the shard's graph can be peeled; `None` if there is none.
fn solve_shard(
    hashes: &[KeyHash],
    keys: &[u32],
    values: &(impl Fn(usize) -> u64 + Sync),
    graph: &Graph,
    plan: Plan,
    pulse: &Pulse,
) -> Result<Option<Solved>> {
    let most_removed = match plan.construction {
        Construction::Peeling => 0,
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
        // Equal hashes make equal edges with every seed; different ones, in practice, never do.
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

/// The keys, each once.
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
    header[21] = u8::from(plan.construction == Construction::Fuse);
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
