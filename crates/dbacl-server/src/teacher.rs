// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning and forgetting single mails, one after the other for each folder.

use crate::engine::{Engine, Mail};
use crate::log::Level;
use crate::measures::{Taught, Wire};
use crate::memory::of_learning;
use dbacl::{FittedSet, FittedSetOptions, Outcome};
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tokio::sync::{Mutex, Semaphore};

/// What is to be done with a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lesson {
    /// It is mail that must not be lost.
    Ham,
    /// It is what the filter is there to find.
    Spam,
    /// It is to be forgotten.
    Forget,
}

impl Lesson {
    const fn word(self) -> &'static str {
        match self {
            Self::Ham => "ham",
            Self::Spam => "spam",
            Self::Forget => "forget",
        }
    }
}

/// Number of queues. Lessons for one folder share a queue and so follow each other; folders that
/// share a queue wait for each other, which is harmless.
const QUEUES: usize = 64;

/// Puts lessons in order. Waiting takes no thread, so that verdicts are made meanwhile.
#[derive(Debug)]
pub struct Teacher {
    queues: Vec<Mutex<()>>,
    /// One permit for each lesson that may be given at the same time.
    desks: Arc<Semaphore>,
}

impl Teacher {
    /// A teacher that gives at most so many lessons at the same time.
    pub fn new(desks: usize) -> Self {
        let queues = std::iter::repeat_with(Mutex::default).take(QUEUES).collect();
        Self { queues, desks: Arc::new(Semaphore::new(desks)) }
    }

    fn queue(&self, folder: &Path) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        folder.hash(&mut hasher);
        let number = hasher.finish() % QUEUES as u64;
        &self.queues[usize::try_from(number).unwrap_or(0)]
    }

    /// Learns or forgets a mail for a user. When this returns, the change is on disk and counts for
    /// the next verdict. A lesson that was given before changes nothing.
    pub async fn teach(
        &self,
        engine: &Engine,
        wire: Wire,
        name: &str,
        lesson: Lesson,
        mail: &Arc<Mail>,
    ) -> Taught {
        let start = Instant::now();
        let result = self.try_teach(engine, name, lesson, mail).await;
        let milliseconds = format!("{:.1}", start.elapsed().as_secs_f64() * 1e3);
        let (wire, lesson, size) = (wire.name(), lesson.word(), mail.bytes().len());
        let mut facts: Vec<(&str, &dyn Display)> = vec![
            ("wire", &wire),
            ("user", &name),
            ("as", &lesson),
            ("bytes", &size),
            ("ms", &milliseconds),
        ];
        let taught = match &result {
            Ok((taught, outcome)) => {
                facts.push(("outcome", outcome));
                engine.log.event(Level::Info, "learned", &facts);
                *taught
            }
            Err(error) => {
                facts.push(("error", error));
                engine.log.event(Level::Error, "learned", &facts);
                Taught::Failed
            }
        };
        engine.measures.taught(taught);
        taught
    }

    async fn try_teach(
        &self,
        engine: &Engine,
        name: &str,
        lesson: Lesson,
        mail: &Arc<Mail>,
    ) -> Result<(Taught, String), String> {
        let folder = engine.users.own(name).ok_or("the user has no filter")?;
        let _turn = self.queue(&folder).lock().await;
        let desk = Arc::clone(&self.desks).acquire_owned().await;
        let mail = Arc::clone(mail);
        let (memory, patience) = (Arc::clone(&engine.memory), engine.config.limits.request());
        let stop = Arc::clone(&engine.ends_lessons);
        let learning = tokio::task::spawn_blocking(move || {
            let _desk = desk;
            let promise = memory.promise(of_learning(mail.bytes().len()), patience);
            let _promise = promise.ok_or("no memory to learn the mail")?;
            give(&folder, lesson, mail.bytes(), stop)
        });
        let outcome = learning.await.map_err(|_| "learning failed within the program")??;
        let taught = match &outcome {
            Outcome::Learned
            | Outcome::LearnedAgain
            | Outcome::Moved { .. }
            | Outcome::Forgotten { .. } => Taught::Changed,
            _ => Taught::Known,
        };
        Ok((taught, outcome.to_string()))
    }
}

/// Gives a lesson; once `stop` is set it ends, and nothing has changed then.
fn give(
    folder: &Path,
    lesson: Lesson,
    mail: &[u8],
    stop: Arc<AtomicBool>,
) -> Result<Outcome, String> {
    let text = |error: dbacl::FittedSetError| error.to_string();
    let options = FittedSetOptions::default().stop(stop);
    let mut set = FittedSet::open(folder, &options).map_err(text)?;
    let label = |number: usize| set.labels().get(number).cloned().ok_or("a label is missing");
    let report = match lesson {
        Lesson::Ham => {
            let label = label(0)?;
            set.correct(&label, mail)
        }
        Lesson::Spam => {
            let label = label(1)?;
            set.correct(&label, mail)
        }
        Lesson::Forget => match set.id(mail) {
            Some(id) => set.forget_id(id),
            None => return Ok(Outcome::Empty),
        },
    };
    let report = report.map_err(text)?;
    let outcome = report.documents.into_iter().next().map(|document| document.outcome);
    Ok(outcome.unwrap_or(Outcome::Empty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl::{MailFolder, MailLearnOptions};
    use dbacl_testing::Scratch;

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
        let folders = [folder("ham"), folder("spam")];
        let filter = scratch.path("filter");
        FittedSet::learn_folders(&filter, &folders, &MailLearnOptions::default()).unwrap();
        let mail = b"Subject: offer\n\ncheap pills\n";
        let lesson = |stop| give(&filter, Lesson::Spam, mail, Arc::new(AtomicBool::new(stop)));
        assert!(lesson(true).is_err_and(|text| text.starts_with("stopped")));
        assert_eq!(lesson(false), Ok(Outcome::Learned));
    }
}
