//! Dictionaries that do not hold their keys: static functions, ranks, and approximate sets; and one that does.
//!
//! The first three come from one idea of the notes (section 5): a random system of linear equations over F2, one for each key with
//! three variables each, whose solution is a table from which the value of a key is read, and nothing can be
//! read of the keys themselves.
//!
//! | | what it answers | bits a key |
//! | --- | --- | --- |
//! | [`StaticFunction`] | the value of a key; anything for what is none | c b, or compacted b + 1.125 c |
//! | [`Ranks`] | the rank of a key; none, except with probability 2^-r, for what is none | c ⌈log₂ n⌉ + r |
//! | [`Approximate`] | whether it is a key; yes with probability 2^-r for what is none | c r |
//! | [`FrontCoded`] | the key with a rank, the rank of a key, the ranks of a prefix: it holds its keys | that of the keys |
//!
//! with c = 1.23 by `peeling`, as in the notes, and 1.12 by `fuse`, the default (see [`graph`]). They are built once and never change. Their bytes are read where they lie, in a mapped file or
//! in memory; an opened structure is a few numbers about them, and never fails on damaged ones but by answering
//! wrongly or not at all. Keys are given as [`KeyHash`], so that nobody needs to hold them.

mod approximate;
mod augment;
mod bits;
mod build;
mod compact;
mod front_coded;
mod function;
mod graph;
mod hash;
mod peel;
mod ranks;
mod saved;
#[cfg(test)]
mod tests;

pub use approximate::Approximate;
pub use front_coded::FrontCoded;
pub use function::{MOST_BITS, Plan, StaticFunction};
pub use graph::Construction;
pub use hash::{KeyHash, MOST_SIGNATURE_BITS};
pub use ranks::{RankBits, Ranks};
pub use saved::{Dictionary, Kept};
