//! Reading: an open segment, its cursors and columns, and its verification.

pub mod columns;
pub mod cursor;
pub mod extract;
pub mod replaced;
pub mod segment;
pub mod term_cursor;
pub mod terms;
pub mod verify;
