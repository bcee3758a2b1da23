// SPDX-License-Identifier: GPL-3.0-or-later
//! A trained model: labels and their weights, in one file.

use crate::errors;
use crate::explain::Explanation;
use crate::texts::{Texts, all, labelled, matrix, one};
use crate::trainer::Trainer;
use dbacl::text::{Evaluation, NONE, Prediction, Predictor, TextModel, threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyString};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Labels and what distinguishes them, fitted together.
#[pyclass(frozen, module = "dbacl")]
pub struct Model {
    model: TextModel,
    /// Predictors that are not in use, kept because making one takes longer than classifying a
    /// short text.
    idle: Mutex<Vec<Predictor>>,
}

/// Which texts are refused: whether any, or the share of others that keep their label.
#[derive(FromPyObject)]
enum Share {
    Is(bool),
    Kept(f64),
}

impl Share {
    const fn kept(self) -> Option<f64> {
        match self {
            Self::Is(false) => None,
            Self::Is(true) => Some(0.95),
            Self::Kept(share) => Some(share),
        }
    }
}

impl Model {
    pub const fn new(model: TextModel) -> Self {
        Self { model, idle: Mutex::new(Vec::new()) }
    }

    fn predictor(&self) -> Predictor {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| self.model.predictor())
    }

    fn names<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyString>> {
        self.model.labels().iter().map(|label| PyString::new(py, label)).collect()
    }

    /// Classifies texts; with `keep`, those that have none of the labels are refused so often that
    /// this share of the others keep theirs.
    fn judge(&self, texts: &[&[u8]], keep: Option<f64>) -> Vec<Prediction> {
        if let Some(mut own) = keep.and_then(|keep| self.model.predictor().keeping(keep)) {
            return texts.iter().map(|text| own.predict(text)).collect();
        }
        let mut predictor = self.predictor();
        let predictions = texts.iter().map(|text| predictor.predict(text)).collect();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(predictor);
        predictions
    }

    /// Whether the model can refuse texts, so that this share of others keep their label.
    fn check_keep(&self, keep: Option<f64>) -> PyResult<()> {
        let Some(keep) = keep else { return Ok(()) };
        if !(0.8..=0.99).contains(&keep) {
            return Err(PyValueError::new_err("the share that keeps its label is 0.8 to 0.99"));
        }
        self.model.predictor().keeping(keep).map(drop).ok_or_else(|| {
            PyValueError::new_err(
                "the model does not know which texts have none of its labels: train it again, \
                 with one label a text and some hundred texts",
            )
        })
    }

    /// Classifies texts on several threads, and hands the predictions to `take` in their order.
    fn each(
        &self,
        texts: &Bound<'_, PyAny>,
        (threads, keep): (usize, Option<f64>),
        take: &mut dyn FnMut(&Prediction),
    ) -> PyResult<()> {
        self.check_keep(keep)?;
        let py = texts.py();
        let threads = threads::wanted(threads);
        let mut texts = Texts::new(texts)?;
        while let Some(block) = texts.next_block()? {
            let texts = block.texts(py);
            let share = texts.len().div_ceil(threads).max(1);
            let predictions = py.detach(|| {
                threads::each(texts.chunks(share), |part| self.judge(part, keep)).concat()
            });
            predictions.iter().for_each(&mut *take);
        }
        Ok(())
    }
}

#[pymethods]
impl Model {
    /// Opens the model at `path`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| TextModel::open(&path)).map(Self::new).map_err(errors::of_model)
    }

    /// The model that `to_bytes` has made.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Bound<'_, PyBytes>) -> PyResult<Self> {
        let bytes = data.as_bytes();
        py.detach(|| TextModel::from_bytes(bytes)).map(Self::new).map_err(errors::of_model)
    }

    /// The bytes of the model's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.model.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Saves the model; an old one is replaced at once or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.model.save(&path)).map_err(errors::of_model)
    }

    /// A pickle holds the model's bytes and no code.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes, (self.to_bytes(py),)))
    }

    /// The labels, in the order of probabilities.
    #[getter]
    fn labels(&self) -> Vec<&str> {
        self.model.labels().iter().map(String::as_str).collect()
    }

    /// How many documents with words each label was learned from.
    #[getter]
    fn documents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.model.labels().iter().zip(self.model.documents()).into_py_dict(py)
    }

    /// The options with which the model was trained, by their names, and other facts about it.
    #[getter]
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.model.about().iter().map(|(name, value)| (name, value)).into_py_dict(py)
    }

    /// The most probable label of each text.
    ///
    /// With `at_least=0.9` a text whose label is less probable is "unsure". With `none=True` a text
    /// that seems to have none of the labels is "none", so that 95 % of the others keep their
    /// label; `none=0.9` lets 90 % keep it.
    #[pyo3(signature = (texts, *, at_least=None, none=None, threads=1))]
    fn predict<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        at_least: Option<f64>,
        none: Option<Share>,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let py = texts.py();
        let (labels, mut found) = (self.names(py), Vec::new());
        let [unsure, refused] = ["unsure", NONE].map(|name| PyString::new(py, name));
        let keep = none.and_then(Share::kept);
        self.each(texts, (threads, keep), &mut |one| {
            let best = one.best();
            let is_unsure = at_least.is_some_and(|least| one.probabilities()[best] < least);
            found.push(match (one.is_none(), is_unsure) {
                (true, _) => refused.clone(),
                (false, true) => unsure.clone(),
                (false, false) => labels[best].clone(),
            });
        })?;
        Ok(found)
    }

    /// Whether each text seems to have none of the labels, so that the share `keep` of those that
    /// have one keep it.
    #[pyo3(signature = (texts, *, keep=0.95, threads=1))]
    fn predict_none(
        &self,
        texts: &Bound<'_, PyAny>,
        keep: f64,
        threads: usize,
    ) -> PyResult<Vec<bool>> {
        let mut found = Vec::new();
        self.each(texts, (threads, Some(keep)), &mut |one| found.push(one.is_none()))?;
        Ok(found)
    }

    /// What `dbacl-text info` shows: how the model was made, and documents and features of each
    /// label.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let labels = PyDict::new(py);
        let each = self.model.documents().iter().zip(self.model.features());
        for (label, (documents, features)) in self.model.labels().iter().zip(each) {
            let own = [("documents", *documents), ("features", features)].into_py_dict(py)?;
            labels.set_item(label, own)?;
        }
        let found = PyDict::new(py);
        found.set_item("about", self.about(py)?)?;
        found.set_item("labels", labels)?;
        Ok(found)
    }

    /// The `k` most probable labels of each text with their probabilities.
    #[pyo3(signature = (texts, k=1, *, threads=1))]
    fn top<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        k: usize,
        threads: usize,
    ) -> PyResult<Vec<Vec<(Bound<'py, PyString>, f64)>>> {
        let (labels, mut found) = (self.names(texts.py()), Vec::new());
        self.each(texts, (threads, None), &mut |one| {
            let of = |at: usize| (labels[at].clone(), one.probabilities()[at]);
            found.push(one.ranked(k).into_iter().map(of).collect());
        })?;
        Ok(found)
    }

    /// The probability of each label for each text: a row for each text.
    #[pyo3(signature = (texts, *, threads=1))]
    fn predict_proba<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut numbers = Vec::new();
        self.each(texts, (threads, None), &mut |one| {
            numbers.extend_from_slice(one.probabilities());
        })?;
        matrix(texts.py(), &numbers, self.model.labels().len())
    }

    /// How well the model classifies labelled texts.
    fn test<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        labels: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = texts.py();
        let own = self.model.labels();
        let mut evaluation = Evaluation::new(own.len());
        let mut predictor = self.predictor();
        labelled(texts, labels, &mut |label, text| {
            let truth = own.iter().position(|known| known == label);
            if truth.is_none() {
                evaluation.note_unknown(label);
            }
            evaluation.add(truth, &predictor.predict(text), text);
            Ok(())
        })?;
        if evaluation.documents() == 0 {
            return Err(PyValueError::new_err("there are no texts"));
        }
        let found = PyDict::new(py);
        found.set_item("documents", evaluation.documents())?;
        found.set_item("accuracy", evaluation.accuracy().value)?;
        found.set_item("macro_f1", evaluation.macro_f1())?;
        found.set_item("log_loss", evaluation.log_loss())?;
        found.set_item("calibration_error", evaluation.calibration_error())?;
        let per_label = PyDict::new(py);
        for (label, one) in own.iter().zip(evaluation.labels()) {
            let measures = PyDict::new(py);
            measures.set_item("documents", one.documents)?;
            measures.set_item("precision", one.precision.value)?;
            measures.set_item("recall", one.recall.value)?;
            measures.set_item("f1", one.f1)?;
            per_label.set_item(label, measures)?;
        }
        found.set_item("labels", per_label)?;
        Ok(found)
    }

    /// The evidence of the words of a text for and against its label.
    fn explain(&self, text: &Bound<'_, PyAny>) -> PyResult<Explanation> {
        let (py, text) = (text.py(), one(text)?);
        let explained = py.detach(|| self.model.explain(&text));
        Ok(Explanation { explanation: explained.explanation })
    }

    /// A model that has learned more texts, of known or new labels. This model must keep its texts.
    fn update(&self, texts: &Bound<'_, PyAny>, labels: &Bound<'_, PyAny>) -> PyResult<Self> {
        let trainer = Trainer::of_model(texts.py(), &self.model)?;
        trainer.add(texts, labels, None)?;
        trainer.train(texts.py(), None, None)
    }

    /// The model that training without these texts makes. This model must keep its texts.
    fn forget(&self, texts: &Bound<'_, PyAny>, labels: &Bound<'_, PyAny>) -> PyResult<Self> {
        let trainer = Trainer::of_model(texts.py(), &self.model)?;
        trainer.forget(texts, labels)?;
        trainer.train(texts.py(), None, None)
    }

    /// The texts that the model keeps, and their labels; `None` if it keeps none.
    fn kept<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Vec<Bound<'py, PyBytes>>, Vec<Bound<'py, PyString>>)> {
        let (mut texts, mut labels) = (Vec::new(), Vec::new());
        for (label, documents) in self.model.labels().iter().zip(self.model.kept()?) {
            let label = PyString::new(py, label);
            for document in documents {
                texts.push(PyBytes::new(py, document));
                labels.push(label.clone());
            }
        }
        Some((texts, labels))
    }

    /// Whether a text may have several labels, or none.
    #[getter]
    fn several(&self) -> bool {
        self.model.has_several()
    }

    /// The labels of each text: a list each, which may be empty where a text may have several.
    #[pyo3(signature = (texts, *, threads=1))]
    fn predict_labels<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Vec<Vec<Bound<'py, PyString>>>> {
        let (labels, mut found) = (self.names(texts.py()), Vec::new());
        self.each(texts, (threads, None), &mut |one| {
            found.push(one.labels().into_iter().map(|at| labels[at].clone()).collect());
        })?;
        Ok(found)
    }

    /// The features of these texts that speak most for each label, with their weights.
    #[pyo3(signature = (texts, n=20))]
    fn features(
        &self,
        texts: &Bound<'_, PyAny>,
        n: usize,
    ) -> PyResult<std::collections::BTreeMap<String, Vec<(String, f32)>>> {
        let found = self.model.strongest(&all(texts)?, n).into_iter();
        Ok(found.map(|(label, features)| (label.to_owned(), features)).collect())
    }

    /// The same model in at most `size` bytes, with weights of `bits` bits, 8 or 16.
    #[pyo3(signature = (*, bits=8, size=None))]
    fn quantized(&self, py: Python<'_>, bits: u8, size: Option<usize>) -> Self {
        Self::new(py.detach(|| self.model.quantized(bits, size)))
    }

    fn __repr__(&self) -> String {
        let documents: u64 = self.model.documents().iter().sum();
        format!("<dbacl.Model: {} labels, {documents} documents>", self.model.labels().len())
    }
}
