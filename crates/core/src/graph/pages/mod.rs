//! The graph of the pages of a collection: who links to whom, by URL, with redirects and copies folded.
//!
//! **Nodes.** A page has a node; so has a URL that redirects, until it is folded. Nodes are in the order of
//! their URLs with the host reversed ([`super::order`]), so a site is a range, and links, most of which stay
//! within a site, have small gaps.
//!
//! **Folding** ([`fold()`]). A redirect stands for its target, a page with the words of an earlier one for that
//! one, and a page that declares a canonical URL for that one, if it is a page of the collection. The graph is
//! the quotient: an arc from u to v is an arc from the page that u stands for to the page that v stands for.
//! Arcs from a node to itself are dropped, and parallel arcs are one.
//!
//! **Growing.** A [`Base`] is the graph of a prefix of the logs, not folded, in a few compressed files. The
//! graph of a collection is the [`Union`] of its base and of what was logged since: pages that are new or were
//! fetched again, with the links of their records, and the links from older pages to the new ones, which the base
//! keeps as pending, by target: the older part of the log is not read. Writing the union as the next base
//! ([`Union::write`]) is a merge: the old lists are streamed and renumbered, not resolved again. Whatever the
//! bases on the way, the graph is the same.
//!
//! **Merging.** The graph of several collections, as the agents of a divided crawl have them, is a base as well, which is
//! merged from their tables and logs by ranges of names ([`Merge`]).
//!
//! **Cost.** A union takes 13 bytes of memory per page of the base and about 200 per page since; lists are
//! streamed. Resolving a link takes a lookup (tens of nanoseconds). Pending links are 8 bytes on disk per target and
//! one to five per link.

mod base;
mod fold;
mod folded;
mod merge;
mod nodes;
mod pending;
#[cfg(test)]
mod tests;
mod union;

pub use base::{Base, BaseFiles};
pub use fold::fold;
pub use folded::{Folded, PageNames};
pub use merge::{KeyRange, Merge, Part, Text, Version};
pub use nodes::{BaseNode, Nodes};
pub use union::Union;

use crate::Signature;

/// What is known of a URL since the base: what its newest row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRow {
    /// The signature of its URL.
    pub signature: Signature,
    /// The key of its URL in the order of nodes.
    pub key: Vec<u8>,
    /// Whether there is a page. A URL that is neither a page nor stands for another is no node.
    pub is_page: bool,
    /// The URL that it stands for.
    pub alias: Option<Signature>,
}

impl PageRow {
    fn is_node(&self) -> bool {
        self.is_page || self.alias.is_some()
    }
}

/// No node.
const NONE: u32 = u32::MAX;
