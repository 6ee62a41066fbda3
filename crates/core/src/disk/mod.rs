//! Everything durable goes through here: what files begin with, how they grow, how they are replaced.
//!
//! A file is append-only ([`log`], [`rolling`]) or written whole and renamed ([`new_file`]); [`format`] is the
//! header of both. Each is made of the few operations of [`file`], which tests record, replay and fail; [`fault`] names
//! the places where a test may kill the process.

pub mod fault;
pub mod file;
pub mod format;
pub mod log;
pub(crate) mod new_file;
pub mod rolling;
#[cfg(test)]
pub(crate) mod tests;
