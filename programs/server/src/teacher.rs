// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning and forgetting single messages, one after the other for each folder.

use crate::budget::Mail;
use crate::config::Limits;
use crate::engine::Engine;
use crate::headers::field;
use crate::history::Kind;
use crate::listen::Protocol;
use crate::log::{Fact, Level};
use crate::measures::Taught;
use crate::memory::of_learning;
use crate::rights::taught_user;
use crate::users::{Users, size};
use dbacl::{FilterPlace, MailFilter, MailFilterError, MailFilterOptions, MailRole, Outcome};
use dbacl_cli::listen::Peer;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Mutex, Semaphore};

/// What is to be done with a message: it is learned under the label of this role, or forgotten
/// (`None`).
pub(crate) type Lesson = Option<MailRole>;

/// Number of queues. Lessons for one folder share a queue and so follow each other; folders that
/// share a queue wait for each other, which is harmless.
const QUEUES: usize = 64;

/// What helps where the mail of a person is classified under another name than is taught.
const ADVICE: &str = "mail is classified for another name: see \"users\" in the manual";

/// Puts lessons in order. Waiting takes no thread, so that verdicts are made meanwhile.
#[derive(Debug)]
pub(crate) struct Teacher {
    queues: Vec<Mutex<()>>,
    /// One permit for each lesson that may be given at the same time.
    desks: Arc<Semaphore>,
}

impl Teacher {
    /// A teacher that gives at most so many lessons at the same time.
    pub(crate) fn new(desks: usize) -> Self {
        let queues = std::iter::repeat_with(Mutex::default).take(QUEUES).collect();
        Self { queues, desks: Arc::new(Semaphore::new(desks)) }
    }

    fn queue(&self, folder: &Path) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        folder.hash(&mut hasher);
        let number = hasher.finish() % QUEUES as u64;
        &self.queues[usize::try_from(number).unwrap_or(0)]
    }

    /// Learns or forgets a message for a user, as far as the rights allow it. When this returns,
    /// the change is on disk and counts for the next verdict. A lesson that was given before
    /// changes nothing. Returns what came of it, also in words. Every refusal is logged.
    pub(crate) async fn teach(
        &self,
        engine: &Arc<Engine>,
        (wire, peer): (Protocol, Peer),
        name: &str,
        lesson: Lesson,
        mail: &Arc<Mail>,
    ) -> (Taught, String) {
        let start = Instant::now();
        let result = self.try_teach(engine, peer, name, lesson, mail).await;
        let milliseconds = format!("{:.1}", start.elapsed().as_secs_f64() * 1e3);
        let (wire, lesson, bytes) =
            (wire.name(), lesson.map_or("forget", MailRole::word), mail.bytes().len());
        let id = field(mail.bytes(), "message-id");
        let mut facts: Vec<Fact<'_>> = vec![
            ("wire", &wire),
            ("user", &name),
            ("as", &lesson),
            ("bytes", &bytes),
            ("ms", &milliseconds),
        ];
        if let Some(id) = &id {
            facts.push(("id", id));
        }
        let (taught, text) = &result;
        match taught {
            _ if taught.is_change() || *taught == Taught::Known => {
                facts.push(("outcome", text));
                engine.event(Kind::Lesson, Level::Info, "learned", &facts);
            }
            Taught::Refused | Taught::Unusable => {
                facts.push(("error", text));
                engine.event(Kind::Refusal, Level::Warn, "refused", &facts);
            }
            _ => {
                facts.push(("error", text));
                engine.event(Kind::Refusal, Level::Error, "learned", &facts);
            }
        }
        engine.measures.taught(*taught);
        result
    }

    async fn try_teach(
        &self,
        engine: &Arc<Engine>,
        peer: Peer,
        name: &str,
        lesson: Lesson,
        mail: &Arc<Mail>,
    ) -> (Taught, String) {
        let (shared, asked) = (Arc::clone(engine), name.to_owned());
        let choice = engine.aside(move || {
            let Engine { config, users, .. } = &*shared;
            let name = taught_user(config, users, peer, &asked)?;
            let taught = users.taught(&name, config.learn_default).map_err(str::to_owned);
            taught.map(|(folder, default)| (name, folder, default))
        });
        let (name, folder, default) = match choice.await {
            Some(Ok(taught)) => taught,
            Some(Err(why)) => return (Taught::Refused, why),
            None => return (Taught::Failed, "learning failed within the program".into()),
        };
        let _turn = self.queue(&folder).lock().await;
        let Ok(desk) = Arc::clone(&self.desks).acquire_owned().await else {
            return (Taught::Failed, "the server stops".into());
        };
        let (shared, mail) = (Arc::clone(engine), Arc::clone(mail));
        let learning = engine.aside(move || {
            let _desk = desk;
            let Engine { memory, users, config, ends_lessons, .. } = &*shared;
            let patience = config.limits.request();
            let promise = memory.promise(of_learning(mail.bytes().len()), patience);
            let _promise = promise.ok_or("no memory to learn the message")?;
            let options = MailFilterOptions::default().stop(Arc::clone(ends_lessons));
            let mail = mail.bytes();
            let default = default.as_deref();
            if let Some(default) = begun_from(&folder, default) {
                check(default, lesson, mail, &options)?;
            }
            prepare(&folder, default, users, &config.limits, &options)?;
            give(&folder, lesson, mail, &options)
        });
        let failed = || Err("learning failed within the program".into());
        let outcome = learning.await.unwrap_or_else(failed);
        engine.budget.freed.notify_one();
        match outcome {
            Ok(outcome) => {
                if let Some(other) = engine.asked.instead_of(&engine.users, &name) {
                    let facts: [Fact<'_>; 3] =
                        [("user", &name), ("asked", &other), ("advice", &ADVICE)];
                    engine.log.event(Level::Warn, "never-asked", &facts);
                }
                (taught(lesson, &outcome), outcome.to_string())
            }
            Err(Fault::Unusable(why)) => (Taught::Unusable, why),
            Err(Fault::Failed(why)) => (Taught::Failed, why),
        }
    }
}

fn taught(lesson: Lesson, outcome: &Outcome) -> Taught {
    match (outcome, lesson) {
        (Outcome::Learned | Outcome::LearnedAgain, Some(MailRole::Spam)) => Taught::Spam,
        (Outcome::Learned | Outcome::LearnedAgain, _) => Taught::Ham,
        (Outcome::Moved { .. }, _) => Taught::Corrected,
        (Outcome::Forgotten { .. }, _) => Taught::Forgotten,
        _ => Taught::Known,
    }
}

/// Why a lesson changes nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    /// The message cannot be learned, however often that is tried.
    #[error("{0}")]
    Unusable(String),
    /// It may be learned later.
    #[error("{0}")]
    Failed(String),
}

impl From<MailFilterError> for Fault {
    fn from(error: MailFilterError) -> Self {
        let text = error.to_string();
        match error {
            MailFilterError::NotMessage { .. } => Self::Unusable(text),
            _ => Self::Failed(text),
        }
    }
}

impl From<&str> for Fault {
    fn from(text: &str) -> Self {
        Self::Failed(text.to_owned())
    }
}

/// The default filter, if the user has no filter yet and begins with a copy of it.
fn begun_from<'a>(folder: &Path, default: Option<&'a Path>) -> Option<&'a Path> {
    default.filter(|_| FilterPlace::of(folder) != FilterPlace::Filter)
}

/// Checks that a user's first lesson can be given, since it begins a filter.
fn check(
    default: &Path,
    lesson: Lesson,
    mail: &[u8],
    options: &MailFilterOptions,
) -> Result<(), Fault> {
    let set = MailFilter::open(default, options)?;
    set.classify(mail)?;
    if let Some(role) = lesson {
        set.label_for(role)?;
        set.id(mail).ok_or_else(without_words)?;
    }
    Ok(())
}

/// Makes sure that there is a filter, and that it may learn. A user's filter begins as a copy of
/// the default one; until the copy is whole, the default one classifies the user's mail.
fn prepare(
    folder: &Path,
    default: Option<&Path>,
    users: &Users,
    limits: &Limits,
    options: &MailFilterOptions,
) -> Result<(), Fault> {
    let default = begun_from(folder, default);
    if default.is_some() && users.all().len() >= limits.user_filters {
        return Err("there are as many filters of users as limits.user-filters".into());
    }
    if size(default.unwrap_or(folder)) > limits.filter_bytes {
        return Err("the filter has as many bytes as limits.filter-bytes".into());
    }
    if let Some(default) = default {
        MailFilter::copy(default, folder, options)?;
    }
    Ok(())
}

/// Gives a lesson; after an error nothing has changed.
fn give(
    folder: &Path,
    lesson: Lesson,
    mail: &[u8],
    options: &MailFilterOptions,
) -> Result<Outcome, Fault> {
    let mut set = MailFilter::open(folder, options)?;
    let report = if let Some(role) = lesson {
        set.label_for(role).and_then(|label| set.correct(&label, mail))
    } else {
        let Some(id) = set.id(mail) else { return Ok(Outcome::Empty) };
        set.forget_id(id)
    };
    let outcome = report?.documents.into_iter().next().map(|document| document.outcome);
    let outcome = outcome.filter(|outcome| *outcome != Outcome::Empty);
    outcome.ok_or_else(without_words)
}

fn without_words() -> Fault {
    Fault::Unusable("the message has no word to learn".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl::{MailFolder, MailLearnOptions};
    use dbacl_testing::Scratch;

    const SPAM: Lesson = Some(MailRole::Spam);

    fn options(stop: bool) -> MailFilterOptions {
        MailFilterOptions::default().stop(Arc::new(stop.into()))
    }

    #[test]
    fn a_lesson_that_is_to_end_changes_nothing() {
        let scratch = Scratch::new();
        let folder = |label: &str| {
            let place = scratch.path(label);
            std::fs::create_dir(&place).unwrap();
            for number in 0..3 {
                let mail = format!("Subject: {label} {number}\n\nwords about {label}\n");
                std::fs::write(place.join(number.to_string()), mail).unwrap();
            }
            MailFolder::new(label, place)
        };
        let folders = ["ham", "spam", "lists", "work"].map(folder);
        let [filter, mixed] = ["filter", "mixed"].map(|name| scratch.path(name));
        for (filter, folders) in [(&filter, &folders[..2]), (&mixed, &folders[1..])] {
            MailFilter::learn_folders(filter, folders, &MailLearnOptions::default()).unwrap();
        }
        let mail = b"Subject: offer\n\ncheap pills\n";
        let lesson = |stop| give(&filter, SPAM, mail, &options(stop));
        assert!(lesson(true).is_err_and(|why| why.to_string().starts_with("stopped")));
        assert_eq!(lesson(false), Ok(Outcome::Learned));
        let empty = give(&filter, SPAM, b"", &options(false));
        assert!(empty.is_err_and(|why| why.to_string().contains("no word to learn")));
        let packed = give(&filter, SPAM, b"\x1f\x8b\x08\0", &options(false));
        assert!(matches!(packed, Err(Fault::Unusable(why)) if why.contains("compressed by gzip")));
        // The first lesson of a user begins a filter, which is a copy of the default one.
        let users = Users {
            pattern: Some(scratch.path("users/{user}").display().to_string()),
            default: Some(filter),
            ..Users::default()
        };
        let mut limits = Limits { user_filters: 1, ..Limits::default() };
        let prepare = |name: &str, users: &Users, limits: &Limits, stop: bool| {
            let (folder, default) = users.taught(name, false).unwrap();
            prepare(&folder, default.as_deref(), users, limits, &options(stop)).map(|()| folder)
        };
        let stopped = prepare("alice", &users, &limits, true);
        assert!(stopped.is_err_and(|why| why.to_string().starts_with("stopped")));
        assert_eq!((users.all(), scratch.path("users/alice").exists()), (Vec::new(), false));
        let alice = prepare("alice", &users, &limits, false).unwrap();
        let copy = MailFilter::open(&alice, &MailFilterOptions::default()).unwrap();
        assert_eq!((copy.labels(), copy.documents()), (&["ham".into(), "spam".into()][..], 7));
        assert_eq!(
            give(&alice, SPAM, b"Subject: pills\n\nbuy\n", &options(false)),
            Ok(Outcome::Learned)
        );
        // Another first lesson was waiting meanwhile.
        super::prepare(&alice, users.default.as_deref(), &users, &limits, &options(false)).unwrap();
        assert_eq!(MailFilter::open(&alice, &MailFilterOptions::default()).unwrap().documents(), 8);
        let refused = prepare("bob", &users, &limits, false);
        assert!(refused.is_err_and(|why| why.to_string().contains("limits.user-filters")));
        assert_eq!(users.all(), [("alice".to_owned(), alice, FilterPlace::Filter)]);
        limits.filter_bytes = 1000;
        let refused = prepare("alice", &users, &limits, false);
        assert!(refused.is_err_and(|why| why.to_string().contains("limits.filter-bytes")));
        // Where no label of the default filter means ham, none of the user's own does.
        let users = Users { default: Some(mixed), ..users };
        let bob = prepare("bob", &users, &Limits::default(), false).unwrap();
        let lesson = |lesson| give(&bob, lesson, mail, &options(false));
        assert!(lesson(Some(MailRole::Ham)).is_err_and(|why| why.to_string().contains("ham")));
        assert_eq!(lesson(SPAM), Ok(Outcome::Learned));
    }
}
