//! Static dictionaries: functions, ranks and approximate sets that do not store their keys; and a front-coded
//! list, which does.
//!
//! The first three share one idea of the notes (section 5): a random system of linear equations over F2, one
//! equation of three (or two) variables for each key, whose solution is a table from which the value of a key is read,
//! and from which the keys themselves cannot be recovered.
//!
//! | | what it answers | bits per key |
//! | --- | --- | --- |
//! | [`StaticFunction`] | the value of a key; arbitrary for any other string | c b, or compacted b + 1.125 c |
//! | [`Ranks`] | the rank of a key; `None`, except with probability 2^-r, for any other string | c ⌈log₂ n⌉ + r |
//! | [`Approximate`] | whether a string is a key; false positives have probability 2^-r | c r |
//! | [`FrontCoded`] | the key with a rank, the rank of a key, the ranks of a prefix: it stores its keys | that of the keys |
//!
//! with c = 2.09 for `pairs` and 1.23 for `peeling`, as in the notes, and 1.12 for `fuse`, the default (see [`graph`]). They are
//! immutable. Their bytes are read in place, in a mapped file or in memory; an opened structure is only its
//! decoded header, and on damaged bytes it answers wrongly or not at all, but never panics. That is why they
//! are implemented here: the decoders of peers such as `sux` are unchecked on damaged bytes. Keys are passed
//! as [`KeyHash`], so that they need not be in memory.

mod approximate;
mod augment;
mod bits;
mod build;
mod compact;
mod front_coded;
mod function;
mod graph;
mod hash;
mod list_writer;
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
pub use list_writer::FrontCodedWriter;
pub use ranks::{RankBits, Ranks};
pub use saved::{Dictionary, Kept};
