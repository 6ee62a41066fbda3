//! The parser threads: from a response to what is stored of it.

pub(crate) mod assets;
pub(crate) mod convert;
pub(crate) mod reach;
pub(crate) mod sitemaps;
mod worker;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, RwLock, RwLockReadGuard};
use std::time::{Duration, UNIX_EPOCH};

use super::counts::Failure;
use super::parsing::convert::{Converted, Converters, Document};
use super::parsing::reach::{Reach, links_of, redirected};
use super::parsing::sitemaps::Submissions;
use super::plan::Plan;
use super::revisit::Revisit;
use super::settings::Filters;
use super::shared::Shared;
use super::tag::Tag;
use super::work::{Fetched, Found, Parsed, Unanswered};
use crate::calendar::timestamp;
use crate::collection::{Outcome, Row};
use crate::encoding::{self, Undecodable};
use crate::fetch::Response;
use crate::graph::PageLinks;
use crate::media::{Format, Kind, Reading, essence, may_have_text, media_type};
use crate::parse::{self, Page};
use crate::url::{Url, canonical_with, clean, domain, host_of};
use crate::warc::{PAYLOAD_DIGEST, Record, payload_digest, record_with_id, warc_record};
use crate::{Error, Result, Signature};

/// The address of a response whose server is unknown.
const UNKNOWN: &str = "0.0.0.0";
/// The profiles of the records of visits that found a page unchanged.
const NOT_MODIFIED: &str = "server-not-modified";
const IDENTICAL: &str = "identical-payload-digest";

/// What every parser thread needs.
#[derive(Clone)]
pub struct Parser {
    /// The crawl's configuration.
    pub plan: Arc<Plan>,
    /// Which pages are kept.
    pub filters: Arc<Filters>,
    /// Which links are followed.
    pub reach: Arc<RwLock<Reach>>,
    /// Who names which sitemap.
    pub submissions: Arc<Submissions>,
    /// Whether parsed pages are sent along with their links, for a policy to judge by.
    pub wants_pages: bool,
    /// The processes that read documents of other formats.
    pub converters: Arc<Converters>,
    /// Says when the crawl is stopping.
    pub shared: Arc<Shared>,
}

/// The content type of the record of a converted document.
const CONVERTED: &str = "text/html; charset=utf-8";

/// The result of parsing.
pub type Outcomes = std::result::Result<Box<Parsed>, Box<Unanswered>>;

impl Parser {
    /// Turns a response into what is stored of it. A parser failure costs the page, not the crawl.
    pub fn parse(&self, fetched: Fetched) -> Result<Outcomes> {
        let mut work = fetched.work.clone();
        work.attempts += 1;
        let (when, seconds) = (fetched.when, fetched.response.took.as_secs_f32());
        let (address, weight) = (Some(fetched.address), fetched.weight);
        let unanswered = |refused: Refused| {
            let Refused { outcome, status, detail } = refused;
            Box::new(Unanswered { work, outcome, status, detail, when, seconds, address, weight })
        };
        match catch_unwind(AssertUnwindSafe(|| self.page(fetched))) {
            Ok(Ok(Ok(parsed))) => Ok(Ok(parsed)),
            Ok(Ok(Err(refused))) => Ok(Err(unanswered(refused))),
            Ok(Err(error)) => Err(error),
            Err(_) => Ok(Err(unanswered(Refused::new(Outcome::Unparsed, "the parser failed".to_owned())))),
        }
    }

    fn page(&self, fetched: Fetched) -> Result<std::result::Result<Box<Parsed>, Refused>> {
        let Fetched { work, when, response, address, sitemaps, weight } = fetched;
        let content_type = response.header("content-type").map(str::to_owned);
        let mut row = Row {
            url: work.url.clone(),
            outcome: Outcome::Fetched,
            depth: work.tag.depth,
            fetched_at: when,
            status: Some(response.status),
            content_type: content_type.as_deref().and_then(essence),
            etag: response.header("etag").map(str::to_owned),
            last_modified: response.header("last-modified").map(str::to_owned),
            address: Some(address.to_string()),
            attempts: work.attempts + 1,
            seconds: response.took.as_secs_f32(),
            payload: Some(payload_digest(&response.body)),
            ..Row::default()
        };
        let bytes = response.body.len() as u64;
        let mut parsed = Parsed {
            row: Row::default(),
            record: None,
            request: None,
            conversion: None,
            words: None,
            links: PageLinks::default(),
            found: Vec::new(),
            assets: Vec::new(),
            sitemaps: 0,
            signals: Vec::new(),
            page: None,
            failure: None,
            bytes,
            weight,
            work,
        };
        if parsed.work.tag.is_asset {
            return self.asset(&response, row, parsed);
        }
        self.add_sitemaps(&sitemaps, &self.reach(), &mut parsed);
        parsed.sitemaps = parsed.found.len();
        if let Some(known) = parsed.work.revisit.take() {
            let profile = unchanged(&known, &row);
            if let Some(profile) = profile {
                row.outcome = Outcome::NotModified;
                let fields = revisit_fields(&row, when, &known, profile);
                archive("revisit", &fields, &response, b"", &mut parsed)?;
            }
            let is_answer = profile.is_some() || response.status == 200 || redirection(&response).is_some();
            parsed.work.revisit = Some(known);
            if !is_answer {
                return Ok(Err(Refused::by_status(response.status)));
            }
            if profile.is_some() {
                parsed.row = row;
                return Ok(Ok(Box::new(parsed)));
            }
        }
        if let Some(target) = redirection(&response) {
            self.lead_on(target, &mut row, &mut parsed);
            archive("response", &response_fields(&row, when), &response, &response.body, &mut parsed)?;
            parsed.row = row;
            return Ok(Ok(Box::new(parsed)));
        }
        let decoded = match response.status {
            200 => self.decode(&row, &response),
            _ => Ok(None),
        };
        let decoded = match decoded {
            Ok(decoded) => decoded,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if self.plan.crawl.sitemaps && self.take_sitemap(&response, decoded.as_deref(), &mut row, &mut parsed)
        {
            archive("response", &response_fields(&row, when), &response, &response.body, &mut parsed)?;
            parsed.row = row;
            return Ok(Ok(Box::new(parsed)));
        }
        if response.status == 200 {
            if let Some(body) = &decoded {
                row.content_type = actual_type(content_type.as_deref(), &row.url, body, &self.plan);
            }
            if let Some(reason) = self.filters.refuse_type(row.content_type.as_deref()) {
                return Ok(Err(Refused::new(Outcome::Filtered, reason)));
            }
            let body = decoded.map_or_else(Body::default, |body| {
                self.read(&row, content_type.as_deref(), &body, &response)
            });
            parsed.failure = body.failure;
            row.detail = body.detail;
            if let Some(page) = body.page {
                if let Some(reason) =
                    self.filters.refuse_text(page.language.as_deref(), &page.title, &page.text)
                {
                    return Ok(Err(Refused::new(Outcome::Filtered, reason)));
                }
                if let Some(html) = body.converted {
                    parsed.conversion = Some(conversion_record(&row.url, when, &html)?);
                }
                self.describe(page, &mut row, &mut parsed);
            }
        }
        archive("response", &response_fields(&row, when), &response, &response.body, &mut parsed)?;
        parsed.row = row;
        Ok(Ok(Box::new(parsed)))
    }

    /// The body without its content encodings; `None` if its declared type has no text.
    fn decode<'a>(
        &self,
        row: &Row,
        response: &'a Response,
    ) -> std::result::Result<Option<Cow<'a, [u8]>>, Refused> {
        let declared = row.content_type.as_deref();
        let encoding = response.header("content-encoding").unwrap_or_default();
        if !is_converted(declared, &self.plan) && !may_have_text(declared, !encoding.is_empty()) {
            return Ok(None);
        }
        match encoding::decode(&response.body, encoding, self.max_bytes(&row.url)) {
            Ok(body) => Ok(Some(body)),
            Err(error @ Undecodable::TooLarge { .. }) => Err(Refused::new(Outcome::Bomb, error.to_string())),
            Err(error) => Err(Refused::new(Outcome::BadEncoding, error.to_string())),
        }
    }

    /// Parses a body.
    fn read(&self, row: &Row, content_type: Option<&str>, body: &[u8], response: &Response) -> Body {
        let tags: Vec<&str> = response.all("x-robots-tag").collect();
        let rules = self.rules(&tags);
        let media_type = row.content_type.as_deref();
        match reading(media_type, &self.plan) {
            Reading::Html => Body::of(parse::parse_with(body, &row.url, content_type, &rules)),
            Reading::Text => Body::of(parse::parse_text_with(body, content_type, &rules)),
            Reading::Conversion | Reading::Markup => self.convert(row, content_type, body, &rules),
            Reading::Unread => Body::default(),
        }
    }

    /// Converts a document of another format, and parses the result. A document without text says why.
    fn convert(&self, row: &Row, content_type: Option<&str>, body: &[u8], rules: &parse::Rules) -> Body {
        let media_type = row.content_type.as_deref().unwrap_or_default();
        let own = self.plan.converters.get(media_type);
        let format = Format::of(Some(media_type));
        let text = (own.is_none() && format.reading == Reading::Markup)
            .then(|| parse::characters(body, content_type, &row.url));
        let document = Document {
            url: &row.url,
            media_type: if own.is_some() { media_type } else { format.name() },
            charset: text.as_ref().map(|_| "utf-8"),
            body: text.as_ref().map_or(body, |text| text.as_bytes()),
        };
        let go_on = || !self.shared.is_stopping();
        let Some(converted) = self.converters.convert(&document, &go_on) else { return Body::default() };
        self.converted(&converted, &row.url, own, rules)
    }

    fn converted(&self, found: &Converted, url: &str, own: Option<&String>, rules: &parse::Rules) -> Body {
        let failure = own.filter(|_| !found.failure.is_empty());
        let mut body = Body {
            detail: found.failure.clone(),
            failure: failure.map(|name| Failure {
                extension: name.clone(),
                message: format!("{name}: {}", found.failure),
            }),
            ..Body::default()
        };
        if !found.is_empty() {
            let html = found.page(url);
            body.page = Some(parse::parse_with(html.as_bytes(), url, Some(CONVERTED), rules));
            body.converted = Some(html);
        } else if body.detail.is_empty() {
            body.detail = "it has no text".to_owned();
        }
        body
    }

    fn describe(&self, mut page: Page, row: &mut Row, parsed: &mut Parsed) {
        row.digest = Some(format!("{:032x}", page.digest));
        row.simhash = page.simhash;
        row.language = page.language.clone();
        row.title = page.title.clone();
        // A feed is read for its links: its entries are pages of their own.
        let is_feed = Format::of(row.content_type.as_deref()).kind == Kind::Feed;
        row.noindex = page.noindex || is_feed;
        let mut canonical = page.canonical.take();
        canonical.iter_mut().for_each(|url| clean(url, &self.plan.crawl.clean_up));
        row.canonical = canonical.filter(|canonical| *canonical != row.url);
        parsed.words = Some((page.digest, page.simhash));
        let (tag, canonical) = (parsed.work.tag, row.canonical.as_deref());
        let (mut found, counted) = links_of(&mut page, &row.url, canonical, tag, &self.plan.crawl.clean_up);
        for (link, vouched) in found.iter().zip(&page.vouched) {
            let kept = if *vouched { &mut parsed.links.followed } else { &mut parsed.links.nofollow };
            kept.push(Signature::of(link.url.as_bytes()));
        }
        let reach = self.reach();
        self.add_assets(&mut page, &found, &reach, parsed);
        let mut follows = reach.follows(&found, counted).into_iter();
        found.retain(|_| follows.next() == Some(true));
        parsed.found.append(&mut found);
        for mut url in std::mem::take(&mut page.nofollow_links) {
            clean(&mut url, &self.plan.crawl.clean_up);
            parsed.links.nofollow.push(Signature::of(url.as_bytes()));
        }
        parsed.page = self.wants_pages.then(|| Box::new(page));
    }

    /// The links of a stored page, as they were found in it, and the number of them to which `max_links`
    /// applies; `None` if it has no markup. The record to read is the answer itself, or what it was converted to.
    pub fn links_again(
        &self,
        answer: &Record,
        record: &Record,
        row: &Row,
        tag: Tag,
    ) -> Result<Option<(Page, Vec<Found>, usize)>> {
        let all = answer.headers.iter().filter(|(name, _)| name == "x-robots-tag");
        let tags: Vec<&str> = all.map(|(_, value)| value.as_str()).collect();
        let rules = self.rules(&tags);
        let page =
            catch_unwind(AssertUnwindSafe(|| record.parse_with(self.plan.crawl.fetch.max_bytes, &rules)));
        let failed = |_| Err(Error::Invalid(format!("{}: the parser failed", row.url)));
        let Some(mut page) = page.unwrap_or_else(failed)? else { return Ok(None) };
        let canonical = row.canonical.as_deref();
        let (links, counted) = links_of(&mut page, &row.url, canonical, tag, &self.plan.crawl.clean_up);
        Ok(Some((page, links, counted)))
    }

    fn rules<'a>(&'a self, x_robots_tag: &'a [&'a str]) -> parse::Rules<'a> {
        parse::Rules {
            agent: &self.plan.crawl.user_agent,
            srcset: self.plan.crawl.images,
            feeds: self.plan.crawl.feeds,
            x_robots_tag,
        }
    }

    fn reach(&self) -> RwLockReadGuard<'_, Reach> {
        self.reach.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn lead_on(&self, location: &str, row: &mut Row, parsed: &mut Parsed) {
        row.outcome = Outcome::Redirected;
        let base = Url::parse(&row.url).ok();
        let Some(target) = canonical_with(location, base.as_ref(), &self.plan.crawl.clean_up) else {
            row.detail = "it leads to no page".to_owned();
            return;
        };
        parsed.links.followed.push(Signature::of(target.as_bytes()));
        let tag = redirected(parsed.work.tag, &row.url, &target);
        if parsed.work.tag.depth == 0 {
            // Where a seed redirects to (from http to https, to www) belongs to the scope of the seed.
            self.reach.write().unwrap_or_else(|poisoned| poisoned.into_inner()).add_seed(&target);
        }
        let reach = self.reach();
        // A sitemap need not be in scope, and may move within its domain.
        let is_errand = parsed.work.tag.depth > 0
            && reach.allows(&row.url).is_err()
            && domain(host_of(&target)) == domain(host_of(&row.url));
        if let Err(refusal) = reach.allows(&target)
            && !is_errand
        {
            row.detail = refusal.to_string();
        } else if tag.redirects > self.plan.crawl.max_redirects {
            row.detail = format!("the chain of redirects is longer than {}", self.plan.crawl.max_redirects);
        } else {
            parsed.found.push(Found { url: target.clone(), anchor: String::new(), tag });
        }
        row.redirect = Some(target);
    }
}

/// Encodes the record of a response, and that of its request if it was noted.
fn archive(
    kind: &str,
    fields: &[(String, String)],
    response: &Response,
    body: &[u8],
    parsed: &mut Parsed,
) -> Result<()> {
    let (id, record) = record_with_id(kind, fields, &head(response), body)?;
    parsed.record = Some(record);
    if !response.request.is_empty() {
        let shared = ["WARC-Target-URI", "WARC-Date", "WARC-IP-Address"];
        let shared = fields.iter().filter(|(name, _)| shared.contains(&name.as_str())).cloned();
        let own =
            [("WARC-Concurrent-To", id), ("Content-Type", "application/http; msgtype=request".to_owned())];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        let fields: Vec<(String, String)> = shared.chain(own).collect();
        parsed.request = Some(warc_record("request", &fields, &response.request, b"")?);
    }
    Ok(())
}

/// The record of a visit that found a page unchanged: the header, and a reference to the earlier record.
pub fn visit_record(row: &Row, when: f64, response: &Response, known: &Revisit) -> Result<Vec<u8>> {
    let profile = if response.status == 304 { NOT_MODIFIED } else { IDENTICAL };
    warc_record("revisit", &revisit_fields(row, when, known, profile), &head(response), b"")
}

fn revisit_fields(row: &Row, when: f64, known: &Revisit, profile: &str) -> Vec<(String, String)> {
    let row = Row { payload: known.payload.clone().or(row.payload.clone()), ..row.clone() };
    let mut fields = response_fields(&row, when);
    let profile = format!("http://netpreserve.org/warc/1.1/revisit/{profile}");
    let then = timestamp(UNIX_EPOCH + Duration::try_from_secs_f64(known.content_at).unwrap_or_default());
    let about =
        [("WARC-Profile", profile), ("WARC-Refers-To-Target-URI", row.url), ("WARC-Refers-To-Date", then)];
    fields.extend(about.map(|(name, value)| (name.to_owned(), value)));
    fields
}

/// The HTTP header of a response, as it goes into its record.
fn head(response: &Response) -> Vec<u8> {
    let version = if response.version == "HTTP/1.0" { response.version } else { "HTTP/1.1" };
    let line = format!("{version} {} {}", response.status, response.reason);
    let mut head = line.trim_end().as_bytes().to_vec();
    for (name, value) in &response.headers {
        // The body is stored without its chunks, and readers of the record must not look for them.
        let kept = if name.eq_ignore_ascii_case("transfer-encoding") { "X-Archive-" } else { "" };
        head.extend_from_slice(b"\r\n");
        head.extend_from_slice(kept.as_bytes());
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
    }
    head.extend_from_slice(b"\r\n\r\n");
    head
}

fn response_fields(row: &Row, when: f64) -> Vec<(String, String)> {
    let mut fields = fields(&row.url, when);
    if let Some(address) = row.address.clone().filter(|address| address != UNKNOWN) {
        fields.push(("WARC-IP-Address".to_owned(), address));
    }
    fields.push(("Content-Type".to_owned(), "application/http; msgtype=response".to_owned()));
    fields.extend(row.payload.iter().map(|payload| (PAYLOAD_DIGEST.to_owned(), format!("sha1:{payload}"))));
    fields
}

/// Why a response is no page.
struct Refused {
    outcome: Outcome,
    status: Option<u16>,
    detail: String,
}

impl Refused {
    fn new(outcome: Outcome, detail: String) -> Refused {
        Refused { outcome, status: None, detail }
    }

    /// A page that was there is answered with another status.
    fn by_status(status: u16) -> Refused {
        let detail = format!("the server answers {status}");
        Refused { outcome: Outcome::Fetched, status: Some(status), detail }
    }
}

/// The profile of the record of a page that has not changed; `None` if it has.
fn unchanged(known: &Revisit, row: &Row) -> Option<&'static str> {
    match row.status {
        Some(304) => Some(NOT_MODIFIED),
        Some(200) if known.payload.is_some() && known.payload == row.payload => Some(IDENTICAL),
        _ => None,
    }
}

fn conversion_record(url: &str, when: f64, html: &str) -> Result<Vec<u8>> {
    let mut fields = fields(url, when);
    fields.push(("Content-Type".to_owned(), CONVERTED.to_owned()));
    warc_record("conversion", &fields, b"", html.as_bytes())
}

fn fields(url: &str, when: f64) -> Vec<(String, String)> {
    let moment = UNIX_EPOCH + Duration::try_from_secs_f64(when).unwrap_or_default();
    vec![("WARC-Target-URI".to_owned(), url.to_owned()), ("WARC-Date".to_owned(), timestamp(moment))]
}

/// The parsed body of a response.
#[derive(Default)]
struct Body {
    /// The page; `None` if the body is not text and cannot be converted.
    page: Option<Page>,
    /// A document of another format, as HTML.
    converted: Option<String>,
    /// Why a document has no text, or not all of it.
    detail: String,
    /// A failure of third-party code on the way.
    failure: Option<Failure>,
}

impl Body {
    fn of(page: Page) -> Body {
        Body { page: Some(page), ..Body::default() }
    }
}

/// Whether a response is a document that has to be converted.
pub fn is_document(url: &str, response: &Response, plan: &Plan) -> bool {
    let media_type = actual_type(response.header("content-type"), url, &response.body, plan);
    matches!(reading(media_type.as_deref(), plan), Reading::Conversion | Reading::Markup)
}

/// The media type of a body, sniffed; a declared type with a third-party converter is taken as it is.
fn actual_type(content_type: Option<&str>, url: &str, body: &[u8], plan: &Plan) -> Option<String> {
    let declared = content_type.and_then(essence);
    if is_converted(declared.as_deref(), plan) { declared } else { media_type(content_type, url, body) }
}

fn reading(media_type: Option<&str>, plan: &Plan) -> Reading {
    if is_converted(media_type, plan) { Reading::Conversion } else { Format::of(media_type).reading }
}

/// Whether a media type has a third-party converter.
fn is_converted(media_type: Option<&str>, plan: &Plan) -> bool {
    media_type.is_some_and(|name| plan.converters.contains_key(name))
}

/// The redirect target of a response, if it is a redirect.
fn redirection(response: &Response) -> Option<&str> {
    matches!(response.status, 301 | 302 | 303 | 307 | 308).then(|| response.header("location")).flatten()
}

/// The scheme, host and port of a canonical URL.
pub fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    &url[..url[start..].find('/').map_or(url.len(), |at| start + at)]
}
