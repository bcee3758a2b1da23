// SPDX-License-Identifier: GPL-3.0-or-later
//! Categories that are compared with each other.

use crate::category::Category;
use crate::errors;
use crate::explain::Explanation;
use crate::texts::{Texts, labelled, matrix, one};
use crate::trainer::{check_numbers, warn};
use crate::work::{After, run};
use dbacl::{FitOptions, JointFit, Locale};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The verdict on a text.
#[pyclass(frozen, module = "dbacl", get_all)]
pub struct Verdict {
    /// Name of the best category.
    category: String,
    /// Its probability.
    probability: f64,
    /// Whether the verdict is unsure. Only categories that were fitted together may say so.
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
        let text = if verdict.is_unsure() {
            format!("unsure {percent:.2}% {name}")
        } else {
            format!("{name} {percent:.2}%")
        };
        Self {
            category: name.to_owned(),
            probability,
            is_unsure: verdict.is_unsure(),
            probabilities: verdict.probabilities().to_vec(),
            scores: Some(verdict.scores().to_vec()),
            text,
        }
    }

    pub fn of_mail(verdict: &dbacl::SetVerdict) -> Self {
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

    /// Whether the categories were fitted together. Then their probabilities are calibrated.
    #[getter]
    fn is_fitted(&self) -> bool {
        self.set.is_fitted()
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

    /// Fits the categories together on labelled texts, as `dbacl --refit` does. A cost or blend
    /// that is not given is chosen by cross-validation.
    #[pyo3(signature = (
        texts, labels, *, cost=None, blend=None, contrast=None, exact=false, once=false,
        quick=false, unsure=false, false_positives=None
    ))]
    fn fit(
        &self,
        texts: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        cost: Option<f64>,
        blend: Option<f64>,
        contrast: Option<bool>,
        exact: bool,
        once: bool,
        quick: bool,
        unsure: bool,
        false_positives: Option<f64>,
    ) -> PyResult<Self> {
        let py = texts.py();
        let mut options = FitOptions::default().always();
        check_numbers(cost, [("blend", blend), ("false_positives", false_positives)])?;
        options = cost.map_or(options.clone(), |cost| options.cost(cost));
        options = blend.map_or(options.clone(), |blend| options.blend(blend));
        options = contrast.map_or(options.clone(), |contrast| options.contrast(contrast));
        options = false_positives.map_or(options.clone(), |share| options.false_positives(share));
        for (is_wanted, with) in [
            (exact, FitOptions::exact as fn(FitOptions) -> FitOptions),
            (once, FitOptions::once),
            (quick, FitOptions::quick),
            (unsure, FitOptions::unsure),
        ] {
            if is_wanted {
                options = with(options);
            }
        }
        let mut documents: Vec<(String, Vec<u8>)> = Vec::new();
        labelled(texts, labels, &mut |label, text| {
            documents.push((label.to_owned(), text.to_vec()));
            Ok(())
        })?;
        let set = self.set.clone();
        let work = move |_| {
            let mut fit = JointFit::new(&set, &options)?;
            for (label, text) in &documents {
                fit.document(label, text)?;
            }
            fit.fit()
        };
        let stop = Arc::new(AtomicBool::new(false));
        let fit = run(py, &stop, After::Leave, work, &mut |_| Ok(()))?;
        let fit = fit.map_err(|error| PyValueError::new_err(error.to_string()))?;
        warn(py, &fit.notes)?;
        let categories = fit.categories.unwrap_or_default().into_iter();
        let each = categories.map(|(name, own)| (name, Category { category: Arc::new(own) }));
        Self::of(each.collect())
    }

    fn __repr__(&self) -> String {
        let fitted = if self.is_fitted() { ", fitted together" } else { "" };
        format!("<dbacl.CategorySet: {}{fitted}>", self.set.names().join(", "))
    }
}
