//! How documents are numbered.
//!
//! Gaps are small where similar documents are neighbours. Documents come in the order of the crawl; sorting them by
//! URL puts the pages of a site, and of a folder of it, together.

use super::DocId;
use super::source::Postings;
use crate::{Error, Pulse, Result};

/// An order of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they come.
    #[default]
    Arrival,
}

impl std::str::FromStr for Order {
    type Err = Error;

    fn from_str(name: &str) -> Result<Order> {
        match name {
            "arrival" => Ok(Order::Arrival),
            _ => Err(Error::Invalid(format!("no such order of documents: {name:?}"))),
        }
    }
}

/// The documents in their new order, by their numbers as they came; `None` where they stay.
pub fn arrange(
    order: Order,
    _parts: &[(Postings<'_>, Vec<DocId>)],
    _documents: usize,
    _threads: usize,
    _pulse: &Pulse,
) -> Result<Option<Vec<u32>>> {
    match order {
        Order::Arrival => Ok(None),
    }
}
