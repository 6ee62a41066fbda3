//! Ranks: from each of n keys to its ordinal, without storing the keys.
//!
//! A static function to ⌈log₂ n⌉ bits maps every key to its rank: an order-preserving minimal perfect hash.
//! Any other string gets an arbitrary number, so a table has a signature of r bits for every rank: x is a key
//! if f(x) < n and the signature at f(x) equals that of x. So there are no false negatives, and the
//! false-positive rate is
//!
//! ```text
//! 2^-r P(f(x) < n), where P(f(x) < n) is about n / 2^⌈log₂ n⌉: between 2^-(r+1) and 2^-r
//! ```
//!
//! that is, 2^-r of those that reach the table. The cost is c ⌈log₂ n⌉ + r bits per key (c: see
//! [`super::graph`]), and three cache misses plus one for the signature.
//!
//! ```text
//! bytes 0..4   u32 r
//! bytes 4..8   zero
//! bytes 8..16  u64 length of the function
//! bytes 16..   the function (see `function`), whose keys are n
//! then         n signatures, packed (see `bits`), and 8 bytes of zeros, unless r or n is 0
//! ```

use super::bits::{PADDING, pack, packed_length, unpack};
use super::function::{Plan, StaticFunction};
use super::graph::Construction;
use super::hash::{KeyHash, MOST_SIGNATURE_BITS};
use crate::prefetch::Prefetch;
use crate::{Error, Pulse, Result};

const HEADER: usize = 16;

/// The header of such a structure, used to read its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    function: StaticFunction,
    /// The offset of the signatures, where the function ends.
    signatures: usize,
    signature_bits: u32,
    length: usize,
}

/// The space taken by ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankBits {
    /// The number of keys.
    pub keys: u64,
    /// The bits of the function, including its header.
    pub function: u64,
    /// The bits of the signatures, including their padding.
    pub signatures: u64,
}

impl Ranks {
    /// The hash that represents a key in [`Ranks::build`] and [`Ranks::get`].
    #[inline]
    pub fn hash(key: &[u8]) -> KeyHash {
        KeyHash::of(key)
    }

    /// The bytes of the structure in which the key with hash `hashes[i]` has rank i.
    ///
    /// The keys must be distinct; a collision of their 128-bit hashes is an error, and does not happen in
    /// practice.
    pub fn build(
        hashes: &[KeyHash],
        construction: Construction,
        signature_bits: u32,
        compact: bool,
        pulse: &Pulse,
    ) -> Result<Vec<u8>> {
        if signature_bits > MOST_SIGNATURE_BITS {
            let reason = format!("signatures have at most {MOST_SIGNATURE_BITS} bits, not {signature_bits}");
            return Err(Error::Invalid(reason));
        }
        let bits = hashes.len().saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1);
        let plan = Plan { construction, bits, compact };
        let function = StaticFunction::build(hashes, |rank| rank as u64, plan, pulse)?;
        let mut bytes = Vec::with_capacity(HEADER + function.len());
        bytes.extend_from_slice(&signature_bits.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&(function.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&function);
        drop(function);
        if signature_bits > 0 && !hashes.is_empty() {
            let signatures = hashes.iter().map(|hash| hash.signature(signature_bits));
            bytes.reserve(packed_length(hashes.len() as u64, signature_bits).unwrap_or(0) + PADDING);
            pack(signatures, signature_bits, &mut bytes);
            bytes.extend_from_slice(&[0; PADDING]);
        }
        Ok(bytes)
    }

    /// Reads the header; `None` if the bytes are not such a structure.
    pub fn open(bytes: &[u8]) -> Option<Ranks> {
        let (signature_bits, rest) = bytes.split_first_chunk()?;
        let (zero, rest) = rest.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk()?;
        let signature_bits = u32::from_le_bytes(*signature_bits);
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        if signature_bits > MOST_SIGNATURE_BITS || *zero != [0; 4] {
            return None;
        }
        let function = StaticFunction::open(rest.get(..length)?)?;
        let table = match packed_length(function.len(), signature_bits)? {
            0 => 0,
            packed => packed.checked_add(PADDING)?,
        };
        let ranks =
            Ranks { function, signatures: HEADER + length, signature_bits, length: HEADER + length + table };
        (rest.len() - length == table).then_some(ranks)
    }

    /// The rank of a key; `None` if it is not a key, up to false positives. `bytes` must be those passed to
    /// `open`.
    #[inline]
    pub fn get(&self, bytes: &[u8], hash: KeyHash) -> Option<u64> {
        let rank = self.function.get(bytes.get(HEADER..self.signatures)?, hash)?;
        self.is_of(bytes, rank, hash).then_some(rank)
    }

    /// Batched, faster [`Ranks::get`]: calls `answer` with each key's index and rank.
    pub fn get_many(
        &self,
        bytes: &[u8],
        hashes: &[KeyHash],
        pulse: &Pulse,
        mut answer: impl FnMut(usize, Option<u64>),
    ) -> Result<()> {
        let Some(function) = bytes.get(HEADER..self.signatures) else {
            hashes.iter().enumerate().for_each(|(index, _)| answer(index, None));
            return Ok(());
        };
        let lines = Prefetch::of(bytes);
        let width = u64::from(self.signature_bits);
        self.function.in_groups(function, hashes, pulse, |start, hashes, ranks| {
            for rank in ranks.iter().flatten().filter(|rank| **rank < self.len()) {
                lines.line(self.signatures + (rank * width / 8) as usize);
            }
            for (index, (hash, rank)) in hashes.iter().zip(ranks).enumerate() {
                answer(start + index, rank.filter(|rank| self.is_of(bytes, *rank, *hash)));
            }
        })
    }

    /// The number of keys.
    pub fn len(&self) -> u64 {
        self.function.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The space it takes.
    pub fn bits(&self) -> RankBits {
        RankBits {
            keys: self.len(),
            function: 8 * self.signatures as u64,
            signatures: 8 * (self.length - self.signatures) as u64,
        }
    }

    /// The width of a signature in bits.
    pub fn signature_bits(&self) -> u32 {
        self.signature_bits
    }

    /// The function from keys to ranks.
    pub fn function(&self) -> &StaticFunction {
        &self.function
    }

    /// Whether the key matches the signature of a rank.
    #[inline]
    fn is_of(&self, bytes: &[u8], rank: u64, hash: KeyHash) -> bool {
        rank < self.len()
            && unpack(bytes, self.signatures, rank, self.signature_bits)
                == Some(hash.signature(self.signature_bits))
    }
}
