//! Politeness: how long to stay at a host, and how long to wait before the next visit.
//!
//! *Relative* politeness fetches for at most `visit_time` and `visit_requests` over one keep-alive
//! connection, and then rests s′/p for the time s′ that the visit really took: a slow server is asked less
//! often, and the crawl takes at most the share p / (1 + p) of a host's time. *Absolute* politeness leaves a
//! fixed gap after every request, or after every `burst` of them. In both modes the host's Crawl-delay (up to a limit)
//! and its Retry-After are honoured, and an IP address, which many hosts may share, has a delay as well. The
//! strictest rule wins. From the notes' section 2.7.

use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::settings::{choices, optional_seconds, seconds};

/// The default gap of absolute politeness.
const GAP: Duration = Duration::from_secs(4);

choices! {
    /// What determines the delay between visits.
    pub enum Manner, "politeness" {
        /// A host rests in proportion to the time a visit took.
        Relative = "relative",
        /// A fixed gap between requests.
        Absolute = "absolute",
    }
}

/// The politeness settings of a crawl, named as in the section `[crawl]` of the settings.
#[derive(Clone, Debug, Deserialize)]
pub struct Politeness {
    politeness: Manner,
    /// The gap between the end of a request to a host and the next; setting it makes politeness absolute.
    #[serde(deserialize_with = "optional_seconds")]
    delay: Option<Duration>,
    /// The number of requests after which the gap comes.
    burst: u32,
    /// The maximum duration of a visit, and below the maximum number of its requests.
    #[serde(deserialize_with = "seconds")]
    visit_time: Duration,
    visit_requests: u32,
    /// p: the delay after a visit is its duration divided by this.
    visit_share: f64,
    /// The gap per IP address; `None`: a quarter of the host's delay.
    #[serde(deserialize_with = "optional_seconds")]
    address_delay: Option<Duration>,
    /// The upper limit of a Crawl-delay.
    #[serde(deserialize_with = "seconds")]
    max_crawl_delay: Duration,
    /// The upper limit of the backoff after errors.
    #[serde(deserialize_with = "seconds")]
    pub(crate) max_wait: Duration,
}

/// The progress of a visit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stay {
    /// The number of requests made.
    pub requests: u32,
    /// Its duration, from the start of the first request to the end of the last.
    pub took: Duration,
    began: Option<Instant>,
    /// The delay that the host asked for, or that its errors require.
    pub asked: Duration,
}

impl Stay {
    /// Counts a request that started at `started` and has just ended.
    pub fn count(&mut self, started: Instant) {
        self.requests += 1;
        self.took = self.began.get_or_insert(started).elapsed();
    }
}

/// The delays of a host and its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The host.
    pub host: Duration,
    /// The address.
    pub address: Duration,
}

impl Politeness {
    /// Whether the delay is proportional to the visit.
    pub fn is_relative(&self) -> bool {
        self.politeness == Manner::Relative && self.delay.is_none()
    }

    fn gap(&self) -> Duration {
        self.delay.unwrap_or(if self.is_relative() { Duration::ZERO } else { GAP })
    }

    /// Whether one more request may follow immediately.
    pub fn goes_on(&self, stay: &Stay, crawl_delay: Duration) -> bool {
        stay.requests == 0
            || (stay.requests < if self.is_relative() { self.visit_requests } else { self.burst }
                && (!self.is_relative() || stay.took < self.visit_time)
                && crawl_delay.is_zero()
                && stay.asked.is_zero())
    }

    /// The delay after a visit; zero if the visit made no request.
    pub fn rest(&self, stay: &Stay, crawl_delay: Duration) -> Rest {
        if stay.requests == 0 {
            return Rest { host: stay.asked.min(self.max_wait), address: Duration::ZERO };
        }
        let manner = if self.is_relative() { stay.took.div_f64(self.visit_share) } else { self.gap() };
        let host = manner.max(self.accepted(crawl_delay)).max(stay.asked.min(self.max_wait));
        Rest { host, address: self.address_delay.unwrap_or(manner / 4) }
    }

    /// What made the rest of a host as long as it is, in words.
    pub fn why(&self, stay: &Stay, crawl_delay: Duration) -> &'static str {
        let rest = self.rest(stay, crawl_delay).host;
        match rest {
            Duration::ZERO => "",
            rest if rest == stay.asked.min(self.max_wait) => "it asked for that, or requests failed",
            rest if rest == self.accepted(crawl_delay) => "its robots.txt asks for that",
            _ if self.is_relative() => "in proportion to the time of its last visit",
            _ => "the gap between requests",
        }
    }

    /// What of a Crawl-delay is kept.
    pub fn accepted(&self, crawl_delay: Duration) -> Duration {
        crawl_delay.min(self.max_crawl_delay)
    }

    /// The rest after a visit of the usual length to a host without a Crawl-delay: any visit is followed by this, or by one
    /// that is known at its end.
    pub fn usual_rest(&self) -> Duration {
        let stay = Stay { requests: 1, took: self.visit_time, ..Stay::default() };
        let rest = self.rest(&stay, Duration::ZERO);
        rest.host.max(rest.address)
    }

    /// Exponential backoff: the delay before the attempt that follows `failures` failed ones, doubling each
    /// time.
    pub fn backoff(&self, failures: u32) -> Duration {
        let first = self.gap().max(Duration::from_millis(500));
        first.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(self.max_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn relative() -> Politeness {
        Politeness {
            politeness: Manner::Relative,
            delay: None,
            burst: 1,
            visit_time: SECOND,
            visit_requests: 10,
            visit_share: 0.2,
            address_delay: None,
            max_crawl_delay: 30 * SECOND,
            max_wait: 300 * SECOND,
        }
    }

    fn stay(requests: u32, took: Duration) -> Stay {
        Stay { requests, took, ..Stay::default() }
    }

    #[test]
    fn relative_rests_in_proportion_to_what_it_took() {
        let politeness = relative();
        assert!(politeness.goes_on(&stay(9, SECOND / 2), Duration::ZERO));
        assert!(!politeness.goes_on(&stay(10, SECOND / 2), Duration::ZERO));
        assert!(!politeness.goes_on(&stay(2, SECOND), Duration::ZERO));
        let rest = politeness.rest(&stay(3, 2 * SECOND), Duration::ZERO);
        assert_eq!(rest, Rest { host: 10 * SECOND, address: SECOND * 5 / 2 });
    }

    #[test]
    fn absolute_makes_one_request_and_leaves_the_gap() {
        // A delay makes politeness absolute, whatever `politeness` is; without one the gap is four seconds.
        for politeness in [
            Politeness { politeness: Manner::Absolute, ..relative() },
            Politeness { delay: Some(4 * SECOND), ..relative() },
        ] {
            assert!(politeness.goes_on(&stay(0, Duration::ZERO), Duration::ZERO));
            assert!(!politeness.goes_on(&stay(1, Duration::ZERO), Duration::ZERO));
            let rest = politeness.rest(&stay(1, 9 * SECOND), Duration::ZERO);
            assert_eq!(rest, Rest { host: 4 * SECOND, address: SECOND });
        }
    }

    #[test]
    fn a_burst_is_some_requests_and_then_the_gap() {
        let politeness = Politeness { delay: Some(4 * SECOND), burst: 3, ..relative() };
        assert!(politeness.goes_on(&stay(2, 9 * SECOND), Duration::ZERO));
        assert!(!politeness.goes_on(&stay(3, SECOND), Duration::ZERO));
        assert!(!politeness.goes_on(&stay(1, SECOND), SECOND), "a Crawl-delay is between any two requests");
        assert!(!politeness.goes_on(&Stay { asked: SECOND, ..stay(1, SECOND) }, Duration::ZERO));
        assert_eq!(politeness.rest(&stay(3, SECOND), Duration::ZERO).host, 4 * SECOND);
    }

    #[test]
    fn the_strictest_wins_within_its_limit() {
        let politeness = Politeness { address_delay: Some(2 * SECOND), ..relative() };
        assert!(!politeness.goes_on(&stay(1, Duration::ZERO), SECOND));
        assert_eq!(politeness.rest(&stay(1, SECOND), 9 * SECOND).host, 9 * SECOND);
        assert_eq!(politeness.rest(&stay(1, SECOND), 900 * SECOND).host, 30 * SECOND);
        let asked = Stay { asked: 1000 * SECOND, ..stay(1, SECOND) };
        let rest = politeness.rest(&asked, SECOND);
        assert_eq!(rest, Rest { host: 300 * SECOND, address: 2 * SECOND });
        assert_eq!(politeness.rest(&stay(0, Duration::ZERO), SECOND).host, Duration::ZERO);
        assert_eq!(politeness.why(&stay(1, SECOND), 9 * SECOND), "its robots.txt asks for that");
        assert_eq!(politeness.why(&asked, SECOND), "it asked for that, or requests failed");
        let own = politeness.why(&stay(1, SECOND), Duration::ZERO);
        assert_eq!(own, "in proportion to the time of its last visit");
        assert_eq!(politeness.why(&stay(0, Duration::ZERO), Duration::ZERO), "");
    }

    #[test]
    fn backoff_doubles_up_to_the_longest_wait() {
        let politeness = relative();
        assert_eq!(politeness.backoff(1), SECOND / 2);
        assert_eq!(politeness.backoff(4), 4 * SECOND);
        assert_eq!(politeness.backoff(u32::MAX), 300 * SECOND);
    }
}
