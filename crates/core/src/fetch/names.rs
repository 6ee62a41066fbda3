//! DNS resolution: each name is resolved once, checked, and cached.
//!
//! A name is resolved only here, to one address, which passed the check; the connection goes to that address
//! without another lookup. So a name cannot point to a public address when it is checked and to a private one
//! when it is used (DNS rebinding).
//!
//! The answer comes from the given hosts file, else from the system's, else from DNS: A records first, AAAA
//! if there is no usable A. A name with a dot is taken as fully qualified; only one without is tried in the
//! system's search domains. Answers are cached for their TTL, but at least a minute and at most an hour;
//! failures for half a minute. The cache has two generations of [`GENERATION`] names (about 150 bytes each):
//! when the young one is full it becomes the old one, and the old one is dropped.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Resolver, TokioResolver, system_conf};
use rustc_hash::FxHashMap;
use tokio::time::{Instant, timeout};

use super::address::{is_public, literal};
use super::failure::{Class, Failure};
use crate::{Error, Result};

/// The number of names per generation of the cache.
const GENERATION: usize = 1 << 16;
const SHORTEST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(3600);
const FAILED: Duration = Duration::from_secs(30);
const SYSTEM_HOSTS: &str = "/etc/hosts";

type Answer = std::result::Result<IpAddr, Failure>;

/// Resolves, checks and caches names.
pub struct Names {
    allow_private: bool,
    limit: Duration,
    hosts: FxHashMap<String, Vec<IpAddr>>,
    resolver: TokioResolver,
    known: RefCell<Memory>,
}

impl Names {
    /// A resolver with the given hosts file and name server, or else the system's. `limit` is the time limit
    /// per name.
    pub fn new(
        hosts_file: Option<&Path>,
        name_server: Option<SocketAddr>,
        allow_private: bool,
        limit: Duration,
    ) -> Result<Names> {
        let mut hosts = std::fs::read(SYSTEM_HOSTS).map(|text| hosts_in(&text)).unwrap_or_default();
        if let Some(path) = hosts_file {
            hosts.extend(hosts_in(&std::fs::read(path).map_err(Error::io(path))?));
        }
        let resolver = resolver(name_server, limit)
            .map_err(|error| Error::Invalid(format!("the name servers cannot be asked: {error}")))?;
        Ok(Names { allow_private, limit, hosts, resolver, known: RefCell::default() })
    }

    /// The address of a host, given as a name or an IP address.
    pub async fn resolve(&self, host: &str) -> Answer {
        if let Some(address) = literal(host) {
            return self.choose(host, &[address]);
        }
        if let Some(known) = self.known.borrow_mut().get(host) {
            return known;
        }
        let (answer, lifetime) = match self.hosts.get(host.strip_suffix('.').unwrap_or(host)) {
            Some(addresses) => (self.choose(host, addresses), LONGEST),
            None => match timeout(self.limit, self.ask(host)).await {
                Ok((answer, lifetime)) => (answer, lifetime.clamp(SHORTEST, LONGEST)),
                Err(_) => {
                    (Err(Failure::late(Class::NameServer, "no answer about the name", self.limit)), FAILED)
                }
            },
        };
        let lifetime = if answer.is_ok() { lifetime } else { FAILED };
        self.known.borrow_mut().insert(host, answer.clone(), Instant::now() + lifetime);
        answer
    }

    /// The DNS answer for a name, and how long it is valid.
    async fn ask(&self, host: &str) -> (Answer, Duration) {
        let name = Name::from_ascii(host).map(|mut name| {
            name.set_fqdn(host.contains('.'));
            name
        });
        let Ok(name) = name else {
            return (Err(Failure::new(Class::Dns, format!("{host} cannot be a name"))), FAILED);
        };
        let mut refused = None;
        for kind in [RecordType::A, RecordType::AAAA] {
            match self.resolver.lookup(name.clone(), kind).await {
                Ok(found) => {
                    let records = found.answers();
                    let addresses: Vec<IpAddr> =
                        records.iter().filter_map(|record| record.data.ip_addr()).collect();
                    let seconds = records.iter().map(|record| record.ttl).min().unwrap_or(0);
                    match self.choose(host, &addresses) {
                        Ok(address) => return (Ok(address), Duration::from_secs(seconds.into())),
                        Err(failure) => refused = refused.or(Some(failure)),
                    }
                }
                Err(error) => match unresolved(host, &error) {
                    Some(failure) => return (Err(refused.unwrap_or(failure)), FAILED),
                    None => continue,
                },
            }
        }
        let none = || Failure::new(Class::Dns, format!("the name {host} has no address"));
        (Err(refused.unwrap_or_else(none)), FAILED)
    }

    /// The first permitted address, IPv4 before IPv6.
    fn choose(&self, host: &str, addresses: &[IpAddr]) -> Answer {
        let usable = |address: &&IpAddr| self.allow_private || is_public(**address);
        let first = |wanted: fn(&IpAddr) -> bool| {
            addresses.iter().filter(usable).find(|address| wanted(address)).copied()
        };
        first(IpAddr::is_ipv4).or_else(|| first(IpAddr::is_ipv6)).ok_or_else(|| match addresses {
            [] => Failure::new(Class::Dns, format!("the name {host} has no address")),
            [address, ..] => refusal(host, *address),
        })
    }
}

/// The failure for a host whose address is not permitted.
pub fn refusal(host: &str, address: IpAddr) -> Failure {
    let reason = if literal(host).is_some() {
        format!("{address} is not on the public internet")
    } else {
        format!("the name {host} leads to {address}, which is not on the public internet")
    };
    Failure::new(Class::Private, reason)
}

/// The failure for a name; `None` if it exists and only has no address of this type.
fn unresolved(host: &str, error: &NetError) -> Option<Failure> {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) if none.response_code == ResponseCode::NoError => None,
        NetError::Dns(DnsError::NoRecordsFound(none)) if none.response_code == ResponseCode::NXDomain => {
            Some(Failure::new(Class::Dns, format!("the name {host} does not exist")))
        }
        _ => Some(Failure::new(Class::NameServer, format!("no answer about the name {host}: {error}"))),
    }
}

fn resolver(
    name_server: Option<SocketAddr>,
    limit: Duration,
) -> std::result::Result<TokioResolver, NetError> {
    let (config, mut options) = match name_server {
        Some(address) => (asking(address), ResolverOpts::default()),
        // Without a system configuration the name server is on the local machine, by resolv.conf(5).
        None => system_conf::read_system_conf()
            .unwrap_or_else(|_| (asking(SocketAddr::from(([127, 0, 0, 1], 53))), ResolverOpts::default())),
    };
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.timeout = options.timeout.min(limit / 2);
    options.max_active_requests = 1024;
    let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build()
}

fn asking(address: SocketAddr) -> ResolverConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    server.connections.iter_mut().for_each(|connection| connection.port = address.port());
    ResolverConfig::from_parts(None, Vec::new(), vec![server])
}

/// The names of a file like `/etc/hosts`, in lower case, with their addresses in line order.
fn hosts_in(text: &[u8]) -> FxHashMap<String, Vec<IpAddr>> {
    let mut hosts: FxHashMap<String, Vec<IpAddr>> = HashMap::default();
    for line in String::from_utf8_lossy(text).lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
        let Some(address) = words.next().and_then(literal) else { continue };
        for name in words {
            hosts.entry(name.to_ascii_lowercase()).or_default().push(address);
        }
    }
    hosts
}

/// The two generations of answers.
#[derive(Default)]
struct Memory {
    young: FxHashMap<Box<str>, (Instant, Answer)>,
    old: FxHashMap<Box<str>, (Instant, Answer)>,
}

impl Memory {
    fn get(&mut self, host: &str) -> Option<Answer> {
        if let Some((until, answer)) = self.young.get(host) {
            return (*until > Instant::now()).then(|| answer.clone());
        }
        let (until, answer) = self.old.remove(host)?;
        if until <= Instant::now() {
            return None;
        }
        self.insert(host, answer.clone(), until);
        Some(answer)
    }

    fn insert(&mut self, host: &str, answer: Answer, until: Instant) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(host.into(), (until, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hosts_files() {
        let hosts = hosts_in(
            b"# comment\n127.0.0.2 A.example b.example # c.example\n\nnonsense d.example\n::1\ta.example\n",
        );
        let mut names: Vec<_> = hosts.into_iter().collect();
        names.sort();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(
            names,
            [
                ("a.example".to_owned(), vec![address("127.0.0.2"), address("::1")]),
                ("b.example".to_owned(), vec![address("127.0.0.2")]),
            ]
        );
    }

    #[test]
    fn forgets_what_was_not_used_for_long() {
        let mut memory = Memory::default();
        let address: IpAddr = "1.1.1.1".parse().unwrap();
        let until = Instant::now() + LONGEST;
        memory.insert("used.example", Ok(address), until);
        memory.insert("idle.example", Ok(address), until);
        for number in 0..3 * GENERATION {
            memory.insert(&format!("{number}.example"), Ok(address), until);
            assert!(memory.young.len() + memory.old.len() <= 2 * GENERATION);
            if number % 1000 == 0 {
                assert_eq!(memory.get("used.example"), Some(Ok(address)));
            }
        }
        assert_eq!(memory.get("idle.example"), None);
    }
}
