//! Integer codes.
//!
//! One family: [`Code`] names its members and [`Coder`] encodes and decodes lists in any of them. Underneath
//! are the codewords of single numbers ([`words`]) in a stream of [`bits`], the [`table`]s that decode
//! several at a time, and the codes of whole lists: [`blocks`] of one width, [`pfor`] with exceptions,
//! [`mod@escape`] with escapes, [`ans`], [`elias_fano`]. [`streams`] are long lists of 64-bit numbers for
//! users, and [`mathematics`] has the theory: lengths, Kraft sums, distributions. [`variable_byte`] is for
//! single numbers among other bytes.
//!
//! The codes are our own because the decoders of existing crates (dsi-bitstream, sux, webgraph) do not check
//! damaged bytes, and a file format of ours must survive damage; dsi-bitstream is the peer in tests and
//! benches. Only the SIMD bit packing is a crate, `bitpacking`.

mod ans;
pub(crate) mod bits;
mod blocks;
mod coder;
mod cost;
mod elias_fano;
mod escape;
mod fitted;
pub(crate) mod lists;
pub mod mathematics;
pub mod measure;
mod name;
mod pfor;
mod short;
pub(crate) mod streamed;
pub mod streams;
mod table;
pub(crate) mod variable_byte;
pub(crate) mod words;

pub use coder::Coder;
pub use name::Code;
