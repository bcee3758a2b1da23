// SPDX-License-Identifier: GPL-3.0-or-later
//! What all protocols share: mails are kept in bounded memory, verdicts are made in bounded time,
//! and both are logged.

use crate::config::Config;
use crate::log::{Level, Log};
use crate::measures::{Measures, Wire};
use crate::memory::{Memory, of_judging};
use crate::models::Models;
use crate::teacher::Teacher;
use crate::users::Users;
use crate::verdict::Judged;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory for mails is counted in pieces of so many bytes.
const PIECE: usize = 4096;

/// What all connections share.
#[derive(Debug)]
pub struct Engine {
    /// All settings.
    pub config: Config,
    /// The counters.
    pub measures: Arc<Measures>,
    /// Where events go.
    pub log: Log,
    /// The filters that are open.
    pub models: Models,
    /// When the server began.
    pub started: Instant,
    /// The thread that learns and forgets.
    pub teacher: Teacher,
    /// Once this is set, lessons that have begun end soon and change nothing.
    pub ends_lessons: Arc<AtomicBool>,
    /// Where the folders of users are.
    pub users: Users,
    /// The memory that work with mails may take.
    pub memory: Arc<Memory>,
    /// One permit for each verdict that may be made at the same time.
    workers: Arc<Semaphore>,
    /// One permit for each piece of memory for mails.
    pieces: Arc<Semaphore>,
}

/// Why a mail is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is larger than the limit.
    #[error("the mail is larger than the limit")]
    Large,
    /// The memory for all mails is taken.
    #[error("no memory, or too many mails at a time")]
    Busy,
}

/// A mail as it comes in, counted against the memory for all mails.
#[derive(Debug)]
pub struct Mail {
    bytes: Vec<u8>,
    limit: usize,
    memory: Arc<Memory>,
    pieces: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl Mail {
    /// Adds a piece.
    ///
    /// # Errors
    /// The mail becomes too large, or there is no memory for it. It stays as it was.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        let length = self.bytes.len() + piece.len();
        if length > self.limit {
            return Err(Refusal::Large);
        }
        let held = self.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let needed = length.div_ceil(PIECE);
        if needed > held {
            // The memory is at least doubled, as the buffer of the mail is.
            let more = (needed - held).max(held.min(self.limit.div_ceil(PIECE) - held));
            let more = u32::try_from(more).map_err(|_| Refusal::Large)?;
            let pieces = Arc::clone(&self.pieces);
            let permit = pieces.try_acquire_many_owned(more).map_err(|_| Refusal::Busy)?;
            match &mut self.held {
                Some(held) => held.merge(permit),
                None => self.held = Some(permit),
            }
        }
        if !self.memory.make_room(&mut self.bytes, piece.len()) {
            return Err(Refusal::Busy);
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// How many more bytes fit.
    pub fn room(&self) -> usize {
        self.limit - self.bytes.len()
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The permit for the mail's memory. The answer, which is as large as the mail, keeps it.
    pub fn into_memory(self) -> Option<OwnedSemaphorePermit> {
        self.held
    }
}

impl Engine {
    /// An engine that has no filter open yet.
    pub fn new(config: Config) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            measures: Arc::default(),
            started: Instant::now(),
            log: Log { level: config.log },
            models: Models::new(config.limits.open_models),
            teacher: Teacher::new(processors),
            ends_lessons: Arc::default(),
            users: config.users(),
            workers: Arc::new(Semaphore::new(processors)),
            memory: Arc::default(),
            pieces: Arc::new(Semaphore::new(config.limits.memory.div_ceil(PIECE))),
            config,
        }
    }

    /// A mail without bytes yet.
    pub fn mail(&self) -> Mail {
        Mail {
            bytes: Vec::new(),
            limit: self.config.limits.mail,
            memory: Arc::clone(&self.memory),
            pieces: Arc::clone(&self.pieces),
            held: None,
        }
    }

    /// The verdict for these users; `None` if there can be none, which has been logged then.
    pub async fn judge(
        self: &Arc<Self>,
        wire: Wire,
        names: Vec<String>,
        mail: &Arc<Mail>,
    ) -> Option<Judged> {
        let start = Instant::now();
        let limit = Duration::from_secs(self.config.limits.verdict_seconds);
        let (engine, mail) = (Arc::clone(self), Arc::clone(mail));
        let size = mail.bytes.len();
        let shown = names.join(",");
        let work = async {
            let workers = Arc::clone(&engine.workers);
            let Ok(permit) = workers.acquire_owned().await else {
                return Err("the server stops".to_owned());
            };
            let judging = tokio::task::spawn_blocking(move || {
                // A verdict that takes longer than the limit keeps its permit until it is made.
                let _permit = permit;
                let rest = limit.saturating_sub(start.elapsed());
                engine.look_up(&names, &mail.bytes, rest)
            });
            judging.await.unwrap_or_else(|_| Err("judging failed within the program".into()))
        };
        let judged = tokio::time::timeout(limit, work).await;
        let judged = judged.unwrap_or_else(|_| Err("no verdict in time".into()));
        self.tell(wire, &shown, size, start.elapsed(), judged)
    }

    /// The verdict on a mail, made in this thread and without a limit of time.
    pub fn judge_now(&self, wire: Wire, names: &[String], mail: &[u8]) -> Option<Judged> {
        let start = Instant::now();
        let judged = self.look_up(names, mail, Duration::ZERO);
        self.tell(wire, &names.join(","), mail.len(), start.elapsed(), judged)
    }

    /// The verdict on a mail; `patience` is how long memory may be waited for.
    fn look_up(&self, names: &[String], mail: &[u8], patience: Duration) -> Result<Judged, String> {
        let promise = self.memory.promise(of_judging(mail.len()), patience);
        let _promise = promise.ok_or("no memory to judge the mail")?;
        let folder = self.users.choose(names).ok_or("the user has no filter")?;
        let found = self.models.get(&folder).map_err(|error| error.to_string())?;
        if let Some(warnings) = &found.opened {
            self.opened(&folder, warnings);
        }
        let names = found.filter.names();
        let judged = if self.config.reasons {
            let judged = found.filter.classify_with_reasons(mail);
            judged.map(|(verdict, reasons)| Judged { reasons, ..Judged::new(&verdict, names) })
        } else {
            found.filter.classify(mail).map(|verdict| Judged::new(&verdict, names))
        };
        judged.map_err(|error| error.to_string())
    }

    fn opened(&self, folder: &Path, warnings: &[String]) {
        self.measures.opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = folder.display();
        self.log.event(Level::Info, "opened", &[("folder", &folder)]);
        for warning in warnings {
            let facts: [(&str, &dyn std::fmt::Display); 2] =
                [("folder", &folder), ("warning", &warning)];
            self.log.event(Level::Warn, "opened", &facts);
        }
    }

    fn tell(
        &self,
        wire: Wire,
        user: &str,
        size: usize,
        time: Duration,
        judged: Result<Judged, String>,
    ) -> Option<Judged> {
        let decision = judged.as_ref().ok().map(|judged| judged.decision);
        self.measures.mail(wire, decision, time);
        let milliseconds = format!("{:.1}", time.as_secs_f64() * 1e3);
        let wire = wire.name();
        let mut facts: Vec<(&str, &dyn std::fmt::Display)> =
            vec![("wire", &wire), ("user", &user), ("bytes", &size), ("ms", &milliseconds)];
        let level = match &judged {
            Ok(judged) => {
                facts.push(("verdict", &judged.text));
                Level::Info
            }
            Err(error) => {
                facts.push(("error", error));
                Level::Error
            }
        };
        self.log.event(level, "judged", &facts);
        judged.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_and_given_back() {
        let mut config = Config::default();
        config.limits.mail = 6 * PIECE;
        config.limits.memory = 10 * PIECE;
        let engine = Engine::new(config);
        let mut one = engine.mail();
        assert_eq!(one.push(&vec![0; 6 * PIECE + 1]), Err(Refusal::Large));
        for _ in 0..6 {
            one.push(&[1; PIECE]).expect("room");
        }
        assert_eq!((one.push(&[0]), one.room()), (Err(Refusal::Large), 0));
        let mut other = engine.mail();
        other.push(&vec![0; 4 * PIECE]).expect("room");
        assert_eq!(other.push(&[0]), Err(Refusal::Busy));
        assert_eq!(other.bytes().len(), 4 * PIECE);
        let held = one.into_memory();
        assert_eq!(other.push(&[0]), Err(Refusal::Busy));
        drop(held);
        other.push(&[0]).expect("memory was given back");
    }
}
