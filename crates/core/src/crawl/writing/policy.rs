//! Which links of a page are followed and which come first, by rules from outside the core.

use crate::Result;
use crate::crawl::counts::Failure;
use crate::crawl::tag::Tag;
use crate::crawl::work::Found;
use crate::parse::Page;

/// Decides about the links of a page. It is called once per page, in the writing thread.
pub trait Policy: Send {
    /// A verdict on `found`, the links of `page` that are in scope.
    fn judge(&mut self, url: &str, tag: Tag, page: &Page, found: &[Found]) -> Result<Verdict>;
}

/// What becomes of the links of a page.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The priority of each link, 0 being served first; `None`: it is not followed.
    pub levels: Vec<Option<u8>>,
    /// What failed on the way to this verdict.
    pub failures: Vec<Failure>,
}
