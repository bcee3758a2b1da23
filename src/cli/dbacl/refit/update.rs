// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning, correcting and forgetting single documents of a fitted set of two categories.

use super::super::MESSAGES;
use super::super::config::{Config, base_name, load_or_ordinary, lossy};
use super::super::failure::{Failure, Kind};
use super::super::lock;
use super::super::signals::Signals;
use super::files::{Files, store_of};
use super::fit::{ordinary_path, refit_files, replace};
use super::reader::{Reader, Unit};
use super::store::{self, Open};
use super::{Action, Request};
use crate::atomic_file::{Unforced, beside};
use crate::category::layout::ANY_MAGIC;
use crate::category::mapped::MappedCategory;
use crate::category::reader::Category;
use crate::input::source::read_whole;
use crate::joint::blend;
use crate::joint::checksum::Checksum;
use crate::joint::corrections;
use crate::joint::dataset::BIAS_INPUT;
use crate::joint::documents::{Corpus, Term, fingerprint};
use crate::joint::fit::{FittedWeights, Solution};
use crate::joint::header::{Mismatch, RefitLine, set_of};
use crate::joint::incremental::{self, Numbers, State, ordinary_part};
use crate::joint::index::FeatureIndex;
use crate::joint::ledger::{self, Fault, Head, Ledger, Record, write_record};
use crate::joint::ordinary::{rise, without};
use crate::joint::publish;
use crate::joint::relearn;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;
use hashbrown::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
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
    let lock = lock::of_set(&store_of(paths, Some(ledger_path)), config, signals)?;
    let files = Files::open(paths, Some(ledger_path), lock)?;
    let done = change(config, &files, (label, kind), &names, &settings, &corpus, signals);
    match done.map_err(|failure| files.in_words(failure))? {
        Done::Nothing => Ok(0),
        Done::Learned => files.publish(false, signals).map(|()| 0),
        Done::Fitted => files.publish(true, signals).map(|()| 0),
    }
}

/// What became of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// It is as it was.
    Nothing,
    /// Documents were learned.
    Learned,
    /// All of it was fitted anew.
    Fitted,
}

/// Changes the set of `files`.
fn change(
    config: &mut Config,
    files: &Files,
    (label, kind): (u32, Change),
    names: &[Vec<u8>],
    settings: &crate::joint::ledger::Settings,
    corpus: &Corpus,
    signals: &Signals,
) -> Result<Done, Failure> {
    let mut is_fitted = false;
    let ledger = files.ledger.as_deref().unwrap_or(Path::new(""));
    let mut refit = |line: &RefitLine, same_settings: bool| -> Result<(), Failure> {
        is_fitted = true;
        let again = Request::like(line, ledger, same_settings);
        refit_files(&again, config, files, signals).map(|_| ())
    };
    let mut set = FittedSet::open(files, ledger, names, settings, &mut refit)?;
    let mut learned = vec![false; corpus.documents.len()];
    match kind {
        Change::Learn => set.learn(corpus, |_| true, &mut learned)?,
        Change::LearnErrors => {
            let (low, high) = set.line.band;
            let needs = |score: f64| if label == 0 { score > low } else { score <= high };
            set.learn(corpus, needs, &mut learned)?;
        }
        Change::Forget => {
            let forgotten =
                set.forget(corpus, &set.names()?, |own| own == label, true, &mut refit)?;
            if forgotten == 0 {
                let name = lossy(&names[label as usize]);
                let text = format!("no such document was learned as {name}");
                return Err(Failure::new(Kind::Data, text));
            }
        }
        Change::Correct => {
            let mut names = set.names()?;
            if set.forget(corpus, &names, |own| own != label, false, &mut refit)? > 0 {
                names = set.names()?;
            }
            let mut known: HashSet<u64> = names.into_iter().collect();
            let mut is_new = (0..corpus.documents.len())
                .map(|number| known.insert(fingerprint(corpus.terms_of(number))));
            set.learn(corpus, |_| is_new.next().unwrap_or(true), &mut learned)?;
            learned.fill(true);
        }
    }
    if set.state.numbers.documents != set.line.documents {
        set.ledger.write_head()?;
        let Numbers { documents, fitted, .. } = set.state.numbers;
        if set.line.contrast {
            // How far a feature tells the categories apart changes with every document, and the state
            // knows nothing of it.
            refit(&set.line, true)?;
        } else if documents >= fitted.saturating_mul(2) {
            // Twice as much is known as when the settings were chosen: choose again. Ten such fits
            // make a thousand documents.
            refit(&set.line, false)?;
        } else {
            set.publish()?;
        }
    }
    let has_learned = set.state.numbers.documents != set.line.documents || set.has_learned;
    let is_noted = note(files, corpus, label, kind, &learned, &set.ledger.head)?;
    drop(set);
    Ok(match (is_fitted, has_learned || is_noted) {
        (true, _) => Done::Fitted,
        (false, true) => Done::Learned,
        (false, false) => Done::Nothing,
    })
}

/// Notes in the set of a mail filter what a user has said of documents, so that it outlives learning
/// the folders anew. Returns whether it was not known.
fn note(
    files: &Files,
    corpus: &Corpus,
    label: u32,
    kind: Change,
    learned: &[bool],
    head: &Head,
) -> Result<bool, Failure> {
    let Some(path) = files.corrections() else { return Ok(false) };
    let old = store::load(&path)?;
    let mut all = match &old {
        Some(old) => old.clone(),
        None => Ledger::new(head.settings, head.names.clone()),
    };
    let said = (kind != Change::Forget).then_some(label);
    for (number, document) in corpus.documents.iter().enumerate() {
        if kind == Change::Forget || learned[number] {
            let terms = corpus.terms_of(number);
            let made =
                corrections::with(&all, fingerprint(terms), said, (document.occurrences, terms));
            all = made.map_err(|fault| Failure::new(Kind::Data, fault.text()))?;
        }
    }
    if old.map_or(0, |old| old.head.documents) == 0 && all.head.documents == 0 {
        return Ok(false);
    }
    store::replace(&Unforced, &path, ledger::ANY_MAGIC, &all.bytes())?;
    Ok(true)
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
fn open_categories(files: &Files) -> Result<(Vec<MappedCategory>, RefitLine, bool), Failure> {
    let mut categories = Vec::new();
    let mut is_whole = true;
    for (path, name) in files.paths.iter().zip(&files.names) {
        let (category, is_damaged) = load_or_ordinary(path)?;
        if is_damaged {
            MESSAGES.warning(&format!(
                "category {} is damaged and is made anew from {} and the ledger",
                name.display(),
                ordinary_path(name).display()
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

/// A set that is being changed.
struct FittedSet<'a> {
    files: &'a Files,
    ledger_path: &'a Path,
    ledger: Open,
    /// The files as they are now.
    categories: Vec<MappedCategory>,
    state: State,
    line: RefitLine,
    /// Documents were learned and their weights written.
    has_learned: bool,
}

/// Fits a set anew, with the settings that it has or such as are best now.
type Refit<'a> = &'a mut dyn FnMut(&RefitLine, bool) -> Result<(), Failure>;

impl<'a> FittedSet<'a> {
    fn open(
        files: &'a Files,
        ledger_path: &'a Path,
        names: &[Vec<u8>],
        settings: &crate::joint::ledger::Settings,
        refit: Refit<'_>,
    ) -> Result<Self, Failure> {
        let (categories, line, is_whole) = open_categories(files)?;
        let ledger = Open::new(ledger_path)?;
        store::check(ledger_path, &ledger.head, settings)?;
        if !ledger.head.are_named(names) {
            let text = format!(
                "the ledger {} is of other categories, or of these in another order",
                ledger_path.display()
            );
            return Err(Failure::new(Kind::Data, text));
        }
        if is_whole && let Some(set) = Self::fitting(files, ledger_path, ledger, categories) {
            return Ok(set);
        }
        if is_whole {
            let name = files.ledger_name.as_deref().unwrap_or(ledger_path);
            store::note_rebuilt(&beside(name, ".state"));
        }
        refit(&line, true)?;
        Self::after_refit(files, ledger_path)
    }

    /// The set, if its files and its state belong together.
    fn fitting(
        files: &'a Files,
        ledger_path: &'a Path,
        ledger: Open,
        categories: Vec<MappedCategory>,
    ) -> Option<Self> {
        let mut line = RefitLine::find(categories.first()?.other_lines())?;
        let file = File::open(beside(ledger_path, ".state")).ok()?;
        let state = State::parse(read_whole(&file).ok()?)?;
        let numbers = &state.numbers;
        let fits = numbers.ledger == ledger.head.sum
            && numbers.ledger_length == ledger.head.length
            && numbers.documents == ledger.head.documents
            && numbers.set == line.set;
        line.documents = numbers.documents;
        let has_learned = false;
        fits.then_some(Self { files, ledger_path, ledger, categories, state, line, has_learned })
    }

    /// The set that a fit has just written.
    fn after_refit(files: &'a Files, ledger_path: &'a Path) -> Result<Self, Failure> {
        let categories = load_all(&files.paths)?;
        let set = Self::fitting(files, ledger_path, Open::new(ledger_path)?, categories);
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

    /// Learns the documents whose score `needs` it, and notes which.
    fn learn(
        &mut self,
        corpus: &Corpus,
        mut needs: impl FnMut(f64) -> bool,
        learned: &mut [bool],
    ) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        for (number, document) in corpus.documents.iter().enumerate() {
            let terms = corpus.terms_of(number);
            if !needs(self.score(document.occurrences, terms)) || terms.is_empty() {
                continue;
            }
            learned[number] = true;
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

    /// Names of the ledger's documents, in order.
    fn names(&self) -> Result<Vec<u64>, Failure> {
        let documents = self.state.numbers.documents as usize;
        let end = |number: usize| {
            if number + 1 < documents {
                self.state.offset(number + 1)
            } else {
                self.ledger.head.length
            }
        };
        let name = |number| self.ledger.name(end(number)).ok_or_else(|| self.damaged_at(number));
        (0..documents).map(name).collect()
    }

    fn damaged_at(&self, number: usize) -> Failure {
        self.damaged(Fault::Record { document: u32::try_from(number).unwrap_or(u32::MAX) })
    }

    fn damaged(&self, fault: Fault) -> Failure {
        let text = format!("{}: {}", self.ledger_path.display(), fault.text());
        Failure::new(Kind::Data, text)
    }

    /// Forgets documents as far as they were learned with a label that `goes`: each of them once, the
    /// last of equal ones, or all that are equal. `names` are those of the ledger's documents. Returns
    /// how many were found. All that was learned from them goes: ordinary counts, ledger, weights.
    fn forget(
        &mut self,
        corpus: &Corpus,
        names: &[u64],
        goes: impl Fn(u32) -> bool,
        each_once: bool,
        refit: Refit<'_>,
    ) -> Result<usize, Failure> {
        let mut wanted: Vec<u64> = (0..corpus.documents.len())
            .map(|number| fingerprint(corpus.terms_of(number)))
            .collect();
        let mut is_gone = vec![false; names.len()];
        for (number, &name) in names.iter().enumerate().rev() {
            let Some(at) = wanted.iter().position(|&wanted| wanted == name) else { continue };
            let label = self.ledger.label(self.state.offset(number));
            if goes(label.ok_or_else(|| self.damaged_at(number))?) {
                is_gone[number] = true;
                if each_once {
                    wanted.swap_remove(at);
                }
            }
        }
        if !is_gone.contains(&true) {
            return Ok(0);
        }
        let whole = store::load_fitting(self.ledger_path, &self.ledger.head.settings)?;
        let mut forgotten: Vec<Record> = Vec::new();
        let mut gone = is_gone.iter().copied();
        let kept = whole.filter(|record| {
            let is_gone = gone.next() == Some(true);
            if is_gone {
                forgotten.push(record.clone());
            }
            !is_gone
        });
        let kept = kept.map_err(|fault| self.damaged(fault))?;
        // A fit makes ordinary files anew that can be; the others are corrected, once.
        for (label, path) in (0..).zip(&self.files.paths) {
            forget_in_ordinary(path, label, &whole, &forgotten)?;
        }
        store::save(self.ledger_path, &kept)?;
        // The fit needs the memory.
        drop((whole, kept));
        refit(&self.line, true)?;
        *self = Self::after_refit(self.files, self.ledger_path)?;
        Ok(forgotten.len())
    }

    /// Writes what has changed: state and categories.
    fn publish(&mut self) -> Result<(), Failure> {
        let changes = self.state.changes();
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
        self.has_learned = true;
        write_state(self.ledger_path, &mut self.state)?;
        let named = self.files.names.iter().zip(&self.files.paths);
        for (at, (name, path)) in named.enumerate() {
            let place = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let line = RefitLine { place, ..self.line.clone() };
            let name = name.as_os_str().as_bytes();
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

/// Writes the state beside its ledger.
fn write_state(ledger: &Path, state: &mut State) -> Result<(), Failure> {
    let path = beside(ledger, ".state");
    // A power cut may have left nothing of a file that was not forced to the device.
    store::remove_empty(&path);
    store::replace_with(&Unforced, &path, incremental::KIND, &mut |out| state.write(out))
}

/// Writes the state of a full fit of the documents of `ledger`, for later changes of single documents.
///
/// # Errors
/// It cannot be written.
pub fn keep_state(
    ledger_path: &Path,
    ledger: &Ledger,
    categories: &[MappedCategory],
    solution: Solution,
) -> Result<(), Failure> {
    let Solution { data, mut evidence, choice, fitted, .. } = solution;
    let Some(FittedWeights { fits, set, .. }) = fitted else { return Ok(()) };
    let (fit, settings) = (&fits[0], choice.settings);
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
        incremental::offsets(ledger).map_err(|fault| Failure::new(Kind::Data, fault.text()))?;
    let mut state = State::new(numbers, &data, fit, &evidence, &offsets);
    write_state(ledger_path, &mut state)
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
