//! How integers become bytes.
//!
//! One family: [`Code`] names its members and [`Coder`] reads and writes lists in any of them. Underneath are
//! the [`words`] of single numbers in a stream of [`bits`], the [`table`]s that decode several at once, and the
//! codes of whole lists: [`blocks`] of one width, [`pfor`] with exceptions, [`mod@escape`] with escapes, [`ans`], [`elias_fano`].
//! [`streams`] are long lists of 64-bit numbers for people, and [`mathematics`] is what can be said of a code
//! without writing. [`variable_byte`] serves those who keep a lone number among other bytes.

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
mod streamed;
pub mod streams;
mod table;
pub(crate) mod variable_byte;
pub(crate) mod words;

pub use coder::Coder;
pub use name::Code;
