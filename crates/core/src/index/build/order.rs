//! Document ordering: how document ids are assigned.
//!
//! Gaps are small if similar documents are neighbours. Documents arrive in crawl order; sorting them by URL
//! puts the pages of a site, and of a folder of it, together; bisection ([`crate::index::build::bisection`])
//! compares their terms. What each gains is in docs/index.md.

use super::bisection::bisect;
use super::merge::Merge;
use crate::settings::choices;
use crate::{Pulse, Result};

choices! {
    /// A document order.
    pub enum Order, "order of documents" {
        /// Crawl order.
        Arrival = "arrival",
        /// By URL.
        Url = "url",
        /// By recursive bisection, so that documents with the same terms are neighbours.
        Bisection = "bisection",
    }
}

/// The documents of a merge in their new order, by index of arrival; `None` if they stay in place. `urls`
/// holds their URLs if the order is by URL.
pub fn arrange(
    order: Order,
    urls: &[Box<str>],
    merge: &Merge<'_>,
    threads: usize,
    pulse: &Pulse,
) -> Result<Option<Vec<u32>>> {
    match order {
        Order::Arrival => Ok(None),
        Order::Url => {
            let mut documents: Vec<u32> = (0..merge.cards.len() as u32).collect();
            // Every document has a URL here; a missing one would sort first.
            documents.sort_by_key(|document| urls.get(*document as usize));
            Ok(Some(documents))
        }
        Order::Bisection => bisect(merge, threads, pulse).map(Some),
    }
}
