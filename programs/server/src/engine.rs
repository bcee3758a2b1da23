// SPDX-License-Identifier: GPL-3.0-or-later
//! What all protocols share: verdicts are made in bounded time, and logged.

use crate::asked::Asked;
use crate::budget::{Budget, Mail, SHORT};
use crate::config::Config;
use crate::headers::field;
use crate::history::{History, Kind};
use crate::listen::Protocol;
use crate::log::{Fact, Level, Log};
use crate::measures::{ERROR, Measures};
use crate::memory::{Memory, of_judging};
use crate::models::Models;
use crate::pages::Kept;
use crate::teacher::Teacher;
use crate::users::Users;
use crate::verdict::Judged;
use dbacl::MailFilter;
use dbacl_cli::listen::Peer;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// How long after large work memory is given back.
const TIDY: Duration = Duration::from_secs(1);

/// The most names of users or recipients that are used for one message.
pub(crate) const NAMES: usize = 1000;

/// What all connections share.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) config: Config,
    pub(crate) measures: Arc<Measures>,
    /// Where events go.
    pub(crate) log: Log,
    /// The filters that are open.
    pub(crate) models: Arc<Models>,
    /// What has happened lately.
    pub(crate) history: Arc<History>,
    /// For whom verdicts were asked.
    pub(crate) asked: Arc<Asked>,
    /// What the status page says.
    pub(crate) pages: Arc<Kept>,
    /// When the server began.
    pub(crate) started: Instant,
    /// The thread that learns and forgets.
    pub(crate) teacher: Arc<Teacher>,
    /// Once this is set, lessons that have begun end soon and change nothing.
    pub(crate) ends_lessons: Arc<AtomicBool>,
    pub(crate) users: Users,
    /// The memory that work with messages may take.
    pub(crate) memory: Arc<Memory>,
    /// The memory for messages as they come in.
    pub(crate) budget: Arc<Budget>,
    /// One permit for each verdict that may be made at the same time.
    workers: Arc<Semaphore>,
    /// One permit for each verdict on a large message that may be made at the same time.
    large: Arc<Semaphore>,
    /// One permit for each thread that may do other work.
    aside: Arc<Semaphore>,
}

/// How many threads work at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads {
    verdicts: usize,
    /// Of the threads for other work, those that lessons may take. The rest is for work that takes
    /// a moment, and for the status page.
    lessons: usize,
    /// For work that is not a verdict.
    aside: usize,
}

impl Threads {
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self { verdicts: processors.max(2), lessons: processors, aside: processors + 3 }
    }

    /// All that may be needed at the same time.
    pub(crate) const fn all(self) -> usize {
        self.verdicts + self.aside
    }
}

/// What is known of a message beside its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The users for whom it is classified.
    pub names: Vec<String>,
    /// The sender's address.
    pub sender: Option<String>,
    /// Its name in the mail server's queue.
    pub queue: Option<String>,
}

/// The folder of the filter that was asked for a verdict, if it is known, and the verdict.
type Found = (Option<PathBuf>, Result<Judged, String>);

impl Engine {
    /// An engine that has no filter open yet.
    pub fn new(config: Config, log: Log) -> Self {
        let limits = &config.limits;
        let Threads { verdicts, lessons, aside } = Threads::new();
        Self {
            measures: Arc::default(),
            started: Instant::now(),
            log,
            models: Arc::new(Models::new(limits.open_models)),
            history: Arc::default(),
            asked: Arc::default(),
            teacher: Arc::new(Teacher::new(lessons)),
            ends_lessons: Arc::default(),
            users: config.users(),
            pages: Arc::default(),
            workers: Arc::new(Semaphore::new(verdicts)),
            large: Arc::new(Semaphore::new(verdicts - 1)),
            aside: Arc::new(Semaphore::new(aside)),
            memory: Arc::default(),
            budget: Arc::new(Budget::new(limits.mail, limits.memory, limits.peer_percent)),
            config,
        }
    }

    /// The same server with other settings. What was counted and logged stays, and so does what is
    /// being done.
    pub(crate) fn with(&self, config: Config) -> io::Result<Self> {
        let log = self.log.at(config.log)?;
        let Self { config, models, users, budget, .. } = Self::new(config, Log::silent());
        let limits = |config: &Config| {
            let limits = &config.limits;
            (limits.mail, limits.memory, limits.peer_percent)
        };
        let is_same = limits(&config) == limits(&self.config);
        let budget = if is_same { Arc::clone(&self.budget) } else { budget };
        Ok(Self { config, log, models, users, budget, ..self.clone() })
    }

    /// A message of this peer without bytes yet.
    pub(crate) fn mail(&self, peer: Option<Peer>) -> Mail {
        Mail::new(&self.budget, &self.memory, peer)
    }

    /// Gives memory back to the system after large work, for as long as this is awaited. The C
    /// library would keep it.
    pub(crate) async fn tidy(self: Arc<Self>) {
        loop {
            self.budget.freed.notified().await;
            // More such work may follow at once.
            tokio::time::sleep(TIDY).await;
            let _ = self.aside(dbacl::alloc_hints::give_back).await;
        }
    }

    /// Does work that is not a verdict, as soon as there is a thread for it: no verdict waits for
    /// such work. `None` if it fails within the program.
    pub(crate) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.aside).acquire_owned().await.ok()?;
        let work = move || {
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(work).await.ok()
    }

    /// The verdict for these users; `None` if there can be none, which has been logged then.
    pub(crate) async fn judge(
        self: &Arc<Self>,
        wire: Protocol,
        envelope: Envelope,
        mail: &Arc<Mail>,
    ) -> Option<Judged> {
        let start = Instant::now();
        let limit = Duration::from_secs(self.config.limits.verdict_seconds);
        let envelope = Arc::new(envelope);
        let work = async {
            // Large messages never take the last place, so that short ones need not wait for them.
            let is_large = mail.bytes().len() > SHORT;
            let stops = |_| "the server stops".to_owned();
            let turn = if is_large {
                Some(Arc::clone(&self.large).acquire_owned().await.map_err(stops)?)
            } else {
                None
            };
            let permit = Arc::clone(&self.workers).acquire_owned().await.map_err(stops)?;
            let (engine, mail) = (Arc::clone(self), Arc::clone(mail));
            let envelope = Arc::clone(&envelope);
            let judging = tokio::task::spawn_blocking(move || {
                // A verdict that takes longer than the limit keeps its permits until it is made.
                let _permits = (permit, turn);
                let rest = limit.saturating_sub(start.elapsed());
                engine.look_up(&envelope.names, mail.bytes(), rest)
            });
            judging.await.map_err(|_| "judging failed within the program".to_owned())
        };
        let found = tokio::time::timeout(limit, work).await;
        let found = found.unwrap_or_else(|_| Err("no verdict in time".into()));
        let found = found.unwrap_or_else(|error| (None, Err(error)));
        self.tell(wire, &envelope, mail.bytes(), start.elapsed(), found)
    }

    /// The verdict on a message, made in this thread and without a limit of time.
    pub(crate) fn judge_now(
        &self,
        wire: Protocol,
        envelope: &Envelope,
        mail: &[u8],
    ) -> Option<Judged> {
        let start = Instant::now();
        let found = self.look_up(&envelope.names, mail, Duration::ZERO);
        self.tell(wire, envelope, mail, start.elapsed(), found)
    }

    /// The verdict on a message, and the folder of the filter that was asked; `patience` is how
    /// long memory may be waited for.
    fn look_up(&self, names: &[String], mail: &[u8], patience: Duration) -> Found {
        let folder = self.users.choose(names);
        let judge = |folder: Option<&Path>| {
            let promise = self.memory.promise(of_judging(mail.len()), patience);
            let _promise = promise.ok_or("no memory to classify the message")?;
            let filter = self.open(folder.ok_or("the user has no filter")?)?;
            self.verdict(&filter, mail)
        };
        let judged = judge(folder.as_deref());
        (folder, judged)
    }

    fn open(&self, folder: &Path) -> Result<Arc<MailFilter>, String> {
        let (filter, is_new) = self.models.get(folder).map_err(|error| error.to_string())?;
        if is_new {
            self.measures.opened.fetch_add(1, Relaxed);
            let folder = folder.display();
            self.log.event(Level::Info, "opened", &[("folder", &folder)]);
            for warning in filter.warnings() {
                let facts: [Fact<'_>; 2] = [("folder", &folder), ("warning", &warning)];
                self.log.event(Level::Warn, "opened", &facts);
            }
        }
        Ok(filter)
    }

    fn verdict(&self, filter: &MailFilter, mail: &[u8]) -> Result<Judged, String> {
        let judged = if self.config.reasons || self.log.has(Level::Info) {
            filter.classify_with_reasons(mail).map(|(verdict, reasons)| Judged {
                strongest: reasons.as_ref().map_or_else(String::new, |why| why.strongest(2)),
                reasons: reasons.filter(|_| self.config.reasons).map(|why| why.header()),
                ..Judged::new(&verdict, filter)
            })
        } else {
            filter.classify(mail).map(|verdict| Judged::new(&verdict, filter))
        };
        judged.map_err(|error| error.to_string())
    }

    fn tell(
        &self,
        wire: Protocol,
        envelope: &Envelope,
        mail: &[u8],
        time: Duration,
        (folder, judged): Found,
    ) -> Option<Judged> {
        let outcome = judged.as_ref().map_or(ERROR, |judged| judged.decision as usize);
        self.measures.mail(wire, outcome, time);
        if let Some(many) = self.history.count(folder.as_deref(), outcome) {
            let place = folder.as_deref().unwrap_or(Path::new("")).display();
            let advice = format!("{many}: dbacl --mail-ask {place} MAIL");
            self.log.event(Level::Warn, "unsure", &[("folder", &place), ("advice", &advice)]);
        }
        self.asked.note(&self.users, &envelope.names);
        let level = if judged.is_ok() { Level::Info } else { Level::Error };
        let milliseconds = format!("{:.1}", time.as_secs_f64() * 1e3);
        let (wire, user, size) = (wire.name(), envelope.names.join(","), mail.len());
        let mut facts: Vec<Fact<'_>> =
            vec![("wire", &wire), ("user", &user), ("bytes", &size), ("ms", &milliseconds)];
        match &judged {
            Ok(judged) => facts.push(("verdict", &judged.text)),
            Err(error) => facts.push(("error", error)),
        }
        let id = field(mail, "message-id");
        let queue = envelope.queue.as_deref();
        let sender = envelope.sender.clone().or_else(|| field(mail, "return-path"));
        let domain = sender.as_deref().and_then(domain_of);
        let why = judged.as_ref().ok().map(|judged| judged.strongest.as_str());
        let why = why.filter(|why| !why.is_empty());
        let known = [("id", id.as_deref()), ("queue", queue), ("from", domain), ("reasons", why)];
        for (key, value) in &known {
            if let Some(value) = value {
                facts.push((key, value));
            }
        }
        self.event(Kind::Verdict, level, "classified", &facts);
        judged.ok()
    }

    /// Logs an event that the status page shows as well.
    pub(crate) fn event(&self, kind: Kind, level: Level, event: &str, facts: &[Fact<'_>]) {
        self.log.event(level, event, facts);
        self.history.add(kind, facts);
    }

    /// Logs that a message is not taken.
    pub(crate) fn refuse(&self, wire: Protocol, why: &dyn std::fmt::Display) {
        let facts: [Fact<'_>; 2] = [("wire", &wire.name()), ("error", why)];
        self.event(Kind::Refusal, Level::Warn, "refused", &facts);
    }

    /// Logs that a client does not speak the protocol.
    pub(crate) fn complain(&self, wire: Protocol, why: &dyn std::fmt::Display) {
        self.measures.malformed.fetch_add(1, Relaxed);
        let facts: [Fact<'_>; 2] = [("wire", &wire.name()), ("error", why)];
        self.event(Kind::Refusal, Level::Warn, "malformed", &facts);
    }
}

fn domain_of(address: &str) -> Option<&str> {
    let (_, domain) = address.trim().trim_end_matches('>').rsplit_once('@')?;
    (!domain.is_empty()).then_some(domain)
}
