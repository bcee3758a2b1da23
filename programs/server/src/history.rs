// SPDX-License-Identifier: GPL-3.0-or-later
//! What has happened lately, for the status page: verdicts by time, and the last events.

use crate::log::{Fact, now};
use crate::measures::ERROR;
use crate::memory::lock;
use crate::verdict::Decision;
use dbacl::{ManyUnsure, RecentVerdicts};
use lru::LruCache;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// Seconds that verdicts are counted together.
pub(crate) const STEP: u64 = 3 * 3600;

/// Steps that are kept: a week.
const STEPS: usize = 56;

/// Events of each kind that are kept.
const EVENTS: usize = 50;

/// Filters whose verdicts are counted; of more, those that were not used for longest are left out.
const FILTERS: NonZeroUsize = NonZeroUsize::new(500).expect("not 0");

/// Verdicts by what they were: ham, unsure, spam, error.
pub(crate) type Counts = [u64; 4];

/// The place of unsure verdicts among them.
const UNSURE: usize = Decision::Unsure as usize;

/// Verdicts by the number of their step since 1970.
#[derive(Debug, Default)]
pub(crate) struct Series(BTreeMap<u64, Counts>);

impl Series {
    /// This step, or the last one if the clock was put back.
    fn latest(&self, step: u64) -> u64 {
        self.0.last_key_value().map_or(step, |(last, _)| step.max(*last))
    }

    fn add(&mut self, step: u64, outcome: usize) {
        self.0.entry(self.latest(step)).or_default()[outcome] += 1;
        if self.0.len() > STEPS {
            self.0.pop_first();
        }
    }

    /// The counts of all steps of a week until now, the last one at the end.
    fn until(&self, step: u64) -> Vec<Counts> {
        let ago = (0..STEPS as u64).rev().map(|ago| self.latest(step).checked_sub(ago));
        ago.map(|step| self.0.get(&step?).copied()).map(Option::unwrap_or_default).collect()
    }
}

/// A kind of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Verdict,
    Lesson,
    /// Something that was refused.
    Refusal,
}

/// An event, as it stands in the log.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Event {
    pub time: String,
    pub facts: Vec<(&'static str, String)>,
}

impl Event {
    /// What is known of it by this name.
    pub(crate) fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }
}

/// The verdicts of one filter.
#[derive(Debug, Default)]
struct OfFilter {
    series: Series,
    recent: RecentVerdicts,
}

/// What has happened lately.
#[derive(Debug)]
pub(crate) struct History(Mutex<State>);

#[derive(Debug)]
struct State {
    all: Series,
    filters: LruCache<PathBuf, OfFilter>,
    events: [VecDeque<Event>; 3],
}

impl Default for History {
    fn default() -> Self {
        let (all, filters) = (Series::default(), LruCache::new(FILTERS));
        Self(Mutex::new(State { all, filters, events: Default::default() }))
    }
}

fn step() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() / STEP)
}

impl History {
    /// Counts a verdict: by the filter in this folder, if one was found. Returns that many of its
    /// last verdicts were unsure, when it is time to say so.
    pub(crate) fn count(&self, folder: Option<&Path>, outcome: usize) -> Option<ManyUnsure> {
        let step = step();
        let mut state = lock(&self.0);
        state.all.add(step, outcome);
        let own = state.filters.get_or_insert_mut_ref(folder?, OfFilter::default);
        own.series.add(step, outcome);
        if outcome == ERROR { None } else { own.recent.count(outcome == UNSURE) }
    }

    /// What was said of many unsure verdicts of the filter in this folder, while it is so.
    pub(crate) fn many_unsure(&self, folder: &Path) -> Option<ManyUnsure> {
        lock(&self.0).filters.peek(folder)?.recent.many()
    }

    /// Whether a verdict of the filter in this folder was counted.
    pub(crate) fn has_used(&self, folder: &Path) -> bool {
        lock(&self.0).filters.contains(folder)
    }

    pub(crate) fn add(&self, kind: Kind, facts: &[Fact<'_>]) {
        let facts = facts.iter().map(|(key, value)| (*key, value.to_string())).collect();
        let events = &mut lock(&self.0).events[kind as usize];
        events.push_front(Event { time: now(), facts });
        events.truncate(EVENTS);
    }

    /// The last events of a kind, the newest first.
    pub(crate) fn events(&self, kind: Kind) -> Vec<Event> {
        lock(&self.0).events[kind as usize].iter().cloned().collect()
    }

    /// The verdicts of all filters by step, or of the filter in this folder.
    pub(crate) fn verdicts(&self, folder: Option<&Path>) -> Vec<Counts> {
        let state = lock(&self.0);
        let series = match folder {
            Some(folder) => state.filters.peek(folder).map(|own| &own.series),
            None => Some(&state.all),
        };
        series.unwrap_or(&Series::default()).until(step())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_kept() {
        let mut series = Series::default();
        series.add(1000, 0);
        series.add(1000, 2);
        series.add(1003, 1);
        let now = series.until(1003);
        assert_eq!(now.len(), STEPS);
        assert_eq!(now[STEPS - 4..], [[1, 0, 1, 0], [0; 4], [0; 4], [0, 1, 0, 0]]);
        // A clock that was put back changes nothing.
        series.add(990, 3);
        assert_eq!(series.until(1004)[STEPS - 2..], [[0, 1, 0, 1], [0; 4]]);
        let later = series.until(1003 + STEPS as u64 - 1);
        assert_eq!((later.len(), later[0]), (STEPS, [0, 1, 0, 1]));
        assert_eq!(series.until(u64::MAX), vec![[0; 4]; STEPS]);
        let history = History::default();
        for number in 0..100 {
            assert_eq!(history.count(Some(Path::new("/a")), 0), None);
            history.add(Kind::Lesson, &[("number", &number)]);
        }
        let lessons = history.events(Kind::Lesson);
        assert_eq!((lessons.len(), lessons[0].facts[0].1.as_str()), (EVENTS, "99"));
        assert!(history.events(Kind::Refusal).is_empty());
        let sum = |folder| history.verdicts(folder).iter().map(|counts| counts[0]).sum::<u64>();
        assert_eq!(
            (sum(None), sum(Some(Path::new("/a"))), sum(Some(Path::new("/b")))),
            (100, 100, 0)
        );
        let said = (0..60).filter_map(|_| history.count(Some(Path::new("/b")), UNSURE)).count();
        let many = ["/a", "/b"].map(|folder| history.many_unsure(Path::new(folder)).is_some());
        assert_eq!((said, many), (1, [false, true]));
    }
}
