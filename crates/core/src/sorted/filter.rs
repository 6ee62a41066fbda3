//! The filter of a run: a blocked Bloom filter that stays on disk, a line of 64 bytes a look-up.
//!
//! A line is 480 bits and their CRC-32, so that a flipped bit is an error and not a missing key. A first hash
//! picks a line, and [`PICKS`] others pick bits in it. The filter of a run is cut like its index: one part for
//! the keys under each index block of the lowest level, with its own number of lines, so that writing it takes
//! the hashes of one part in memory, however long the run.
//!
//! At [`BITS`] bits a key the false-positive rate is 1.1 % (measured by a test): blocks fill unevenly, which
//! costs a third more errors than a Bloom filter has.
//!
//! Source: Felix Putze, Peter Sanders, Johannes Singler, "Cache-, hash-, and space-efficient Bloom filters",
//! 2009.

use crate::Signature;
use crate::signature::hash::{random, reduce};

/// The length of a line in bytes.
pub const LINE: usize = 64;
const LINE_BITS: u64 = 480;
const CHECKED: usize = (LINE_BITS / 8) as usize;
/// The bits for each key.
const BITS: u64 = 10;
/// The number of bits a key sets.
const PICKS: u64 = 6;

/// The hash of what a filter holds of a key.
pub fn hash(filtered: &[u8]) -> u64 {
    Signature::of(filtered).0
}

/// The lines of a filter of these hashes.
pub fn lines(hashes: &[u64]) -> Vec<u8> {
    let count = (hashes.len() as u64 * BITS).div_ceil(LINE_BITS).max(1);
    let mut lines = vec![0; count as usize * LINE];
    for hash in hashes {
        let line = &mut lines[line(*hash, count) as usize * LINE..][..LINE];
        picks(*hash).for_each(|bit| line[bit >> 3] |= 1 << (bit & 7));
    }
    for line in lines.chunks_exact_mut(LINE) {
        let checksum = crc32fast::hash(&line[..CHECKED]);
        line[CHECKED..].copy_from_slice(&checksum.to_le_bytes());
    }
    lines
}

/// The line of a hash in a filter of `count` lines.
pub fn line(hash: u64, count: u64) -> u64 {
    reduce(random(hash, 0), count)
}

/// Whether a line has a hash; `None` if the line is damaged.
pub fn has(line: &[u8; LINE], hash: u64) -> Option<bool> {
    let checksum = crc32fast::hash(&line[..CHECKED]);
    let is_whole = line[CHECKED..] == checksum.to_le_bytes();
    is_whole.then(|| picks(hash).all(|bit| line[bit >> 3] >> (bit & 7) & 1 == 1))
}

/// The bits of a hash in its line: a product of 480 with each 21 bits of two random numbers.
fn picks(hash: u64) -> impl Iterator<Item = usize> {
    let numbers = [random(hash, 1), random(hash, 2)];
    (0..PICKS).map(move |pick| {
        let number = numbers[pick as usize / 3] >> (pick % 3 * 21) & ((1 << 21) - 1);
        ((number * LINE_BITS) >> 21) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_all_its_keys_and_one_in_a_hundred_others() {
        let hashes: Vec<u64> = (0..100_000u64).map(|key| hash(&key.to_le_bytes())).collect();
        let lines = lines(&hashes);
        let lines: &[[u8; LINE]] = lines.as_chunks().0;
        let has = |hash: u64| has(&lines[line(hash, lines.len() as u64) as usize], hash).unwrap();
        assert!(hashes.iter().all(|hash| has(*hash)));
        let wrong = (0..100_000u64).filter(|key| has(hash(&(key + 100_000).to_le_bytes()))).count();
        assert!((700..1500).contains(&wrong), "{wrong} in 100,000");
    }

    #[test]
    fn a_flipped_bit_is_damage() {
        let mut line: [u8; LINE] = lines(&[hash(b"a")]).try_into().unwrap();
        for bit in 0..LINE * 8 {
            line[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(has(&line, hash(b"a")), None);
            line[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(has(&line, hash(b"a")), Some(true));
    }
}
