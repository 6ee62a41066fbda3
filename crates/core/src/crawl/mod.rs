//! The crawl.
mod decisions;
mod duplicates;
mod politeness;
mod tag;
pub use decisions::{Decision, DecisionLog};
pub use duplicates::{Copy, Originals};
pub use politeness::{Politeness, Relative, Rest, Stay};
pub use tag::Tag;
