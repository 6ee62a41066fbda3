//! All durable storage goes through here: file headers, appending, and atomic replacement.
//!
//! A file is append-only ([`log`], [`rolling`]) or written completely and renamed ([`new_file`]); [`format`]
//! is the header of both, and a part of a file that is written before its turn waits in a [`spool`]. Each is built on the
//! few operations of [`file`], which tests record, replay and fail; [`fault`] names the places where a test may kill the
//! process. The formats are our own and documented (docs/collection.md), because the serialisation of a crate may change.

pub mod fault;
pub mod file;
pub mod format;
pub mod log;
pub(crate) mod new_file;
pub mod rolling;
pub mod spool;
#[cfg(test)]
pub(crate) mod tests;
