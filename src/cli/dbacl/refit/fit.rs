// SPDX-License-Identifier: GPL-3.0-or-later
//! `--refit`: documents and ordinary categories → a set of files that judges better.

use super::super::MESSAGES;
use super::super::config::{Config, ORDINARY, base_name, load_or_ordinary, lossy};
use super::super::failure::{Failure, Kind, output_failure};
use super::super::lock;
use super::super::signals::Signals;
use super::Request;
use super::files::{Files, store_of};
use super::reader::{Reader, Unit, complain_about_labels};
use super::store;
use super::update;
use crate::atomic_file::{Unforced, beside};
use crate::category::layout::ANY_MAGIC;
use crate::category::mapped::{self, MappedCategory};
use crate::cli::output::Output;
use crate::joint::blend::{self, Set};
use crate::joint::calibrate::{
    Calibration, platt, temperature, threshold_for_false_positives, threshold_for_misses,
};
use crate::joint::dataset::Dataset;
use crate::joint::documents::Corpus;
use crate::joint::header::RefitLine;
use crate::joint::incremental;
use crate::joint::ledger::{Ledger, Name, Settings as FeatureSettings};
use crate::joint::ordinary::{self, percent};
use crate::joint::publish;
use crate::joint::relearn;
use crate::joint::scoring::Scoring;
use crate::joint::select::{
    BLENDS, COSTS, Choice, FOLDS, Form, Quality, Settings, Trial, choose_exact, choose_sparse,
    differences, fit_all, folds,
};
use crate::measures::mistakes;
use crate::model::settings::ModelOption;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Share of the second category's documents that may fall below the band of unsure ones.
const MISSES: f64 = 0.005;

/// Share of the first category's documents above the band, without `--fp`.
const FALSE_POSITIVES: f64 = 0.001;

/// The ordinary file that belongs to a category: beside it, with this ending.
pub fn ordinary_path(path: &Path) -> PathBuf {
    beside(path, ORDINARY)
}

/// Opens the ordinary files of `paths`, which the fit starts from.
///
/// # Errors
/// A file that cannot be opened; categories that cannot be fitted together.
pub fn open_ordinary(paths: &[PathBuf]) -> Result<Vec<MappedCategory>, Failure> {
    let mut categories = Vec::new();
    for path in paths {
        let (mut category, _) = load_or_ordinary(path)?;
        if RefitLine::find(category.other_lines()).is_some() {
            // A fit starts from what was learned; starting from a fit would blend twice.
            let kept = ordinary_path(path);
            category = mapped::open(&kept).map_err(|error| {
                let text = format!(
                    "category {} was fitted before and its ordinary file is needed: {error}; \
                     learn it again",
                    path.display()
                );
                Failure::new(Kind::NoInput, text)
            })?;
        }
        categories.push(category);
    }
    let usage = |text: String| Err(Failure::new(Kind::Data, text));
    let first = &categories[0];
    for (category, path) in categories.iter().zip(paths) {
        let name = lossy(&base_name(path));
        let (theirs, ours) = (category.header(), first.header());
        if theirs.multinomial {
            return usage(format!("category {name} is multinomial (-M): it cannot be fitted"));
        }
        if theirs.max_order != ours.max_order || category.patterns() != first.patterns() {
            let text =
                format!("category {name} was learned with other features than the first one");
            return usage(text);
        }
    }
    Ok(categories)
}

/// Fits the categories together.
///
/// # Errors
/// What stopped it; files are as they were.
pub fn refit(
    request: &Request,
    config: &mut Config,
    names: &[PathBuf],
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let keep = request.keep.as_deref();
    let lock = lock::of_set(&store_of(names, keep), config, signals)?;
    let files = Files::open(names, keep, lock)?;
    let fitted = refit_files(request, config, &files, signals);
    let fitted = fitted.map_err(|failure| files.in_words(failure))?;
    if fitted.is_better {
        files.publish(true, signals)?;
    }
    say(request, output, &fitted.text)
}

/// What a fit has found.
pub struct Fitted {
    /// Whether the set is another one.
    pub is_better: bool,
    /// The table.
    pub text: String,
}

/// The same where the set is being changed already.
///
/// # Errors
/// What stopped it.
pub fn refit_files(
    request: &Request,
    config: &mut Config,
    files: &Files,
    signals: &Signals,
) -> Result<Fitted, Failure> {
    let paths = &files.paths;
    let mut categories = open_ordinary(paths)?;
    let names: Vec<Vec<u8>> = files.names.iter().map(|path| base_name(path)).collect();
    let settings =
        store::settings(config.options, config.scheme, config.order, categories[0].patterns());
    let ledger = files.ledger.as_deref();
    let mut ledger = ledger.map(|path| store::load_fitting(path, &settings)).transpose()?;
    if let Some(ledger) = &mut ledger {
        in_order_of(ledger, &names)?;
        if relearn_ordinary(request, paths, ledger, &categories)? {
            categories = open_ordinary(paths)?;
        }
    }
    let agree = blend::digrams_agree(&categories);
    let corpus = match &ledger {
        Some(ledger) => from_ledger(ledger, &names, agree)?,
        None => read_documents(request, config, &categories, &names, agree, signals, &settings)?,
    };
    let mut data = Dataset::new(corpus, paths.len(), categories[0].header().max_order);
    let documents = data.documents_by_category();
    let is_one_sided = documents.contains(&0);
    if request.like.is_none() || data.is_empty() {
        complain_about_labels(&names, &documents, request.is_quiet)?;
    }
    data.scoring = request.scoring;
    data.contrast = request.contrast.unwrap_or(!config.options.has(ModelOption::Mail));
    let folds = folds(&data);
    let mut ordinary = ordinary::scores(&data, &categories, &folds, Scoring::Counts);
    let before = Quality::of(&ordinary, &data.labels, data.categories);
    if data.scoring != Scoring::Counts {
        ordinary = ordinary::scores(&data, &categories, &folds, data.scoring);
    }
    let evidence = if ledger.is_some() { incremental::evidence(&data) } else { Vec::new() };
    data.drop_rare_features();
    let form = if request.exact || paths.len() == 2 { Form::Exact } else { Form::Sparse };
    let choice = choose(request, &data, (&folds, &ordinary), &categories, agree, form)?;
    let mut text = String::new();
    describe(&mut text, &data, &names, before, &choice, config.form.verbose);
    if !choice.quality.beats(&before) && !request.always {
        text.push_str("The ordinary files judge as well: they are kept as they are.\n");
        if form == Form::Sparse {
            text.push_str("Larger files may be better than these: try --exact.\n");
        }
        return Ok(Fitted { is_better: false, text });
    }
    let fits = fit_all(&data, choice.settings.cost, |_| false);
    let set = blend::compose(&categories, &data, &fits, choice.settings, form);
    let mut line = line(request, &mut text, &data, &choice, &set, &names);
    if let Some(old) = request.like.as_ref().filter(|_| is_one_sided) {
        // What is there tells nothing of thresholds.
        (line.calibration, line.band) = (old.calibration, old.band);
    }
    write_files(files, &categories, &set, &line)?;
    if let (Some(path), Some(ledger), 2) = (&files.ledger, &ledger, paths.len()) {
        store::save(path, ledger)?;
        update::keep_state(
            path,
            ledger,
            &categories,
            &data,
            evidence,
            choice.settings,
            &fits[0],
            &set,
        )?;
    }
    Ok(Fitted { is_better: true, text })
}

/// Makes the ordinary files beside fitted categories anew from the ledger's documents, where these are
/// all that the files were made of. Returns whether one of them was not up to date.
fn relearn_ordinary(
    request: &Request,
    paths: &[PathBuf],
    ledger: &Ledger,
    ordinary: &[MappedCategory],
) -> Result<bool, Failure> {
    let mut changed = false;
    for ((label, path), old) in (0..).zip(paths).zip(ordinary) {
        let (category, is_damaged) = load_or_ordinary(path)?;
        let is_ordinary = !is_damaged && RefitLine::find(category.other_lines()).is_none();
        if is_ordinary && !request.ledger_leads {
            continue;
        }
        let new = relearn::file(ledger, label, old)
            .map_err(|fault| Failure::new(Kind::Data, fault.text()))?;
        if let Some(new) = new.filter(|new| new != old.as_bytes()) {
            let own = if is_ordinary { path.clone() } else { ordinary_path(path) };
            replace(&own, &new)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Prints what a fit has found.
///
/// # Errors
/// Output that cannot be written.
pub fn say(request: &Request, output: &mut Output, text: &str) -> Result<u8, Failure> {
    if request.is_quiet {
        return Ok(0);
    }
    output.buffer().extend_from_slice(text.as_bytes());
    output.flush().map_err(|error| output_failure(&error))?;
    Ok(0)
}

/// Makes the ledger's names those of the categories, in their order: other labels are as good.
fn in_order_of(ledger: &mut Ledger, names: &[Vec<u8>]) -> Result<(), Failure> {
    if ledger.head.are_named(names) {
        return Ok(());
    }
    let of_name = |name: &Vec<u8>| {
        let known = ledger.head.names.iter().find(|known| known.name == *name);
        known.cloned().unwrap_or_else(|| Name::new(name))
    };
    let in_order = names.iter().map(of_name).collect();
    let old = std::mem::replace(ledger, Ledger::new(ledger.head.settings, in_order));
    let mut labels = Vec::new();
    for Name { name, .. } in &old.head.names {
        if !names.contains(name) {
            let name = lossy(name);
            let text = format!("the ledger has documents of {name}: give -c {name} as well");
            return Err(Failure::new(Kind::Usage, text));
        }
        labels.push(ledger.head.label(name));
    }
    let copied = old.each(|record, _| {
        ledger.push(labels[record.label as usize], record.occurrences, &record.terms);
        true
    });
    copied.map_err(|fault| Failure::new(Kind::Data, fault.text()))
}

fn from_ledger(ledger: &Ledger, names: &[Vec<u8>], agree: bool) -> Result<Corpus, Failure> {
    if !agree {
        let text = "a ledger does not hold what categories with different reference measures need: \
                    learn with -L uniform, or give the documents";
        return Err(Failure::new(Kind::Usage, text));
    }
    ledger.corpus(names).map_err(|fault| Failure::new(Kind::Data, fault.text()))
}

/// Reads what `-c NAME=SOURCE` and the operands name.
fn read_documents(
    request: &Request,
    config: &mut Config,
    categories: &[MappedCategory],
    names: &[Vec<u8>],
    agree: bool,
    signals: &Signals,
    settings: &FeatureSettings,
) -> Result<Corpus, Failure> {
    let operands = std::mem::take(&mut config.operands);
    let measured = if agree { &[] } else { categories };
    let mut reader = Reader::new(config, measured, names);
    let mut label = 0;
    for source in &request.sources {
        if let Some(source) = source {
            if store::is_ledger(Path::new(source)) {
                let ledger = store::load_fitting(Path::new(source), settings)?;
                let name = &names[label as usize..][..1];
                let corpus = from_ledger(&ledger, name, agree)?;
                reader.add(&corpus, label);
                label += 1;
                continue;
            }
            let unit = request.unit.filter(|unit| matches!(unit, Unit::Whole | Unit::Line));
            let unit = unit.unwrap_or(Unit::Whole);
            reader.read(config, signals, Some(source), unit, label)?;
        }
        label += 1;
    }
    for operand in &operands {
        let unit = request.unit.or_else(|| Unit::by_extension(Path::new(operand)));
        let Some(unit @ (Unit::Tsv | Unit::Json)) = unit else {
            let name = lossy(operand.as_bytes());
            let text = format!(
                "{name}: which category? Use -c CATEGORY={name}, or --documents tsv or ndjson"
            );
            return Err(Failure::new(Kind::Usage, text));
        };
        reader.read(config, signals, Some(operand), unit, 0)?;
    }
    Ok(reader.into_corpus())
}

/// Documents of each category that settings can be chosen with.
const ENOUGH: usize = 20;

/// Documents of each category of which a quarter tells the quality and the posterior's scale well enough.
const PLENTY: usize = 20_000;

/// Whether many more documents are to be fitted than the ordinary files were learned from: their
/// scores are not worth a share then. Text has no documents in the files.
const fn ledger_grew(documents: usize, learned: usize) -> bool {
    learned > 0 && documents * 4 > learned * 5
}

fn choose(
    request: &Request,
    data: &Dataset,
    (folds, ordinary): (&[usize], &[f64]),
    categories: &[MappedCategory],
    agree: bool,
    form: Form,
) -> Result<Choice, Failure> {
    let smallest = data.documents_by_category().into_iter().min().unwrap_or(0);
    let few = smallest < ENOUGH;
    let costs = if few { &COSTS[2..] } else { &COSTS };
    let costs = request.cost.map_or(costs.to_vec(), |cost| vec![cost]);
    // With word pairs the ordinary scores of text are too far off to be worth a share.
    let learned = categories.iter().map(|category| category.header().documents as usize).sum();
    let is_stale = ledger_grew(data.len(), learned);
    let blends: &[f64] = match (is_stale, agree, data.max_order) {
        (true, ..) | (_, false, 2..) => &BLENDS[..1],
        _ if few => &[0.05],
        _ => &BLENDS,
    };
    let blends = request.blend.map_or(blends.to_vec(), |blend| vec![blend]);
    // Where nothing is to be decided and documents abound, three of four trial fits are saved.
    let is_decided = request.always && costs.len() == 1 && blends.len() == 1;
    let needs_tails = request.false_positives.is_some() || request.unsure;
    let is_spared = is_decided && !needs_tails && form == Form::Exact && smallest >= PLENTY;
    let judged = if is_spared { 1 } else { FOLDS };
    let trial = Trial { data, folds, ordinary, costs: &costs, blends: &blends, judged };
    let choice = match form {
        Form::Exact => choose_exact(&trial),
        Form::Sparse => choose_sparse(&trial, categories),
    };
    choice.ok_or_else(|| Failure::new(Kind::Usage, "there are no settings to try"))
}

/// The table: what the ordinary files do, what the refit does.
fn describe(
    text: &mut String,
    data: &Dataset,
    names: &[Vec<u8>],
    before: Quality,
    choice: &Choice,
    verbose: bool,
) {
    let documents = data.documents_by_category();
    let _ = write!(text, "{} documents", data.len());
    if names.len() <= 8 {
        let counts: Vec<String> = names
            .iter()
            .zip(&documents)
            .map(|(name, documents)| format!("{} {documents}", lossy(name)))
            .collect();
        let _ = write!(text, " ({})", counts.join(", "));
    }
    let _ = writeln!(text, ", {} features in two or more of them", data.ids.len());
    let is_pair = data.categories == 2;
    let mut row = |name: &str, quality: Quality, judged: usize, note: &str| {
        let share = percent(quality.errors, judged);
        let _ = write!(text, "{name:<9}{:>7} errors {share:>7.2} %", quality.errors);
        if is_pair {
            let _ = write!(text, "   1-AUC {:>7.4} %", 100.0 * quality.area_above);
        }
        let _ = writeln!(text, "{note}");
    };
    row("ordinary", before, data.len(), "   each document judged without the counts of its fold");
    let judged = choice.labels.len();
    let shown = |settings: Settings| format!("   C {}, blend {}", settings.cost, settings.blend);
    if verbose {
        for &(settings, quality) in &choice.tried {
            row("tried", quality, judged, &shown(settings));
        }
    }
    let how = if choice.tried.len() > 1 {
        format!(", chosen by {FOLDS}-fold cross-validation")
    } else if judged < data.len() {
        format!(", on {judged} documents left out")
    } else {
        format!(", {FOLDS}-fold cross-validation")
    };
    row("refit", choice.quality, judged, &(shown(choice.settings) + &how));
}

/// The header's line, but for the place; says what the thresholds rest on.
fn line(
    request: &Request,
    text: &mut String,
    data: &Dataset,
    choice: &Choice,
    set: &Set,
    names: &[Vec<u8>],
) -> RefitLine {
    let scale = set.scale;
    let mut line = RefitLine {
        set: set.name,
        place: 1,
        categories: u32::try_from(names.len()).unwrap_or(u32::MAX),
        cost: choice.settings.cost,
        blend: choice.settings.blend,
        documents: u32::try_from(data.len()).unwrap_or(u32::MAX),
        calibration: Calibration { slope: 1.0, offset: 0.0 },
        band: (0.0, 0.0),
        scoring: data.scoring,
        contrast: data.contrast,
        false_positives: request.false_positives.filter(|_| data.categories == 2),
        wants_unsure: request.unsure && data.categories == 2,
    };
    if data.categories != 2 {
        line.calibration.slope = temperature(&choice.scores, &choice.labels) / scale;
        if request.false_positives.is_some() || request.unsure {
            MESSAGES.warning("--fp and --unsure need exactly two categories: ignored");
        }
        return line;
    }
    let scored = differences(&choice.scores, &choice.labels);
    let odds = platt(&scored);
    line.calibration = Calibration { slope: odds.slope / scale, offset: odds.offset };
    let even = if odds.slope > 0.0 { -odds.offset / odds.slope } else { 0.0 };
    let (mut low, mut high) = (even, even);
    let (first, second) = (lossy(&names[0]), lossy(&names[1]));
    let negatives = data.documents_by_category()[0];
    if request.false_positives.is_some() || request.unsure {
        let rate = request.false_positives.unwrap_or(FALSE_POSITIVES);
        let found = threshold_for_false_positives(&scored, rate);
        high = found.score;
        low = high;
        if !found.is_checked && !request.is_quiet {
            MESSAGES.warning(&format!(
                "{negatives} documents of {first} are too few to promise {}% false positives: \
                 the threshold rests on {} of them, {:.0} documents would be needed",
                100.0 * rate,
                found.wrong,
                (10.0 / rate).ceil()
            ));
        }
    }
    if request.unsure {
        low = threshold_for_misses(&scored, MISSES).score;
        if low > high {
            // Both wishes can be had at once.
            (low, high) = (f64::midpoint(low, high), f64::midpoint(low, high));
        }
    }
    let (wrong, _) = mistakes(&scored, high);
    let (_, missed) = mistakes(&scored, low);
    let unsure = scored.iter().filter(|one| one.score > low && one.score <= high).count();
    let _ = write!(
        text,
        "verdicts: {wrong} of {first} called {second}, {missed} of {second} called {first}"
    );
    let _ = writeln!(text, ", {unsure} unsure");
    line.band = (low * scale, high * scale);
    line
}

/// Keeps the ordinary files beside the categories, then replaces the categories.
pub fn write_files(
    files: &Files,
    ordinary: &[MappedCategory],
    set: &Set,
    line: &RefitLine,
) -> Result<(), Failure> {
    for path in &files.paths {
        let (category, is_damaged) = load_or_ordinary(path)?;
        if is_damaged {
            // Nobody misses what is left of it; an empty file would not be replaced.
            store::remove_empty(path);
        } else if RefitLine::find(category.other_lines()).is_none() {
            let bytes = std::fs::read(path)
                .map_err(|error| Failure::from(crate::error::Error::io(path, error)))?;
            replace(&ordinary_path(path), &bytes)?;
        }
    }
    let named = files.names.iter().zip(&files.paths);
    for ((place, ((name, path), category)), (table, log_partition)) in
        (1..).zip(named.zip(ordinary)).zip(set.tables.iter().zip(&set.log_partitions))
    {
        let line = RefitLine { place, ..line.clone() };
        let name = name.as_os_str().as_bytes();
        let digrams = set.digrams.as_ref();
        let bytes = publish::file(category, name, &line, table, *log_partition, digrams);
        replace(path, &bytes)?;
    }
    Ok(())
}

/// Replaces a file of ours.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    store::replace(&Unforced, path, ANY_MAGIC, bytes)
}
