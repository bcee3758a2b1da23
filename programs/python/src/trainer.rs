// SPDX-License-Identifier: GPL-3.0-or-later
//! Training of models on labelled texts.

use crate::errors;
use crate::model::Model;
use crate::texts::{all, labelled};
use crate::work::{After, Said, run};
use dbacl::Scheme;
use dbacl::text::data::{Reading, read};
use dbacl::text::recipe::Kind;
use dbacl::text::search::{Trial, best};
use dbacl::text::{DataError, Format, Preset, Recipe, Record, Watch};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The error that the value `given` of the option `what` is none of `known`.
fn unknown(what: &str, given: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{what} is {given:?}, not one of {known}"))
}

/// The tokenizer of this name.
pub fn scheme(name: &str) -> PyResult<Scheme> {
    Scheme::by_name(name.as_bytes()).ok_or_else(|| {
        unknown("tokenizer", name, "alpha, alnum, graph, char, cef, cef2, adp, word, glyph")
    })
}

/// The reference measure of this name.
pub fn reference(name: &str) -> PyResult<dbacl::Reference> {
    match name {
        "uniform" => Ok(dbacl::Reference::Uniform),
        "dirichlet" => Ok(dbacl::Reference::Dirichlet),
        "maxent" => Ok(dbacl::Reference::MaximumEntropy),
        name => Err(unknown("reference", name, "uniform, dirichlet, maxent")),
    }
}

/// Checks an order, the longest run of words.
pub fn order(order: u8) -> PyResult<u8> {
    if (1..=7).contains(&order) {
        return Ok(order);
    }
    Err(PyValueError::new_err(format!("order is {order}, not 1 to 7")))
}

/// Checks a cost and shares, which have names.
pub fn check_numbers(cost: Option<f64>, shares: [(&str, Option<f64>); 2]) -> PyResult<()> {
    if cost.is_some_and(|cost| !(cost.is_finite() && cost > 0.0)) {
        return Err(PyValueError::new_err("cost is not above 0"));
    }
    for (name, share) in shares {
        if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(PyValueError::new_err(format!("{name} is not between 0 and 1")));
        }
    }
    Ok(())
}

/// Issues `texts` as warnings of Python.
pub fn warn<T: ToString>(py: Python<'_>, texts: impl IntoIterator<Item = T>) -> PyResult<()> {
    for text in texts {
        let text = CString::new(text.to_string().replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
    }
    Ok(())
}

/// Gathers labelled texts and trains models on them.
#[pyclass(frozen, module = "dbacl")]
pub struct Trainer {
    trainer: Mutex<Arc<dbacl::text::Trainer>>,
    seconds: Option<u64>,
}

impl Trainer {
    fn lock(&self) -> MutexGuard<'_, Arc<dbacl::text::Trainer>> {
        self.trainer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn of_model(py: Python<'_>, model: &dbacl::text::TextModel) -> PyResult<Self> {
        let mut warnings = Vec::new();
        let trainer = dbacl::text::Trainer::of_model(model, &mut |text| warnings.push(text));
        let trainer = Mutex::new(Arc::new(trainer.map_err(errors::of_training)?));
        warn(py, &warnings)?;
        Ok(Self { trainer, seconds: None })
    }

    /// How the models of this trainer are trained.
    pub fn recipe(&self) -> Recipe {
        self.lock().recipe().clone()
    }
}

#[pymethods]
impl Trainer {
    #[new]
    #[pyo3(signature = (
        *, preset=None, tokenizer=None, order=None, case_sensitive=false, across_lines=false,
        kind="text", regex=Vec::new(), choose=false, cost=None, contrast=true, start=None,
        balance=None, aim="accuracy", several=false, label_names=false, keep=false, seconds=None
    ))]
    fn new(
        py: Python<'_>,
        preset: Option<&str>,
        tokenizer: Option<&str>,
        order: Option<u8>,
        case_sensitive: bool,
        across_lines: bool,
        kind: &str,
        regex: Vec<String>,
        choose: bool,
        cost: Option<f64>,
        contrast: bool,
        start: Option<f64>,
        balance: Option<f64>,
        aim: &str,
        several: bool,
        label_names: bool,
        keep: bool,
        seconds: Option<u64>,
    ) -> PyResult<Self> {
        let preset = preset.map(|name| {
            let found = Preset::by_name(name);
            found.ok_or_else(|| unknown("preset", name, "words, pairs, chars, both"))
        });
        check_numbers(cost, [("start", start), ("balance", balance)])?;
        if !matches!(aim, "accuracy" | "macro-f1") {
            return Err(unknown("aim", aim, "accuracy, macro-f1"));
        }
        if several && keep {
            return Err(PyValueError::new_err("texts of several labels cannot be kept"));
        }
        let preset = preset.transpose()?;
        if preset == Some(Preset::Both) && !regex.is_empty() {
            return Err(PyValueError::new_err("preset \"both\" cannot be used with regex"));
        }
        let recipe = Recipe {
            preset,
            tokenizer: tokenizer.map(scheme).transpose()?,
            order: order.map(self::order).transpose()?,
            case_sensitive,
            across_lines,
            kind: Kind::by_name(kind).ok_or_else(|| unknown("kind", kind, "text, html, xml"))?,
            regex,
            choose,
            cost,
            no_contrast: !contrast,
            start,
            balance,
            for_f1: aim == "macro-f1",
            several,
            label_names,
            in_blocks: None,
        };
        let mut warnings = Vec::new();
        let trainer = dbacl::text::Trainer::of_recipe(&recipe, &mut |text| warnings.push(text));
        let mut trainer = trainer.map_err(errors::of_library)?;
        warn(py, &warnings)?;
        if keep {
            trainer = trainer.keeping();
        }
        Ok(Self { trainer: Mutex::new(Arc::new(trainer)), seconds })
    }

    /// Adds texts with their labels, each of which counts as often as `weights` says; all of them
    /// or, if one is refused, none. With `several`, the labels of a text are a list.
    #[pyo3(signature = (texts, labels, weights=None))]
    pub fn add(
        &self,
        texts: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        weights: Option<Vec<f32>>,
    ) -> PyResult<()> {
        // An iterator is Python code that may call this object, so the lock is not held while it
        // runs.
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        labelled(texts, labels, &mut |label, text| {
            bytes.extend_from_slice(text);
            ends.push((label.to_owned(), bytes.len()));
            Ok(())
        })?;
        let is_odd = |weight: &f32| !(weight.is_finite() && *weight >= 0.0);
        if weights.as_ref().is_some_and(|weights| weights.len() != ends.len()) {
            return Err(PyValueError::new_err("there are not as many weights as texts"));
        }
        if weights.iter().flatten().any(is_odd) {
            return Err(PyValueError::new_err("a weight is not a number from 0"));
        }
        let mut trainer = self.lock();
        let (trainer, mut start) = (Arc::make_mut(&mut *trainer), 0);
        for (at, (labels, end)) in ends.into_iter().enumerate() {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[at]);
            // What weighs nothing would still have a part in the features.
            if weight > 0.0 {
                let labels: Vec<&str> =
                    labels.split('\n').filter(|label| !label.is_empty()).collect();
                trainer.add_weighted(&labels, &bytes[start..end], weight);
            }
            start = end;
        }
        Ok(())
    }

    /// Adds the documents of a file or folder, as `dbacl-text train` reads them: columns that are
    /// not named are found.
    #[pyo3(signature = (path, *, format=None, label_column=None, text_column=None))]
    fn add_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        label_column: Option<String>,
        text_column: Option<Vec<String>>,
    ) -> PyResult<()> {
        let format = format.map(|name| match name {
            "tsv" => Ok(Format::Tsv),
            "fasttext" => Ok(Format::FastText),
            "ndjson" => Ok(Format::Ndjson),
            "csv" => Ok(Format::Csv),
            "folder" => Ok(Format::Folder),
            name => Err(unknown("format", name, "tsv, fasttext, ndjson, csv, folder")),
        });
        let has_several = self.recipe().several;
        let format = format.transpose()?;
        let finds_columns = label_column.is_none() && text_column.is_none();
        let usual = Reading::default();
        let label = label_column.unwrap_or(usual.label);
        let text = text_column.unwrap_or(usual.text);
        let reading =
            Reading { format, label, text, finds_columns, has_several, ..Reading::default() };
        let mut trainer = dbacl::text::Trainer::clone(&Arc::clone(&*self.lock()));
        let (mut count, mut interrupt) = (0u32, None);
        let read = py.detach(|| {
            let mut take = |record: Record<'_>| {
                trainer.add_weighted(&record.labels(), record.text, 1.0);
                count = count.wrapping_add(1);
                if count.is_multiple_of(4096)
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    interrupt = Some(error);
                    return Err(DataError::line(record.file, record.line, "stopped"));
                }
                Ok(())
            };
            read(&path, &reading, &mut take)
        });
        if let Some(error) = interrupt {
            return Err(error);
        }
        let notes = read.map_err(errors::of_data)?;
        trainer.tell_columns(notes.columns.clone(), reading);
        warn(py, notes.text(&path))?;
        *self.lock() = Arc::new(trainer);
        Ok(())
    }

    /// Forgets texts with their labels; all of them or, if one is not known, none.
    pub fn forget(&self, texts: &Bound<'_, PyAny>, labels: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut trainer = dbacl::text::Trainer::clone(&Arc::clone(&*self.lock()));
        labelled(texts, labels, &mut |label, text| {
            if trainer.forget(label, text) {
                return Ok(());
            }
            let start: String = String::from_utf8_lossy(text).chars().take(40).collect();
            let what = format!("there is no such text of the label {label}: {start:?}");
            Err(PyValueError::new_err(what))
        })?;
        *self.lock() = Arc::new(trainer);
        Ok(())
    }

    /// Texts so far.
    fn __len__(&self) -> usize {
        usize::try_from(self.lock().document_count()).unwrap_or(usize::MAX)
    }

    /// Labels so far, with how many texts each has.
    #[getter]
    fn labels(&self) -> std::collections::BTreeMap<String, usize> {
        let trainer = self.lock();
        trainer.labels().into_iter().map(|(label, count)| (label.to_owned(), count)).collect()
    }

    /// The texts so far, and their labels.
    fn documents<'py>(
        &self,
        py: Python<'py>,
    ) -> (Vec<Bound<'py, PyBytes>>, Vec<Bound<'py, PyString>>) {
        let trainer = Arc::clone(&*self.lock());
        let documents = trainer.documents();
        documents.map(|(label, text)| (PyBytes::new(py, text), PyString::new(py, label))).unzip()
    }

    /// Trains a model. With `seconds`, `log` is called with a line about each try. `unlabelled` are
    /// texts without labels, which are learned as well where they help.
    #[pyo3(signature = (*, log=None, unlabelled=None))]
    pub fn train(
        &self,
        py: Python<'_>,
        log: Option<Bound<'_, PyAny>>,
        unlabelled: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Model> {
        if unlabelled.is_some() && (self.seconds.is_some() || self.lock().is_keeping()) {
            let what = "texts without labels cannot be used with seconds or keep";
            return Err(PyValueError::new_err(what));
        }
        let more = unlabelled.as_ref().map_or_else(|| Ok(Vec::new()), all)?;
        let trainer = Arc::clone(&*self.lock());
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let seconds = self.seconds;
        let work = move |sender: std::sync::mpsc::Sender<Said<_>>| {
            let mut told = |trial: &Trial| {
                // The receiver may be gone after an exception.
                let _ = sender.send(Said::Line(trial.to_string()));
            };
            let watch = Watch { stop: Some(&flag), progress: None };
            best(&trainer, seconds, &more, &watch, &mut told)
        };
        let mut told = |line: String| match &log {
            Some(log) => log.call1((line,)).map(drop),
            None => Ok(()),
        };
        let trained = run(py, &stop, After::Leave, work, &mut told)?;
        let trained = trained.map_err(errors::of_training)?;
        warn(py, &trained.warnings)?;
        Ok(Model::new(trained.model))
    }
}

/// The lines of a file, which may be compressed.
#[pyfunction]
pub fn lines(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Bound<'_, PyBytes>>> {
    let reading = Reading { format: Some(Format::Lines), needs_label: false, ..Reading::default() };
    let mut found = Vec::new();
    let mut take = |record: Record<'_>| {
        found.push(record.text.to_vec());
        Ok(())
    };
    py.detach(|| read(&path, &reading, &mut take)).map_err(errors::of_data)?;
    Ok(found.iter().map(|line| PyBytes::new(py, line)).collect())
}
