// SPDX-License-Identifier: GPL-3.0-or-later
//! One category, as `dbacl -l` learns it.

use crate::errors;
use crate::texts::Texts;
use crate::trainer;
use dbacl::{LearnOptions, Learner, ModelOption};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A learned category: which features texts of one kind have, and how often.
#[pyclass(frozen, module = "dbacl", from_py_object)]
#[derive(Clone)]
pub struct Category {
    pub category: Arc<dbacl::Category<Vec<u8>>>,
}

impl Category {
    pub fn of<D: AsRef<[u8]>>(category: &dbacl::Category<D>) -> PyResult<Self> {
        Self::of_bytes(category.as_bytes().to_vec())
    }

    fn of_bytes(bytes: Vec<u8>) -> PyResult<Self> {
        let category = dbacl::Category::new(bytes);
        let category = category
            .map_err(|_| errors::Error::new_err("the bytes are not a category, or damaged"))?;
        Ok(Self { category: Arc::new(category) })
    }

    pub fn open(path: &Path) -> PyResult<Self> {
        Self::of(&dbacl::open_category(path).map_err(errors::of_library)?)
    }
}

#[pymethods]
impl Category {
    /// Learns a category from texts, or from messages with `kind="mail"`.
    #[staticmethod]
    #[pyo3(signature = (
        texts, *, kind="text", tokenizer=None, order=1, case_sensitive=false, across_lines=false,
        regex=Vec::new(), reference=None, max_table_bits=22, min_count=0
    ))]
    fn learn(
        texts: &Bound<'_, PyAny>,
        kind: &str,
        tokenizer: Option<&str>,
        order: u8,
        case_sensitive: bool,
        across_lines: bool,
        regex: Vec<String>,
        reference: Option<&str>,
        max_table_bits: u8,
        min_count: i32,
    ) -> PyResult<Self> {
        let py = texts.py();
        let mut options = match kind {
            "text" => LearnOptions::text(),
            "mail" => LearnOptions::mail(),
            "html" => LearnOptions::text().with(ModelOption::Html),
            "xml" => LearnOptions::text().with(ModelOption::Xml),
            _ => {
                let what = format!("kind is {kind:?}, not one of text, mail, html, xml");
                return Err(PyValueError::new_err(what));
            }
        };
        options = options.order(trainer::order(order)?).max_table_bits(max_table_bits);
        options = options.min_count(min_count);
        if let Some(tokenizer) = tokenizer {
            options = options.tokenizer(trainer::scheme(tokenizer)?);
        }
        if let Some(reference) = reference {
            options = options.reference(trainer::reference(reference)?);
        }
        if case_sensitive {
            options = options.with(ModelOption::KeepCase);
        }
        if across_lines {
            options = options.with(ModelOption::Straddle);
        }
        let mut warnings = Vec::new();
        for expression in &regex {
            let mut warn = |warning: dbacl::Warning| warnings.push(warning.to_string());
            options = options.pattern(expression, &mut warn).map_err(errors::of_library)?;
        }
        let mut learner = Learner::new(&options).map_err(errors::of_library)?;
        let mut texts = Texts::new(texts)?;
        while let Some(block) = texts.next_block()? {
            let texts = block.texts(py);
            py.detach(|| texts.iter().for_each(|text| learner.learn(text)));
        }
        let learned = py.detach(|| learner.finish()).map_err(errors::of_library)?;
        trainer::warn(py, &warnings)?;
        trainer::warn(py, &learned.warnings)?;
        Ok(Self { category: Arc::new(learned.category) })
    }

    /// Opens the category file at `path`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::open(&path))
    }

    /// The category that `to_bytes` has made.
    #[staticmethod]
    fn from_bytes(data: Bound<'_, PyBytes>) -> PyResult<Self> {
        Self::of_bytes(data.as_bytes().to_vec())
    }

    /// The bytes of the category, as if its file were called `category`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.category.as_bytes())
    }

    /// Saves the category; an old one is replaced at once or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.category.save(&path)).map_err(errors::of_library)
    }

    /// A pickle holds the category's bytes and no code.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes, (self.to_bytes(py),)))
    }

    /// Documents that were learned.
    #[getter]
    fn documents(&self) -> u32 {
        self.category.header().documents
    }

    /// Occurrences of features that were learned.
    #[getter]
    fn occurrences(&self) -> u64 {
        self.category.header().features
    }

    /// Different features that were learned.
    #[getter]
    #[allow(clippy::misnamed_getters)] // the header calls occurrences so
    fn features(&self) -> u32 {
        self.category.header().unique_features
    }

    /// Longest run of words.
    #[getter]
    fn order(&self) -> u8 {
        self.category.header().max_order
    }

    fn __repr__(&self) -> String {
        let (features, documents) = (self.features(), self.documents());
        format!("<dbacl.Category: {features} features, {documents} documents>")
    }
}
