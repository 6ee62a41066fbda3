//! The cell of the `schedule` column: what is known of a page that bears on its next visit.
//!
//! A MessagePack array of the fields below in this order, so fields are only ever added at the end. 60 to 90 bytes for
//! a page with a few visits, at most 150. Moments are whole seconds since 1970.

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::options::Options;
use super::prior::Prior;
use super::value::Dynamics;

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The page is not what it was, or it is new.
    Changed,
    /// The page is what it was: 304, or the same content.
    Unchanged,
    /// There was no answer, or none that says anything of the page (429, 5xx).
    Failed,
    /// The server says that there is no such page: 404, 410.
    Gone,
}

/// Defines an enumeration that is stored as its number.
macro_rules! numbered {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $member:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(into = "u8", try_from = "u8")]
        pub enum $kind {
            $($(#[$doc])* $member,)+
        }

        impl $kind {
            /// Every member.
            pub const ALL: &'static [$kind] = &[$($kind::$member),+];

            /// Its name, as shown to users.
            pub fn name(self) -> &'static str {
                match self { $($kind::$member => $name,)+ }
            }
        }

        impl From<$kind> for u8 {
            fn from(member: $kind) -> u8 {
                member as u8
            }
        }

        impl TryFrom<u8> for $kind {
            type Error = &'static str;

            fn try_from(number: u8) -> Result<$kind, &'static str> {
                $kind::ALL.get(usize::from(number)).copied().ok_or("a number that stands for nothing")
            }
        }
    };
}

numbered! {
    /// What a URL is to the crawl.
    Kind {
        /// A page.
        #[default]
        Page = "page",
        /// A feed: its entries are links.
        Feed = "feed",
        /// A sitemap or an index of sitemaps.
        Sitemap = "sitemap",
    }
}

numbered! {
    /// Who announced a change.
    Source {
        /// An entry of a feed.
        #[default]
        Feed = "feed",
        /// The `lastmod` of a sitemap.
        Sitemap = "sitemap",
        /// A WebSub hub.
        WebSub = "WebSub",
        /// A ping by IndexNow.
        IndexNow = "IndexNow",
    }
}

impl Source {
    /// The share of its signals presumed to be right, before those of the page were counted.
    fn precision(self) -> f64 {
        match self {
            Source::WebSub => 0.9,
            Source::Feed | Source::IndexNow => 0.7,
            Source::Sitemap => 0.5,
        }
    }
}

/// Announced changes of a page since its last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signal {
    /// When the first one was announced.
    pub at: u32,
    /// Who announced the latest.
    pub source: Source,
    /// The number of announcements.
    pub count: u32,
}

/// The number of observations that presumed precision and recall of signals are worth.
const PRESUMED: f64 = 2.0;

/// Signals that are right less often than this are ignored.
const USELESS: f64 = 0.25;

/// What is known of a page that bears on its next visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Schedule {
    /// What the URL is to the crawl.
    pub kind: Kind,
    /// When it was first visited.
    pub first: u32,
    /// When it was last visited, whatever came of it.
    pub last: u32,
    /// When a visit last showed the page.
    pub seen: u32,
    /// When a visit last showed that it had changed.
    pub changed: u32,
    /// The number of visits that showed the page.
    pub visits: u32,
    /// The number of these that showed a change; the first visit is not one.
    pub changes: u32,
    /// What these visits say of its rate of change.
    pub evidence: Evidence,
    /// The interval of the policy `adaptive`, in seconds; 0 before the first visit.
    pub interval: f32,
    /// Its importance, on any scale that all pages share.
    pub importance: f32,
    /// The number of failed visits in a row.
    pub failures: u32,
    /// When the first of them was.
    pub failing_since: Option<u32>,
    /// Changes announced since the last visit.
    pub signal: Option<Signal>,
    /// The number of visits after a signal that showed a change.
    pub right: u32,
    /// The number of signals after which there was none.
    pub wrong: u32,
    /// The number of changes that no signal had announced.
    pub missed: u32,
    /// When the next visit is to be, if the server or a feed says so; cleared by a visit.
    pub next: Option<u32>,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            kind: Kind::Page,
            first: 0,
            last: 0,
            seen: 0,
            changed: 0,
            visits: 0,
            changes: 0,
            evidence: Evidence::default(),
            interval: 0.0,
            importance: 1.0,
            failures: 0,
            failing_since: None,
            signal: None,
            right: 0,
            wrong: 0,
            missed: 0,
            next: None,
        }
    }
}

impl Schedule {
    /// Records a visit. A failed one tells nothing of changes: the interval that it ends goes on.
    pub fn observe(&mut self, visit: Visit, when: f64, options: &Options) {
        let when = moment(when);
        if self.visits == 0 && self.failures == 0 {
            self.first = when;
        }
        self.last = when;
        self.next = None;
        let changed = match visit {
            Visit::Changed => true,
            Visit::Unchanged => false,
            Visit::Failed | Visit::Gone => {
                self.failures += 1;
                self.failing_since.get_or_insert(when);
                return;
            }
        };
        self.failures = 0;
        self.failing_since = None;
        let first = self.visits == 0;
        self.visits += 1;
        if first {
            self.interval = options.interval as f32;
            self.changed = when;
        } else {
            self.learn(changed, when, options);
        }
        self.seen = when;
        self.signal = None;
    }

    fn learn(&mut self, changed: bool, when: u32, options: &Options) {
        let elapsed = f64::from(when.saturating_sub(self.seen));
        let factor = if changed { 1.0 - options.decrease } else { 1.0 + options.increase };
        let interval = f64::from(self.interval) * factor;
        self.interval = interval.max(options.min_interval).min(options.longest()) as f32;
        match (changed, self.signal) {
            (true, Some(signal)) => {
                self.right += 1;
                self.evidence.exactly(f64::from(signal.at.saturating_sub(self.seen)));
            }
            (true, None) => {
                self.missed += 1;
                self.evidence.changed(elapsed);
            }
            (false, signal) => {
                self.wrong += signal.map_or(0, |signal| signal.count);
                self.evidence.unchanged(elapsed);
            }
        }
        if changed {
            self.changes += 1;
            self.changed = when;
        }
    }

    /// Records that a change was announced. One that is older than the copy is none.
    pub fn signal(&mut self, when: f64, source: Source) {
        let at = moment(when);
        if at < self.seen {
            return;
        }
        let before = self.signal.unwrap_or(Signal { at, source, count: 0 });
        self.signal = Some(Signal { at: before.at.min(at), source, count: before.count.saturating_add(1) });
    }

    /// The estimated number of changes per second.
    pub fn rate(&self, prior: &Prior) -> f64 {
        prior.rate(&self.evidence)
    }

    /// How the page changes, at this rate, and how its changes are announced, as estimated.
    pub fn dynamics(&self, rate: f64) -> Dynamics {
        let (right, wrong) = (f64::from(self.right), f64::from(self.wrong));
        if right + wrong == 0.0 && self.signal.is_none() {
            return Dynamics::silent(rate);
        }
        let presumed = self.signal.map_or(Source::default(), |signal| signal.source).precision();
        let precision = (right + PRESUMED * presumed) / (right + wrong + PRESUMED);
        let recall = (right + PRESUMED * 0.5) / (right + f64::from(self.missed) + PRESUMED);
        if precision < USELESS { Dynamics::silent(rate) } else { Dynamics::new(rate, precision, recall) }
    }

    /// The number of changes announced since the last visit.
    pub fn signals(&self) -> u32 {
        self.signal.map_or(0, |signal| signal.count)
    }

    /// Whether the page is gone: visits failed for at least the grace period.
    pub fn is_gone(&self, grace: f64) -> bool {
        self.failing_since.is_some_and(|since| f64::from(self.last.saturating_sub(since)) >= grace)
    }

    /// Encodes the cell.
    pub fn encode(&self) -> crate::Result<Vec<u8>> {
        rmp_serde::to_vec(self)
            .map_err(|error| crate::Error::Invalid(format!("a schedule does not encode: {error}")))
    }

    /// Decodes a cell; `None` if it is not valid.
    pub fn decode(payload: &[u8]) -> Option<Schedule> {
        rmp_serde::from_slice(payload).ok()
    }
}

/// A moment in whole seconds; what is not a moment since 1970 is the nearest one.
fn moment(when: f64) -> u32 {
    when as u32
}
