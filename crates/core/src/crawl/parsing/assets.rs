//! Assets in a crawl: the icons and style sheets of pages, which are fetched so that results and stored copies look as
//! the pages do.
//!
//! They go through the sieve, robots.txt and politeness like pages, but they are none: they have an outcome of their
//! own, no text and no links, and count neither against the page limits nor as pages of their host. An asset is fetched
//! from the host of its page or from one that is in scope, wherever it is there; at most [`MOST_PER_HOST`] from each
//! host, of at most [`LARGEST`] bytes. A style sheet brings those that it imports; nothing else that it names is fetched.

use super::reach::{Reach, redirected};
use super::{Parser, Refused, archive, redirection, response_fields};
use crate::Result;
use crate::collection::{Outcome, Row};
use crate::crawl::tag::Tag;
use crate::crawl::work::{Asset, Found, Parsed};
use crate::encoding;
use crate::fetch::Response;
use crate::parse::{Page, imports};
use crate::settings::choices;
use crate::url::{Url, canonical};

/// The maximum number of assets fetched from a host.
pub const MOST_PER_HOST: u64 = 50;
/// The maximum size of an asset, in bytes as sent.
pub const LARGEST: usize = 500_000;

choices! {
    /// Which assets of pages are fetched.
    pub enum Assets, "assets" {
        /// Icons and style sheets.
        All = "all",
        /// Icons.
        Icons = "icons",
        /// None.
        None = "none",
    }
}

impl Parser {
    /// Adds the assets of a page that are to be fetched. What the page links to is a page, and so is what has no name.
    pub(super) fn add_assets(&self, page: &mut Page, links: &[Found], reach: &Reach, parsed: &mut Parsed) {
        let (icon, styles) = (page.icon.take(), std::mem::take(&mut page.styles));
        let (icon, styles) = match self.plan.crawl.assets {
            Assets::All => (icon, styles),
            Assets::Icons => (icon, Vec::new()),
            Assets::None => (None, Vec::new()),
        };
        if page.nofollow {
            return;
        }
        let own = &parsed.work.url;
        let is_page = |url: &String| {
            let path = url.split('?').next().unwrap_or_default();
            path.ends_with('/') || url == own || links.iter().any(|link| link.url == *url)
        };
        let icon = icon.into_iter().map(|url| (url, "icon"));
        let styles = styles.into_iter().map(|url| (url, "style sheet"));
        let wanted = icon.chain(styles).filter(|(url, _)| !is_page(url) && reach.allows_asset(own, url));
        let tag = Tag { depth: parsed.work.tag.depth + 1, is_asset: true, ..Tag::default() };
        let assets: Vec<Asset> = wanted.map(|(url, what)| Asset { url, what, tag }).collect();
        parsed.assets = assets;
    }

    /// What is stored of the response to an asset.
    pub(super) fn asset(
        &self,
        response: &Response,
        mut row: Row,
        mut parsed: Parsed,
    ) -> Result<std::result::Result<Box<Parsed>, Refused>> {
        row.outcome = Outcome::Asset;
        if let Some(location) = redirection(response) {
            self.lead_asset_on(location, &mut row, &mut parsed);
        } else if response.truncated {
            let reason = format!("an asset may have {LARGEST} bytes");
            return Ok(Err(Refused::new(Outcome::TooLarge, reason)));
        } else if response.status == 200 && row.content_type.as_deref() == Some("text/css") {
            self.add_imports(response, &row.url, &mut parsed);
        }
        archive("response", &response_fields(&row, row.fetched_at), response, &response.body, &mut parsed)?;
        parsed.row = row;
        Ok(Ok(Box::new(parsed)))
    }

    /// Adds the style sheets that one imports; a chain of imports is limited like one of redirects.
    fn add_imports(&self, response: &Response, own: &str, parsed: &mut Parsed) {
        let encoding = response.header("content-encoding").unwrap_or_default();
        let base = Url::parse(own).ok();
        let Ok(body) = encoding::decode(&response.body, encoding, self.plan.crawl.fetch.max_bytes) else {
            return;
        };
        for href in imports(&String::from_utf8_lossy(&body)) {
            let Some(url) = canonical(href, base.as_ref()) else { continue };
            let tag = redirected(parsed.work.tag, own, &url);
            if self.reach().allows_asset(own, &url) && tag.redirects <= self.plan.crawl.max_redirects {
                parsed.assets.push(Asset { url, what: "style sheet", tag });
            }
        }
    }

    fn lead_asset_on(&self, location: &str, row: &mut Row, parsed: &mut Parsed) {
        let base = Url::parse(&row.url).ok();
        let Some(url) = canonical(location, base.as_ref()) else {
            row.detail = "it leads nowhere".to_owned();
            return;
        };
        let tag = redirected(parsed.work.tag, &row.url, &url);
        if !self.reach().allows_asset(&row.url, &url) {
            row.detail = "it leads to a host that is out of scope".to_owned();
        } else if tag.redirects > self.plan.crawl.max_redirects {
            row.detail = format!("the chain of redirects is longer than {}", self.plan.crawl.max_redirects);
        } else {
            parsed.assets.push(Asset { url: url.clone(), what: "redirect", tag });
        }
        row.redirect = Some(url);
    }
}
