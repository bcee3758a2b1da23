// SPDX-License-Identifier: GPL-3.0-or-later
//! `--refit`: documents and ordinary categories → a set of files that judges better.

use super::super::MESSAGES;
use super::super::config::{Config, ORDINARY, base_name, load_or_ordinary, lossy};
use super::super::failure::{Failure, Kind, output_failure};
use super::super::lock;
use super::super::signals::Signals;
use super::Request;
use super::files::{Files, store_of};
use super::reader::{Reader, Unit};
use super::store;
use super::update;
use crate::atomic_file::{Unforced, beside};
use crate::category::layout::ANY_MAGIC;
use crate::category::mapped::{self, MappedCategory};
use crate::cli::output::Output;
use crate::joint::blend;
use crate::joint::documents::Corpus;
use crate::joint::fit::{self, FitNote, FitVerdicts, FittedWeights, Problem, Solution};
use crate::joint::header::RefitLine;
use crate::joint::ledger::{Ledger, Name, Settings as FeatureSettings};
use crate::joint::ordinary::percent;
use crate::joint::relearn;
use crate::joint::select::{FOLDS, Form, Quality, Settings};
use crate::model::settings::ModelOption;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The ordinary file that belongs to a category: beside it, with this ending.
pub fn ordinary_path(path: &Path) -> PathBuf {
    beside(path, ORDINARY)
}

/// Opens the ordinary files of `paths`, which the fit starts from.
///
/// # Errors
/// A file that cannot be opened.
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
    let lossy_names: Vec<String> = names.iter().map(|name| lossy(name)).collect();
    fit::check(&categories, &lossy_names)?;
    let settings =
        store::settings(config.options, config.scheme, config.order, categories[0].patterns());
    let ledger = files.ledger.as_deref();
    let mut ledger = ledger.map(|path| store::load_fitting(path, &settings)).transpose()?;
    if let Some(ledger) = &mut ledger {
        in_order_of(ledger, &names)?;
        if relearn_ordinary(request, paths, ledger, &categories)? {
            categories = open_ordinary(paths)?;
            fit::check(&categories, &lossy_names)?;
        }
    }
    let agree = blend::digrams_agree(&categories);
    let corpus = match &ledger {
        Some(ledger) => from_ledger(ledger, &names, agree)?,
        None => read_documents(request, config, &categories, &names, agree, signals, &settings)?,
    };
    let problem = Problem {
        categories: &categories,
        names: &lossy_names,
        options: &request.wishes,
        is_mail: config.options.has(ModelOption::Mail),
        wants_evidence: ledger.is_some(),
    };
    let solution = problem.solve(corpus, &mut |note| warn(&note, request.is_quiet))?;
    let mut text = String::new();
    describe(&mut text, &solution, &lossy_names, config.form.verbose);
    let Some(fitted) = &solution.fitted else {
        text.push_str("The ordinary files judge as well: they are kept as they are.\n");
        if solution.form == Form::Sparse {
            text.push_str("Larger files may be better than these: try --exact.\n");
        }
        return Ok(Fitted { is_better: false, text });
    };
    if let (Some(found), [first, second]) = (fitted.verdicts, lossy_names.as_slice()) {
        let FitVerdicts { wrong, missed, unsure } = found;
        let _ = writeln!(
            text,
            "verdicts: {wrong} of {first} called {second}, {missed} of {second} called {first}, \
             {unsure} unsure"
        );
    }
    write_files(files, &categories, fitted)?;
    if let (Some(path), Some(ledger), 2) = (&files.ledger, &ledger, paths.len()) {
        store::save(path, ledger)?;
        update::keep_state(path, ledger, &categories, solution)?;
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

/// Prints what a fit has to say to people.
fn warn(note: &FitNote, is_quiet: bool) {
    match note {
        FitNote::NoThresholds => {
            MESSAGES.warning("--fp and --unsure need exactly two categories: ignored");
        }
        _ if is_quiet => {}
        note => MESSAGES.warning(&note.to_string()),
    }
}

/// The table: what the ordinary files do, what the refit does.
fn describe(text: &mut String, solution: &Solution, names: &[String], verbose: bool) {
    let Solution { data, before, choice, .. } = solution;
    let documents = data.documents_by_category();
    let _ = write!(text, "{} documents", data.len());
    if names.len() <= 8 {
        let counts: Vec<String> = names
            .iter()
            .zip(&documents)
            .map(|(name, documents)| format!("{name} {documents}"))
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
    row("ordinary", *before, data.len(), "   each document judged without the counts of its fold");
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

/// Keeps the ordinary files beside the categories, then replaces the categories.
fn write_files(
    files: &Files,
    ordinary: &[MappedCategory],
    fitted: &FittedWeights,
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
    for (at, ((name, path), category)) in named.zip(ordinary).enumerate() {
        replace(path, &fitted.file(at, category, name.as_os_str().as_bytes()))?;
    }
    Ok(())
}

/// Replaces a file of ours.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    store::replace(&Unforced, path, ANY_MAGIC, bytes)
}
