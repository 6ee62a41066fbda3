//! When a page is visited again.
//!
//! Every page has a [`Schedule`], the cell of its `schedule` column: what its visits have shown and what feeds and
//! sitemaps have announced. From it follow the rate at which the page changes ([`rate`]) and what a visit would be
//! worth now ([`value`]). A [`Planner`] reads all cells once and makes a [`Plan`], a few numbers that say of any cell
//! when it is due and how urgently; [`MostUrgent`] keeps the first n of them in memory for n. The policy is a choice
//! ([`Policy`]); [`simulate`] compares the choices.
//!
//! Nothing here reads a clock, a file or the network. Times are seconds since 1970, rates are per second.

mod allocation;
mod cell;
mod evidence;
mod options;
mod plan;
mod policy;
mod prior;
mod root;
pub mod simulate;
mod urgent;
pub mod value;

#[cfg(test)]
mod tests;

pub use allocation::{ANY, Allocation, Histogram, allocate};
pub use cell::{Kind, Schedule, Signal, Source, Visit};
pub use evidence::Evidence;
pub use options::Options;
pub use plan::{Outlook, Plan, Planner, Reason, Urgency};
pub use policy::Policy;
pub use prior::Prior;
pub use urgent::MostUrgent;
