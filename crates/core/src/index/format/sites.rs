//! The site dictionary of a segment: each host once, ordered so that a domain and its subdomains are
//! neighbours.
//!
//! Hosts are compared label by label from the last to the first, `org`, `example`, `www`. So `example.org`
//! and every host that ends in `.example.org` have consecutive numbers, and neither `badexample.org` nor
//! `example-x.org` is among them. An IP address is one label: `0.0.1` has no subdomains.
//!
//! ```text
//! count   how many there are, as u32
//! ends    where each name ends among the names, as a table of one column (see crate::index::format::rows)
//! names   one after the other, in UTF-8
//! ```
//!
//! A site takes its name and about 3 bytes; a document has its site number in the table of facts. Looking up
//! a name is two loads; finding a domain is a binary search.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::card::Card;
use super::rows::{Rows, write_rows};
use crate::url::{Url, ends_in_number, push_host};

/// The host of a URL, in lower case and without a port; empty if it has none.
pub fn site_of_url(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_lowercase));
    host.map_or_else(String::new, without_root)
}

/// A host as URLs spell it: `Bücher.Example.` is `xn--bcher-kva.example`.
fn as_in_urls(host: &str) -> String {
    let mut spelled = String::with_capacity(host.len());
    let known = push_host(&mut spelled, host, true).is_some();
    without_root(if known { spelled } else { host.to_lowercase() })
}

/// A host without its trailing dot, if any.
fn without_root(mut host: String) -> String {
    host.truncate(host.trim_end_matches('.').len());
    host
}

/// The labels of a host from the last to the first; an IP address is one label.
fn labels(host: &str) -> impl Iterator<Item = &str> {
    let is_address = host.starts_with('[') || ends_in_number(host);
    host.rsplitn(if is_address { 1 } else { usize::MAX }, '.')
}

fn compare(one: &str, other: &str) -> Ordering {
    labels(one).cmp(labels(other))
}

fn is_under(host: &str, domain: &str) -> bool {
    let mut own = labels(host);
    labels(domain).all(|label| own.next() == Some(label))
}

/// Hosts collected during a build, numbered in order of arrival.
#[derive(Default)]
pub struct SiteNumbers {
    numbers: HashMap<Box<str>, u32>,
}

impl SiteNumbers {
    /// The number of a host.
    pub fn number(&mut self, host: &str) -> u32 {
        if let Some(number) = self.numbers.get(host) {
            return *number;
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(host.into(), next);
        next
    }

    /// Adds the hosts of another; returns the number here of each of them.
    pub fn take_in(&mut self, other: SiteNumbers) -> Vec<u32> {
        let mut numbers = vec![0; other.numbers.len()];
        for (host, old) in other.numbers {
            let next = self.numbers.len() as u32;
            numbers[old as usize] = match self.numbers.entry(host) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => *place.insert(next),
            };
        }
        numbers
    }

    /// The dictionary of the hosts of the cards; the cards are renumbered to match.
    pub fn into_dictionary(self, cards: &mut [Card]) -> Vec<u8> {
        let mut used = vec![false; self.numbers.len()];
        cards.iter().for_each(|card| used[card.facts.site as usize] = true);
        let mut sorted: Vec<(Box<str>, u32)> =
            self.numbers.into_iter().filter(|(_, number)| used[*number as usize]).collect();
        sorted.sort_unstable_by(|(one, _), (other, _)| compare(one, other));
        let mut numbers = vec![0; used.len()];
        sorted.iter().zip(0..).for_each(|((_, old), new)| numbers[*old as usize] = new);
        cards.iter_mut().for_each(|card| card.facts.site = numbers[card.facts.site as usize]);
        write_names(sorted.iter().map(|(host, _)| &**host))
    }
}

fn write_names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<u8> {
    let mut bytes = (names.clone().count() as u32).to_le_bytes().to_vec();
    let ends = names.clone().scan(0, |end, name| {
        *end += name.len() as u64;
        Some([*end])
    });
    write_rows(ends, &mut bytes);
    names.for_each(|name| bytes.extend_from_slice(name.as_bytes()));
    bytes
}

const COUNT: usize = size_of::<u32>();

/// The layout of a dictionary; its bytes are passed to each read.
#[derive(Clone, Copy, Debug)]
pub struct Sites {
    count: u32,
    ends: Rows<1>,
    /// Where the names start.
    names: usize,
}

impl Sites {
    /// Opens a dictionary; `None` if the bytes cannot be one.
    pub fn open(bytes: &[u8]) -> Option<Sites> {
        let (count, rest) = bytes.split_first_chunk::<COUNT>()?;
        let count = u32::from_le_bytes(*count);
        let ends = Rows::open(rest, count as usize)?;
        let names = COUNT + ends.bytes(count as usize) as usize;
        Some(Sites { count, ends, names })
    }

    /// The number of sites.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// The name of a site; empty if there is no such site.
    pub fn name<'a>(&self, bytes: &'a [u8], site: u32) -> &'a str {
        self.checked_name(bytes, site).unwrap_or_default()
    }

    /// The sites that are `host` or a subdomain of it.
    pub fn under(&self, bytes: &[u8], host: &str) -> Range<u32> {
        let host = as_in_urls(host);
        let first = self.first(|site| compare(self.name(bytes, site), &host).is_lt());
        let end = self.first(|site| {
            let name = self.name(bytes, site);
            compare(name, &host).is_lt() || is_under(name, &host)
        });
        first..end.max(first)
    }

    /// Whether the dictionary is intact: all names are UTF-8, fill the section, and are in order.
    pub fn is_whole(&self, bytes: &[u8]) -> bool {
        let mut before = None;
        let in_order = (0..self.count).all(|site| {
            let name = self.checked_name(bytes, site);
            let rises = name.is_some_and(|name| before.is_none_or(|before| compare(before, name).is_lt()));
            before = name;
            rises
        });
        let end = self.count.checked_sub(1).map_or(0, |last| self.end(bytes, last));
        in_order && self.names.checked_add(end) == Some(bytes.len())
    }

    fn checked_name<'a>(&self, bytes: &'a [u8], site: u32) -> Option<&'a str> {
        if site >= self.count {
            return None;
        }
        let start = site.checked_sub(1).map_or(0, |before| self.end(bytes, before));
        let name = bytes.get(self.names..)?.get(start..self.end(bytes, site))?;
        std::str::from_utf8(name).ok()
    }

    fn end(&self, bytes: &[u8], site: u32) -> usize {
        self.ends.get(bytes.get(COUNT..).unwrap_or_default(), site as usize, 0) as usize
    }

    /// The first site for which `before` does not hold.
    fn first(&self, before: impl Fn(u32) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::Signature;
    use crate::index::format::facts::Facts;
    use crate::index::format::zone::ZONES;

    fn card(site: u32) -> Card {
        Card { signature: Signature(0), words: [0; ZONES], facts: Facts { site, ..Facts::default() } }
    }

    /// A dictionary of hosts that are added in two parts, and the number of each.
    fn dictionary(hosts: &[String], cut: usize) -> (Vec<u8>, Vec<u32>) {
        let (first, second) = hosts.split_at(cut);
        let (mut numbers, mut others) = (SiteNumbers::default(), SiteNumbers::default());
        let mut cards: Vec<Card> = first.iter().map(|host| card(numbers.number(host))).collect();
        let own: Vec<u32> = second.iter().map(|host| others.number(host)).collect();
        others.number("nobody.uses.me");
        let numbered = numbers.take_in(others);
        cards.extend(own.into_iter().map(|own| card(numbered[own as usize])));
        let bytes = numbers.into_dictionary(&mut cards);
        (bytes, cards.iter().map(|card| card.facts.site).collect())
    }

    fn some_hosts() -> impl Strategy<Value = Vec<String>> {
        let label = prop::sample::select(vec!["org", "example", "example-x", "www", "a", "b", "1", "x1", ""]);
        let host = prop::collection::vec(label, 1..4).prop_map(|labels| labels.join("."));
        prop::collection::vec(host.prop_map(without_root), 0..40)
    }

    #[test]
    fn urls_have_sites() {
        for (url, site) in [
            ("https://WWW.Example.org:8080/a", "www.example.org"),
            ("http://user:secret@a.example./b", "a.example"),
            ("http://bücher.example/", "xn--bcher-kva.example"),
            ("http://[::1]:80/", "[::1]"),
            ("http://127.0.0.1:8080/", "127.0.0.1"),
            ("gopher://Old.Example/1", "old.example"),
            ("line:3", ""),
            ("mailto:someone@example.org", ""),
            ("7", ""),
            ("", ""),
        ] {
            assert_eq!(site_of_url(url), site, "{url}");
        }
    }

    #[test]
    fn a_domain_is_itself_and_what_is_under_it() {
        let hosts =
            ["example.org", "www.example.org", "badexample.org", "example-x.org", "a.www.example.org"];
        let more = ["example.com", "127.0.0.1", "10.0.0.1", "[::1]", "", "xn--bcher-kva.example"];
        let hosts: Vec<String> = hosts.into_iter().chain(more).map(str::to_owned).collect();
        let (bytes, _) = dictionary(&hosts, 4);
        let sites = Sites::open(&bytes).unwrap();
        let under = |host: &str| -> Vec<&str> {
            sites.under(&bytes, host).map(|site| sites.name(&bytes, site)).collect()
        };
        assert_eq!(under("example.org"), ["example.org", "www.example.org", "a.www.example.org"]);
        assert_eq!(under("WWW.Example.org."), ["www.example.org", "a.www.example.org"]);
        assert_eq!(under("127.0.0.1"), ["127.0.0.1"]);
        assert_eq!(under("[::1]"), ["[::1]"]);
        assert_eq!(under("bücher.example"), ["xn--bcher-kva.example"]);
        assert_eq!(under(""), [""]);
        assert!(under("0.0.1").is_empty() && under("net").is_empty() && under("ample.org").is_empty());
    }

    proptest! {
        #[test]
        fn is_a_sorted_set_of_names(hosts in some_hosts(), asked in some_hosts(), cut in any::<prop::sample::Index>()) {
            let (bytes, numbers) = dictionary(&hosts, cut.index(hosts.len() + 1));
            let sites = Sites::open(&bytes).unwrap();
            let distinct: BTreeSet<&String> = hosts.iter().collect();
            prop_assert!(sites.is_whole(&bytes) && sites.len() == distinct.len());
            for (host, number) in hosts.iter().zip(&numbers) {
                prop_assert_eq!(sites.name(&bytes, *number), host.as_str());
            }
            for domain in hosts.iter().chain(&asked) {
                let range = sites.under(&bytes, domain);
                let domain = as_in_urls(domain);
                for (host, number) in hosts.iter().zip(&numbers) {
                    let address = ends_in_number(host);
                    let under = *host == domain || (!address && host.ends_with(&format!(".{domain}")) && !domain.is_empty());
                    prop_assert_eq!(range.contains(number), under, "{} in {}", host, domain);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..60), count in 0u32..20, site: u32) {
            let mut whole = count.to_le_bytes().to_vec();
            whole.extend(&bytes);
            for bytes in [whole, bytes] {
                if let Some(sites) = Sites::open(&bytes) {
                    sites.name(&bytes, site);
                    (0..count).for_each(|site| { sites.name(&bytes, site); });
                    sites.under(&bytes, "example.org");
                    sites.is_whole(&bytes);
                }
            }
        }
    }
}
