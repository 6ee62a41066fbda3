//! The robots.txt of a host: fetching it and following its redirects.
//!
//! A robots.txt may redirect to another host. That is an *errand*: one request to a host other than the
//! visited one, subject to the same politeness as a visit. It holds the other IP address, so that no visit
//! begins there, and imposes the usual delays on host and address afterwards; errands waiting for an address
//! get it before the next visit, first come, first served. In a crawl divided among agents, the other address may be
//! another agent's: then that one is asked for the file, and the host rests until the answer has come.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::hosts::{RULES_LAST, RobotsRecord, Rules, SharedHost, encode};
use super::politeness::Stay;
use super::visit::{crawl_delay, retry_after};
use super::{Scheduler, now, outcome};
use crate::collection::Outcome;
use crate::crawl::parsing::sitemaps::{MOST_NAMED, USUAL};
use crate::crawl::work::{Event, Question, Reply};
use crate::crawl::writing::decisions::Decision;
use crate::encoding;
use crate::fetch::{Class, Failure, Origin, Request, Response};
use crate::frontier::HostKey;
use crate::robots::{MAX_BYTES, Robots};
use crate::url::{Url, canonical};
use crate::{Result, Signature};

/// The maximum number of redirects of a robots.txt (RFC 9309, 2.3.1.2).
const ROBOTS_REDIRECTS: usize = 5;
/// The maximum decoded size of a compressed robots.txt; only its first part is parsed.
const ROBOTS_DECODED: usize = 16 << 20;

/// How long another agent may take to answer before it is asked again.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// How long a host rests while an answer is awaited.
const BETWEEN_ANSWERS: Duration = Duration::from_millis(500);

impl Scheduler {
    /// Ensures the rules of a host are known, from the cache or by a request; returns whether pages may
    /// follow immediately.
    pub(in crate::crawl) async fn ask_for_rules(&self, host: &SharedHost, stay: &mut Stay) -> Result<bool> {
        let known = host.borrow().rules.as_ref().is_some_and(|rules| rules.until > now());
        if !self.plan.crawl.obey_robots || host.borrow().given_up.is_some() || known {
            return Ok(true);
        }
        let name = host.borrow().name.clone();
        let remembered = self.memory.borrow_mut().robots(&name)?;
        let current = remembered.as_ref().filter(|record| record.when + RULES_LAST > now());
        if let Some(record) = current {
            self.learn(host, self.rules(record));
            return Ok(true);
        }
        if host.borrow().asked.is_some_and(|asked| asked.elapsed() < ANSWER_WITHIN) {
            stay.asked = stay.asked.max(BETWEEN_ANSWERS);
            return Ok(false);
        }
        let Ok(room) = self.shared.room.acquire().await else { return Ok(false) };
        room.forget();
        let answer = match self.get_robots(host, remembered.as_ref(), stay).await {
            Ok(Told::Record(record)) => Ok(record),
            Ok(Told::ByAnother(question)) => {
                let mut host = host.borrow_mut();
                host.failures += u32::from(host.asked.take().is_some());
                if host.failures <= self.plan.crawl.retries {
                    host.asked = Some(Instant::now());
                    stay.asked = stay.asked.max(BETWEEN_ANSWERS);
                    self.send(Event::Ask(Box::new(question)));
                    return Ok(false);
                }
                let reason = format!("agent {} does not tell {}", question.agent, question.url);
                Err(Failure { class: Class::Timeout, reason, stale: false })
            }
            Err(failure) => Err(failure),
        };
        if answer.is_err() && !self.shared.permission.holds() {
            // It was cut off, which says nothing of the host.
            self.shared.room.add_permits(1);
            return Ok(false);
        }
        let (status, reason) = match &answer {
            Ok(record) => (Some(record.status), String::new()),
            Err(failure) => (None, failure.reason.clone()),
        };
        let mut note = Decision {
            time: now(),
            url: format!("{name}/robots.txt"),
            event: "robots.txt",
            status,
            detail: reason.clone(),
            seconds: Some(stay.took.as_secs_f64()),
            address: Some(host.borrow().address.to_string()),
            ..Decision::default()
        };
        let rules = answer.as_ref().ok().and_then(|record| self.rules(record));
        if let (Ok(record), Some(rules)) = (&answer, rules) {
            self.memory.borrow_mut().remember_robots(&name, record)?;
            self.learn(host, Some(rules));
            host.borrow_mut().failures = 0;
            self.note(note);
            return Ok(true);
        }
        // A server error, or no response, disallows everything for now (RFC 9309, 2.3.1.4).
        let mut host = host.borrow_mut();
        host.failures += 1;
        let wish = answer.as_ref().ok().and_then(|record| record.retry_after).unwrap_or_default();
        stay.asked = stay.asked.max(self.plan.crawl.politeness.backoff(host.failures)).max(wish);
        let again = answer.as_ref().map_or_else(|failure| failure.class.again(), |_| true);
        if again && self.plan.revisits > 0 && host.away.is_none() {
            host.away = Some(match &answer {
                Err(failure) => failure.reason.clone(),
                Ok(record) => format!("robots.txt answers {}", record.status),
            });
        }
        if !again || host.failures > self.plan.crawl.retries {
            host.given_up = Some(match &answer {
                Err(failure) => (outcome(failure), failure.reason.clone()),
                Ok(record) => (Outcome::Robots, format!("robots.txt answers {}", record.status)),
            });
            note.event = "host given up";
            stay.asked = Duration::ZERO;
        }
        self.note(note);
        Ok(false)
    }

    /// Takes over the rules of a host, and the sitemaps that go with them.
    fn learn(&self, host: &SharedHost, rules: Option<Rules>) {
        let mut host = host.borrow_mut();
        if let (true, Some(rules)) = (self.plan.crawl.sitemaps, &rules) {
            let robots = &rules.robots;
            let base = Url::parse(&host.name).ok();
            let named = robots.sitemaps().filter_map(|url| canonical(url, base.as_ref()));
            host.sitemaps = named.take(MOST_NAMED).collect();
            let usual = format!("{}{USUAL}", host.name);
            if host.sitemaps.is_empty() && robots.allows(&usual).allowed {
                host.sitemaps.push(usual);
            }
        }
        host.rules = rules;
        let delay = self.plan.crawl.politeness.accepted(crawl_delay(&host));
        drop(host);
        self.note_rest(delay);
    }

    /// The rules that follow from a stored robots.txt response; `None` if it has to be requested again.
    fn rules(&self, record: &RobotsRecord) -> Option<Rules> {
        let robots = match record.status {
            200..=299 => Robots::parse(&record.body, &self.plan.crawl.user_agent),
            429 => return None,
            300..=499 => Robots::allow_all(),
            _ => return None,
        };
        Some(Rules { robots, until: record.when + RULES_LAST })
    }

    /// Requests robots.txt, following redirects.
    async fn get_robots(
        &self,
        host: &SharedHost,
        remembered: Option<&RobotsRecord>,
        stay: &mut Stay,
    ) -> std::result::Result<Told, Failure> {
        let own = host.borrow().origin.clone();
        let mut url = format!("{}/robots.txt", host.borrow().name);
        let mut record = RobotsRecord { when: now(), status: 404, ..RobotsRecord::default() };
        for _ in 0..=ROBOTS_REDIRECTS {
            let request = Request {
                url: &url,
                etag: remembered.and_then(|record| record.etag.as_deref()),
                last_modified: remembered.and_then(|record| record.last_modified.as_deref()),
                cookie: None,
                first_bytes: Some(MAX_BYTES),
                noted: false,
            };
            let Some(origin) = Origin::of(&url) else { break };
            let response = if origin == own {
                self.get(host, &request, stay).await?
            } else {
                let address = self.client.resolve(&origin.host).await?;
                if let Some(agent) = self.owner_if_another(address) {
                    let origin = host.borrow().name.clone();
                    return Ok(Told::ByAnother(Question { agent, origin, url, address }));
                }
                let own = host.borrow().address;
                self.get_elsewhere(Some(own), (&origin, address), &request, stay).await?
            };
            if response.status == 304
                && let Some(remembered) = remembered
            {
                return Ok(Told::Record(RobotsRecord { when: record.when, ..remembered.clone() }));
            }
            if let (300..=399, Some(location)) = (response.status, response.header("location")) {
                let base = Url::parse(&url).ok();
                let Some(target) = canonical(location, base.as_ref()) else { break };
                url = target;
                continue;
            }
            record.read(&response);
            return Ok(Told::Record(record));
        }
        // Too many redirects, or an invalid target: treated as if there were no robots.txt (RFC 9309,
        // 2.3.1.2).
        Ok(Told::Record(record))
    }

    /// Asks for a robots.txt that another agent needs, at an address that is this agent's, and tells it the response. If
    /// there is none, or it leads on to an address of a third agent, there is no answer: the asker gives up.
    pub(in crate::crawl) async fn answer(&self, question: Question) {
        let Question { agent, origin: asked_for, mut url, mut address } = question;
        tokio::time::sleep_until(self.shared.permission.begins().into()).await;
        let mut record = RobotsRecord { when: now(), status: 404, ..RobotsRecord::default() };
        for _ in 0..=ROBOTS_REDIRECTS {
            let Some(origin) = Origin::of(&url) else { break };
            let request = Request {
                url: &url,
                etag: None,
                last_modified: None,
                cookie: None,
                first_bytes: Some(MAX_BYTES),
                noted: false,
            };
            let mut stay = Stay::default();
            let answer = self.get_elsewhere(None, (&origin, address), &request, &mut stay).await;
            let Ok(response) = answer else { return };
            let base = Url::parse(&url).ok();
            let location = response.header("location").filter(|_| (300..=399).contains(&response.status));
            let Some(target) = location.and_then(|location| canonical(location, base.as_ref())) else {
                record.read(&response);
                break;
            };
            let host = Origin::of(&target).map(|origin| origin.host);
            let Some(host) = host else { break };
            let Ok(next) = self.client.resolve(&host).await else { return };
            if self.owner_if_another(next).is_some() {
                return;
            }
            (url, address) = (target, next);
        }
        if self.rules(&record).is_none() {
            return;
        }
        let (Ok(response), Ok(room)) = (encode(&record), self.shared.room.acquire().await) else { return };
        room.forget();
        self.send(Event::Answer(Box::new(Reply { agent, origin: asked_for, response })));
    }

    /// One request to a host other than the visited one, as soon as politeness allows it there.
    async fn get_elsewhere(
        &self,
        own: Option<IpAddr>,
        (origin, address): (&Origin, IpAddr),
        request: &Request<'_>,
        stay: &mut Stay,
    ) -> std::result::Result<Response, Failure> {
        let own = own == Some(address);
        let key = HostKey(Signature::of(origin.to_string().as_bytes()).0);
        let turn = tokio::time::timeout(self.plan.crawl.fetch.total_timeout, self.errand(key, address, own));
        let Ok(hold) = turn.await else {
            let reason = format!("{origin} could not be asked politely in time");
            return Err(Failure { class: Class::Timeout, reason, stale: false });
        };
        let started = Instant::now();
        let exchange = async {
            let mut connection = self.client.connect(origin, address).await?;
            connection.get(request).await
        };
        let answer = self.while_permitted(exchange).await;
        stay.count(started);
        let mut there = Stay::default();
        there.count(started);
        self.shared.gauges.requests.add(1);
        let rest = self.plan.crawl.politeness.rest(&there, self.crawl_delay_of(key, &origin.to_string()));
        self.note_rest(rest.host.max(rest.address));
        let (host_ready, address_ready) = (self.moment(rest.host), self.moment(rest.address));
        self.frontier.borrow_mut().let_rest(key, address, host_ready, address_ready);
        drop(hold);
        answer
    }

    /// Waits until politeness allows one request to a host, and holds its address, unless that is held
    /// already.
    async fn errand(&self, key: HostKey, address: IpAddr, own: bool) -> Option<Hold<'_>> {
        let hold = if own { None } else { Some(self.hold(address).await) };
        loop {
            let ready = self.frontier.borrow_mut().ready_for_errand(key, address, own);
            if ready <= self.now() {
                return hold;
            }
            tokio::time::sleep_until(self.instant(ready).into()).await;
        }
    }

    async fn hold(&self, address: IpAddr) -> Hold<'_> {
        let free = self.frontier.borrow_mut().hold(address, self.now());
        if !free {
            let (turn, mine) = oneshot::channel();
            self.waiting.borrow_mut().entry(address).or_default().push_back(turn);
            // The wait ends when the address is held for us; the scheduler outlives all visits.
            drop(mine.await);
        }
        Hold { scheduler: self, address }
    }

    /// Passes a released address on to the next errand waiting for it, before a visit can take it.
    pub(in crate::crawl) fn pass_on(&self, address: IpAddr) {
        loop {
            let next = self.waiting.borrow_mut().get_mut(&address).and_then(VecDeque::pop_front);
            let Some(turn) = next else {
                self.waiting.borrow_mut().remove(&address);
                return;
            };
            let free = self.frontier.borrow_mut().hold(address, self.now());
            if free && turn.send(()).is_err() {
                // The waiting errand was cancelled.
                self.frontier.borrow_mut().release(address);
                continue;
            }
            return;
        }
    }

    /// The Crawl-delay of a host, which need not be in the workbench.
    fn crawl_delay_of(&self, key: HostKey, name: &str) -> Duration {
        if let Some(host) = self.hosts.borrow().get(&key)
            && let Ok(host) = host.try_borrow()
        {
            return crawl_delay(&host);
        }
        let remembered = self.memory.borrow_mut().robots(name).ok().flatten();
        let rules = remembered.and_then(|record| self.rules(&record));
        rules.and_then(|rules| rules.robots.crawl_delay()).unwrap_or_default()
    }
}

/// What came of the question for a robots.txt.
enum Told {
    /// This.
    Record(RobotsRecord),
    /// It is at an address of another agent, who has to be asked.
    ByAnother(Question),
}

impl RobotsRecord {
    /// Takes over a response.
    fn read(&mut self, response: &Response) {
        self.status = response.status;
        self.retry_after = response.header("retry-after").and_then(retry_after);
        self.etag = response.header("etag").map(str::to_owned);
        self.last_modified = response.header("last-modified").map(str::to_owned);
        let encoding = response.header("content-encoding").unwrap_or_default();
        match encoding::decode(&response.body, encoding, ROBOTS_DECODED) {
            Ok(body) => self.body = body[..body.len().min(MAX_BYTES)].to_vec(),
            // Content that cannot be decoded may disallow anything.
            Err(_) => self.status = 503,
        }
    }
}

/// An address held for an errand; dropping this passes it on.
struct Hold<'a> {
    scheduler: &'a Scheduler,
    address: IpAddr,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.scheduler.frontier.borrow_mut().release(self.address);
        self.scheduler.pass_on(self.address);
        self.scheduler.shared.wake.notify_one();
    }
}
