//! How integers become bytes.
//!
//! Two codes so far: [`variable_byte`] for lone numbers and for what is left over of a list, and
//! [`packed`] for lists of many small ones.

pub mod packed;
pub mod variable_byte;
