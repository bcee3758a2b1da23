// SPDX-License-Identifier: GPL-3.0-or-later
//! `--refit`: fits ordinary categories together on labelled documents.

use super::super::config::Config;
use super::super::failure::{Failure, usage};
use super::super::lock;
use super::super::messages::{self, MESSAGES};
use super::super::signals::Signals;
use super::reader::{Reader, Unit};
use super::request::Request;
use dbacl_cli::names::lossy;
use dbacl_cli::output::Output;
use dbacl_joint::blend;
use dbacl_joint::documents::Corpus;
use dbacl_joint::fit::{FitNote, FitVerdicts, Solution};
use dbacl_joint::ordinary::percent;
use dbacl_joint::select::{FOLDS, Quality, Settings};
use dbacl_model::settings::ModelOption;
use dbacl_sets::files::{SetFiles, store_of};
use dbacl_sets::refit::{HowToFit, RefitJob, Refitted, fit_files};
use dbacl_store::generations::ledger_file;
use dbacl_store::ledger::Settings as FeatureSettings;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Fits the categories together.
pub fn refit(
    request: &Request,
    config: &mut Config,
    names: &[PathBuf],
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let keep = request.keep.as_deref();
    let lock = lock::of_set(&store_of(names, keep), config.lock_timeout, signals)?;
    let files = SetFiles::open(names, keep, lock, &mut messages::warn)?;
    let settings = config.features();
    let how = HowToFit {
        options: &request.wishes,
        settings: &settings,
        is_mail: config.reading.options.has(ModelOption::Mail),
        ledger_leads: false,
    };
    let (labels, verbose) = (files.labels(), config.form.verbose);
    let documents =
        |set: &RefitJob<'_>| read_documents(request, config, set, &labels, signals, &settings);
    let mut note = |note| warn(&note);
    let fitted = fit_files(files, how, documents, (&mut note, &mut messages::warn), &signals.stop)?;
    messages::print(output, &text_of(&fitted, verbose))
}

/// The report on a fit.
pub fn text_of(fitted: &Refitted, verbose: bool) -> String {
    let (solution, names) = (&fitted.solution, &fitted.names);
    let mut text = String::new();
    describe(&mut text, solution, names, verbose);
    let Some(weights) = &solution.fitted else {
        text.push_str("The ordinary files judge as well: they are kept (--always uses the fit).\n");
        if solution.is_sparse {
            text.push_str("Larger files may be better than these: try --exact.\n");
        }
        return text;
    };
    let verdicts = weights.verdicts.filter(|_| !has_one_kind(solution));
    if let Some(FitVerdicts { wrong, missed, unsure, .. }) = verdicts {
        let _ = match names.as_slice() {
            [first, second] => write!(
                text,
                "verdicts: {wrong} of {first} called {second}, {missed} of {second} called \
                 {first}, {unsure} unsure"
            ),
            _ => write!(text, "verdicts: {} wrong, {unsure} unsure", wrong + missed),
        };
        match weights.misfiled.len() {
            0 => text.push('\n'),
            number => {
                let _ = writeln!(text, "; {number} that look misfiled not counted");
            }
        }
    }
    text
}

/// Whether the documents are of one category, or there are none: they show no quality.
fn has_one_kind(solution: &Solution) -> bool {
    solution.data.documents_by_category().into_iter().filter(|&own| own > 0).count() < 2
}

/// Reads what `-c NAME=SOURCE` and the operands name.
fn read_documents(
    request: &Request,
    config: &mut Config,
    set: &RefitJob<'_>,
    names: &[Vec<u8>],
    signals: &Signals,
    settings: &FeatureSettings,
) -> Result<Corpus, Failure> {
    let operands = std::mem::take(&mut config.reading.operands);
    let agree = blend::digrams_agree(&set.categories);
    let measured = if agree { &[][..] } else { &set.categories };
    let mut reader = Reader::new(&mut config.reading, measured, names);
    let mut label = 0;
    for source in &request.sources {
        if let Some(source) = source {
            if ledger_file::is_ledger(Path::new(source)) {
                let ledger = ledger_file::load_fitting(Path::new(source), settings)?;
                let name = &names[label as usize..][..1];
                let corpus = set.corpus_of(&ledger, name)?;
                reader.add(&corpus, label);
                label += 1;
                continue;
            }
            let unit = request.unit.filter(|unit| matches!(unit, Unit::Whole | Unit::Line));
            let unit = unit.unwrap_or(Unit::Whole);
            reader.read(&mut config.reading, signals, Some(source), unit, label)?;
        }
        label += 1;
    }
    for operand in &operands {
        let unit = request.unit.or_else(|| Unit::by_extension(Path::new(operand)));
        let Some(unit @ (Unit::Tsv | Unit::Json)) = unit else {
            let name = lossy(operand.as_bytes());
            return usage(format!(
                "{name}: which category? Use -c CATEGORY={name}, or --documents tsv or ndjson"
            ));
        };
        reader.read(&mut config.reading, signals, Some(operand), unit, 0)?;
    }
    Ok(reader.into_corpus())
}

pub fn warn(note: &FitNote) {
    match note {
        FitNote::NoThresholds => {
            MESSAGES.warning("--fp needs exactly two categories: ignored");
        }
        note => MESSAGES.warning(&note.to_string()),
    }
}

/// The table that compares the ordinary categories with the fitted ones.
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
    if has_one_kind(solution) {
        return;
    }
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
    let is_general = choice.tried.iter().any(|(settings, _)| settings.general > 0.0);
    let shown = |Settings { cost, blend, general }: Settings| {
        let general = if is_general { format!(", general {general}") } else { String::new() };
        format!("   C {cost}, blend {blend}{general}")
    };
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
