//! Which pages are due for a visit.
//!
//! One pass over the table feeds the planner of [`crate::schedule`], a second one picks the pages that are due: all
//! of them in the table's order, or the most urgent ones if their number is limited. Memory does not grow with the
//! table; with a limit it grows with that.

use std::sync::Arc;

use super::cells::Group;
use super::row::{Outcome, Row};
use super::table::{Cell, Rows};
use super::{Snapshot, layout};
use crate::graph::Ranks;
use crate::schedule::{MostUrgent, Options, Plan, Planner, Schedule, Visit};
use crate::{Error, Pulse, Result, Signature};

const PAGES_PER_BEAT: u64 = 1 << 8;

/// Which pages to visit again.
#[derive(Clone, Debug)]
pub struct Due {
    /// When, in seconds since 1970.
    pub now: f64,
    /// Whether every page is due, whatever its schedule.
    pub all: bool,
    /// The largest number of pages; 0: no limit.
    pub limit: usize,
    /// The rows among which to look.
    pub rows: Rows,
    /// The plan before, which knows how rates of change are distributed.
    pub before: Option<Plan>,
}

/// What was known of a page before its next visit, without a schedule of its own: one visit, at which it was new.
pub fn schedule_of(row: &Row, options: &Options) -> Schedule {
    let mut schedule = Schedule::default();
    schedule.observe(Visit::Changed, row.fetched_at, options);
    schedule
}

/// Whether a page is visited again at all.
fn returns(row: &Row) -> bool {
    match row.outcome {
        Outcome::Fetched => row.status == Some(200),
        Outcome::NotModified | Outcome::Redirected => true,
        _ => false,
    }
}

impl Snapshot {
    /// Calls `visit` for each page that is due, with its newest row; returns the plan.
    pub fn due(
        self: &Arc<Self>,
        due: &Due,
        options: &Options,
        ranks: Option<&Ranks>,
        pulse: &Pulse,
        mut visit: impl FnMut(Row) -> Result<()>,
    ) -> Result<Plan> {
        let mut planner = Planner::new(options, due.before.as_ref());
        self.schedules(&due.rows, options, ranks, pulse, |_, schedule| {
            planner.add(&schedule);
            Ok(())
        })?;
        let plan = planner.plan();
        let mut most = (due.limit > 0).then(|| MostUrgent::new(due.limit));
        self.schedules(&due.rows, options, ranks, pulse, |row, schedule| {
            let urgency = match plan.due(&schedule, due.now) {
                Some(urgency) => urgency.value,
                None if due.all => 0.0,
                None => return Ok(()),
            };
            match &mut most {
                Some(most) => {
                    most.offer(urgency, || row);
                    Ok(())
                }
                None => visit(row),
            }
        })?;
        for (_, row) in most.into_iter().flat_map(MostUrgent::into_sorted) {
            visit(row)?;
        }
        Ok(plan)
    }

    /// The schedule of a page; `None` if it is not visited again.
    pub fn schedule(&self, url: &str, options: &Options, pulse: &Pulse) -> Result<Option<Schedule>> {
        let table = self.table(pulse)?;
        let Some(row) = table.get(url)?.filter(returns) else { return Ok(None) };
        let cell = table.cell(url, Group::Schedule)?;
        let damaged = || Error::corrupt(layout::ROWS, 0, format!("the schedule of {url} does not decode"));
        cell.map_or_else(
            || Ok(schedule_of(&row, options)),
            |(_, cell)| Schedule::decode(&cell).ok_or_else(damaged),
        )
        .map(Some)
    }

    /// Calls `each` for every page that is visited again, with its newest row and its schedule.
    fn schedules(
        &self,
        rows: &Rows,
        options: &Options,
        ranks: Option<&Ranks>,
        pulse: &Pulse,
        mut each: impl FnMut(Row, Schedule) -> Result<()>,
    ) -> Result<()> {
        let table = self.table(pulse)?;
        let mut page: Option<(Row, Option<Schedule>)> = None;
        let mut finish = |page: Option<(Row, Option<Schedule>)>| {
            let Some((row, schedule)) = page.filter(|(row, _)| returns(row)) else { return Ok(()) };
            let mut schedule = schedule.unwrap_or_else(|| schedule_of(&row, options));
            if let Some(ranks) = ranks
                && let Some(rank) = ranks.get(Signature::of(row.url.as_bytes()))?
            {
                schedule.importance = 1.0 + rank.strength;
            }
            each(row, schedule)
        };
        let mut count = 0;
        for cell in table.scan(rows)? {
            let cell: Cell = cell?;
            if page.as_ref().is_none_or(|(row, _)| row.url != cell.url) {
                count += 1;
                if count % PAGES_PER_BEAT == 0 {
                    pulse.beat()?;
                }
                finish(page.take())?;
            }
            match (cell.group, &mut page) {
                (Group::Visit, None) => page = Some((table.row_of(cell)?, None)),
                (Group::Schedule, Some((row, schedule @ None))) => {
                    let damaged = || Error::corrupt(layout::ROWS, 0, format!("the schedule of {}", row.url));
                    *schedule = Some(Schedule::decode(&cell.value).ok_or_else(damaged)?);
                }
                _ => {}
            }
        }
        finish(page)
    }
}
