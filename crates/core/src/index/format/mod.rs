//! The format of a segment: how each of its sections is laid out, for whoever writes or reads it.

pub mod codes;
pub mod directory;
pub mod documents;
pub mod facts;
pub mod lists;
pub mod maxima;
pub mod pages;
pub mod rows;
pub mod sites;
pub mod skips;
pub mod template;
pub mod terms;
pub mod zone;
