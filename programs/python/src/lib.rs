// SPDX-License-Identifier: GPL-3.0-or-later
//! The compiled part of the Python package `dbacl`.
//!
//! ```text
//! Python texts ─→ texts ─→ trainer ─→ model ─→ labels, probabilities, explanations
//!                       └→ category ─→ category set ─→ verdicts
//! mail ─→ mail filter ─→ verdicts, changed files
//! ```
//!
//! Everything is computed by the libraries `dbacl` and `dbacl-text`: the same bytes and digits as
//! those of the programs. The interpreter is released while they work, and signals are looked at
//! between blocks of texts and while a model is trained.

mod blocks;
mod category;
mod errors;
mod explain;
mod mail;
mod model;
mod set;
mod texts;
mod trainer;
mod work;

/// The compiled part of `dbacl`.
#[pyo3::pymodule(gil_used = false)]
mod _dbacl {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::blocks::{BlockPlan, BlockWork};
    #[pymodule_export]
    use super::category::Category;
    #[pymodule_export]
    use super::errors::Error;
    #[pymodule_export]
    use super::explain::Explanation;
    #[pymodule_export]
    use super::mail::{MailFilter, MailReport};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::set::{CategorySet, Verdict};
    #[pymodule_export]
    use super::trainer::{Trainer, lines};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
