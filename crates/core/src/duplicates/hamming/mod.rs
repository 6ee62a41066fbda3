//! Hamming search: all fingerprints within k bits of a given one, or the nearest, without comparing them all.
//!
//! The bits of a fingerprint are cut into blocks. Two fingerprints that differ in at most k bits agree, or nearly
//! agree, on some of the blocks, by the pigeonhole principle; so a table of all fingerprints, permuted such that those
//! blocks come first and sorted, has the one next to the other. A [`Layout`] is a set of such tables that misses no
//! pair within k bits; [`Layout::choose`] takes the one that costs the least for n fingerprints, from the tables'
//! bytes and the expected number of comparisons.
//!
//! - [`Table`]: in memory, made at once. With t tables 8 t + 4 bytes a fingerprint, and at most 2 t for the directories.
//! - [`Growing`]: in memory, one fingerprint added at a time, as tables of growing size.
//! - [`Run`]: a table on disk. Runs are merged like those of a log-structured merge tree.
//! - [`Join`]: all pairs within k bits, with one table at a time.
//!
//! All are exact: what they find is what a comparison with every fingerprint finds.
//!
//! Source: Gurmeet Singh Manku, Arvind Jain, Anish Das Sarma, "Detecting near-duplicates for web crawling", 2007;
//! the tables with a radius: Mohammad Norouzi, Ali Punjani, David Fleet, "Fast search in Hamming space with
//! multi-index hashing", 2012.

mod chance;
mod distance;
mod growing;
mod join;
mod layout;
mod permutation;
mod run;
mod sort;
mod table;
#[cfg(test)]
mod tests;

pub use chance::most_within;
pub use growing::Growing;
pub use join::Join;
pub use layout::{Costs, Layout, Lead, MAX_DISTANCE};
pub use permutation::{Permutation, Word};
pub use run::{Run, RunWriter, build, merge};
pub use table::Table;
