//! How documents are numbered.
//!
//! Gaps are small where similar documents are neighbours. Documents come in the order of the crawl; sorting them by
//! URL puts the pages of a site, and of a folder of it, together; bisection ([`crate::index::build::bisection`]) looks at the words
//! themselves. What each gains is in docs/index.md.

use super::bisection::bisect;
use super::merge::Merge;
use crate::settings::choices;
use crate::{Pulse, Result};

choices! {
    /// An order of documents.
    pub enum Order, "order of documents" {
        /// As they come.
        Arrival = "arrival",
        /// By URL.
        Url = "url",
        /// So that documents with the same words are neighbours.
        Bisection = "bisection",
    }
}

/// The documents of a merge in their new order, by their numbers as they came; `None` where they stay. `urls` has
/// their URLs where the order is by URL.
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
            // An unknown URL, which there is none of, would come first.
            documents.sort_by_key(|document| urls.get(*document as usize));
            Ok(Some(documents))
        }
        Order::Bisection => bisect(merge, threads, pulse).map(Some),
    }
}
