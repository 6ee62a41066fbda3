//! Which links of a page are followed, and with which priority, by rules from outside the core.

use crate::Result;
use crate::crawl::counts::Failure;
use crate::crawl::tag::Tag;
use crate::crawl::work::Found;
use crate::parse::Page;

/// Judges the links of a page. Called once per page, in the writer thread.
pub trait Policy: Send {
    /// A verdict on `found`, the links of `page` that are in scope.
    fn judge(&mut self, url: &str, tag: Tag, page: &Page, found: &[Found]) -> Result<Verdict>;
}

/// The verdict on the links of a page.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The priority of each link, 0 being served first; `None`: the link is not followed.
    pub levels: Vec<Option<u8>>,
    /// Failures while judging.
    pub failures: Vec<Failure>,
}
