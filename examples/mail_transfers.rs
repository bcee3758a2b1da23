// SPDX-License-Identifier: GPL-3.0-or-later
//! How well a mail filter's verdicts carry over to mail of another time and source, from few
//! messages, with wrong labels, and against disguises (`benches/mail-transfers.sh`).
//!
//! ```text
//! mail_transfers CORPORA [--reading NAME] [--caution NAME] [--draws N] [ROW...]
//! ```
//!
//! CORPORA holds unpacked corpora. Rows are `later stay older home test few copies arrival wrong
//! phishing enron ling words headers stream`; without any, all but `test` and `stream` are
//! measured. "lost" is good mail confidently called spam, "missed" spam confidently called ham, in
//! percent of its kind; "unsure" counts two good messages for each spam where there are any.

use dbacl::{FittedSet, MailFolder, MailLearnOptions, MailReading};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A message.
#[derive(Clone)]
struct Mail {
    path: PathBuf,
    is_spam: bool,
}

/// What a filter says of a message.
#[derive(Clone, Copy)]
struct Verdict {
    is_spam: bool,
    /// The logarithm of the odds of spam.
    score: f64,
    is_unsure: bool,
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, number: usize) -> usize {
        usize::try_from(self.next() % number as u64).unwrap_or(0)
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
            "--reading" => {
                let reading = MailReading::by_name(&value()?).ok_or("no such reading")?;
                options = options.reading(reading);
            }
            "--caution" => {
                let caution = dbacl::Caution::by_name(&value()?).ok_or("no such caution")?;
                options = options.caution(caution);
            }
            "--draws" => draws = value()?.parse()?,
            _ => rows.push(arg),
        }
    }
    let all = "later stay older home few copies arrival wrong phishing enron ling words headers";
    if rows.is_empty() {
        rows.extend(all.split(' ').map(str::to_owned));
    }
    println!(
        "{:34} {:>23} {:>17}   {:>5} {:>6} {:>6}",
        "", "(1-AUC) %", "errors %", "lost", "missed", "unsure"
    );
    let bench = Bench { corpora, options, draws };
    rows.iter().try_for_each(|row| bench.row(row))
}

impl Bench {
    fn row(&self, row: &str) -> Result<()> {
        match row {
            "later" => {
                let all = [self.mails("spamassassin/train")?, self.mails("spamassassin/test")?];
                let filter = self.learn(&all.concat())?;
                self.show("SpamAssassin -> laterserver", &classify(&filter, &self.stream()?)?);
            }
            "stay" => {
                let all = self.stream()?;
                let filter = self.learn(&all[..800])?;
                let verdicts = classify(&filter, &all[all.len() - 1500..])?;
                self.show("laterserver 800 -> last 1500", &verdicts);
                let filter = self.learn(&all)?;
                let verdicts = classify(&filter, &self.mails("spamassassin/train")?)?;
                self.show("laterserver -> SpamAssassin", &verdicts);
            }
            "older" => {
                let mut all = self.mails("spamassassin/train")?;
                all.sort_by_cached_key(|mail| (day(mail), mail.path.clone()));
                let (old, new) = all.split_at(all.len() / 2);
                self.show("SpamAssassin older -> newer", &classify(&self.learn(old)?, new)?);
            }
            "home" => {
                let mut all = self.mails("spamassassin/train")?;
                Random(7).shuffle(&mut all);
                let mut verdicts = Vec::new();
                for fold in 0..4 {
                    let part = |is_own: bool| {
                        let each = all.iter().enumerate();
                        each.filter(move |(at, _)| (at % 4 == fold) == is_own)
                            .map(|(_, mail)| mail.clone())
                            .collect::<Vec<_>>()
                    };
                    verdicts.extend(classify(&self.learn(&part(false))?, &part(true))?);
                }
                self.show("SpamAssassin, 4-fold", &verdicts);
            }
            "test" => {
                let filter = self.learn(&self.mails("spamassassin/train")?)?;
                let verdicts = classify(&filter, &self.mails("spamassassin/test")?)?;
                self.show("SpamAssassin train -> test", &verdicts);
            }
            "few" => {
                let all = self.mails("spamassassin/train")?;
                for number in [10, 20, 50, 100, 200] {
                    let mut verdicts = Vec::new();
                    for draw in 0..self.draws {
                        let (own, rest) = drawn(&all, number, draw);
                        verdicts.extend(classify(&self.learn(&own)?, &rest)?);
                    }
                    self.show(&format!("{number} + {number} messages"), &verdicts);
                }
                let all = self.stream()?;
                for number in [20, 50, 100] {
                    let mut verdicts = Vec::new();
                    for draw in 0..self.draws {
                        let (own, rest) = drawn(&all, number, draw);
                        verdicts.extend(classify(&self.learn(&own)?, &rest)?);
                    }
                    self.show(&format!("laterserver {number} + {number}"), &verdicts);
                }
            }
            "copies" => {
                // Nearly all spam of the following hours is of one kind.
                let all = self.stream()?.split_off(520);
                for number in [10, 20, 50, 100] {
                    let (own, mut rest) = taken(all.clone(), number);
                    rest.truncate(1500);
                    let verdicts = classify(&self.learn(&own)?, &rest)?;
                    self.show(&format!("{number} + {number} messages, copies"), &verdicts);
                }
            }
            "arrival" => {
                for number in [10, 20, 50, 100] {
                    let mut verdicts = Vec::new();
                    for (_, all) in self.streams()? {
                        for quarter in 0..3 {
                            let from = all.len() * quarter / 4;
                            let (own, mut rest) = taken(all[from..].to_vec(), number);
                            rest.truncate(1500);
                            verdicts.extend(classify(&self.learn(&own)?, &rest)?);
                        }
                    }
                    self.show(&format!("{number} + {number}, the next 1,500"), &verdicts);
                }
            }
            "wrong" => {
                for share in [0, 1, 2, 5] {
                    let mut verdicts = Vec::new();
                    for draw in 0..self.draws.min(2) {
                        let mut all = self.mails("spamassassin/train")?;
                        Random(11 + draw).shuffle(&mut all);
                        let rest = all.split_off(2448);
                        let wrong = all.len() * share / 100;
                        all[..wrong].iter_mut().for_each(|mail| mail.is_spam ^= true);
                        verdicts.extend(classify(&self.learn(&all)?, &rest)?);
                    }
                    self.show(&format!("{share} % wrong labels"), &verdicts);
                }
            }
            "phishing" => {
                let filter = self.learn(&self.mails("spamassassin/train")?)?;
                let mails = files(&self.corpora.join("phishing"), true)?;
                self.show("SpamAssassin -> phishing", &classify(&filter, &mails)?);
            }
            "enron" => {
                let mut users = Vec::new();
                for user in 1..=3 {
                    let mut all = self.mails(&format!("enron/user{user}"))?;
                    all.sort_by_key(|mail| mail.path.file_name().map(ToOwned::to_owned));
                    let (old, new) = all.split_at(all.len() / 2);
                    let verdicts = classify(&self.learn(old)?, new)?;
                    self.show(&format!("enron user{user}, halves"), &verdicts);
                    users.push(all);
                }
                let filter = self.learn(&users[0])?;
                self.show("enron user1 -> user2", &classify(&filter, &users[1])?);
                self.show("enron user1 -> user3", &classify(&filter, &users[2])?);
            }
            "ling" => {
                let (ling, home) =
                    (self.mails("lingspam/train")?, self.mails("spamassassin/train")?);
                self.show("Ling-Spam -> SpamAssassin", &classify(&self.learn(&ling)?, &home)?);
                self.show("SpamAssassin -> Ling-Spam", &classify(&self.learn(&home)?, &ling)?);
            }
            "words" => self.words()?,
            "headers" => self.headers()?,
            "stream" => self.online()?,
            _ => return Err(format!("no row {row}").into()),
        }
        Ok(())
    }

    /// The messages in `ham` and `spam` of a folder.
    fn mails(&self, folder: &str) -> Result<Vec<Mail>> {
        let folder = self.corpora.join(folder);
        let mut all = files(&folder.join("ham"), false)?;
        all.extend(files(&folder.join("spam"), true)?);
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
        let all = [self.mails("spamassassin/train")?, self.mails("spamassassin/test")?];
        let mut all = all.concat();
        all.sort_by_cached_key(|mail| (day(mail), mail.path.clone()));
        let mut streams =
            vec![("SpamAssassin".into(), all), ("laterserver".into(), self.stream()?)];
        for user in 1..=3 {
            let mut all = self.mails(&format!("enron/user{user}"))?;
            all.sort_by_key(|mail| mail.path.file_name().map(ToOwned::to_owned));
            streams.push((format!("enron user{user}"), all));
        }
        Ok(streams)
    }

    /// A filter of these messages.
    fn learn(&self, mails: &[Mail]) -> Result<FittedSet> {
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
        let (set, _) = FittedSet::learn_folders(&filter, &folders, &self.options)?;
        // An open filter needs its files no more than their names.
        std::mem::forget(room);
        Ok(set)
    }

    /// Random words below or above the text of spam that is caught.
    fn words(&self) -> Result<()> {
        let all = self.mails("spamassassin/train")?;
        let (learned, rest): (Vec<_>, Vec<_>) =
            all.iter().cloned().enumerate().partition(|(at, _)| at % 4 > 0);
        let bare = |list: Vec<(usize, Mail)>| -> Vec<Mail> {
            list.into_iter().map(|(_, mail)| mail).collect()
        };
        let filter = self.learn(&bare(learned.clone()))?;
        let mut known = Vec::new();
        for (_, mail) in learned.iter().filter(|(_, mail)| !mail.is_spam).step_by(9) {
            let text = fs::read(&mail.path)?;
            known.extend(text.split(|byte| !byte.is_ascii_alphabetic()).map(<[u8]>::to_vec));
        }
        known.retain(|word| (3..12).contains(&word.len()));
        let mut caught = Vec::new();
        for mail in bare(rest).iter().filter(|mail| mail.is_spam) {
            let text = fs::read(&mail.path)?;
            let lower = text.to_ascii_lowercase();
            let has = |what: &[u8]| find(&lower, what).is_some();
            let found = filter.classify(&text)?;
            let is_single = !has(b"multipart/") && !has(b"base64");
            if is_single && found.category == "spam" && !found.is_unsure && caught.len() < 100 {
                caught.push(text);
            }
        }
        let mut random = Random(5);
        for number in [1000, 5000] {
            for (kind, is_known) in [("random", false), ("ham's", true)] {
                for is_before in [false, true] {
                    let mut verdicts = Vec::new();
                    for text in &caught {
                        let mut words = Vec::new();
                        for _ in 0..number {
                            if is_known {
                                words.extend_from_slice(&known[random.below(known.len())]);
                            } else {
                                let letters = 3 + random.below(8);
                                words.extend(
                                    (0..letters).map(|_| {
                                        b'a' + u8::try_from(random.below(26)).unwrap_or(0)
                                    }),
                                );
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
                    let place = if is_before { "before" } else { "appended" };
                    shares(&format!("{number} {kind} words {place}"), &verdicts);
                }
            }
        }
        Ok(())
    }

    /// Headers of a good message before the text of spam that is caught.
    fn headers(&self) -> Result<()> {
        let all = self.mails("spamassassin/train")?;
        let (learned, rest): (Vec<_>, Vec<_>) =
            all.iter().cloned().enumerate().partition(|(at, _)| at % 4 > 0);
        let learned: Vec<Mail> = learned.into_iter().map(|(_, mail)| mail).collect();
        let filter = self.learn(&learned)?;
        let good: Vec<&Mail> = rest.iter().map(|(_, mail)| mail).filter(|it| !it.is_spam).collect();
        let mut random = Random(6);
        let (mut forged, mut quoted) = (Vec::new(), Vec::new());
        for (_, mail) in rest.iter().filter(|(_, mail)| mail.is_spam) {
            let text = fs::read(&mail.path)?;
            let found = filter.classify(&text)?;
            if found.category != "spam" || found.is_unsure {
                continue;
            }
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
            self.show(&format!("{name}, on-line"), &verdicts);
            self.show("- its second half", &verdicts[verdicts.len() / 2..]);
        }
        Ok(())
    }

    #[allow(clippy::unused_self)]
    fn show(&self, name: &str, verdicts: &[Verdict]) {
        let mut random = Random(1);
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
        let of = |is_spam: bool| verdicts.iter().filter(move |one| one.is_spam == is_spam);
        let share = |is_spam: bool, is: &dyn Fn(&Verdict) -> bool| {
            let number = of(is_spam).count();
            percent(of(is_spam).filter(|one| is(one)).count(), number)
        };
        let lost = share(false, &|one| !one.is_unsure && one.score > 0.0);
        let missed = share(true, &|one| !one.is_unsure && one.score <= 0.0);
        let unsure = [share(false, &|one| one.is_unsure), share(true, &|one| one.is_unsure)];
        let has_ham = of(false).next().is_some();
        let unsure = if has_ham { (2.0 * unsure[0] + unsure[1]) / 3.0 } else { unsure[1] };
        println!(
            "{name:34} {:7.3} ({a:6.3}-{b:6.3}) {:6.2} ({c:4.2}-{d:5.2})   \
             {lost:5.2} {missed:6.2} {unsure:6.1}",
            area(verdicts),
            wrong(verdicts)
        );
    }
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
    fs::read(&mail.path).ok().and_then(|text| dbacl_mail::day::day_of(&text)).unwrap_or(i64::MAX)
}

/// So many messages of each kind, and the others.
fn drawn(all: &[Mail], number: usize, draw: u64) -> (Vec<Mail>, Vec<Mail>) {
    let mut all = all.to_vec();
    Random(100 + draw).shuffle(&mut all);
    taken(all, number)
}

/// The first messages, so many of each kind, and the others.
fn taken(all: Vec<Mail>, number: usize) -> (Vec<Mail>, Vec<Mail>) {
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

fn classify(filter: &FittedSet, mails: &[Mail]) -> Result<Vec<Verdict>> {
    mails.iter().map(|mail| verdict(filter, &fs::read(&mail.path)?, mail.is_spam)).collect()
}

fn verdict(filter: &FittedSet, text: &[u8], is_spam: bool) -> Result<Verdict> {
    let found = filter.classify(text)?;
    let at = |label: &str| filter.labels().iter().position(|own| own == label).unwrap_or(0);
    let [ham, spam] = ["ham", "spam"].map(|label| found.probabilities[at(label)].max(1e-300));
    Ok(Verdict { is_spam, score: (spam / ham).ln(), is_unsure: found.is_unsure })
}

fn percent(part: usize, whole: usize) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// (1-AUC) in percent.
fn area(verdicts: &[Verdict]) -> f64 {
    let mut all = verdicts.to_vec();
    all.sort_by(|a, b| a.score.total_cmp(&b.score).then(b.is_spam.cmp(&a.is_spam)));
    let (mut spams, mut sum, mut hams) = (0usize, 0usize, 0usize);
    for one in &all {
        if one.is_spam {
            spams += 1;
        } else {
            hams += 1;
            sum += spams;
        }
    }
    percent(sum, spams * hams)
}

/// Errors at even odds in percent.
fn wrong(verdicts: &[Verdict]) -> f64 {
    percent(verdicts.iter().filter(|one| (one.score > 0.0) != one.is_spam).count(), verdicts.len())
}

/// How many of some spam are confidently spam, unsure, and confidently ham.
fn shares(name: &str, verdicts: &[Verdict]) {
    let share = |is: &dyn Fn(&Verdict) -> bool| {
        percent(verdicts.iter().filter(|one| is(one)).count(), verdicts.len())
    };
    println!(
        "{name:34} of {}: spam {:.1}, unsure {:.1}, ham {:.1}; ham at even odds {:.1}",
        verdicts.len(),
        share(&|one| !one.is_unsure && one.score > 0.0),
        share(&|one| one.is_unsure),
        share(&|one| !one.is_unsure && one.score <= 0.0),
        share(&|one| one.score <= 0.0),
    );
}
