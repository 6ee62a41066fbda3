//! Reading: a segment open for searching, its cursors and its columns, and whether it is whole.

pub mod columns;
pub mod cursor;
pub mod replaced;
pub mod segment;
pub mod term_cursor;
pub mod verify;
