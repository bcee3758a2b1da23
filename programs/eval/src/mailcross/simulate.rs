// SPDX-License-Identifier: GPL-3.0-or-later
//! The subcommands `learn` and `run`: the user's commands over all messages.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::folder::Folder;
use super::table::{LOG_TITLE, NO_VERDICT};
use super::{Outcome, Program, Session, print};
use crate::command::{ShellCommand, about};
use crate::mbox::{Messages, sender_and_date};
use dbacl_cli::progress;
use dbacl_numeric::parse::strtol;
use dbacl_numeric::random::SplitMix64;

const LEARNER: &str = "dbacl -H 19 -T email -l";
const FILTER: &str = "dbacl -v -m -T email";

/// The built-in filter of the online simulations: it classifies, then learns as its first argument
/// says. Categories start from an almost empty message, so that there is a first verdict.
const ONLINE_FILTER: &str = r#"
learn() { dbacl -H 19 -T email -l "$1" -o "$1.onl" "$2"; }
judge() {
  mode=$1 truth=$2; shift 2
  message=$TEMPDIR/message.$$
  cat > "$message"
  for category do
    if ! [ -e "$category" ]; then
      printf 'From nobody\nSubject: none\n\n\n' > "$message.0"
      learn "$category" "$message.0"
      rm -f "$message.0"
    fi
    shift; set -- "$@" -c "$category"
  done
  verdict=$(dbacl -v -m -T email "$@" < "$message")
  printf %s "$verdict"
  if [ "$mode" = foot ] || [ "$verdict" != "${truth##*/}" ]; then
    learn "$truth" "$message"
  fi
  rm -f "$message"
}
judge"#;

/// Messages that are classified together.
const BATCH: usize = 64;

/// The log of verdicts, and the number of missing ones.
struct Log<'a> {
    file: BufWriter<File>,
    missing: usize,
    /// Bytes of the messages that were classified.
    done: &'a AtomicU64,
}

impl<'a> Log<'a> {
    fn create(path: &Path, done: &'a AtomicU64) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path).map_err(|error| about(path, &error))?);
        file.write_all(LOG_TITLE.as_bytes())?;
        Ok(Self { file, missing: 0, done })
    }

    fn add(
        &mut self,
        fold: usize,
        truth: &OsString,
        verdict: &[u8],
        message: &[u8],
    ) -> io::Result<()> {
        self.done.fetch_add(message.len() as u64, Ordering::Relaxed);
        // Blanks divide a line of the log, so a verdict must be one word.
        let is_word = !verdict.is_empty() && !verdict.iter().any(u8::is_ascii_whitespace);
        self.missing += usize::from(!is_word);
        let verdict = if is_word { verdict } else { NO_VERDICT.as_bytes() };
        write!(self.file, "{fold} ")?;
        let parts = [truth.as_bytes(), b" ", verdict, b" ", sender_and_date(message), b"\n"];
        self.file.write_all(&parts.concat())
    }
}

impl Session {
    /// A command of the user's, or its default, with the simulation's environment.
    fn command(&self, words: OsString, prefix: OsString) -> ShellCommand {
        let temporary = self.folder.path.join("tmp").into();
        let mut variables = vec![("TEMPDIR".into(), temporary)];
        variables.extend(self.variables.iter().cloned());
        ShellCommand { words, prefix, variables }
    }

    /// Learns each category in each fold from the messages of all other folds.
    pub(super) fn learn(&mut self, arguments: &[OsString]) -> Outcome {
        if self.program != Program::Cross {
            print("This command is not meaningful.\n")?;
            return Ok(());
        }
        self.need_folder()?;
        let words = self.variable("LEARNER").unwrap_or_else(|| LEARNER.into());
        let learner = self.command(words, OsString::new());
        let (folds, categories) = (self.folder.folds(), self.folder.categories());
        let total = (folds * categories.len()) as u64;
        let done = AtomicU64::new(0);
        let part = || Some((done.load(Ordering::Relaxed), total));
        progress::watch("learning", part, || {
            for category in &categories {
                for fold in 0..folds {
                    let others = (0..folds).filter(|&other| other != fold);
                    let mailboxes: Vec<PathBuf> = others
                        .map(|other| Folder::mailbox(&self.folder.fold(other), category))
                        .collect();
                    let model = self.folder.fold(fold).join(category);
                    self.note(learner.show(std::slice::from_ref(&model)).as_bytes());
                    if !learner.learn(&model, arguments, &mailboxes)? {
                        self.complain(&format!("the learner failed for {}", model.display()));
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        })
    }

    /// Asks the filter about all messages and writes the log.
    pub(super) fn run(&mut self) -> Outcome {
        self.need_folder()?;
        let total = self.bytes_of_mail();
        let done = AtomicU64::new(0);
        let part = || Some((done.load(Ordering::Relaxed), total));
        let mut log = Log::create(&self.log_path(), &done)?;
        progress::watch("judging", part, || {
            if self.program == Program::Cross {
                return self.run_folds(&mut log);
            }
            (0..self.folder.folds()).try_for_each(|fold| self.run_online(fold, &mut log))
        })?;
        log.file.flush()?;
        if log.missing > 0 {
            let text = format!("{} messages got no verdict; they count as errors", log.missing);
            self.complain(&text);
        }
        Ok(())
    }

    /// Bytes of the messages that a run asks about.
    fn bytes_of_mail(&self) -> u64 {
        let folds = self.folder.folds();
        let (places, times) = if self.program == Program::Cross {
            ((0..folds).map(|fold| self.folder.fold(fold)).collect(), 1)
        } else {
            (vec![self.folder.path.join("mbox")], folds as u64)
        };
        let mailboxes = self.folder.categories().into_iter().flat_map(|category| {
            places.iter().map(move |place| Folder::mailbox(place, &category)).collect::<Vec<_>>()
        });
        let size = |path: PathBuf| path.metadata().map_or(0, |data| data.len());
        mailboxes.map(size).sum::<u64>() * times
    }

    fn run_folds(&mut self, log: &mut Log<'_>) -> Outcome {
        let user_filter = self.variable("FILTER");
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        // A user's filter may keep a state that two processes must not change at the same time.
        let jobs = self.jobs.unwrap_or(if user_filter.is_some() { 1 } else { processors });
        let default_prefix = if self.variable("LEARNER").is_none() { "-c" } else { "" };
        let prefix = self.variable("CPREFIX").unwrap_or_else(|| default_prefix.into());
        let filter = self.command(user_filter.unwrap_or_else(|| FILTER.into()), prefix);
        let categories = self.folder.categories();
        for fold in 0..self.folder.folds() {
            let place = self.folder.fold(fold);
            let models: Vec<PathBuf> = categories.iter().map(|name| place.join(name)).collect();
            self.note(filter.show(&models).as_bytes());
            for category in &categories {
                let Ok(file) = File::open(Folder::mailbox(&place, category)) else { continue };
                let mut messages = Messages::new(BufReader::new(file));
                loop {
                    let batch: Vec<Vec<u8>> =
                        messages.by_ref().take(BATCH).collect::<io::Result<_>>()?;
                    let verdicts = filter.ask_all(&models, &batch, jobs)?;
                    for (message, verdict) in batch.iter().zip(&verdicts) {
                        log.add(fold, category, verdict, message)?;
                    }
                    if batch.len() < BATCH {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// One repetition of an online simulation: messages of all categories in a random interleaving,
    /// each category's in order.
    fn run_online(&mut self, repetition: usize, log: &mut Log<'_>) -> Outcome {
        let usual = || format!("{ONLINE_FILTER} {}", self.program.log()).into();
        let words = self.variable("FILTER").unwrap_or_else(usual);
        let filter = self.command(words, OsString::new());
        let place = self.folder.fold(repetition);
        let seed = std::fs::read(place.join("seed")).unwrap_or_default();
        let mut generator = SplitMix64::new(strtol(&seed, 10).0.cast_unsigned());
        let categories = self.folder.categories();
        let models: Vec<PathBuf> = categories.iter().map(|name| place.join(name)).collect();
        let mailboxes = self.folder.path.join("mbox");
        let mut sources = Vec::new();
        for (index, category) in categories.iter().enumerate() {
            if let Ok(file) = File::open(Folder::mailbox(&mailboxes, category)) {
                let mut messages = Messages::new(BufReader::new(file)).peekable();
                if messages.peek().is_some() {
                    sources.push((index, messages));
                }
            }
        }
        while !sources.is_empty() {
            let chosen = generator.below(sources.len());
            let (category, ref mut messages) = sources[chosen];
            let mut message = messages.next().transpose()?.unwrap_or_default();
            let is_last = messages.peek().is_none();
            // Compatibility: a mailbox's last message comes without the empty line at its end
            // (recorded case mailtoe-run).
            if is_last && message.ends_with(b"\n\n") {
                message.pop();
            }
            let truth = std::iter::once(&models[category]);
            let paths: Vec<PathBuf> = truth.chain(&models).cloned().collect();
            let verdict = filter.ask(&paths, &message)?;
            log.add(repetition, &categories[category], &verdict, &message)?;
            if is_last {
                drop(sources.remove(chosen));
            }
        }
        Ok(())
    }
}
