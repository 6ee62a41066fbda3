//! The reach of a crawl: which links of a page are followed.
//!
//! A link is followed if its target is in scope, not too far from the seeds (`max_depth`), not too deep in
//! its site (`max_site_depth`: links since its host was entered), and among the first `max_links` of its page
//! for which that holds. A redirect leads to its target without a link in between, so only the scope and the
//! length of the chain decide.

use serde::Deserialize;

use crate::Result;
use crate::crawl::tag::Tag;
use crate::crawl::work::Found;
use crate::parse::Page;
use crate::url::{CleanUp, Refusal, Scope, ScopeKind, clean, same_site};

/// The settings of the reach, named as in the section `[crawl]`.
#[derive(Clone, Debug, Deserialize)]
pub struct ReachSettings {
    scope: ScopeKind,
    include: String,
    exclude: String,
    /// Below 0: no limit; so for the next.
    max_depth: i32,
    pub(in crate::crawl) max_site_depth: i32,
    /// 0: no limit.
    max_links: usize,
}

/// The reach of a crawl.
#[derive(Debug)]
pub struct Reach {
    scope: Scope,
    settings: ReachSettings,
}

impl Reach {
    /// The reach from these seeds.
    pub fn new(settings: &ReachSettings, seeds: &[String]) -> Result<Reach> {
        let patterns = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (include, exclude) = (patterns(&settings.include), patterns(&settings.exclude));
        let scope = Scope::new(settings.scope, seeds, &include, &exclude)?;
        Ok(Reach { scope, settings: settings.clone() })
    }

    /// The reach of what is not fetched: every link.
    pub fn everywhere() -> Result<Reach> {
        let settings = ReachSettings {
            scope: ScopeKind::Any,
            include: String::new(),
            exclude: String::new(),
            max_depth: -1,
            max_site_depth: -1,
            max_links: 0,
        };
        Reach::new(&settings, &[])
    }

    /// Widens the scope by another seed.
    pub fn add_seed(&mut self, seed: &str) {
        self.scope.add_seed(seed);
    }

    /// Why a URL is out of scope, if it is.
    pub fn allows(&self, url: &str) -> std::result::Result<(), Refusal<'_>> {
        self.scope.allows(url)
    }

    /// Whether an asset of a page is fetched.
    pub fn allows_asset(&self, page: &str, url: &str) -> bool {
        self.scope.allows_asset(page, url)
    }

    /// Whether a URL at this distance from a seed is not too deep.
    pub fn is_within(&self, depth: u32) -> bool {
        within(self.settings.max_depth, depth)
    }

    /// Whether each link of a page is followed, in page order; `max_links` applies to the first `counted`.
    pub fn follows(&self, links: &[Found], counted: usize) -> Vec<bool> {
        let mut left = if self.settings.max_links == 0 { usize::MAX } else { self.settings.max_links };
        let follow = |(place, link): (usize, &Found)| {
            let follows = (left > 0 || place >= counted) && self.reaches(link);
            left -= usize::from(follows && place < counted);
            follows
        };
        links.iter().enumerate().map(follow).collect()
    }

    /// Whether a link is neither too deep nor out of scope.
    fn reaches(&self, link: &Found) -> bool {
        self.is_within(link.tag.depth)
            && within(self.settings.max_site_depth, link.tag.site_depth)
            && self.scope.allows(&link.url).is_ok()
    }
}

fn within(limit: i32, value: u32) -> bool {
    u32::try_from(limit).map_or(true, |limit| value <= limit)
}

/// The links of a page, cleaned up, each with its tag; the page keeps none. After them comes the canonical URL
/// that the page declares, which is worth a visit, too, and has the page's title for an anchor. Also the
/// number of links without it.
pub fn links_of(
    page: &mut Page,
    url: &str,
    canonical: Option<&str>,
    tag: Tag,
    clean_up: &CleanUp,
) -> (Vec<Found>, usize) {
    let links = std::mem::take(&mut page.links).into_iter().zip(std::mem::take(&mut page.anchors));
    let found = links.zip(&page.same_shape).map(|((mut link, anchor), alike)| {
        clean(&mut link, clean_up);
        let chain = if *alike { tag.chain + 1 } else { 0 };
        Found { tag: Tag { chain, ..linked(tag, url, &link) }, url: link, anchor }
    });
    let mut found: Vec<Found> = found.collect();
    let counted = found.len();
    found.extend(canonical.map(|to| Found {
        tag: linked(tag, url, to),
        url: to.to_owned(),
        anchor: page.title.clone(),
    }));
    (found, counted)
}

/// The tag of a URL to which the page `from` links.
fn linked(tag: Tag, from: &str, to: &str) -> Tag {
    let site_depth = if same_site(from, to) { tag.site_depth + 1 } else { 0 };
    Tag { depth: tag.depth + 1, site_depth, ..Tag::default() }
}

/// The tag of a URL to which `from` redirects.
pub fn redirected(tag: Tag, from: &str, to: &str) -> Tag {
    let site_depth = if same_site(from, to) { tag.site_depth } else { 0 };
    Tag { redirects: tag.redirects + 1, site_depth, ..tag }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(change: impl Fn(&mut ReachSettings)) -> Reach {
        let mut settings = ReachSettings {
            scope: ScopeKind::Domain,
            include: String::new(),
            exclude: String::new(),
            max_depth: -1,
            max_site_depth: -1,
            max_links: 0,
        };
        change(&mut settings);
        Reach::new(&settings, &["http://a.example/".to_owned()]).unwrap()
    }

    fn found(url: &str, depth: u32, site_depth: u32) -> Found {
        let tag = Tag { depth, site_depth, ..Tag::default() };
        Found { url: url.to_owned(), anchor: String::new(), tag }
    }

    #[test]
    fn a_link_inside_its_site_goes_deeper_and_one_to_another_host_enters_it() {
        let tag = Tag { depth: 5, site_depth: 2, chain: 3, redirects: 1, level: 4, is_asset: false };
        let inside = linked(tag, "http://a.example/x", "https://a.example/y");
        assert_eq!((inside.depth, inside.site_depth, inside.redirects, inside.level), (6, 3, 0, 0));
        assert_eq!(linked(tag, "http://a.example/x", "http://b.a.example/").site_depth, 0);
        let again = redirected(tag, "http://a.example/x", "http://a.example/y");
        assert_eq!(again, Tag { redirects: 2, ..tag });
        assert_eq!(redirected(tag, "http://a.example/x", "http://b.example/").site_depth, 0);
    }

    #[test]
    fn each_limit_holds() {
        let links = [
            found("http://a.example/1", 1, 1),
            found("http://b.example/", 1, 0),
            found("http://a.example/2", 2, 2),
            found("http://c.a.example/", 2, 0),
        ];
        let follows = |change: fn(&mut ReachSettings)| reach(change).follows(&links, 4);
        assert_eq!(follows(|_| {}), [true, false, true, true]);
        assert_eq!(follows(|settings| settings.max_depth = 0), [false; 4]);
        assert_eq!(follows(|settings| settings.max_depth = 1), [true, false, false, false]);
        assert_eq!(follows(|settings| settings.max_site_depth = 0), [false, false, false, true]);
        assert_eq!(follows(|settings| settings.max_site_depth = 1), [true, false, false, true]);
        // Links that are not followed do not count.
        assert_eq!(follows(|settings| settings.max_links = 2), [true, false, true, false]);
        assert_eq!(reach(|settings| settings.max_links = 1).follows(&links, 3), [true, false, false, true]);
    }
}
