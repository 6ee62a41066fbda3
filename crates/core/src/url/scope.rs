//! The scope of a crawl: which URLs belong to it.
//!
//! [`Scope`] allows a URL that is in the same place as a seed (the same host, the same registrable domain,
//! the same folder, or anywhere), matches an include pattern if there are any, and matches no exclude
//! pattern. http and https are the same place. The registrable domain is the public suffix and the label
//! before it (`psl`, which embeds the list): all of `a.example.co.uk` and `example.co.uk`, but not
//! `other.co.uk`; an IP address is its own domain. A check is a hash look-up of the host, for a domain also a
//! walk through the suffix list (70 ns); nothing is allocated, not even for the reason of a refusal. Patterns
//! run in linear time, all in one automaton.

use std::fmt;

use regex::bytes::{RegexSet, RegexSetBuilder};
use rustc_hash::{FxHashMap, FxHashSet};

use super::host::ends_in_number;
use crate::settings::choices;
use crate::{Error, Result};

/// The size limit of the automaton of all patterns, in bytes.
const PATTERN_BYTES: usize = 4 << 20;

choices! {
    /// The extent of a crawl relative to its seeds.
    pub enum ScopeKind, "scope" {
        /// The hosts of the seeds, with their ports.
        Host = "host",
        /// The registrable domains of the seeds, with every host and port.
        Domain = "domain",
        /// The folders of the seeds: each URL up to the last slash of its path.
        Prefix = "prefix",
        /// Everywhere.
        Any = "any",
    }
}

/// Why a URL is out of scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal<'a> {
    /// It is not in the place of any seed.
    OutOfScope(ScopeKind),
    /// None of these include patterns matches it.
    NotIncluded(&'a [String]),
    /// This exclude pattern matches it.
    Excluded(&'a str),
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::OutOfScope(ScopeKind::Host) => write!(formatter, "it is on another host than the seeds"),
            Refusal::OutOfScope(ScopeKind::Domain) => {
                write!(formatter, "it is in another domain than the seeds")
            }
            Refusal::OutOfScope(_) => write!(formatter, "it is in another folder than the seeds"),
            Refusal::NotIncluded(patterns) if patterns.len() == 1 => {
                write!(formatter, "it does not match the include pattern {}", patterns[0])
            }
            Refusal::NotIncluded(patterns) => {
                write!(formatter, "it matches none of the include patterns {}", patterns.join(", "))
            }
            Refusal::Excluded(pattern) => write!(formatter, "it matches the exclude pattern {pattern}"),
        }
    }
}

/// The scope of a crawl.
#[derive(Debug)]
pub struct Scope {
    kind: ScopeKind,
    /// Hosts with their ports, or domains.
    sites: FxHashSet<Box<str>>,
    /// The folders of each host.
    folders: FxHashMap<Box<str>, Vec<Box<str>>>,
    include: Patterns,
    exclude: Patterns,
}

impl Scope {
    /// The scope of canonical seeds, narrowed by regular expressions on the entire URL.
    pub fn new(kind: ScopeKind, seeds: &[String], include: &[String], exclude: &[String]) -> Result<Scope> {
        let mut scope = Scope {
            kind,
            sites: FxHashSet::default(),
            folders: FxHashMap::default(),
            include: Patterns::new(include)?,
            exclude: Patterns::new(exclude)?,
        };
        seeds.iter().for_each(|seed| scope.add_seed(seed));
        Ok(scope)
    }

    /// Widens the scope by another canonical seed, such as a seed's redirect target.
    pub fn add_seed(&mut self, seed: &str) {
        let (site, path) = split(seed);
        match self.kind {
            ScopeKind::Host => _ = self.sites.insert(site.into()),
            ScopeKind::Domain => _ = self.sites.insert(domain(site).into()),
            ScopeKind::Prefix => {
                let folders = self.folders.entry(site.into()).or_default();
                let folder = folder(path);
                if !folders.iter().any(|known| folder.starts_with(&**known)) {
                    folders.push(folder.into());
                }
            }
            ScopeKind::Any => {}
        }
    }

    /// Whether a canonical URL is in scope.
    pub fn allows(&self, url: &str) -> std::result::Result<(), Refusal<'_>> {
        let (site, path) = split(url);
        let inside = match self.kind {
            ScopeKind::Host => self.sites.contains(site),
            ScopeKind::Domain => self.sites.contains(domain(site)),
            ScopeKind::Prefix => {
                let folders = self.folders.get(site).map_or(&[][..], Vec::as_slice);
                folders.iter().any(|folder| path.starts_with(&**folder))
            }
            ScopeKind::Any => true,
        };
        if !inside {
            return Err(Refusal::OutOfScope(self.kind));
        }
        if !self.include.sources.is_empty() && !self.include.set.is_match(url.as_bytes()) {
            return Err(Refusal::NotIncluded(&self.include.sources));
        }
        self.exclude.first_match(url).map_or(Ok(()), |pattern| Err(Refusal::Excluded(pattern)))
    }

    /// Whether what a page is shown with is in scope: it is on the host of the page or on one that is in scope, in any
    /// folder, and no exclude pattern matches it.
    pub fn allows_asset(&self, page: &str, url: &str) -> bool {
        let (site, _) = split(url);
        let inside = same_site(page, url)
            || match self.kind {
                ScopeKind::Host => self.sites.contains(site),
                ScopeKind::Domain => self.sites.contains(domain(site)),
                ScopeKind::Prefix => self.folders.contains_key(site),
                ScopeKind::Any => true,
            };
        inside && self.exclude.first_match(url).is_none()
    }
}

/// Regular expressions that are matched together.
#[derive(Debug)]
struct Patterns {
    sources: Vec<String>,
    set: RegexSet,
}

impl Patterns {
    fn new(sources: &[String]) -> Result<Patterns> {
        // A canonical URL is ASCII, so classes such as \w need no Unicode tables.
        let compiled = |sources: &[String]| {
            RegexSetBuilder::new(sources).unicode(false).size_limit(PATTERN_BYTES).build()
        };
        for source in sources {
            if let Err(error) = compiled(std::slice::from_ref(source)) {
                return Err(Error::Invalid(format!(
                    "the pattern {source} is not usable: {}",
                    reason(&error)
                )));
            }
        }
        let set = compiled(sources)
            .map_err(|error| Error::Invalid(format!("the patterns are not usable: {}", reason(&error))))?;
        Ok(Patterns { sources: sources.to_vec(), set })
    }

    fn first_match(&self, url: &str) -> Option<&str> {
        if self.sources.is_empty() || !self.set.is_match(url.as_bytes()) {
            return None;
        }
        let first = self.set.matches(url.as_bytes()).into_iter().next()?;
        self.sources.get(first).map(String::as_str)
    }
}

/// The error of a pattern in one line: the crate prints the pattern with a marker before the message.
pub fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => format!("it needs more than {limit} bytes of memory"),
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}

/// The host with its port, and the path with the rest.
fn split(url: &str) -> (&str, &str) {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    address.split_at(memchr::memchr(b'/', address.as_bytes()).unwrap_or(address.len()))
}

fn folder(path: &str) -> &str {
    let path = &path[..memchr::memchr(b'?', path.as_bytes()).unwrap_or(path.len())];
    &path[..path.rfind('/').map_or(0, |slash| slash + 1)]
}

/// Whether two canonical URLs are on the same host and port; http and https are the same.
pub fn same_site(one: &str, other: &str) -> bool {
    split(one).0 == split(other).0
}

/// The registrable domain of a canonical URL.
pub fn domain_of(url: &str) -> &str {
    domain(split(url).0)
}

/// The host of a canonical URL, without its port.
pub fn host_of(url: &str) -> &str {
    without_port(split(url).0)
}

fn without_port(host_and_port: &str) -> &str {
    let end = host_and_port.rfind(':').filter(|_| !host_and_port.ends_with(']'));
    &host_and_port[..end.unwrap_or(host_and_port.len())]
}

/// The registrable domain of a host: its public suffix and the label before it. An IP address, or a host
/// without such a label, is its own domain.
pub fn domain(host_and_port: &str) -> &str {
    let host = without_port(host_and_port);
    if host.starts_with('[') || ends_in_number(host) {
        return host;
    }
    crivello_domains::registrable(host).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope(kind: ScopeKind, seeds: &[&str]) -> Scope {
        let seeds: Vec<String> = seeds.iter().map(|seed| (*seed).to_owned()).collect();
        Scope::new(kind, &seeds, &[], &[]).unwrap()
    }

    fn check(scope: &Scope, inside: &[&str], outside: &[&str]) {
        for url in inside {
            assert_eq!(scope.allows(url), Ok(()), "{url}");
        }
        for url in outside {
            assert_eq!(scope.allows(url), Err(Refusal::OutOfScope(scope.kind)), "{url}");
        }
    }

    #[test]
    fn a_host_is_its_name_and_port() {
        check(
            &scope(ScopeKind::Host, &["http://a.example/x/y", "http://b.example:8080/"]),
            &["http://a.example/", "https://a.example/z", "http://b.example:8080/q"],
            &["http://www.a.example/", "http://a.example:81/", "http://b.example/", "http://example/"],
        );
    }

    #[test]
    fn an_asset_is_on_the_host_of_its_page_or_on_one_in_scope() {
        let page = "http://a.example/x/y";
        let allowed = |scope: &Scope| {
            let urls = [
                "https://a.example/style",
                "http://a.example/x/no.css",
                "http://b.example/style",
                "http://static.a.example/style",
                "http://cdn.example/style",
            ];
            urls.map(|url| scope.allows_asset(page, url))
        };
        let seeds = [page, "http://b.example/z/"];
        assert_eq!(allowed(&scope(ScopeKind::Host, &seeds)), [true, true, true, false, false]);
        assert_eq!(allowed(&scope(ScopeKind::Prefix, &seeds)), [true, true, true, false, false]);
        assert_eq!(allowed(&scope(ScopeKind::Domain, &seeds)), [true, true, true, true, false]);
        assert_eq!(allowed(&scope(ScopeKind::Any, &seeds)), [true; 5]);
        // The page itself may have been led to; an include pattern is for pages, an exclude pattern for everything.
        let (include, exclude) = (["/y$".to_owned()], [r"no\.css".to_owned()]);
        let seeds = ["http://b.example/".to_owned()];
        let narrow = Scope::new(ScopeKind::Host, &seeds, &include, &exclude).unwrap();
        assert_eq!(allowed(&narrow), [true, false, true, false, false]);
    }

    #[test]
    fn a_domain_is_the_label_before_the_public_suffix() {
        check(
            &scope(
                ScopeKind::Domain,
                &["http://www.example.co.uk/", "http://me.github.io/", "http://127.0.0.1/"],
            ),
            &[
                "https://example.co.uk/",
                "http://deep.down.example.co.uk:8080/",
                "http://me.github.io/",
                "http://127.0.0.1:81/",
            ],
            &["http://other.co.uk/", "http://you.github.io/", "http://badexample.co.uk/", "http://1.0.0.1/"],
        );
        assert_eq!(host_of("https://www.example.co.uk:8080/a:b"), "www.example.co.uk");
        assert_eq!(host_of("http://[::1]/"), "[::1]");
        assert_eq!(domain("[::1]:80"), "[::1]");
        assert_eq!(domain("localhost:80"), "localhost");
        assert_eq!(domain("co.uk"), "co.uk");
        assert_eq!(domain("a.b.xn--55qx5d.cn"), "b.xn--55qx5d.cn");
    }

    #[test]
    fn a_prefix_ends_at_the_last_slash() {
        check(
            &scope(ScopeKind::Prefix, &["http://a.example/x/y?z=/", "http://b.example/"]),
            &["http://a.example/x/", "https://a.example/x/w/v", "http://b.example/x"],
            &["http://a.example/", "http://a.example/xy", "http://c.example/x/", "http://a.example:81/x/"],
        );
    }

    #[test]
    fn a_later_seed_widens_it() {
        let mut scope = scope(ScopeKind::Host, &["http://a.example/"]);
        scope.add_seed("https://www.a.example/");
        check(&scope, &["http://www.a.example/b"], &["http://b.a.example/"]);
    }

    #[test]
    fn patterns_narrow_it_and_say_so() {
        let patterns = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let include = patterns(&["/docs/", r"\.html$"]);
        let scope = Scope::new(ScopeKind::Any, &[], &include, &patterns(&[r"\d{4}", "(?i)PRINT"])).unwrap();
        let refusal = |url| scope.allows(url).map_err(|refusal| refusal.to_string());
        assert_eq!(refusal("http://a.example/docs/1"), Ok(()));
        assert_eq!(
            refusal("http://a.example/x"),
            Err(r"it matches none of the include patterns /docs/, \.html$".to_owned())
        );
        assert_eq!(
            refusal("http://a.example/docs/print"),
            Err("it matches the exclude pattern (?i)PRINT".to_owned())
        );
    }

    #[test]
    fn a_bad_pattern_is_named() {
        for (pattern, reason) in [("a(", "unclosed group"), ("(a{900}){900}", "bytes of memory")] {
            let error = Scope::new(ScopeKind::Any, &[], &[], &[pattern.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(pattern) && error.contains(reason), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
    }

    proptest! {
        #[test]
        fn a_seed_is_in_its_own_scope(url in "https?://[a-z.]{1,12}(:[0-9]{1,4})?(/[a-z.]{0,3}){1,4}(\\?[a-z/]{0,4})?") {
            for kind in [ScopeKind::Host, ScopeKind::Domain, ScopeKind::Prefix, ScopeKind::Any] {
                prop_assert!(scope(kind, &[&url]).allows(&url).is_ok());
            }
        }
    }
}
