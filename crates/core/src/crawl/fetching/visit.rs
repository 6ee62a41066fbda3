//! A visit: it takes the token of a host and its address, makes a few requests over one connection, and
//! returns the token with the delay that politeness requires.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use super::hosts::{Host, SharedHost};
use super::politeness::Stay;
use super::{Scheduler, now, outcome};
use crate::Result;
use crate::collection::Outcome;
use crate::crawl::parsing::assets::{LARGEST, MOST_PER_HOST};
use crate::crawl::parsing::sitemaps::{is_named, size_in_memory};
use crate::crawl::parsing::{is_document, origin};
use crate::crawl::work::{Event, Fetched, Handed, Unanswered, Work};
use crate::crawl::writing::decisions::Decision;
use crate::fetch::{Class, Failure, Request, Response};
use crate::frontier::Token;
use crate::url::trap;

/// After this many consecutive failed requests a host is given up for the rest of the run.
const GIVE_UP: u32 = 10;
/// After this many a host's pages are not visited again until a later run; at once if there is no connection.
const LEAVE: u32 = 3;
/// The longest delay over which a connection is kept alive.
pub(in crate::crawl) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long a URL waits while requests to other hosts of its domain hold the last places of `max_per_domain`.
const DOMAIN_WAIT: Duration = Duration::from_millis(100);
/// The number of pages from which a host's share of the crawl is checked.
const SHARE_FROM: u64 = 1000;
/// A visit that spends this long on refusing URLs ends, and the host rests ten times as long.
const REFUSING: Duration = Duration::from_millis(5);
/// The number of URLs that need no request to process before yielding to other visits.
const IN_A_ROW: u32 = 64;

impl Scheduler {
    /// Visits a host, and returns its token with the moment of the next visit.
    pub(in crate::crawl) async fn visit(&self, token: Token) {
        let host = self.hosts.borrow().get(&token.host).cloned();
        let Some(host) = host else { return };
        self.idle.set(self.idle.get() - usize::from(host.borrow().connection.is_some()));
        host.borrow_mut().visited = true;
        let mut stay = Stay::default();
        let elsewhere = host.borrow().elsewhere;
        if let Some((agent, address)) = elsewhere {
            return self.leave_to(agent, address, &host, token).await;
        }
        if let Err(error) = self.stay(&host, &token, &mut stay).await {
            self.shared.fail(error);
            return;
        }
        let address = token.address;
        let mut known = host.borrow_mut();
        let politeness = &self.plan.crawl.politeness;
        let rest = politeness.rest(&stay, crawl_delay(&known));
        self.note_rest(rest.host.max(rest.address));
        // At most as many idle connections are kept as may be in use.
        let room = self.idle.get() < self.plan.crawl.connections;
        if politeness.is_relative() || rest.host > KEEP_ALIVE || !room {
            known.connection = None;
        }
        self.idle.set(self.idle.get() + usize::from(known.connection.is_some()));
        known.visited = false;
        known.used = Instant::now();
        if !rest.host.is_zero() {
            known.record.ready_at = now() + rest.host.as_secs_f64();
        }
        known.why = politeness.why(&stay, crawl_delay(&known));
        let keep = !known.again.is_empty();
        self.frontier.borrow_mut().give_back(token, self.moment(rest.host), self.moment(rest.address), keep);
        drop(known);
        self.pass_on(address);
    }

    async fn stay(&self, host: &SharedHost, token: &Token, stay: &mut Stay) -> Result<()> {
        if host.borrow().away.is_some() && !self.leave_for_later(host, token).await? {
            return Ok(());
        }
        if !self.ask_for_rules(host, stay).await? {
            if host.borrow().away.is_some() {
                self.leave_for_later(host, token).await?;
            }
            return Ok(());
        }
        let mut without_request = 0;
        let mut refusing = Duration::ZERO;
        while !self.shared.is_stopping()
            && self.shared.permission.holds()
            && self.plan.crawl.politeness.goes_on(stay, crawl_delay(&host.borrow()))
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
                    // Rules that are slow to evaluate must not delay the other hosts.
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

    /// Ends the revisits of a host that does not answer, without requests: the schedule says when they are tried again.
    /// Returns whether another URL waits.
    async fn leave_for_later(&self, host: &SharedHost, token: &Token) -> Result<bool> {
        let Some(reason) = host.borrow().away.clone() else { return Ok(true) };
        while !self.shared.is_stopping()
            && let Some(work) = self.next_work(host, token)?
        {
            if work.revisit.is_none() {
                host.borrow_mut().again.push_front(work);
                return Ok(true);
            }
            self.give_up(work, Outcome::Unreachable, reason.clone(), 0.0, None).await;
        }
        Ok(false)
    }

    /// How often a failed request is tried again in this run: a revisit is not, because the page stays due.
    fn retries(&self, work: &Work) -> u32 {
        if work.revisit.is_some() { 0 } else { self.plan.crawl.retries }
    }

    /// Dequeues the next URL of a host; from here on it counts as open.
    fn next_work(&self, host: &SharedHost, token: &Token) -> Result<Option<Work>> {
        if let Some(work) = host.borrow_mut().again.pop_front() {
            return Ok(Some(work));
        }
        let mut frontier = self.frontier.borrow_mut();
        let Some(offset) = frontier.pop(token)? else { return Ok(None) };
        self.shared.open(offset);
        self.read(offset).map(Some)
    }

    /// Why a URL is not requested, if it is not.
    fn refusal(&self, host: &SharedHost, work: &Work) -> Option<(Outcome, String)> {
        let host = host.borrow();
        let settings = &self.plan.crawl;
        if let Some((outcome, reason)) = &host.given_up {
            return Some((*outcome, reason.clone()));
        }
        if let (Some(reason), Some(_)) = (&host.away, &work.revisit) {
            return Some((Outcome::Unreachable, reason.clone()));
        }
        if let Some(rules) = &host.rules {
            let verdict = rules.robots.allows(&work.url);
            if !verdict.allowed {
                let rule = verdict.rule.unwrap_or_default();
                let line = verdict.line.map(|line| format!("line {line}: {rule}"));
                return Some((Outcome::Robots, line.unwrap_or(rule)));
            }
        }
        if work.revisit.is_some() {
            // It was within the limits when it was found.
            return None;
        }
        if work.tag.is_asset {
            let is_full = host.record.assets >= MOST_PER_HOST;
            return is_full
                .then(|| (Outcome::Limit, format!("{MOST_PER_HOST} assets are fetched from a host")));
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
        if settings.max_per_host > 0 && host.record.fetched >= settings.max_per_host {
            return Some((Outcome::Limit, format!("max_per_host is {}", settings.max_per_host)));
        }
        if settings.max_per_domain > 0 && host.domain.fetched() >= settings.max_per_domain {
            return Some((Outcome::Limit, format!("max_per_domain is {}", settings.max_per_domain)));
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

    /// Requests a page; returns whether the visit may go on.
    async fn request(&self, host: &SharedHost, mut work: Work, stay: &mut Stay) -> bool {
        // The semaphore is never closed.
        let Ok(room) = self.shared.room.acquire().await else { return false };
        if !self.shared.permission.holds() {
            host.borrow_mut().again.push_front(work);
            return false;
        }
        // An asset is no page, but where there is no page to fetch any more, none is fetched either.
        let is_asset = work.tag.is_asset;
        let price = i64::from(!is_asset);
        if self.shared.budget.fetch_sub(price, Ordering::AcqRel) <= 0 {
            self.shared.budget.fetch_add(price, Ordering::AcqRel);
            host.borrow_mut().again.push_front(work);
            return false;
        }
        // A revisit has its place already.
        let is_new = work.revisit.is_none() && !is_asset;
        let domain = Rc::clone(&host.borrow().domain);
        if !domain.take(if is_new { self.plan.crawl.max_per_domain } else { 0 }) {
            self.shared.budget.fetch_add(price, Ordering::AcqRel);
            host.borrow_mut().again.push_front(work);
            stay.asked = stay.asked.max(DOMAIN_WAIT);
            return false;
        }
        room.forget();
        work.counted = !is_asset;
        let when = now();
        let cookie = self.cookie(host, &work.url);
        let pushed = work.revisit.as_deref_mut().and_then(|known| known.pushed.take());
        let known = work.revisit.as_deref();
        let is_sitemap = self.plan.crawl.sitemaps && is_named(&work.url);
        let request = Request {
            url: &work.url,
            etag: known.and_then(|known| known.etag.as_deref()),
            last_modified: known.and_then(|known| known.last_modified.as_deref()),
            cookie: cookie.as_deref(),
            first_bytes: if is_asset {
                Some(LARGEST)
            } else {
                is_sitemap.then_some(self.plan.crawl.sitemap_bytes)
            },
            noted: self.plan.store.requests,
        };
        let answer = match pushed {
            Some(pushed) => Ok(pushed.into_response()),
            None => self.get(host, &request, stay).await,
        };
        let address = host.borrow().address;
        let asks_again =
            |response: &Response| is_busy(response.status) && work.attempts < self.retries(&work);
        domain.settle(is_new && answer.as_ref().is_ok_and(|response| !asks_again(response)));
        match answer {
            Err(_) if !self.shared.permission.holds() => {
                // It was cut off, which says nothing of the host.
                self.shared.budget.fetch_add(price, Ordering::AcqRel);
                self.shared.room.add_permits(1);
                work.counted = false;
                host.borrow_mut().again.push_front(work);
                false
            }
            Ok(response) if asks_again(&response) => {
                stay.asked = stay.asked.max(self.busy(host, &response));
                let reason = format!("the host answers {}", response.status);
                self.again(host, work, reason, Some(response.status), stay.asked);
                false
            }
            Ok(response) => {
                self.keep_cookies(host, &work.url, &response);
                if is_busy(response.status) {
                    stay.asked = stay.asked.max(self.busy(host, &response));
                    let mut host = host.borrow_mut();
                    if work.revisit.is_some() && host.failures >= LEAVE {
                        host.away = Some(format!("the host answers {}", response.status));
                    }
                } else {
                    host.borrow_mut().failures = 0;
                }
                host.borrow_mut().record.fetched += u64::from(is_new);
                host.borrow_mut().record.assets += u64::from(is_asset);
                // The sitemaps of a host wait for a page of it.
                let sitemaps =
                    if is_asset { Vec::new() } else { std::mem::take(&mut host.borrow_mut().sitemaps) };
                self.hand_over(Fetched { work, when, response, address, sitemaps, weight: 1 }).await;
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
                    let is_gone =
                        failure.class.is_of_host() || failure.class.again() && host.failures >= LEAVE;
                    if work.revisit.is_some() && is_gone {
                        host.away = Some(failure.reason.clone());
                    }
                    host.failures
                };
                stay.asked = stay.asked.max(self.plan.crawl.politeness.backoff(failures));
                if failure.class.again() && work.attempts < self.retries(&work) {
                    self.again(host, work, failure.reason, None, stay.asked);
                } else {
                    work.attempts += 1;
                    if !failure.class.again() {
                        // The failure is the page's, not the host's.
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
        self.plan.crawl.cookies.then(|| host.cookies.header(path(url), is_secure)).flatten()
    }

    fn keep_cookies(&self, host: &SharedHost, url: &str, response: &Response) {
        if self.plan.crawl.cookies {
            let mut host = host.borrow_mut();
            response.all("set-cookie").for_each(|header| host.cookies.set(header, path(url)));
        }
    }

    /// Queues a URL for a retry at the host's next visit.
    fn again(&self, host: &SharedHost, mut work: Work, reason: String, status: Option<u16>, rest: Duration) {
        work.attempts += 1;
        self.shared.budget.fetch_add(i64::from(work.counted), Ordering::AcqRel);
        work.counted = false;
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

    /// Logs a decision; the caller's permit passes to the event.
    pub(in crate::crawl) fn note(&self, decision: Decision) {
        self.send(Event::Note(Box::new(decision)));
    }

    /// The channel has capacity for everything that holds a permit, so this never blocks.
    pub(in crate::crawl) fn send(&self, event: Event) {
        self.shared.sent();
        drop(self.events.try_send(event));
    }

    /// Gives a URL up, once a permit for reporting it is acquired.
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
        let unanswered =
            Unanswered { work, outcome, status: None, detail, when, seconds, address, weight: 1 };
        self.send(Event::Unanswered(Box::new(unanswered)));
    }

    /// Hands a response to the parsers; a large one first acquires more permits (backpressure).
    async fn hand_over(&self, mut fetched: Fetched) {
        let is_sitemap = self.plan.crawl.sitemaps && is_named(&fetched.work.url);
        let body = &fetched.response.body;
        let size = if is_sitemap { size_in_memory(body, self.plan.crawl.sitemap_bytes) } else { body.len() };
        let more = self.shared.units(size);
        if more > 0 {
            // Release before acquiring more: otherwise many large bodies would deadlock waiting for each
            // other.
            self.shared.room.add_permits(fetched.weight as usize);
            fetched.weight += more;
            let Ok(room) = self.shared.room.acquire_many(fetched.weight).await else { return };
            room.forget();
        }
        let is_document =
            !fetched.work.tag.is_asset && is_document(&fetched.work.url, &fetched.response, &self.plan);
        let queue = if is_document { &self.to_convert } else { &self.to_parse };
        self.shared.sent();
        drop(queue.try_send(fetched));
        self.shared.gauges.parse_queue.set(self.to_parse.len() as u64);
    }

    /// How long to wait after a response that says the host is overloaded.
    fn busy(&self, host: &SharedHost, response: &Response) -> Duration {
        let mut host = host.borrow_mut();
        host.failures += 1;
        let asked = response.header("retry-after").and_then(retry_after).unwrap_or_default();
        self.plan.crawl.politeness.backoff(host.failures).max(asked.min(self.plan.crawl.politeness.max_wait))
    }

    /// One request over the host's connection, opening one if there is none; a kept connection that the
    /// server has closed meanwhile is reopened once.
    pub(in crate::crawl) async fn get(
        &self,
        host: &SharedHost,
        request: &Request<'_>,
        stay: &mut Stay,
    ) -> std::result::Result<Response, Failure> {
        let started = Instant::now();
        let (origin, address) = (host.borrow().origin.clone(), host.borrow().address);
        let kept = host.borrow_mut().connection.take().filter(|connection| connection.is_open());
        let exchange = async {
            if let Some(mut connection) = kept {
                match connection.get(request).await {
                    Err(failure) if failure.stale => {}
                    tried => return Ok((tried, connection)),
                }
            }
            let mut connection = self.client.connect(&origin, address).await?;
            Ok((connection.get(request).await, connection))
        };
        let answer = self.while_permitted(exchange).await;
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
}

impl Scheduler {
    /// Hands the URLs of a host to another agent, without requests. If the host was given to this agent meanwhile, it is
    /// placed anew.
    async fn leave_to(&self, agent: u32, address: Option<IpAddr>, host: &SharedHost, token: Token) {
        let mut count = 0;
        let mut pins = None;
        let is_ours = loop {
            if pins.replace(self.pins.get()) != Some(self.pins.get()) {
                match self.is_pinned_here(host) {
                    Ok(false) => {}
                    Ok(true) => break true,
                    Err(error) => return self.shared.fail(error),
                }
            }
            if self.shared.is_pausing() {
                break false;
            }
            match self.next_work(host, &token) {
                Ok(Some(work)) if work.revisit.is_some() => {
                    let reason = format!("agent {agent} crawls its host now");
                    self.give_up(work, Outcome::Unreachable, reason, 0.0, None).await;
                }
                Ok(Some(work)) => {
                    let Ok(room) = self.shared.room.acquire().await else { break false };
                    room.forget();
                    self.send(Event::Handed(Box::new(Handed { work, agent, address })));
                }
                Ok(None) => break false,
                Err(error) => return self.shared.fail(error),
            }
            count += 1;
            if count % IN_A_ROW == 0 {
                tokio::task::yield_now().await;
            }
        };
        host.borrow_mut().visited = false;
        let now = self.now();
        if is_ours {
            self.hosts.borrow_mut().remove(&token.host);
            self.frontier.borrow_mut().place_anew(token);
        } else {
            self.frontier.borrow_mut().give_back(token, now, now, false);
        }
    }

    /// Waits for a request, unless the permission lapses before.
    pub(in crate::crawl) async fn while_permitted<T>(
        &self,
        request: impl Future<Output = std::result::Result<T, Failure>>,
    ) -> std::result::Result<T, Failure> {
        let lapse = async {
            while let Some(lapses) = self.shared.permission.lapses() {
                if lapses <= Instant::now() {
                    return;
                }
                tokio::time::sleep_until(lapses.into()).await;
            }
            std::future::pending::<()>().await;
        };
        let reason = || "the permission to make requests was not extended in time".to_owned();
        let lapsed = || Err(Failure { class: Class::Timeout, reason: reason(), stale: false });
        if !self.shared.permission.holds() {
            return lapsed();
        }
        tokio::select! {
            answer = request => answer,
            () = lapse => lapsed(),
        }
    }

    /// Persists a rest that is longer than any before.
    pub(in crate::crawl) fn note_rest(&self, rest: Duration) {
        if let Some(rests) = &mut *self.rests.borrow_mut() {
            match rests.note(rest) {
                Ok(longest) => self.shared.longest_rest.set(longest.as_micros() as u64),
                Err(error) => self.shared.fail(error),
            }
        }
    }
}

/// The path and query of a canonical URL.
fn path(url: &str) -> &str {
    &url[origin(url).len()..]
}

pub(in crate::crawl) fn crawl_delay(host: &Host) -> Duration {
    host.rules.as_ref().and_then(|rules| rules.robots.crawl_delay()).unwrap_or_default()
}

/// Whether a status only says that the host cannot answer now.
fn is_busy(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

/// The value of a Retry-After header: seconds, or a date.
pub(in crate::crawl) fn retry_after(asked: &str) -> Option<Duration> {
    if let Ok(seconds) = asked.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(asked.trim()).ok()?;
    date.duration_since(SystemTime::now()).ok()
}
