// SPDX-License-Identifier: GPL-3.0-or-later
//! What an administrator looks at: the state of the server as a page and as JSON. Nothing of a
//! message is shown but its id and its sender's domain; in JSON also the two words that weigh most,
//! as in the log.

use crate::engine::Engine;
use crate::history::{Counts, Event, Kind, STEP};
use crate::measures::{LESSONS, OUTCOMES};
use crate::users::{size, why_none};
use dbacl::{FilterPlace, MailFilter, MailFilterOptions};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// The most filters that are shown.
const SHOWN: usize = 200;

/// So many messages show which users have mail.
const MANY: u64 = 100;

/// The state of the server.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    version: &'static str,
    uptime_seconds: u64,
    /// Verdicts since the start: ham, unsure, spam, error.
    verdicts: Counts,
    /// Verdicts of the last week by steps of so many seconds.
    step_seconds: u64,
    steps: Vec<Counts>,
    /// Lessons since the start, by what came of them.
    lessons: BTreeMap<&'static str, u64>,
    limits: Limits,
    /// Users whose filters verdicts are never asked for, with the names that seem to be theirs.
    never_asked: Vec<NeverAsked>,
    filters: Vec<Filter>,
    filters_not_shown: usize,
    last_verdicts: Vec<Event>,
    last_lessons: Vec<Event>,
    last_refusals: Vec<Event>,
}

/// What is limited, and how much of it is used.
#[derive(Debug, Serialize)]
struct Limits {
    memory_bytes: usize,
    memory_limit_bytes: usize,
    refused_connections: u64,
    dropped_log_lines: u64,
}

/// A user for whose filter no verdict was asked since the server began.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NeverAsked {
    user: String,
    /// The name that verdicts were asked for and that seems to be the same person's.
    asked: Option<String>,
}

impl fmt::Display for NeverAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the filter {} is never asked for", self.user)?;
        match &self.asked {
            Some(asked) => write!(f, ": mail is classified for {asked} (see the setting users)"),
            None => f.write_str(" since the server began"),
        }
    }
}

impl NeverAsked {
    /// What the status page says of all filters, in the form for programs.
    pub(crate) fn in_json(text: &str) -> Option<Vec<Self>> {
        let mut status: serde_json::Value = serde_json::from_str(text).ok()?;
        serde_json::from_value(status["never_asked"].take()).ok()
    }

    /// Those of these users for whom it is so. A user with another name than mail has is found once
    /// many messages were classified.
    fn among<'a>(engine: &Engine, users: impl Iterator<Item = &'a str>) -> Vec<Self> {
        let Engine { asked, users: rule, .. } = engine;
        let are_many = engine.measures.outcomes().iter().sum::<u64>() >= MANY;
        let never = |user: &&str| !asked.has(rule, user);
        let with_name =
            |user: &str| Self { user: user.to_owned(), asked: asked.instead_of(rule, user) };
        let all = users.filter(never).map(with_name);
        all.filter(|it| it.asked.is_some() || are_many).take(SHOWN).collect()
    }
}

#[derive(Debug, Serialize)]
struct Filter {
    /// The user; empty for the default filter.
    user: String,
    categories: Vec<String>,
    messages: u32,
    bytes: u64,
    /// Seconds since it learned last.
    age_seconds: Option<u64>,
    /// Why it cannot be used.
    error: Option<String>,
    /// Whether a verdict was ever asked of it since the start.
    is_used: bool,
    /// That many of its last verdicts were unsure, while it is so.
    many_unsure: Option<String>,
    steps: Vec<Counts>,
}

impl Filter {
    fn of(engine: &Engine, user: String, folder: &Path, place: FilterPlace) -> Self {
        let opened = match why_none(place) {
            Some(why) => Err(why.to_owned()),
            None => MailFilter::open(folder, &MailFilterOptions::default())
                .map_err(|error| error.to_string()),
        };
        let age =
            |filter: &MailFilter| filter.last_change()?.elapsed().ok().map(|age| age.as_secs());
        let filter = opened.as_ref().ok();
        Self {
            user,
            categories: filter.map_or_else(Vec::new, |filter| filter.labels().to_vec()),
            messages: filter.map_or(0, MailFilter::documents),
            bytes: size(folder),
            age_seconds: filter.and_then(age),
            is_used: engine.history.has_used(folder),
            many_unsure: engine.history.many_unsure(folder).map(|many| many.to_string()),
            steps: engine.history.verdicts(Some(folder)),
            error: opened.err(),
        }
    }
}

impl Status {
    /// The state now. This looks into the folders of filters, which takes a while.
    pub(crate) fn of(engine: &Engine) -> Self {
        let default = engine.users.default.iter();
        let default = default.map(|folder| (String::new(), folder.clone(), FilterPlace::Filter));
        let users = engine.users.all();
        let filters_not_shown = users.len().saturating_sub(SHOWN);
        let names = users.iter().filter(|(_, _, place)| *place == FilterPlace::Filter);
        let never_asked = NeverAsked::among(engine, names.map(|(name, ..)| &name[..]));
        let shown = default.chain(users.into_iter().take(SHOWN));
        Self {
            version: env!("CARGO_PKG_VERSION"),
            uptime_seconds: engine.started.elapsed().as_secs(),
            verdicts: engine.measures.outcomes(),
            step_seconds: STEP,
            steps: engine.history.verdicts(None),
            lessons: LESSONS.into_iter().zip(engine.measures.lessons()).collect(),
            limits: Limits {
                memory_bytes: engine.budget.in_use(),
                memory_limit_bytes: engine.config.limits.memory,
                refused_connections: engine.measures.refused.load(Relaxed),
                dropped_log_lines: engine.log.lost(),
            },
            filters: shown
                .map(|(user, folder, place)| Filter::of(engine, user, &folder, place))
                .collect(),
            filters_not_shown,
            never_asked,
            last_verdicts: engine.history.events(Kind::Verdict),
            last_lessons: engine.history.events(Kind::Lesson),
            last_refusals: engine.history.events(Kind::Refusal),
        }
    }

    /// The page. It needs nothing from elsewhere.
    pub(crate) fn page(&self) -> String {
        let used = 100 * self.limits.memory_bytes / self.limits.memory_limit_bytes.max(1);
        let sums: Vec<u64> = self.steps.iter().map(|counts| counts.iter().sum()).collect();
        let most = sums.iter().copied().max().unwrap_or(0);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="refresh" content="60";
                    title { "dbacl-server" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    h1 { "dbacl-server " (self.version) }
                    p { "Runs for " (time(self.uptime_seconds)) "." }
                    div.tiles {
                        @for (name, count) in OUTCOMES.iter().zip(self.verdicts) {
                            div.tile { div.number { (count) } div { (name) } }
                        }
                    }
                    h2 { "Last seven days" }
                    span.plot {
                        (curve(&sums, most.max(1))) " messages, at most " (most) " in three hours"
                    }
                    (unsure(&self.steps))
                    h2 { "Limits" }
                    ul {
                        li { "Memory for messages: " (bytes(self.limits.memory_bytes as u64))
                            " of " (bytes(self.limits.memory_limit_bytes as u64))
                            " (" (used) " %)" }
                        li { "Connections refused: " (self.limits.refused_connections) }
                        li { "Lines of the log dropped: " (self.limits.dropped_log_lines) }
                    }
                    h2 { "Filters" }
                    @for never in &self.never_asked { p.bad { (never) } }
                    (filters(&self.filters))
                    @if self.filters_not_shown > 0 {
                        p { "And " (self.filters_not_shown) " more." }
                    }
                    h2 { "Lessons" }
                    div.tiles {
                        @for name in LESSONS {
                            div.tile { div.number { (self.lessons[name]) } div { (name) } }
                        }
                    }
                    (events("Last verdicts", &VERDICT, &self.last_verdicts))
                    (events("Last lessons", &LESSON, &self.last_lessons))
                    (events("Last refusals", &REFUSAL, &self.last_refusals))
                    p { a href="status.json" { "The same as JSON" } }
                }
            }
        };
        page.into_string()
    }
}

/// A curve of the share of unsure verdicts.
fn unsure(steps: &[Counts]) -> Markup {
    let share = |counts: &Counts| 100 * counts[1] / counts.iter().sum::<u64>().max(1);
    let shares: Vec<u64> = steps.iter().map(share).collect();
    let [all, unsure] =
        [steps.iter().flatten().sum(), steps.iter().map(|counts| counts[1]).sum::<u64>()];
    html! { span.plot { (curve(&shares, 100)) " unsure: " (unsure) " of " (all) } }
}

fn curve(values: &[u64], most: u64) -> Markup {
    let mut points = String::new();
    for (at, value) in values.iter().enumerate() {
        // Whole numbers are enough for a curve of this size.
        let (x, y) = (4 * at, 40 - 38 * value / most);
        let _ = write!(points, "{x},{y} ");
    }
    let width = 4 * values.len().max(2) - 4;
    html! {
        svg viewBox=(format!("0 0 {width} 42")) width=(width) height="42" role="img" {
            polyline points=(points.trim_end()) {}
        }
    }
}

fn filters(filters: &[Filter]) -> Markup {
    html! {
        div.wide { table.filters {
            tr.names {
                th { "user" } th { "categories" } th.right { "messages" } th.right { "size" }
                th.right { "learned" } th { "last seven days" }
            }
            @for filter in filters {
                tr {
                    td data-name="user" {
                        @if filter.user.is_empty() { em { "default" } } @else { (filter.user) }
                    }
                    @if let Some(error) = &filter.error {
                        td.bad colspan="5" { (error) }
                    } @else {
                        td data-name="categories" { (filter.categories.join(", ")) }
                        td.right data-name="messages" { (filter.messages) }
                        td.right data-name="size" { (bytes(filter.bytes)) }
                        td.right data-name="learned" {
                            @if let Some(age) = filter.age_seconds { (time(age)) " ago" }
                        }
                        td {
                            @if filter.is_used { (unsure(&filter.steps)) } @else { "not used yet" }
                            @if let Some(many) = &filter.many_unsure {
                                p.bad { (many) " (dbacl --mail-ask)" }
                            }
                        }
                    }
                }
            }
        } }
    }
}

/// A column of a table of events.
struct Column {
    name: &'static str,
    /// The facts that it shows: the first of them that is known.
    facts: &'static [&'static str],
}

const USER: Column = Column { name: "user", facts: &["user"] };
const MESSAGE: Column = Column { name: "message id", facts: &["id"] };

const VERDICT: [Column; 4] = [
    USER,
    Column { name: "verdict", facts: &["verdict", "error"] },
    Column { name: "sender", facts: &["from"] },
    MESSAGE,
];

const LESSON: [Column; 4] = [
    USER,
    Column { name: "taught as", facts: &["as"] },
    Column { name: "outcome", facts: &["outcome"] },
    MESSAGE,
];

const REFUSAL: [Column; 4] = [
    Column { name: "protocol", facts: &["wire"] },
    USER,
    Column { name: "reason", facts: &["error"] },
    MESSAGE,
];

fn events(title: &str, columns: &[Column], events: &[Event]) -> Markup {
    html! {
        h2 { (title) }
        @if events.is_empty() { p { "None." } } @else {
            div.wide { table {
                tr.names {
                    th { "time" }
                    @for column in columns { th { (column.name) } }
                }
                @for event in events {
                    tr {
                        td.time data-name="time" { (event.time) }
                        @for column in columns {
                            @let fact = column.facts.iter().find_map(|name| event.fact(name));
                            td data-name=(column.name) { (fact.unwrap_or_default()) }
                        }
                    }
                }
            } }
        }
    }
}

fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

const STYLE: &str = "
:root { color-scheme: light dark;
  --line: #d0d4da; --soft: #f2f4f7; --curve: #2563c4; --bad: #b3261e }
@media (prefers-color-scheme: dark) {
  :root { --line: #3c424c; --soft: #23272e; --curve: #7db0ff; --bad: #ff8a80 }
}
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1150px; margin: 0 auto;
  padding: 0 1rem 2rem;
  overflow-wrap: anywhere }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: .6rem }
.tile { background: var(--soft); border-radius: 6px; padding: .5rem .7rem }
.number { font-size: 1.4rem }
.plot { display: inline-block; margin-right: 1rem }
svg { vertical-align: middle; background: var(--soft) }
polyline { fill: none; stroke: var(--curve); stroke-width: 1.5 }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .5rem .25rem 0; text-align: left;
  vertical-align: top }
.filters td, .filters th { white-space: nowrap; padding-right: 1.2rem; vertical-align: middle }
th.right, td.right { text-align: right } td.bad { white-space: normal }
.time { white-space: nowrap; width: 1% } .bad { color: var(--bad) }
@media (max-width: 600px) {
  .tiles { grid-template-columns: repeat(2, 1fr) } .number { font-size: 1.1rem }
  table, tbody, tr, td { display: block } .names { display: none }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0 }
  td, .time, .filters td, td.right { border: 0; padding: 0; text-align: left; white-space: normal;
    width: auto }
  td[data-name]::before { content: attr(data-name) ': '; opacity: .7 }
  svg { max-width: 100% }
}
";
