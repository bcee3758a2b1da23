// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning, correcting and forgetting single documents of a fitted set of two categories.

use super::super::MESSAGES;
use super::super::config::{Config, base_name, load_or_ordinary, lossy};
use super::super::failure::{Failure, Kind};
use super::super::lock;
use super::super::signals::Signals;
use super::fit::{ordinary_path, refit_locked, replace};
use super::reader::{Reader, Unit};
use super::store::{self, Open};
use super::{Action, Request};
use crate::category::layout::ANY_MAGIC;
use crate::category::mapped::{self, MappedCategory};
use crate::category::reader::Category;
use crate::cli::output::Output;
use crate::numeric::quantize::QuantWeight;
use crate::refit::blend::{self, Set};
use crate::refit::checksum::Checksum;
use crate::refit::dataset::{BIAS_INPUT, Dataset};
use crate::refit::documents::{Corpus, Term, fingerprint};
use crate::refit::header::{Mismatch, RefitLine, set_of};
use crate::refit::index::FeatureIndex;
use crate::refit::ledger::{Fault, Ledger, Record, write_record};
use crate::refit::online::{self, Evidence, Numbers, State, ordinary_part};
use crate::refit::ordinary::{rise, without};
use crate::refit::publish;
use crate::refit::relearn;
use crate::refit::select::Settings;
use crate::refit::solver::Fit;
use crate::save::{Disk, Storage, Unforced, beside};
use crate::token::id::FeatureId;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Acts on the documents of the operands, or of standard input.
///
/// # Errors
/// What stopped it; files are as they were.
pub fn run(
    request: &Request,
    action: &Action,
    config: &mut Config,
    paths: &[PathBuf],
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let usage = |text: &str| Failure::new(Kind::Usage, text);
    let ledger_path = request.keep.as_deref().ok_or_else(|| usage("--keep LEDGER is needed"))?;
    if paths.len() != 2 {
        return Err(usage("single documents can be learned with two categories; use --refit"));
    }
    let names: Vec<Vec<u8>> = paths.iter().map(|path| base_name(path)).collect();
    let (name, kind) = action.parts();
    let label = names.iter().position(|known| known == name.as_bytes());
    let label = label
        .ok_or_else(|| usage(&format!("{} is none of the categories", lossy(name.as_bytes()))))?;
    let label = u32::try_from(label).unwrap_or(u32::MAX);
    let patterns = config.models.first().and_then(|model| model.category());
    let patterns = patterns.map(|category| category.patterns().to_vec()).unwrap_or_default();
    let settings = store::settings(config.options, config.scheme, config.order, &patterns);
    // Read before the lock is taken: standard input may take its time.
    let operands = std::mem::take(&mut config.operands);
    let mut reader = Reader::new(config, &[], &names);
    let sources: Vec<_> =
        if operands.is_empty() { vec![None] } else { operands.iter().map(Some).collect() };
    for source in sources {
        let unit = request.unit.unwrap_or(Unit::Whole);
        reader.read(config, signals, source.map(OsString::as_os_str), unit, label)?;
    }
    let corpus = reader.into_corpus();
    if corpus.documents.is_empty() {
        return Err(Failure::new(Kind::Data, "there are no features in the document"));
    }
    let _lock = lock::of_ledger(ledger_path, config, signals)?;
    let mut refit = |line: &RefitLine, same_settings: bool| -> Result<(), Failure> {
        let again = Request::like(line, ledger_path, same_settings);
        refit_locked(&again, config, paths, signals, output).map(|_| ())
    };
    let mut set = FittedSet::open(ledger_path, paths, &names, &settings, &mut refit)?;
    match kind {
        Change::Learn => set.learn(&corpus, |_| true)?,
        Change::LearnErrors => {
            let (low, high) = set.line.band;
            let needs = |score: f64| if label == 0 { score > low } else { score <= high };
            set.learn(&corpus, needs)?;
        }
        Change::Forget => {
            let forgotten = set.forget(&corpus, Some(label), &mut refit)?;
            if forgotten == 0 {
                let text = format!("no such document was learned as {}", lossy(name.as_bytes()));
                return Err(Failure::new(Kind::Data, text));
            }
        }
        Change::Correct => {
            set.forget(&corpus, None, &mut refit)?;
            set.learn(&corpus, |_| true)?;
        }
    }
    if set.line.contrast && set.state.numbers.documents != set.line.documents {
        // How far a feature tells the categories apart changes with every document, and the state knows
        // nothing of it.
        return refit(&set.line, true).map(|()| 0);
    }
    set.publish()?;
    let Numbers { documents, fitted, .. } = set.state.numbers;
    if documents >= fitted.saturating_mul(2) {
        // Twice as much is known as when the settings were chosen: choose again. Ten such fits make
        // a thousand documents.
        refit(&set.line, false)?;
    }
    Ok(0)
}

/// What is to be done with documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Learn them.
    Learn,
    /// Learn those that are judged wrongly, or not surely.
    LearnErrors,
    /// Forget that they were learned.
    Forget,
    /// Forget whatever they were learned as, and learn them.
    Correct,
}

/// Opens both categories; their `# refit` line, and whether they are of one state. A damaged category
/// of which the ordinary file is whole stands for a state that is not.
fn open_categories(paths: &[PathBuf]) -> Result<(Vec<MappedCategory>, RefitLine, bool), Failure> {
    let mut categories = Vec::new();
    let mut is_whole = true;
    for path in paths {
        let (category, is_damaged) = load_or_ordinary(path)?;
        if is_damaged {
            MESSAGES.warning(&format!(
                "category {} is damaged and is made anew from {} and the ledger",
                path.display(),
                ordinary_path(path).display()
            ));
            is_whole = false;
        } else {
            categories.push(category);
        }
    }
    let lines: Vec<Option<RefitLine>> =
        categories.iter().map(|category| RefitLine::find(category.other_lines())).collect();
    let last = lines.iter().flatten().next_back().cloned();
    let Some(line) = last else {
        let text = if is_whole {
            "these categories were not fitted together: use --refit first"
        } else {
            "what the set was fitted with is lost: use --refit"
        };
        return Err(Failure::new(Kind::Data, text));
    };
    match set_of(&lines) {
        Ok(_) => {}
        Err(Mismatch::Incomplete) if !is_whole => {}
        // A process that stopped while it replaced the files; the ledger has all that is needed.
        Err(_) if lines.iter().all(Option::is_some) => {
            MESSAGES.warning("the categories are of different states: both are made anew");
            is_whole = false;
        }
        Err(mismatch) => return Err(Failure::new(Kind::Data, mismatch.text())),
    }
    Ok((categories, line, is_whole))
}

/// A set that is being changed; the caller holds its lock.
struct FittedSet<'a> {
    paths: &'a [PathBuf],
    ledger_path: &'a Path,
    ledger: Open,
    /// The files as they are now.
    categories: Vec<MappedCategory>,
    state: State,
    line: RefitLine,
}

/// Fits a set anew, with the settings that it has or such as are best now.
type Refit<'a> = &'a mut dyn FnMut(&RefitLine, bool) -> Result<(), Failure>;

impl<'a> FittedSet<'a> {
    fn open(
        ledger_path: &'a Path,
        paths: &'a [PathBuf],
        names: &'a [Vec<u8>],
        settings: &crate::refit::ledger::Settings,
        refit: Refit<'_>,
    ) -> Result<Self, Failure> {
        let (categories, line, is_whole) = open_categories(paths)?;
        let ledger = Open::new(ledger_path)?;
        store::check(ledger_path, &ledger.head, settings)?;
        if !ledger.head.are_named(names) {
            let text = format!(
                "the ledger {} is of other categories, or of these in another order",
                ledger_path.display()
            );
            return Err(Failure::new(Kind::Data, text));
        }
        if is_whole && let Some(set) = Self::fitting(ledger_path, paths, ledger, categories) {
            return Ok(set);
        }
        if is_whole {
            store::note_rebuilt(&beside(ledger_path, ".state"));
        }
        refit(&line, true)?;
        Self::after_refit(ledger_path, paths)
    }

    /// The set, if its files and its state belong together.
    fn fitting(
        ledger_path: &'a Path,
        paths: &'a [PathBuf],
        ledger: Open,
        categories: Vec<MappedCategory>,
    ) -> Option<Self> {
        let mut line = RefitLine::find(categories.first()?.other_lines())?;
        let file = File::open(beside(ledger_path, ".state")).ok()?;
        let state = State::parse(mapped::private_copy(&file).ok()?)?;
        let numbers = &state.numbers;
        let fits = numbers.ledger == ledger.head.sum
            && numbers.ledger_length == ledger.head.length
            && numbers.documents == ledger.head.documents
            && numbers.set == line.set;
        line.documents = numbers.documents;
        fits.then_some(Self { paths, ledger_path, ledger, categories, state, line })
    }

    /// The set that a fit has just written.
    fn after_refit(ledger_path: &'a Path, paths: &'a [PathBuf]) -> Result<Self, Failure> {
        let set = Self::fitting(ledger_path, paths, Open::new(ledger_path)?, load_all(paths)?);
        let text = "the files that were written do not fit together";
        set.ok_or_else(|| Failure::new(Kind::Internal, text))
    }

    /// By how much a document is nearer to the second category, as the files say it.
    fn score(&self, occurrences: u32, terms: &[Term]) -> f64 {
        let scoring = self.line.scoring;
        let [first, second] =
            [0, 1].map(|at: usize| scoring.score(&self.categories[at], occurrences, terms));
        second - first
    }

    /// Learns the documents whose score `needs` it.
    fn learn(&mut self, corpus: &Corpus, needs: impl Fn(f64) -> bool) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        for (number, document) in corpus.documents.iter().enumerate() {
            let terms = corpus.terms_of(number);
            if terms.is_empty() || !needs(self.score(document.occurrences, terms)) {
                continue;
            }
            bytes.clear();
            write_record(&mut bytes, document.label, document.occurrences, terms);
            let offset = self.ledger.push(&bytes)?;
            let record = Record {
                label: document.label,
                occurrences: document.occurrences,
                terms: terms.to_vec(),
                fingerprint: fingerprint(terms),
            };
            let ledger = &self.ledger;
            self.state.learn(&record, offset, |offset| ledger.record(offset));
        }
        Ok(())
    }

    /// Forgets each document once, if it was learned as `label`, or as anything; returns how many
    /// were found. All that was learned from them goes: ordinary counts, ledger, weights.
    fn forget(
        &mut self,
        corpus: &Corpus,
        label: Option<u32>,
        refit: Refit<'_>,
    ) -> Result<usize, Failure> {
        let mut wanted: Vec<u64> = (0..corpus.documents.len())
            .map(|number| fingerprint(corpus.terms_of(number)))
            .collect();
        let whole = store::load_fitting(self.ledger_path, &self.ledger.head.settings)?;
        let damaged = |fault: Fault| {
            let text = format!("{}: {}", self.ledger_path.display(), fault.text());
            Failure::new(Kind::Data, text)
        };
        // Of equal documents the one that was learned last goes.
        let mut names = Vec::new();
        whole
            .each(|record, _| {
                let fits = label.is_none_or(|label| record.label == label);
                names.push(fits.then_some(record.fingerprint));
                true
            })
            .map_err(damaged)?;
        let mut goes = vec![false; names.len()];
        for (goes, name) in goes.iter_mut().zip(&names).rev() {
            if let Some(at) = wanted.iter().position(|&wanted| Some(wanted) == *name) {
                wanted.swap_remove(at);
                *goes = true;
            }
        }
        let mut forgotten: Vec<Record> = Vec::new();
        let mut number = 0;
        let kept = whole.filter(|record| {
            let is_gone = goes[number];
            number += 1;
            if is_gone {
                forgotten.push(record.clone());
            }
            !is_gone
        });
        let kept = kept.map_err(damaged)?;
        if forgotten.is_empty() {
            return Ok(0);
        }
        // A fit makes ordinary files anew that can be; the others are corrected, once.
        for (label, path) in (0..).zip(self.paths) {
            forget_in_ordinary(path, label, &whole, &forgotten)?;
        }
        store::save(self.ledger_path, &kept)?;
        // The fit needs the memory.
        drop((whole, kept));
        refit(&self.line, true)?;
        *self = Self::after_refit(self.ledger_path, self.paths)?;
        Ok(forgotten.len())
    }

    /// Writes what has changed: the state, then the category files one by one.
    fn publish(&mut self) -> Result<(), Failure> {
        let changes = self.state.changes();
        if self.state.numbers.documents == self.line.documents {
            return Ok(());
        }
        let log_partitions = self.state.log_partitions();
        let mut sum = Checksum::from_state(self.line.set);
        for (id, [first, second]) in &changes {
            sum.word(u64::from(id.0) << 32 | u64::from(first.0) << 16 | u64::from(second.0));
        }
        for z in log_partitions {
            sum.word(z.to_bits());
        }
        self.line.set = sum.value();
        self.line.documents = self.state.numbers.documents;
        self.state.numbers.set = self.line.set;
        self.state.numbers.ledger = self.ledger.head.sum;
        self.state.numbers.ledger_length = self.ledger.head.length;
        change_state(self.ledger_path, &mut self.state)?;
        for (at, path) in self.paths.iter().enumerate() {
            let place = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let line = RefitLine { place, ..self.line.clone() };
            let name = path.as_os_str().as_bytes();
            let own: Vec<_> = changes.iter().map(|&(id, weights)| (id, weights[at])).collect();
            let (category, z) = (&self.categories[at], log_partitions[at]);
            store::replace_with(&Unforced, path, ANY_MAGIC, &mut |out| {
                publish::write_patched(out, category, name, &line, &own, z)
            })?;
        }
        Ok(())
    }
}

fn load_all(paths: &[PathBuf]) -> Result<Vec<MappedCategory>, Failure> {
    paths.iter().map(|path| super::super::config::load(path)).collect()
}

/// Writes what has changed in the state into its file. Until the checksum comes at last the file is
/// invalid; a state that stays so is made anew from the ledger.
fn change_state(ledger: &Path, state: &mut State) -> Result<(), Failure> {
    let path = beside(ledger, ".state");
    let parts = state.changed_parts().zip(OpenOptions::new().write(true).open(&path).ok());
    let Some((parts, file)) = parts else {
        return write_state(&Unforced, ledger, state);
    };
    let mut written = file.write_all_at(&[0; 8], online::SUM as u64);
    for (offset, bytes) in parts {
        written = written.and_then(|()| file.write_all_at(bytes, offset as u64));
    }
    written.map_err(|error| {
        let text = format!("cannot write {}: {error}; it will be made anew", path.display());
        Failure::new(Kind::Write, text)
    })
}

/// Writes the state beside its ledger.
fn write_state(storage: &dyn Storage, ledger: &Path, state: &mut State) -> Result<(), Failure> {
    let path = beside(ledger, ".state");
    // A power cut may have left nothing of a file that was not forced to the device.
    store::remove_empty(&path);
    store::replace_with(storage, &path, online::KIND, &mut |out| state.write(out))
}

/// Writes the state of a full fit for later changes of single documents. `data` comes from `ledger`,
/// `evidence` tells of all its features, those included that take no part in the fit.
///
/// # Errors
/// It cannot be written.
#[allow(clippy::too_many_arguments)] // all that a fit is made of
pub fn keep_state(
    ledger_path: &Path,
    ledger: &Ledger,
    categories: &[MappedCategory],
    data: &Dataset,
    mut evidence: Vec<(FeatureId, Evidence)>,
    settings: Settings,
    fit: &Fit,
    set: &Set,
) -> Result<(), Failure> {
    let by_side = data.documents_by_category();
    let half = BIAS_INPUT * data.length / f64::from(data.max_order) * fit.bias / 2.0;
    let mut totals = [0.0; 2];
    for (&label, &occurrences) in data.labels.iter().zip(&data.occurrences) {
        totals[usize::from(label == 1)] += f64::from(occurrences);
    }
    let learned = |at: usize, id: FeatureId| {
        let slot = categories[at].find(id).filter(|slot| slot.id == id);
        slot.map_or_else(QuantWeight::default, |slot| slot.weight)
    };
    let mut names = ledger.head.names.iter().zip(categories);
    let mut numbers = Numbers {
        set: set.name,
        ledger: ledger.head.sum,
        ledger_length: ledger.head.length,
        cost: settings.cost,
        blend: settings.blend,
        length: data.length,
        bias: fit.bias,
        log_partitions: [set.log_partitions[0] - half, set.log_partitions[1] + half],
        totals,
        rises: [0.0; 2],
        counts_ordinary: data.max_order == 1
            && names.all(|(name, own)| relearn::can_tell(name.learning, own)),
        max_order: data.max_order,
        scoring: data.scoring,
        contrast: data.contrast,
        documents: 0,
        sides: [0, 1].map(|at| u32::try_from(by_side[at]).unwrap_or(u32::MAX)),
        fitted: u32::try_from(data.len()).unwrap_or(u32::MAX),
        features: 0,
    };
    if numbers.counts_ordinary {
        numbers.rises = [0, 1]
            .map(|at| numbers.rise(at, evidence.iter().map(|(id, own)| (own, learned(at, *id)))));
    } else {
        for (id, own) in &mut evidence {
            own.ordinary = ordinary_part(learned(0, *id), learned(1, *id), settings.blend);
        }
    }
    let offsets =
        online::offsets(ledger).map_err(|fault| Failure::new(Kind::Data, fault.text()))?;
    let mut state = State::new(numbers, data, fit, &evidence, &offsets);
    write_state(&Disk, ledger_path, &mut state)
}

/// Takes the counts of forgotten documents out of an ordinary category file: each weight falls as if
/// it had been learned without them (spec refit 3.6); log Z stays. Files that the ledger can tell all
/// of are left to the fit that follows.
fn forget_in_ordinary(
    path: &Path,
    label: u32,
    whole: &Ledger,
    forgotten: &[Record],
) -> Result<(), Failure> {
    let gone: Vec<&Record> = forgotten.iter().filter(|record| record.label == label).collect();
    if gone.is_empty() {
        return Ok(());
    }
    let path = ordinary_path(path);
    let category = super::super::config::load(&path)?;
    let name = whole.head.names.get(label as usize);
    if name.is_some_and(|name| relearn::can_tell(name.learning, &category)) {
        return Ok(());
    }
    // All features of the category: what is left is a larger share of the rest.
    let mut index = FeatureIndex::default();
    let (mut counts, mut orders): (Vec<u32>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut all = 0.0;
    let counted = whole.each(|record, _| {
        if record.label == label {
            all += f64::from(record.occurrences);
            for term in &record.terms {
                let at = index.insert(term.id) as usize;
                if at == counts.len() {
                    counts.push(0);
                    orders.push(term.makeup.order);
                }
                counts[at] = counts[at].saturating_add(term.count);
            }
        }
        true
    });
    counted.map_err(|fault| Failure::new(Kind::Data, fault.text()))?;
    let mut lost = vec![0u32; index.len()];
    for term in gone.iter().flat_map(|record| &record.terms) {
        if let Some(at) = index.get(term.id) {
            lost[at] = lost[at].saturating_add(term.count);
        }
    }
    let lost_all: f64 = gone.iter().map(|record| f64::from(record.occurrences)).sum();
    let rest = rise(all, lost_all);
    let bytes = std::fs::read(&path)
        .map_err(|error| Failure::from(crate::error::Error::io(&path, error)))?;
    let changed = rewrite(&bytes, &category, |id, weight| {
        let Some(at) = index.get(id) else { return weight };
        let new = without(weight.weight(), lost[at], counts[at], orders[at], rest);
        blend::stored(new)
    });
    replace(&path, &changed)
}

/// A category file's bytes with other weights.
fn rewrite<D: AsRef<[u8]>>(
    bytes: &[u8],
    category: &Category<D>,
    new: impl Fn(FeatureId, QuantWeight) -> QuantWeight,
) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let slots = category.slots_offset();
    for at in 0..category.size() {
        let slot = category.slot(at);
        if slot.id.0 != 0 {
            let place = slots + at * 6 + 4;
            let weight = new(slot.id, slot.weight).0.to_be_bytes();
            bytes[place..place + 2].copy_from_slice(&weight);
        }
    }
    bytes
}
