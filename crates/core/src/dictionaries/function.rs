//! Static functions: any f from n keys to values of b bits, in c b bits per key, without storing the keys.
//!
//! A vector w of c n variables of b bits is chosen so that w_h(x) ⊕ w_g(x) ⊕ w_k(x) = f(x) for every key x,
//! where h, g and k are random functions (with `pairs` only h and g, and two cache misses): a linear system over F2, solved once (see [`super::graph`] for c
//! and [`super::peel`] for the algorithm). f(x) is then read with three cache misses. The lower bound for any
//! function is n b bits. For any other x the answer is arbitrary.
//!
//! The bytes, all little-endian:
//!
//! ```text
//! bytes  0..8   u64 keys
//! bytes  8..12  u32 shards (0 if there are no keys or no bits: nothing follows the header)
//! bytes 12..16  u32 segments of a graph in which an edge can begin
//! bytes 16..20  u32 length of a segment
//! byte  20      b
//! byte  21      construction: 0 peeling, 1 fuse, 2 pairs
//! byte  22      1 if the vector is compacted
//! byte  23      zero
//! bytes 24..32  u64 variables that are not 0, if the vector is compacted, otherwise zero
//! bytes 32..    u8 seed of each shard, filled up with zeros to a multiple of 8 bytes
//! then          the variables of all shards, packed (see `bits`) or compacted (see `compact`), and 8 bytes of zeros
//! ```

use super::bits::{PADDING, packed_length, unpack};
use super::build;
use super::compact::Compact;
use super::graph::{Construction, Graph};
use super::hash::KeyHash;
use crate::prefetch::Prefetch;
use crate::{Pulse, Result};

/// The maximum width of values.
pub const MOST_BITS: u32 = 64;

/// The bytes before the seeds.
pub(super) const HEADER: usize = 32;

/// The batch size of lookups, and the number of keys between two beats of the pulse.
const TOGETHER: usize = 64;
const KEYS_PER_BEAT: usize = 1 << 13;

/// A vector larger than this is mostly out of cache, so that a second prefetch pass for the values pays off.
const CACHE: usize = 8 << 20;

/// The parameters of a function.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How edges are drawn.
    pub construction: Construction,
    /// The width of the values in bits, at most [`MOST_BITS`].
    pub bits: u32,
    /// Whether the vector is compacted.
    pub compact: bool,
}

/// Where the variables are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variables {
    /// Nowhere: every value is 0.
    None,
    /// Packed, from this byte on.
    Packed(usize),
    /// Without zeros.
    Compact(Compact),
}

/// The header of a static function, used to read its bytes.
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

/// The variables of a key; if there are two, the third is 0 and not read.
type Places = [u64; 3];

impl StaticFunction {
    /// The bytes of the function with value `values(i)` for the key with hash `hashes[i]`.
    ///
    /// Duplicate keys are allowed if their values are equal; otherwise it is an error.
    pub fn build(
        hashes: &[KeyHash],
        values: impl Fn(usize) -> u64 + Sync,
        plan: Plan,
        pulse: &Pulse,
    ) -> Result<Vec<u8>> {
        build::build(hashes, &values, plan, build::SHARD, pulse)
    }

    /// Reads the header; `None` if the bytes are not a static function.
    pub fn open(bytes: &[u8]) -> Option<StaticFunction> {
        let header = bytes.first_chunk::<HEADER>()?;
        let u32_at = |at: usize| header[at..].first_chunk().map(|word| u32::from_le_bytes(*word));
        let u64_at = |at: usize| header[at..].first_chunk().map(|word| u64::from_le_bytes(*word));
        let (keys, shards, nonzero) = (u64_at(0)?, u32_at(8)?, u64_at(24)?);
        let bits = u32::from(header[20]);
        let construction = match header[21] {
            0 => Construction::Peeling,
            1 => Construction::Fuse,
            2 => Construction::Pairs,
            _ => return None,
        };
        if bits > MOST_BITS || header[22] > 1 || header[23] != 0 {
            return None;
        }
        let (graph, variables, length) = match shards {
            0 if keys > 0 && bits > 0 => return None,
            0 => (None, Variables::None, HEADER),
            _ => {
                let graph = Graph::from_parts(construction, u32_at(12)?, u32_at(16)?)?;
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

    /// The value of a key, arbitrary for any other string; `bytes` must be those passed to `open`.
    ///
    /// `None` if damage since then is detected.
    #[inline]
    pub fn get(&self, bytes: &[u8], hash: KeyHash) -> Option<u64> {
        self.value(bytes, self.places(bytes, hash)?)
    }

    /// Batched, faster [`StaticFunction::get`]: calls `answer` with each key's index and value.
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

    /// Calls `answer` with the values of a batch of keys, the index of the first, and their hashes.
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

    /// The number of keys.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// How edges were drawn.
    pub fn construction(&self) -> Construction {
        self.construction
    }

    /// The width of the values in bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Whether its vector is compacted.
    pub fn is_compact(&self) -> bool {
        matches!(self.variables, Variables::Compact(_))
    }

    /// Its length in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    #[inline]
    fn places(&self, bytes: &[u8], hash: KeyHash) -> Option<Places> {
        let Some(graph) = &self.graph else { return Some([0; 3]) };
        let shard = hash.shard(self.shards);
        let seed = *bytes.get(HEADER + shard as usize)?;
        let first = u64::from(shard) * u64::from(graph.vertices());
        let mut places = [0; 3];
        for (place, vertex) in places.iter_mut().zip(graph.edge(hash.local(seed)).vertices()) {
            *place = first + u64::from(vertex);
        }
        Some(places)
    }

    #[inline]
    fn value(&self, bytes: &[u8], places: Places) -> Option<u64> {
        let variable = |place| match &self.variables {
            Variables::None => Some(0),
            Variables::Packed(start) => unpack(bytes, *start, place, self.bits),
            Variables::Compact(compact) => compact.get(bytes, place),
        };
        let two = variable(places[0])? ^ variable(places[1])?;
        if self.construction == Construction::Pairs { Some(two) } else { Some(two ^ variable(places[2])?) }
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
