//! A visit: the token of a host and its address, a few requests over one connection, and the rest that
//! politeness asks for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::oneshot;

use super::decisions::Decision;
use super::hosts::{Host, RULES_LAST, RobotsRecord, Rules};
use super::parse::origin;
use super::politeness::Stay;
use super::schedule::{Scheduler, now, outcome};
use super::work::{Event, Fetched, Unanswered, Work};
use crate::fetch::{Class, Failure, Origin, Request, Response};
use crate::frontier::{HostKey, Token};
use crate::robots::{MAX_BYTES, Robots};
use crate::store::{self, Outcome};
use crate::url::{Url, canonical, trap};
use crate::{Result, Signature};

/// After so many failed requests in a row a host is left alone for the rest of the run.
const GIVE_UP: u32 = 10;
/// A connection is kept for a rest no longer than this.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How many redirects of a robots.txt are followed (RFC 9309, 2.3.1.2).
const ROBOTS_REDIRECTS: usize = 5;
/// A compressed robots.txt may decode to so much; only its first part counts.
const ROBOTS_DECODED: usize = 16 << 20;
/// From so many pages on a host's share of them is looked at.
const SHARE_FROM: u64 = 1000;
/// A visit that spends so much on saying no ends, and the host rests ten times as long.
const REFUSING: Duration = Duration::from_millis(5);
/// So many URLs that need no request are done before other visits may go on.
const IN_A_ROW: u32 = 64;

type SharedHost = Rc<RefCell<Host>>;

impl Scheduler {
    /// Visits a host, and gives it back with its next polite moment.
    pub(super) async fn visit(&self, token: Token) {
        let host = self.hosts.borrow().get(&token.host).cloned();
        let Some(host) = host else { return };
        self.idle.set(self.idle.get() - usize::from(host.borrow().connection.is_some()));
        host.borrow_mut().visited = true;
        let mut stay = Stay::default();
        if let Err(error) = self.stay(&host, &token, &mut stay).await {
            self.shared.fail(error);
            return;
        }
        let address = token.address;
        let mut known = host.borrow_mut();
        let politeness = &self.settings.politeness;
        let rest = politeness.rest(&stay, crawl_delay(&known));
        // No more connections are kept while their hosts rest than may be in use at once.
        let room = self.idle.get() < self.settings.connections;
        if politeness.relative.is_some() || rest.host > KEEP_ALIVE || !room {
            known.connection = None;
        }
        self.idle.set(self.idle.get() + usize::from(known.connection.is_some()));
        known.visited = false;
        known.used = Instant::now();
        if !rest.host.is_zero() {
            known.record.ready_at = now() + rest.host.as_secs_f64();
        }
        let keep = !known.again.is_empty();
        self.frontier.borrow_mut().give_back(token, self.moment(rest.host), self.moment(rest.address), keep);
        drop(known);
        self.pass_on(address);
    }

    async fn stay(&self, host: &SharedHost, token: &Token, stay: &mut Stay) -> Result<()> {
        if !self.ask_for_rules(host, stay).await? {
            return Ok(());
        }
        let mut without_request = 0;
        let mut refusing = Duration::ZERO;
        while !self.shared.is_stopping()
            && self.settings.politeness.goes_on(stay, crawl_delay(&host.borrow()))
        {
            if self.shared.budget.load(Ordering::Acquire) <= 0 {
                return Ok(());
            }
            let Some(work) = self.next_work(host, token)? else { return Ok(()) };
            let asked = Instant::now();
            let refusal = self.refusal(host, &work);
            refusing += asked.elapsed();
            if let Some((outcome, detail)) = refusal {
                self.give_up(work, outcome, detail, 0.0, None).await;
                if refusing > REFUSING {
                    // Rules that take long to apply must not hold up the other hosts.
                    stay.asked = refusing * 10;
                    return Ok(());
                }
                without_request += 1;
                if without_request % IN_A_ROW == 0 {
                    tokio::task::yield_now().await;
                }
                continue;
            }
            if !self.request(host, work, stay).await {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The next URL of a host; from here on it counts as open.
    fn next_work(&self, host: &SharedHost, token: &Token) -> Result<Option<Work>> {
        if let Some(work) = host.borrow_mut().again.pop_front() {
            return Ok(Some(work));
        }
        let mut frontier = self.frontier.borrow_mut();
        let Some(offset) = frontier.pop(token)? else { return Ok(None) };
        self.shared.open(offset);
        self.read(offset).map(Some)
    }

    /// Why a URL is not asked for.
    fn refusal(&self, host: &SharedHost, work: &Work) -> Option<(Outcome, String)> {
        let host = host.borrow();
        let settings = &self.settings;
        if let Some((outcome, reason)) = &host.given_up {
            return Some((*outcome, reason.clone()));
        }
        if work.tag.chain > settings.max_chain {
            let reason = format!("{} links in a row led to URLs that differ only in numbers", work.tag.chain);
            return Some((Outcome::Trap, reason));
        }
        if let Some(trap) = trap(&work.url, &settings.traps) {
            return Some((Outcome::Trap, trap.to_string()));
        }
        if work.attempts == 0 && self.queries.borrow_mut().crowded(&work.url) {
            let reason = format!("its path had more than {} different queries", settings.max_queries);
            return Some((Outcome::Trap, reason));
        }
        if let Some(rules) = &host.rules {
            let verdict = rules.robots.allows(&work.url);
            if !verdict.allowed {
                let rule = verdict.rule.unwrap_or_default();
                let line = verdict.line.map(|line| format!("line {line}: {rule}"));
                return Some((Outcome::Robots, line.unwrap_or(rule)));
            }
        }
        if settings.max_per_host > 0 && host.record.fetched >= settings.max_per_host {
            return Some((Outcome::Limit, format!("max_per_host is {}", settings.max_per_host)));
        }
        let pages = match settings.max_pages {
            0 => self.shared.gauges.requests.get().max(SHARE_FROM),
            pages => pages,
        };
        let share = (pages as f64 * settings.max_share).ceil() as u64;
        if settings.max_share > 0.0 && host.record.fetched >= share {
            return Some((Outcome::Limit, format!("max_share is {}", settings.max_share)));
        }
        None
    }

    /// Asks for a page; tells whether the visit may go on.
    async fn request(&self, host: &SharedHost, mut work: Work, stay: &mut Stay) -> bool {
        // The semaphore is never closed.
        let Ok(room) = self.shared.room.acquire().await else { return false };
        if self.shared.budget.fetch_sub(1, Ordering::AcqRel) <= 0 {
            self.shared.budget.fetch_add(1, Ordering::AcqRel);
            host.borrow_mut().again.push_front(work);
            return false;
        }
        room.forget();
        work.counted = true;
        let when = now();
        let cookie = self.cookie(host, &work.url);
        let request = Request { url: &work.url, cookie: cookie.as_deref(), ..Request::default() };
        let answer = self.get(host, &request, stay).await;
        let address = host.borrow().address;
        match answer {
            Ok(response) if is_busy(response.status) && work.attempts < self.settings.retries => {
                stay.asked = stay.asked.max(self.busy(host, &response));
                let reason = format!("the host answers {}", response.status);
                self.again(host, work, reason, Some(response.status), stay.asked);
                false
            }
            Ok(response) => {
                self.keep_cookies(host, &work.url, &response);
                if is_busy(response.status) {
                    stay.asked = stay.asked.max(self.busy(host, &response));
                } else {
                    host.borrow_mut().failures = 0;
                }
                host.borrow_mut().record.fetched += 1;
                self.hand_over(Fetched { work, when, response, address, weight: 1 }).await;
                true
            }
            Err(failure) => {
                let failures = {
                    let mut host = host.borrow_mut();
                    host.failures += 1;
                    if host.failures >= GIVE_UP {
                        host.given_up =
                            Some((outcome(&failure), format!("{GIVE_UP} requests in a row failed")));
                    }
                    host.failures
                };
                stay.asked = stay.asked.max(self.settings.politeness.backoff(failures));
                if failure.class.again() && work.attempts < self.settings.retries {
                    self.again(host, work, failure.reason, None, stay.asked);
                } else {
                    work.attempts += 1;
                    if !failure.class.again() {
                        // The page is at fault, not the host.
                        stay.asked = Duration::ZERO;
                        host.borrow_mut().failures = 0;
                    }
                    let seconds = stay.took.as_secs_f32();
                    self.finish(work, outcome(&failure), failure.reason, seconds, Some(address));
                }
                false
            }
        }
    }

    fn cookie(&self, host: &SharedHost, url: &str) -> Option<String> {
        let host = host.borrow();
        let is_secure = url.starts_with("https:");
        self.settings.cookies.then(|| host.cookies.header(path(url), is_secure)).flatten()
    }

    fn keep_cookies(&self, host: &SharedHost, url: &str, response: &Response) {
        if self.settings.cookies {
            let mut host = host.borrow_mut();
            response.all("set-cookie").for_each(|header| host.cookies.set(header, path(url)));
        }
    }

    /// Lets a URL be tried again when its host is visited next.
    fn again(&self, host: &SharedHost, mut work: Work, reason: String, status: Option<u16>, rest: Duration) {
        work.attempts += 1;
        work.counted = false;
        self.shared.budget.fetch_add(1, Ordering::AcqRel);
        let note = Decision {
            time: now(),
            url: work.url.clone(),
            event: "tried again",
            detail: reason,
            status,
            depth: Some(work.tag.depth),
            attempt: Some(work.attempts),
            seconds: Some(rest.as_secs_f64()),
            address: Some(host.borrow().address.to_string()),
            ..Decision::default()
        };
        host.borrow_mut().again.push_back(work);
        self.note(note);
    }

    /// A line for the log; the room that the caller has goes with it.
    fn note(&self, decision: Decision) {
        self.send(Event::Note(Box::new(decision)));
    }

    /// There is room in the channel for whatever has room between the threads, so this never waits.
    fn send(&self, event: Event) {
        self.shared.sent();
        drop(self.events.try_send(event));
    }

    /// Gives a URL up, once there is room to say so.
    async fn give_up(
        &self,
        work: Work,
        outcome: Outcome,
        detail: String,
        seconds: f32,
        address: Option<IpAddr>,
    ) {
        let Ok(room) = self.shared.room.acquire().await else { return };
        room.forget();
        self.finish(work, outcome, detail, seconds, address);
    }

    fn finish(&self, work: Work, outcome: Outcome, detail: String, seconds: f32, address: Option<IpAddr>) {
        let when = now() - f64::from(seconds);
        let unanswered = Unanswered { work, outcome, detail, when, seconds, address, weight: 1 };
        self.send(Event::Unanswered(Box::new(unanswered)));
    }

    /// Gives a response to the parsers; a large one waits until there is room for it.
    async fn hand_over(&self, mut fetched: Fetched) {
        let more = self.shared.units(fetched.response.body.len());
        if more > 0 {
            // Whoever waits for room must not hold any, or many large bodies would wait for each other.
            self.shared.room.add_permits(fetched.weight as usize);
            fetched.weight += more;
            let Ok(room) = self.shared.room.acquire_many(fetched.weight).await else { return };
            room.forget();
        }
        let is_document =
            fetched.response.header("content-type").is_some_and(|kind| kind.starts_with("application/pdf"));
        let queue = if is_document { &self.to_convert } else { &self.to_parse };
        self.shared.sent();
        drop(queue.try_send(fetched));
        self.shared.gauges.parse_queue.set(self.to_parse.len() as u64);
    }

    /// How long a host that is too busy to answer is left alone.
    fn busy(&self, host: &SharedHost, response: &Response) -> Duration {
        let mut host = host.borrow_mut();
        host.failures += 1;
        let asked = response.header("retry-after").and_then(retry_after).unwrap_or_default();
        self.settings.politeness.backoff(host.failures).max(asked.min(self.settings.politeness.max_wait))
    }

    /// One request over the host's connection, which is made where there is none; a kept one that the server
    /// has closed meanwhile is made anew once.
    async fn get(
        &self,
        host: &SharedHost,
        request: &Request<'_>,
        stay: &mut Stay,
    ) -> std::result::Result<Response, Failure> {
        let started = Instant::now();
        let (origin, address) = (host.borrow().origin.clone(), host.borrow().address);
        let kept = host.borrow_mut().connection.take().filter(|connection| connection.is_open());
        let mut answer = None;
        if let Some(mut connection) = kept {
            match connection.get(request).await {
                Err(failure) if failure.stale => {}
                tried => answer = Some((tried, connection)),
            }
        }
        let answer = match answer {
            Some(answer) => Ok(answer),
            None => match self.client.connect(&origin, address).await {
                Ok(mut connection) => Ok((connection.get(request).await, connection)),
                Err(failure) => Err(failure),
            },
        };
        let took = started.elapsed();
        stay.count(started);
        self.shared.gauges.requests.add(1);
        let mut host = host.borrow_mut();
        host.requests += 1;
        host.seconds += took.as_secs_f64();
        let (answer, connection) = answer?;
        let response = answer?;
        self.shared.gauges.bytes.add(response.body.len() as u64);
        host.connection = connection.is_open().then_some(connection);
        Ok(response)
    }

    /// Has the rules of a host, from memory or by asking; tells whether pages may follow at once.
    async fn ask_for_rules(&self, host: &SharedHost, stay: &mut Stay) -> Result<bool> {
        let known = host.borrow().rules.as_ref().is_some_and(|rules| rules.until > now());
        if !self.settings.obey_robots || host.borrow().given_up.is_some() || known {
            return Ok(true);
        }
        let name = host.borrow().name.clone();
        let remembered = self.memory.borrow_mut().robots(&name)?;
        let current = remembered.as_ref().filter(|record| record.when + RULES_LAST > now());
        if let Some(record) = current {
            host.borrow_mut().rules = self.rules(record);
            return Ok(true);
        }
        let Ok(room) = self.shared.room.acquire().await else { return Ok(false) };
        room.forget();
        let answer = self.get_robots(host, remembered.as_ref(), stay).await;
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
            let mut host = host.borrow_mut();
            host.rules = Some(rules);
            host.failures = 0;
            self.note(note);
            return Ok(true);
        }
        // A server error, or none that answers, forbids everything for now (RFC 9309, 2.3.1.4).
        let mut host = host.borrow_mut();
        host.failures += 1;
        let wish = answer.as_ref().ok().and_then(|record| record.retry_after).unwrap_or_default();
        stay.asked = stay.asked.max(self.settings.politeness.backoff(host.failures)).max(wish);
        let again = answer.as_ref().map_or_else(|failure| failure.class.again(), |_| true);
        if !again || host.failures > self.settings.retries {
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

    /// What an answer to the question for robots.txt means; None where it has to be asked for again.
    fn rules(&self, record: &RobotsRecord) -> Option<Rules> {
        let robots = match record.status {
            200..=299 => Robots::parse(&record.body, &self.settings.agent),
            429 => return None,
            300..=499 => Robots::allow_all(),
            _ => return None,
        };
        Some(Rules { robots, until: record.when + RULES_LAST })
    }

    /// Asks for robots.txt, and follows where it leads.
    async fn get_robots(
        &self,
        host: &SharedHost,
        remembered: Option<&RobotsRecord>,
        stay: &mut Stay,
    ) -> std::result::Result<RobotsRecord, Failure> {
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
            };
            let Some(origin) = Origin::of(&url) else { break };
            let response = match origin == own {
                true => self.get(host, &request, stay).await?,
                false => self.get_elsewhere(host, &origin, &request, stay).await?,
            };
            if response.status == 304
                && let Some(remembered) = remembered
            {
                return Ok(RobotsRecord { when: record.when, ..remembered.clone() });
            }
            if let (300..=399, Some(location)) = (response.status, response.header("location")) {
                let base = Url::parse(&url).ok();
                let Some(target) = canonical(location, base.as_ref()) else { break };
                url = target;
                continue;
            }
            record.status = response.status;
            record.retry_after = response.header("retry-after").and_then(retry_after);
            record.etag = response.header("etag").map(str::to_owned);
            record.last_modified = response.header("last-modified").map(str::to_owned);
            let encoding = response.header("content-encoding").unwrap_or_default();
            match store::decode(&response.body, encoding, ROBOTS_DECODED) {
                Ok(body) => record.body = body[..body.len().min(MAX_BYTES)].to_vec(),
                // What cannot be read may forbid anything.
                Err(_) => record.status = 503,
            }
            return Ok(record);
        }
        // Too many redirects, or one to nowhere: as if there were none (RFC 9309, 2.3.1.2).
        Ok(record)
    }

    /// One request to a host that is not the visited one, when it is polite there, too.
    async fn get_elsewhere(
        &self,
        host: &SharedHost,
        origin: &Origin,
        request: &Request<'_>,
        stay: &mut Stay,
    ) -> std::result::Result<Response, Failure> {
        let address = self.client.resolve(&origin.host).await?;
        let own = address == host.borrow().address;
        let key = HostKey(Signature::of(origin.to_string().as_bytes()).0);
        let turn = tokio::time::timeout(self.settings.fetch.total_timeout, self.errand(key, address, own));
        let Ok(hold) = turn.await else {
            let reason = format!("{origin} could not be asked politely in time");
            return Err(Failure { class: Class::Timeout, reason, stale: false });
        };
        let started = Instant::now();
        let answer = match self.client.connect(origin, address).await {
            Ok(mut connection) => connection.get(request).await,
            Err(failure) => Err(failure),
        };
        stay.count(started);
        let mut there = Stay::default();
        there.count(started);
        self.shared.gauges.requests.add(1);
        let rest = self.settings.politeness.rest(&there, self.crawl_delay_of(key, &origin.to_string()));
        let (host_ready, address_ready) = (self.moment(rest.host), self.moment(rest.address));
        self.frontier.borrow_mut().let_rest(key, address, host_ready, address_ready);
        drop(hold);
        answer
    }

    /// Waits until one request to a host is polite, and holds its address, unless that is held already.
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
            // The end of this wait is that the address is held for us; the scheduler outlives all visits.
            drop(mine.await);
        }
        Hold { scheduler: self, address }
    }

    /// Passes an address that came back on to whoever waits for it, before the next visit can take it.
    fn pass_on(&self, address: IpAddr) {
        loop {
            let next = self.waiting.borrow_mut().get_mut(&address).and_then(VecDeque::pop_front);
            let Some(turn) = next else {
                self.waiting.borrow_mut().remove(&address);
                return;
            };
            let free = self.frontier.borrow_mut().hold(address, self.now());
            if free && turn.send(()).is_err() {
                // Who waited has given up.
                self.frontier.borrow_mut().release(address);
                continue;
            }
            return;
        }
    }

    /// The Crawl-delay of a host that may not be in the workbench.
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

/// An address that is held for an errand; it is passed on when this goes.
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

/// The path and query of a canonical URL.
fn path(url: &str) -> &str {
    &url[origin(url).len()..]
}

fn crawl_delay(host: &Host) -> Duration {
    host.rules.as_ref().and_then(|rules| rules.robots.crawl_delay()).unwrap_or_default()
}

/// Whether an answer only says that the host cannot answer now.
fn is_busy(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

/// The time that a server asks us to wait: seconds, or a date.
fn retry_after(asked: &str) -> Option<Duration> {
    if let Ok(seconds) = asked.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(asked.trim()).ok()?;
    date.duration_since(SystemTime::now()).ok()
}
