// SPDX-License-Identifier: GPL-3.0-or-later
//! `fasttext`: the commands of fastText's program, for scripts that call it.
//!
//! Models are those of `train`. What chooses features is obeyed; what only fastText's way to learn
//! needs is named on standard error and changes nothing.

use super::options::{PredictArguments, Replacing, ResultFormat, TextArguments, size};
use super::train::searched;
use super::{Failure, MESSAGES, open, predict, status};
use dbacl::text::Trainer;
use dbacl::text::data::{self, Format, Reading, Record};
use dbacl::text::recipe::{Preset, Recipe};
use dbacl_cli::output::Output;
use dbacl_files::atomic_file::beside;
use dbacl_files::lock::USUAL_LIMIT;
use dbacl_numeric::cformat;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::PathBuf;

/// Options of fastText's way to learn that have a value.
const UNUSED: &str = "-lr -lrUpdateRate -dim -ws -epoch -neg -bucket -thread -t -seed -minCount \
                      -minCountLabel -pretrainedVectors -autotune-validation -autotune-metric \
                      -autotune-predictions";
/// Those that have none.
const UNUSED_FLAGS: [&str; 4] = ["-saveOutput", "-qnorm", "-qout", "-retrain"];
/// How long fastText searches where nothing is said.
const SECONDS: u64 = 300;

fn usage(text: &str) -> Failure {
    Failure::new(status::USAGE, &format!("fasttext: {text}"))
}

pub(crate) fn run(words: &[OsString]) -> Result<(), Failure> {
    let (command, rest) = words.split_first().ok_or_else(|| usage("a command is missing"))?;
    match command.to_str() {
        Some("supervised") => supervised(rest),
        Some("test") => test(&Texts::of("test", rest)?),
        Some("predict") => Texts::of("predict", rest)?.predict(true),
        Some("predict-prob") => Texts::of("predict-prob", rest)?.predict(false),
        _ => Err(usage(&format!(
            "the command '{}' is not known: supervised, test, predict and predict-prob are",
            command.to_string_lossy()
        ))),
    }
}

/// What `supervised` is given.
#[derive(Default)]
struct Supervised {
    input: PathBuf,
    output: PathBuf,
    order: Option<u8>,
    /// Characters of the shortest and the longest run.
    runs: [Option<u8>; 2],
    is_one_against_all: bool,
    is_quiet: bool,
    is_search: bool,
    seconds: u64,
    size: Option<u64>,
    unused: Vec<&'static str>,
}

impl Supervised {
    fn of(mut words: &[OsString]) -> Result<Self, Failure> {
        let mut own = Self { seconds: SECONDS, ..Self::default() };
        while let Some((name, rest)) = words.split_first() {
            words = rest;
            let name = name.to_str().unwrap_or_default();
            own.unused.extend(UNUSED.split(' ').find(|known| *known == name));
            if let Some(flag) = UNUSED_FLAGS.into_iter().find(|known| *known == name) {
                own.unused.push(flag);
                continue;
            }
            let Some((value, rest)) = words.split_first() else {
                return Err(usage(&format!("{name}: its value is missing")));
            };
            words = rest;
            own.take(name, value)?;
        }
        if own.input.as_os_str().is_empty() || own.output.as_os_str().is_empty() {
            return Err(usage("supervised needs -input FILE and -output NAME"));
        }
        Ok(own)
    }

    fn take(&mut self, name: &str, value: &OsStr) -> Result<(), Failure> {
        let text = value.to_string_lossy();
        let wrong = || usage(&format!("{name}: '{text}' is not a value of it"));
        let number = |most: u8| text.parse::<u8>().ok().filter(|&it| it <= most).ok_or_else(wrong);
        match name {
            "-input" => self.input = value.into(),
            "-output" => self.output = value.into(),
            "-wordNgrams" => self.order = Some(number(7)?.max(1)),
            "-minn" => self.runs[0] = Some(number(u8::MAX)?),
            "-maxn" => self.runs[1] = Some(number(u8::MAX)?),
            "-verbose" => self.is_quiet = number(u8::MAX)? == 0,
            "-autotune-duration" => self.seconds = text.parse().map_err(|_| wrong())?,
            "-autotune-validation" => self.is_search = true,
            "-autotune-modelsize" => self.size = Some(size(&text).map_err(|_| wrong())?),
            "-label" if text == "__label__" => {}
            "-label" => return Err(usage("-label: labels begin with __label__")),
            "-loss" => match &*text {
                "ova" | "one-vs-all" => self.is_one_against_all = true,
                "softmax" | "hs" | "ns" => {}
                _ => return Err(wrong()),
            },
            _ if UNUSED.split(' ').any(|known| known == name) => {}
            _ => return Err(usage(&format!("the option {name} is not known"))),
        }
        Ok(())
    }

    /// What the options ask for; nothing where they say nothing of features.
    fn recipe(&self) -> Recipe {
        let has_runs = self.runs.iter().flatten().any(|&length| length > 0);
        let preset = match (has_runs, self.order) {
            (true, Some(2..)) => Some(Preset::Both),
            (true, _) => Some(Preset::Chars),
            (false, Some(1)) => Some(Preset::Words),
            (false, _) => None,
        };
        Recipe { preset, order: self.order.filter(|&order| order > 2), ..Recipe::default() }
    }
}

fn reading(needs_label: bool) -> Reading {
    let format = Some(Format::FastText);
    Reading { format, needs_label, has_several: true, ..Reading::default() }
}

/// Trains the model OUTPUT.bin.
fn supervised(words: &[OsString]) -> Result<(), Failure> {
    let own = Supervised::of(words)?;
    let output = &beside(&own.output, ".bin");
    let replacing = Replacing { lock_timeout: USUAL_LIMIT.as_secs(), quiet: own.is_quiet };
    let _lock = super::begin(&replacing, output)?;
    if !own.unused.is_empty() {
        MESSAGES.warning(&format!("not needed here, and without effect: {}", own.unused.join(" ")));
    }
    let trainer = Trainer::of_recipe(&own.recipe(), &mut |_| {});
    let mut trainer = trainer.map_err(|error| Failure::new(status::USAGE, &error))?;
    let mut is_several = own.is_one_against_all;
    data::read(&own.input, &reading(true), &mut |record: Record<'_>| {
        let labels = record.labels();
        is_several |= labels.len() > 1;
        // fastText passes over lines without labels, too.
        if !labels.is_empty() {
            trainer.add_weighted(&labels, record.text, 1.0);
        }
        Ok(())
    })?;
    trainer.set_several(is_several);
    let seconds = own.is_search.then_some(own.seconds);
    let trained = searched(&trainer, seconds, &[], &own.input, own.is_quiet)?;
    trained.warnings.iter().for_each(|warning| MESSAGES.warning(warning));
    let model = match own.size {
        Some(_) => super::small(&trained.model, 8, own.size)?,
        None => trained.model,
    };
    Ok(model.save(output)?)
}

/// `MODEL FILE [K] [THRESHOLD]`
struct Texts {
    model: PathBuf,
    file: PathBuf,
    k: u32,
    threshold: f64,
}

impl Texts {
    fn of(command: &str, words: &[OsString]) -> Result<Self, Failure> {
        let [model, file, rest @ ..] = words else {
            return Err(usage(&format!("{command} MODEL FILE [K] [THRESHOLD]")));
        };
        let text = |at: usize| rest.get(at).map(|word| word.to_string_lossy());
        let k = text(0).map_or(Some(1), |text| text.parse().ok().filter(|&k| k > 0));
        let threshold = text(1).map_or(Some(0.0), |text| text.parse().ok());
        let (Some(k), Some(threshold), ..=2) = (k, threshold, rest.len()) else {
            let what = format!("{command} MODEL FILE [K] [THRESHOLD]: K is a number above 0");
            return Err(usage(&what));
        };
        Ok(Self { model: model.into(), file: file.into(), k, threshold })
    }

    fn predict(self, labels_only: bool) -> Result<(), Failure> {
        predict::run(&PredictArguments {
            texts: TextArguments {
                model: self.model,
                file: self.file,
                files: Vec::new(),
                id_column: None,
                input: Some(Format::FastText),
                text_column: Vec::new(),
                threads: 1,
            },
            labels: Some(self.k),
            at_least: None,
            keep: None,
            adapt: false,
            format: ResultFormat::FastText,
            as_fasttext: Some((labels_only, self.threshold)),
        })
    }
}

/// Precision and recall of the K best labels, over all labels of all texts.
fn test(texts: &Texts) -> Result<(), Failure> {
    let model = open(&texts.model)?;
    let mut predictor = model.predictor();
    let k = usize::try_from(texts.k).unwrap_or(usize::MAX);
    let (mut documents, mut own, mut called, mut hits) = (0u64, 0u64, 0u64, 0u64);
    data::read(&texts.file, &reading(true), &mut |record: Record<'_>| {
        let labels = record.labels();
        // Labels that the model does not know, and texts without labels, do not count.
        let known = |label: &str| model.labels().iter().position(|known| known == label);
        let truths: Vec<usize> = labels.into_iter().filter_map(known).collect();
        if truths.is_empty() {
            return Ok(());
        }
        let found = predictor.predict(record.text);
        documents += 1;
        own += truths.len() as u64;
        let is_likely = |at: &usize| found.probabilities()[*at] >= texts.threshold;
        for at in found.ranked(k).into_iter().filter(is_likely) {
            called += 1;
            hits += u64::from(truths.contains(&at));
        }
        Ok(())
    })?;
    let mut out = Output::new();
    writeln!(out.buffer(), "N\t{documents}")?;
    for (name, all) in [("P", called), ("R", own)] {
        write!(out.buffer(), "{name}@{k}\t")?;
        #[allow(clippy::cast_precision_loss)] // numbers of documents
        let share = hits as f64 / all as f64;
        // As `%.3g` prints it.
        let rounded = format!("{share:.2e}").parse().unwrap_or(share);
        cformat::general(out.buffer(), rounded);
        out.buffer().push(b'\n');
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Supervised, Failure> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Supervised::of(&words)
    }

    #[test]
    fn options_choose_features() {
        for (line, preset, order) in [
            ("", None, None),
            ("-lr 0.5 -epoch 25 -qnorm", None, None),
            ("-wordNgrams 1", Some(Preset::Words), None),
            ("-wordNgrams 2", None, None),
            ("-wordNgrams 3", None, Some(3)),
            ("-minn 2 -maxn 5", Some(Preset::Chars), None),
            ("-wordNgrams 2 -maxn 5", Some(Preset::Both), None),
        ] {
            let recipe = of(&format!("-input i -output o {line}")).unwrap().recipe();
            assert_eq!((recipe.preset, recipe.order), (preset, order), "{line}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("-input i", "-output"),
            ("-input i -output o -loss", "-loss: its value"),
            ("-input i -output o -loss x", "-loss: 'x'"),
            ("-input i -output o -speed 3", "-speed is not known"),
            ("-input i -output o -label #", "__label__"),
        ] {
            let failure = of(line).err().expect(line);
            assert!(failure.text.contains(part) && failure.status == status::USAGE, "{line}");
        }
    }
}
