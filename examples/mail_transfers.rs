// SPDX-License-Identifier: GPL-3.0-or-later
//! How well a mail filter's verdicts carry over to mail of another time and source, from few
//! messages, with wrong labels, and against disguises (`benches/mail-transfers.sh`).
//!
//! ```text
//! mail_transfers CORPORA [--caution NAME] [--draws N] [ROW...]
//! ```
//!
//! CORPORA holds unpacked corpora. Rows are `later list stay older home test few copies arrival
//! wrong phishing enron ling words headers stream`; without any, all but `test` and `stream` are
//! measured. "lost" is good mail confidently called spam, "missed" spam confidently called ham, in
//! percent of its kind; "unsure" counts two good messages for each spam where there are both. "at
//! .1" and "at .5" are the spam above a threshold that 0.1 or 0.5 % of good mail exceeds.

use dbacl::measures::{Scored, area_above, mistakes, recall_at};
use dbacl::{MailFilter, MailFolder, MailLearnOptions};
use dbacl_numeric::elementary::real;
use dbacl_numeric::random::SplitMix64;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Messages that are learned, and others.
type Part = (Vec<Mail>, Vec<Mail>);

/// A message.
#[derive(Clone)]
struct Mail {
    path: PathBuf,
    is_spam: bool,
}

/// What a filter says of a message: the logarithm of the odds of spam.
#[derive(Clone, Copy)]
struct Verdict {
    scored: Scored,
    is_unsure: bool,
}

/// Numbers from a seed.
struct Random(SplitMix64);

impl Random {
    fn of(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    fn below(&mut self, number: usize) -> usize {
        usize::try_from(self.0.draw() % number as u64).unwrap_or(0)
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

struct Bench {
    corpora: PathBuf,
    options: MailLearnOptions,
    draws: u64,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let corpora = PathBuf::from(args.next().ok_or("mail_transfers CORPORA [ROW...]")?);
    let (mut options, mut draws, mut rows) = (MailLearnOptions::default(), 3, Vec::new());
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or("a value is missing");
        match arg.as_str() {
            "--caution" => {
                let caution = dbacl::Caution::by_name(&value()?).ok_or("no such caution")?;
                options = options.caution(caution);
            }
            "--draws" => draws = value()?.parse()?,
            _ => rows.push(arg),
        }
    }
    let all =
        "later list stay older home few copies arrival wrong phishing enron ling words headers";
    if rows.is_empty() {
        rows.extend(all.split(' ').map(str::to_owned));
    }
    println!(
        "{:34} {:>23} {:>17}   {:>5} {:>6} {:>6} {:>6} {:>6}",
        "", "(1-AUC) %", "errors %", "lost", "missed", "unsure", "at .1", "at .5"
    );
    let bench = Bench { corpora, options, draws };
    rows.iter().try_for_each(|row| bench.row(row))
}

impl Bench {
    fn row(&self, row: &str) -> Result<()> {
        let home = || self.mails("spamassassin/train");
        let several = [10, 20, 50, 100];
        match row {
            "later" => {
                let part = (self.all_of_spamassassin()?, self.stream()?);
                self.measure("SpamAssassin -> laterserver", [part])?;
            }
            "list" => {
                let part = (self.all_of_spamassassin()?, self.mails("list2019")?);
                self.measure("SpamAssassin -> list2019", [part])?;
            }
            "stay" => {
                let all = self.stream()?;
                let part = (all[..800].to_vec(), all[all.len() - 1500..].to_vec());
                self.measure("laterserver 800 -> last 1500", [part])?;
                self.measure("laterserver -> SpamAssassin", [(all, home()?)])?;
            }
            "older" => self.measure("SpamAssassin older -> newer", [halves(&by_day(home()?))])?,
            "home" => {
                let mut all = home()?;
                Random::of(7).shuffle(&mut all);
                let folds = (0..4).map(|fold| parted(&all, |at| at % 4 != fold));
                self.measure("SpamAssassin, 4-fold", folds)?;
            }
            "test" => {
                let part = (home()?, self.mails("spamassassin/test")?);
                self.measure("SpamAssassin train -> test", [part])?;
            }
            "few" => {
                let (home, stream) = (home()?, self.stream()?);
                for number in [10, 20, 50, 100, 200] {
                    let parts = (0..self.draws).map(|draw| drawn(&home, number, draw));
                    self.measure(&format!("{number} + {number} messages"), parts)?;
                }
                for number in [20, 50, 100] {
                    let parts = (0..self.draws).map(|draw| drawn(&stream, number, draw));
                    self.measure(&format!("laterserver {number} + {number}"), parts)?;
                }
            }
            "copies" => {
                // Nearly all spam of the following hours is of one kind.
                let all = self.stream()?.split_off(520);
                for number in several {
                    let name = format!("{number} + {number} messages, copies");
                    self.measure(&name, [followed(&all, number)])?;
                }
            }
            "arrival" => {
                let streams = self.streams()?;
                for number in several {
                    let parts = streams.iter().flat_map(|(_, all)| {
                        (0..3).map(move |at| followed(&all[all.len() * at / 4..], number))
                    });
                    self.measure(&format!("{number} + {number}, the next 1,500"), parts)?;
                }
            }
            "wrong" => {
                let home = home()?;
                for share in [0, 1, 2, 5] {
                    let parts = (0..self.draws.min(2)).map(|draw| {
                        let mut all = home.clone();
                        Random::of(11 + draw).shuffle(&mut all);
                        let rest = all.split_off(2448);
                        let wrong = all.len() * share / 100;
                        all[..wrong].iter_mut().for_each(|mail| mail.is_spam ^= true);
                        (all, rest)
                    });
                    self.measure(&format!("{share} % wrong labels"), parts)?;
                }
            }
            "phishing" => {
                let part = (home()?, files(&self.corpora.join("phishing"), true)?);
                self.measure("SpamAssassin -> phishing", [part])?;
            }
            "enron" => {
                let users = [self.user(1)?, self.user(2)?, self.user(3)?];
                for (user, all) in (1..).zip(&users) {
                    self.measure(&format!("enron user{user}, halves"), [halves(all)])?;
                }
                let [first, second, third] = users;
                self.measure("enron user1 -> user2", [(first.clone(), second)])?;
                self.measure("enron user1 -> user3", [(first, third)])?;
            }
            "ling" => {
                let (ling, home) = (self.mails("lingspam/train")?, home()?);
                self.measure("Ling-Spam -> SpamAssassin", [(ling.clone(), home.clone())])?;
                self.measure("SpamAssassin -> Ling-Spam", [(home, ling)])?;
            }
            "words" => self.words()?,
            "headers" => self.headers()?,
            "stream" => self.online()?,
            _ => return Err(format!("no row {row}").into()),
        }
        Ok(())
    }

    /// Shows how filters of the first messages of each part classify the others.
    fn measure(&self, name: &str, parts: impl IntoIterator<Item = Part>) -> Result<()> {
        let mut verdicts = Vec::new();
        for (learned, others) in parts {
            verdicts.extend(classify(&self.learn(&learned)?, &others)?);
        }
        show(name, &verdicts);
        Ok(())
    }

    /// The messages in `ham` and `spam` of a folder.
    fn mails(&self, folder: &str) -> Result<Vec<Mail>> {
        let folder = self.corpora.join(folder);
        let mut all = Vec::new();
        for (label, is_spam) in [("ham", false), ("spam", true)] {
            let own = folder.join(label);
            if own.exists() {
                all.extend(files(&own, is_spam)?);
            }
        }
        Ok(all)
    }

    fn all_of_spamassassin(&self) -> Result<Vec<Mail>> {
        Ok([self.mails("spamassassin/train")?, self.mails("spamassassin/test")?].concat())
    }

    /// The mail of a user of Enron, in order of arrival.
    fn user(&self, user: u8) -> Result<Vec<Mail>> {
        let mut all = self.mails(&format!("enron/user{user}"))?;
        all.sort_by_key(|mail| mail.path.file_name().map(ToOwned::to_owned));
        Ok(all)
    }

    /// The messages of laterserver, in order of arrival.
    fn stream(&self) -> Result<Vec<Mail>> {
        let folder = self.corpora.join("laterserver");
        let index = fs::read_to_string(folder.join("index"))?;
        let mail = |line: &str| {
            let (kind, path) = line.split_once(' ')?;
            Some(Mail { path: folder.join(path), is_spam: kind == "spam" })
        };
        Ok(index.lines().filter_map(mail).collect())
    }

    /// The mail of five receivers, in order of arrival.
    fn streams(&self) -> Result<Vec<(String, Vec<Mail>)>> {
        let all = by_day(self.all_of_spamassassin()?);
        let mut streams =
            vec![("SpamAssassin".into(), all), ("laterserver".into(), self.stream()?)];
        for user in 1..=3 {
            streams.push((format!("enron user{user}"), self.user(user)?));
        }
        Ok(streams)
    }

    /// A filter of these messages.
    fn learn(&self, mails: &[Mail]) -> Result<MailFilter> {
        let room = tempfile::tempdir()?;
        let mut folders = Vec::new();
        for (label, is_spam) in [("ham", false), ("spam", true)] {
            let folder = room.path().join(label);
            fs::create_dir(&folder)?;
            for (at, mail) in mails.iter().filter(|mail| mail.is_spam == is_spam).enumerate() {
                fs::copy(&mail.path, folder.join(format!("{at:05}")))?;
            }
            folders.push(MailFolder::new(label, folder));
        }
        let filter = room.path().join("filter");
        let (set, _) = MailFilter::learn_folders(&filter, &folders, &self.options)?;
        // An open filter needs its files no more than their names.
        std::mem::forget(room);
        Ok(set)
    }

    /// Three quarters of the messages at home, a filter of these, and the others.
    fn quarters(&self) -> Result<(Vec<Mail>, MailFilter, Vec<Mail>)> {
        let (learned, rest) = parted(&self.mails("spamassassin/train")?, |at| at % 4 > 0);
        let filter = self.learn(&learned)?;
        Ok((learned, filter, rest))
    }

    /// Random words below or above the text of spam that is caught.
    fn words(&self) -> Result<()> {
        let (learned, filter, rest) = self.quarters()?;
        let mut known = Vec::new();
        for mail in learned.iter().filter(|mail| !mail.is_spam).step_by(9) {
            let text = fs::read(&mail.path)?;
            known.extend(text.split(|byte| !byte.is_ascii_alphabetic()).map(<[u8]>::to_vec));
        }
        known.retain(|word| (3..12).contains(&word.len()));
        let mut caught = caught(&filter, &rest)?;
        caught.retain(|text| {
            let lower = text.to_ascii_lowercase();
            find(&lower, b"multipart/").is_none() && find(&lower, b"base64").is_none()
        });
        caught.truncate(100);
        let mut random = Random::of(5);
        let letter = |random: &mut Random| b'a' + u8::try_from(random.below(26)).unwrap_or(0);
        let kinds = [1000, 5000].into_iter().flat_map(|number| {
            [("random", false), ("ham's", true)]
                .map(move |(kind, is_known)| (number, kind, is_known))
        });
        for (number, kind, is_known) in kinds {
            for (place, is_before) in [("appended", false), ("before", true)] {
                let mut verdicts = Vec::new();
                for text in &caught {
                    let mut words = Vec::new();
                    for _ in 0..number {
                        if is_known {
                            words.extend_from_slice(&known[random.below(known.len())]);
                        } else {
                            let letters = 3 + random.below(8);
                            words.extend((0..letters).map(|_| letter(&mut random)));
                        }
                        words.push(if random.below(10) == 0 { b'\n' } else { b' ' });
                    }
                    let crlf = find(text, b"\r\n\r\n").map(|at| at + 4);
                    let plain = find(text, b"\n\n").map(|at| at + 2);
                    let body = crlf.or(plain).unwrap_or(text.len());
                    let at = if is_before { body } else { text.len() };
                    let text = [&text[..at], b"\n", &words, b"\n", &text[at..]].concat();
                    verdicts.push(verdict(&filter, &text, true)?);
                }
                shares(&format!("{number} {kind} words {place}"), &verdicts);
            }
        }
        Ok(())
    }

    /// Headers of a good message before the text of spam that is caught.
    fn headers(&self) -> Result<()> {
        let (_, filter, rest) = self.quarters()?;
        let good: Vec<&Mail> = rest.iter().filter(|mail| !mail.is_spam).collect();
        let mut random = Random::of(6);
        let (mut forged, mut quoted) = (Vec::new(), Vec::new());
        for text in caught(&filter, &rest)? {
            let other = fs::read(&good[random.below(good.len())].path)?;
            let split = |text: &[u8]| -> (Vec<u8>, Vec<u8>) {
                let at = find(text, b"\n\n").map_or(text.len(), |at| at + 1);
                (text[..at].to_vec(), text[at..].to_vec())
            };
            let ((own, body), (theirs, answer)) = (split(&text), split(&other));
            // Subject and what describes the content stay those of the spam.
            let is_kept = |name: &str| name == "subject" || name.starts_with("content-");
            let header = [fields(&theirs, |it| !is_kept(it)), fields(&own, is_kept)].concat();
            forged.push(verdict(&filter, &[&header[..], &body].concat(), true)?);
            let quote: Vec<u8> = answer
                .split_inclusive(|&byte| byte == b'\n')
                .flat_map(|line| [b"> ", line].concat())
                .collect();
            quoted.push(verdict(&filter, &[&header[..], &body, b"\n", &quote].concat(), true)?);
        }
        shares("headers forged", &forged);
        shares("the same, a good message quoted", &quoted);
        Ok(())
    }

    /// Each message is classified, then learned, after the first ten of each kind.
    fn online(&self) -> Result<()> {
        for (name, all) in self.streams()? {
            let (first, rest) = taken(all, 10);
            let mut filter = self.learn(&first)?;
            let mut verdicts = Vec::new();
            for mail in rest {
                let text = fs::read(&mail.path)?;
                verdicts.push(verdict(&filter, &text, mail.is_spam)?);
                filter.learn(if mail.is_spam { "spam" } else { "ham" }, &text)?;
            }
            show(&format!("{name}, on-line"), &verdicts);
            show("- its second half", &verdicts[verdicts.len() / 2..]);
        }
        Ok(())
    }
}

fn show(name: &str, verdicts: &[Verdict]) {
    let mut random = Random::of(1);
    let (mut areas, mut errors) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        let again = |_| verdicts[random.below(verdicts.len())];
        let sample: Vec<Verdict> = (0..verdicts.len()).map(again).collect();
        areas.push(area(&sample));
        errors.push(wrong(&sample));
    }
    let range = |list: &mut Vec<f64>| {
        list.sort_by(f64::total_cmp);
        (list[5], list[194])
    };
    let ((a, b), (c, d)) = (range(&mut areas), range(&mut errors));
    let share = |is_spam: bool, is: &dyn Fn(&Verdict) -> bool| {
        let own = verdicts.iter().filter(|one| one.scored.positive == is_spam);
        percent(own.clone().filter(|one| is(one)).count(), own.count())
    };
    let lost = share(false, &|one| !one.is_unsure && one.scored.score > 0.0);
    let missed = share(true, &|one| !one.is_unsure && one.scored.score <= 0.0);
    let unsure = [false, true].map(|is_spam| share(is_spam, &|one| one.is_unsure));
    let has = |is_spam| verdicts.iter().any(|one| one.scored.positive == is_spam);
    let unsure = match (has(false), has(true)) {
        (true, true) => (2.0 * unsure[0] + unsure[1]) / 3.0,
        (has_ham, _) => unsure[usize::from(!has_ham)],
    };
    let [tenth, half] = [0.001, 0.005].map(|rate| {
        let caught = recall_at(&scored(verdicts), rate);
        if has(false) && has(true) { format!("{:.1}", 100.0 * caught) } else { "-".into() }
    });
    println!(
        "{name:34} {:7.3} ({a:6.3}-{b:6.3}) {:6.2} ({c:4.2}-{d:5.2})   \
         {lost:5.2} {missed:6.2} {unsure:6.1} {tenth:>6} {half:>6}",
        area(verdicts),
        wrong(verdicts)
    );
}

/// Where a text begins in another.
fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// The fields of a header whose names are wanted.
fn fields(header: &[u8], wanted: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut is_wanted = false;
    for line in header.split_inclusive(|&byte| byte == b'\n') {
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let end = line.iter().position(|&byte| byte == b':').unwrap_or(0);
            is_wanted = end > 0 && wanted(&String::from_utf8_lossy(&line[..end]).to_lowercase());
        }
        if is_wanted {
            out.extend_from_slice(line);
        }
    }
    out
}

/// The day of a message, from its newest Received field.
fn day(mail: &Mail) -> i64 {
    fs::read(&mail.path).ok().and_then(|text| dbacl::mail::day::day_of(&text)).unwrap_or(i64::MAX)
}

fn by_day(mut all: Vec<Mail>) -> Vec<Mail> {
    all.sort_by_cached_key(|mail| (day(mail), mail.path.clone()));
    all
}

fn halves(all: &[Mail]) -> Part {
    let (old, new) = all.split_at(all.len() / 2);
    (old.to_vec(), new.to_vec())
}

/// The messages whose places are of a kind, and the others.
fn parted(all: &[Mail], is_own: impl Fn(usize) -> bool) -> Part {
    let mut at = 0..;
    all.iter().cloned().partition(|_| at.next().is_some_and(&is_own))
}

/// So many messages of each kind, and the others.
fn drawn(all: &[Mail], number: usize, draw: u64) -> Part {
    let mut all = all.to_vec();
    Random::of(100 + draw).shuffle(&mut all);
    taken(all, number)
}

/// The first messages, so many of each kind, and the 1,500 others that follow.
fn followed(all: &[Mail], number: usize) -> Part {
    let (own, mut rest) = taken(all.to_vec(), number);
    rest.truncate(1500);
    (own, rest)
}

/// The first messages, so many of each kind, and the others.
fn taken(all: Vec<Mail>, number: usize) -> Part {
    let mut taken = [0; 2];
    all.into_iter().partition(|mail| {
        let taken = &mut taken[usize::from(mail.is_spam)];
        *taken += 1;
        *taken <= number
    })
}

fn files(folder: &Path, is_spam: bool) -> Result<Vec<Mail>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            all.push(Mail { path, is_spam });
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

fn classify(filter: &MailFilter, mails: &[Mail]) -> Result<Vec<Verdict>> {
    mails.iter().map(|mail| verdict(filter, &fs::read(&mail.path)?, mail.is_spam)).collect()
}

/// The texts of the spam that is confidently classified as such.
fn caught(filter: &MailFilter, mails: &[Mail]) -> Result<Vec<Vec<u8>>> {
    let mut caught = Vec::new();
    for mail in mails.iter().filter(|mail| mail.is_spam) {
        let text = fs::read(&mail.path)?;
        let found = filter.classify(&text)?;
        if found.category == "spam" && !found.is_unsure {
            caught.push(text);
        }
    }
    Ok(caught)
}

fn verdict(filter: &MailFilter, text: &[u8], is_spam: bool) -> Result<Verdict> {
    let found = filter.classify(text)?;
    let at = |label: &str| filter.labels().iter().position(|own| own == label).unwrap_or(0);
    let [ham, spam] = ["ham", "spam"].map(|label| found.probabilities[at(label)].max(1e-300));
    let scored = Scored { score: (spam / ham).ln(), positive: is_spam };
    Ok(Verdict { scored, is_unsure: found.is_unsure })
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * real(part) / real(whole.max(1))
}

fn scored(verdicts: &[Verdict]) -> Vec<Scored> {
    verdicts.iter().map(|one| one.scored).collect()
}

/// (1-AUC) in percent; 0 if there is only one kind.
fn area(verdicts: &[Verdict]) -> f64 {
    100.0 * area_above(&scored(verdicts)).max(0.0)
}

/// Errors at even odds in percent.
fn wrong(verdicts: &[Verdict]) -> f64 {
    let (lost, missed) = mistakes(&scored(verdicts), 0.0);
    percent(lost + missed, verdicts.len())
}

/// How many of some spam are confidently spam, unsure, and confidently ham.
fn shares(name: &str, verdicts: &[Verdict]) {
    let share = |is: &dyn Fn(&Verdict) -> bool| {
        percent(verdicts.iter().filter(|one| is(one)).count(), verdicts.len())
    };
    println!(
        "{name:34} of {}: spam {:.1}, unsure {:.1}, ham {:.1}; ham at even odds {:.1}",
        verdicts.len(),
        share(&|one| !one.is_unsure && one.scored.score > 0.0),
        share(&|one| one.is_unsure),
        share(&|one| !one.is_unsure && one.scored.score <= 0.0),
        share(&|one| one.scored.score <= 0.0),
    );
}
