// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes a filter from the account itself, and reports what a filter would have moved: the tasks
//! `learn` and `replay`.

use crate::config::Config;
use crate::connection::Fault;
use crate::harvest::{self, Field, HAM, SPAM};
use crate::session::Session;
use crate::week::{about, in_words};
use dbacl::{
    LearnedSet, MailFilter, MailFilterError, MailFilterOptions, MailFolder, MailLearnOptions,
};
use dbacl_cli::progress;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What both tasks are given.
pub(crate) struct Task<'a> {
    pub config: &'a Config,
    /// The folder for copies of mail; it vanishes when the task is done.
    pub room: &'a Path,
    /// How many messages of each folder are learned, the newest ones.
    pub newest: usize,
    /// Set when the program is to stop.
    pub stop: Arc<AtomicBool>,
    /// Prints a line for the user.
    pub say: &'a dyn Fn(&str),
}

impl Task<'_> {
    /// Makes the filter from the newest mail of each folder. After an interruption it goes on where
    /// it was. Returns what to print.
    pub(crate) fn learn(&self, session: &mut Session) -> Result<String, Fault> {
        let fields = self.fields(session, None)?;
        are_enough(&fields, "")?;
        let folders = harvest::fetch(session, self.room, &fields)?;
        let learned = self.fit(&self.config.filter, &folders)?;
        harvest::remove(self.room)?;
        let total: usize = learned.documents.iter().sum();
        let each = learned.labels.iter().zip(&learned.documents);
        let each: Vec<String> = each.map(|(label, count)| format!("{count} {label}")).collect();
        Ok(format!(
            "learned {total} messages into {}: {}\ndbacl-imap replay says what it would have moved",
            self.config.filter.display(),
            each.join(", ")
        ))
    }

    /// What is learned, with guesses among the messages that came before `before`.
    fn fields(&self, session: &mut Session, before: Option<i64>) -> Result<Vec<Field>, Fault> {
        let mut harvest = harvest::fields(session, self.config, self.newest, self.say)?;
        if self.config.guesses.unwrap_or(true) {
            harvest.add_guesses(session, self.newest, before, self.say)?;
        }
        Ok(harvest.fields)
    }

    fn fit(&self, filter: &Path, folders: &[MailFolder]) -> Result<LearnedSet, Fault> {
        let read = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let told = Arc::clone(&read);
        let options = MailLearnOptions::default()
            .set_options(MailFilterOptions::default().stop(Arc::clone(&self.stop)))
            .progress(move |done, total| {
                told.0.store(done, Ordering::Relaxed);
                told.1.store(total, Ordering::Relaxed);
            });
        let part = || Some((read.0.load(Ordering::Relaxed), read.1.load(Ordering::Relaxed)));
        let learn = || MailFilter::learn_folders(filter, folders, &options);
        let (_, learned) = progress::watch("learning", part, learn)?;
        for warning in &learned.warnings {
            (self.say)(&warning.to_string());
        }
        Ok(learned)
    }

    /// Reports what a filter that has learned the mail before the last `days` would have said of
    /// the mail since then. Nothing of the account and no filter is changed.
    pub(crate) fn replay(&self, session: &mut Session, days: u32) -> Result<String, Fault> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let begin = i64::try_from(now).unwrap_or(i64::MAX) - i64::from(days) * 86_400;
        let fields = self.fields(session, Some(begin))?;
        let part = |is_old: bool| -> Vec<Field> {
            let of = |field: &Field| {
                let is_wanted = |mail: &&crate::session::Arrival| (mail.second < begin) == is_old;
                let mails = field.mails.iter().filter(is_wanted).cloned().collect();
                Field { mails, ..field.clone() }
            };
            fields.iter().map(of).collect()
        };
        let (before, since) = (part(true), part(false));
        are_enough(&before, &format!(" older than {days} days"))?;
        harvest::remove(self.room)?;
        let folders = harvest::fetch(session, &self.room.join("mail"), &before)?;
        let filter = self.room.join("filter");
        let learned = self.fit(&filter, &folders)?;
        let filter = MailFilter::open(&filter, &MailFilterOptions::default())?;
        filter.warnings().iter().for_each(|warning| (self.say)(&warning.to_string()));
        let total: usize = learned.documents.iter().sum();
        let mut replayed = Vec::new();
        for field in &since {
            if !learned.labels.contains(&field.label) {
                (self.say)(&format!("{} has no mail from before", field.name()));
                continue;
            }
            session.select(&field.folder, false, None)?;
            for mails in field.mails.chunks(20) {
                let uids: Vec<u32> = mails.iter().map(|mail| mail.uid).collect();
                for (uid, mail) in session.mails(&uids)? {
                    let (verdict, reasons) = match filter.classify_with_reasons(&mail) {
                        Err(MailFilterError::NotMessage { .. }) => continue,
                        found => found.map_err(|error| Fault::Local(error.to_string()))?,
                    };
                    let day = mails.iter().find(|it| it.uid == uid).map(|it| it.day.as_str());
                    let label = &verdict.category;
                    let is_of_label = |field: &&Field| field.label == *label;
                    let folder = fields.iter().find(is_of_label).map_or(label.clone(), Field::name);
                    let is_usual = label == HAM || label == SPAM;
                    let goal = if verdict.is_unsure {
                        self.config.unsure.clone()
                    } else {
                        let is_goal = |field: &&Field| is_of_label(field) && field.is_goal;
                        fields.iter().find(is_goal).map(Field::name)
                    };
                    replayed.push(Replayed {
                        day: day.unwrap_or_default().to_owned(),
                        about: about(&mail),
                        verdict: in_words(&verdict, if is_usual { label } else { &folder }),
                        reasons: reasons.map_or_else(String::new, |reasons| reasons.strongest(5)),
                        sure: (!verdict.is_unsure).then_some(verdict.category),
                        goal,
                        label: field.label.clone(),
                        folder: field.name(),
                    });
                }
            }
        }
        harvest::remove(self.room)?;
        Ok(report(replayed, days, total))
    }
}

fn are_enough(fields: &[Field], since: &str) -> Result<(), Fault> {
    for (label, what) in [(HAM, "good mail"), (SPAM, "spam")] {
        let mut mails = fields.iter().filter(|field| field.label == label);
        if mails.all(|field| field.mails.is_empty()) {
            let text = format!("the account has no {what}{since} to learn from");
            return Err(Fault::Local(text));
        }
    }
    Ok(())
}

/// A message, and what the filter would have said when it came.
#[derive(Debug)]
struct Replayed {
    day: String,
    /// Its subject and sender.
    about: String,
    verdict: String,
    reasons: String,
    /// The label of which the filter is sure.
    sure: Option<String>,
    /// The folder into which the settings would have moved it.
    goal: Option<String>,
    /// The label of the folder where the message is now.
    label: String,
    folder: String,
}

impl Replayed {
    fn is_wrong(&self) -> bool {
        self.sure.as_ref().is_some_and(|sure| *sure != self.label)
    }

    /// What the settings would have done with it, in words.
    fn fate(&self) -> String {
        match (self.sure.as_deref(), &self.goal) {
            (None, None) => format!("{UNSURE}, left in the inbox"),
            (None, Some(goal)) => format!("{UNSURE}, moved to {goal}"),
            (Some(_), Some(goal)) => format!("moved to {goal}"),
            (Some(HAM), None) => "left in the inbox".into(),
            (Some(_), None) => "spam, left in the inbox: move-spam is off".into(),
        }
    }

    fn line(&self) -> String {
        let Self { day, about, verdict, folder, .. } = self;
        format!("  {day}  {verdict}, now in {folder}: {about}\n")
    }
}

const UNSURE: &str = "unsure";

/// What a replay has found, in words.
fn report(mut replayed: Vec<Replayed>, days: u32, learned: usize) -> String {
    replayed.sort_by(|one, other| one.day.cmp(&other.day));
    let count = replayed.len();
    let mut text = format!(
        "{count} messages of the last {days} days, by a filter that has learned the {learned} \
         before them:\n"
    );
    let mut groups: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for message in &replayed {
        let (all, wrong) = groups.entry(message.fate()).or_default();
        *all += 1;
        *wrong += usize::from(message.is_wrong());
    }
    for (fate, (all, wrong)) in groups {
        let wrong = if fate.starts_with(UNSURE) {
            String::new()
        } else {
            format!(", {wrong} of them wrongly")
        };
        // A string can be written.
        let _ = writeln!(text, "{all} {fate}{wrong}");
    }
    let mut list = |title: &str, is_listed: &dyn Fn(&Replayed) -> bool, has_reasons: bool| {
        let mut listed = replayed.iter().filter(|message| is_listed(message)).peekable();
        if listed.peek().is_some() {
            let _ = writeln!(text, "\n{title}:");
        }
        for message in listed {
            text.push_str(&message.line());
            if has_reasons && !message.reasons.is_empty() {
                let _ = writeln!(text, "    because of {}", message.reasons);
            }
        }
    };
    list("Wrong", &Replayed::is_wrong, true);
    list("Unsure", &|message| message.sure.is_none(), true);
    let is_moved = |message: &Replayed| {
        !message.is_wrong() && message.sure.is_some() && message.goal.is_some()
    };
    list("Moved", &is_moved, false);
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_counts_moves_and_names_mistakes() {
        let message = |sure: Option<&str>, label: &str, goal: &str, about: &str| Replayed {
            day: "2026-11-03".into(),
            about: about.into(),
            verdict: "verdict".into(),
            reasons: "+6.31 pills".into(),
            sure: sure.map(str::to_owned),
            goal: (!goal.is_empty()).then(|| goal.to_owned()),
            label: label.into(),
            folder: "INBOX".into(),
        };
        let replayed = vec![
            message(Some("spam"), "spam", "Junk", "pills"),
            message(Some("spam"), "ham", "Junk", "lunch"),
            message(None, "ham", "", "unclear"),
            message(Some("ham"), "ham", "", "minutes"),
        ];
        assert_eq!(
            report(replayed, 30, 7),
            "4 messages of the last 30 days, by a filter that has learned the 7 before them:\n\
             1 left in the inbox, 0 of them wrongly\n2 moved to Junk, 1 of them wrongly\n\
             1 unsure, left in the inbox\n\
             \nWrong:\n  2026-11-03  verdict, now in INBOX: lunch\n    because of +6.31 pills\n\
             \nUnsure:\n  2026-11-03  verdict, now in INBOX: unclear\n    because of \
             +6.31 pills\n\nMoved:\n  2026-11-03  verdict, now in INBOX: pills"
        );
        // Without these settings nothing is moved.
        let replayed = vec![
            message(Some("spam"), "spam", "", "pills"),
            message(None, "ham", "Unsure", "unclear"),
        ];
        let said = report(replayed, 30, 7);
        assert!(said.contains("1 spam, left in the inbox: move-spam is off, 0 of them"), "{said}");
        assert!(said.contains("1 unsure, moved to Unsure\n") && !said.contains("Moved:"), "{said}");
    }
}
