// SPDX-License-Identifier: GPL-3.0-or-later
//! Categories that are compared with each other.

use crate::category::Category;
use crate::errors;
use crate::explain::Explanation;
use crate::texts::{Texts, matrix, one};
use dbacl::Locale;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::PathBuf;
use std::sync::Arc;

/// The verdict on a text.
#[pyclass(frozen, module = "dbacl", get_all)]
pub struct Verdict {
    /// Name of the best category.
    category: String,
    /// Its probability.
    probability: f64,
    /// Whether the verdict is unsure. Only a mail filter may say so.
    is_unsure: bool,
    /// The probability of each category.
    probabilities: Vec<f64>,
    /// The logarithm of the probability of the text under each category, where it is known.
    scores: Option<Vec<f64>>,
    text: String,
}

impl Verdict {
    fn of(verdict: &dbacl::Verdict) -> Self {
        let (name, probability) = (verdict.best(), verdict.probability());
        let percent = 100.0 * probability;
        Self {
            category: name.to_owned(),
            probability,
            is_unsure: false,
            probabilities: verdict.probabilities().to_vec(),
            scores: Some(verdict.scores().to_vec()),
            text: format!("{name} {percent:.2}%"),
        }
    }

    pub fn of_mail(verdict: &dbacl::MailVerdict) -> Self {
        Self {
            category: verdict.category.clone(),
            probability: verdict.probability,
            is_unsure: verdict.is_unsure,
            probabilities: verdict.probabilities.clone(),
            scores: None,
            text: verdict.to_string(),
        }
    }
}

#[pymethods]
impl Verdict {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<dbacl.Verdict: {}>", self.text)
    }
}

/// Categories to compare texts with.
#[pyclass(frozen, module = "dbacl")]
pub struct CategorySet {
    set: dbacl::CategorySet<Vec<u8>>,
    own: Vec<(String, Category)>,
}

impl CategorySet {
    pub fn of(categories: Vec<(String, Category)>) -> PyResult<Self> {
        let each = categories.iter();
        let each = each.map(|(name, own)| (name.clone(), Arc::clone(&own.category)));
        let set = dbacl::CategorySet::shared(each, Locale::C).map_err(errors::of_incomparable)?;
        Ok(Self { set, own: categories })
    }

    fn each(&self, texts: &Bound<'_, PyAny>, take: &mut dyn FnMut(dbacl::Verdict)) -> PyResult<()> {
        let py = texts.py();
        let mut classifier = self.set.classifier();
        let mut texts = Texts::new(texts)?;
        while let Some(block) = texts.next_block()? {
            let texts = block.texts(py);
            let verdicts: Vec<_> =
                py.detach(|| texts.iter().map(|text| classifier.classify(text)).collect());
            verdicts.into_iter().for_each(&mut *take);
        }
        Ok(())
    }
}

#[pymethods]
impl CategorySet {
    /// A set of categories by name.
    #[new]
    fn new(categories: &Bound<'_, PyDict>) -> PyResult<Self> {
        let each = categories.iter().map(|(name, category)| {
            Ok((name.extract::<String>()?, category.cast::<Category>()?.get().clone()))
        });
        Self::of(each.collect::<PyResult<_>>()?)
    }

    /// Opens category files; each category is called by the last part of its path.
    #[staticmethod]
    fn load(paths: Vec<PathBuf>) -> PyResult<Self> {
        let each = paths.iter().map(|path| {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            Ok((name.into_owned(), Category::open(path)?))
        });
        Self::of(each.collect::<PyResult<_>>()?)
    }

    #[staticmethod]
    fn _from_parts(parts: Vec<(String, Category)>) -> PyResult<Self> {
        Self::of(parts)
    }

    /// A pickle holds the categories' bytes and no code.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Vec<(String, Category)>,))> {
        Ok((py.get_type::<Self>().getattr("_from_parts")?, (self.own.clone(),)))
    }

    /// Names of the categories, in the order of probabilities.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.set.names().iter().map(String::as_str).collect()
    }

    /// Warnings about this choice of categories.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.set.warnings().iter().map(ToString::to_string).collect()
    }

    fn __len__(&self) -> usize {
        self.own.len()
    }

    fn __getitem__(&self, name: String) -> PyResult<Category> {
        let own = self.own.iter().find(|(known, _)| *known == name);
        own.map(|(_, category)| category.clone()).ok_or_else(|| PyKeyError::new_err(name))
    }

    /// The verdict on one text.
    fn classify(&self, text: &Bound<'_, PyAny>) -> PyResult<Verdict> {
        let (py, text) = (text.py(), one(text)?);
        Ok(Verdict::of(&py.detach(|| self.set.classify(&text))))
    }

    /// The name of the best category for each text.
    fn predict<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyString>>> {
        let names = self.set.names().iter().map(|name| PyString::new(texts.py(), name));
        let (names, mut found): (Vec<_>, _) = (names.collect(), Vec::new());
        self.each(texts, &mut |verdict| found.push(names[verdict.best_index()].clone()))?;
        Ok(found)
    }

    /// The probability of each category for each text.
    fn predict_proba<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut numbers = Vec::new();
        self.each(texts, &mut |verdict| numbers.extend_from_slice(verdict.probabilities()))?;
        matrix(texts.py(), &numbers, self.own.len())
    }

    /// The logarithm of the probability of each text under each category, nats.
    fn scores<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut numbers = Vec::new();
        self.each(texts, &mut |verdict| numbers.extend_from_slice(verdict.scores()))?;
        matrix(texts.py(), &numbers, self.own.len())
    }

    /// The evidence of the tokens of a text for the best category against the second best.
    fn explain(&self, text: &Bound<'_, PyAny>) -> PyResult<Explanation> {
        let (py, text) = (text.py(), one(text)?);
        let explained = py.detach(|| self.set.explain(&text)).map_err(errors::of_incomparable)?;
        Ok(Explanation { explanation: explained.explanation })
    }

    fn __repr__(&self) -> String {
        format!("<dbacl.CategorySet: {}>", self.set.names().join(", "))
    }
}
