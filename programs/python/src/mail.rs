// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter on disk.

use crate::errors;
use crate::set::Verdict;
use crate::texts::{all, one};
use crate::trainer::warn;
use crate::work::{After, run};
use dbacl::{ChangeReport, MailFilterError, MailFilterOptions, MailFolder, MailLearnOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a change has done to a mail filter.
#[pyclass(frozen, module = "dbacl", get_all)]
pub struct MailReport {
    /// What became of each message, such as `learned` or `moved from ham`.
    outcomes: Vec<String>,
    /// Identifier of each message in the filter; `None` for a message without words.
    ids: Vec<Option<String>>,
    /// Whether the filter changed.
    is_changed: bool,
    /// Whether all of it was fitted again.
    is_refitted: bool,
    /// Warnings for the user.
    warnings: Vec<String>,
}

impl MailReport {
    fn of(report: &ChangeReport) -> Self {
        let documents = report.documents.iter();
        Self {
            outcomes: documents.clone().map(|one| one.outcome.to_string()).collect(),
            ids: documents.map(|one| one.id.map(|id| id.to_string())).collect(),
            is_changed: report.is_changed,
            is_refitted: report.is_refitted,
            warnings: report.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

#[pymethods]
impl MailReport {
    fn __repr__(&self) -> String {
        format!("<dbacl.MailReport: {}>", self.outcomes.join(", "))
    }
}

/// A mail filter that `dbacl --mail-learn` or `MailFilter.create` has made.
#[pyclass(frozen, module = "dbacl")]
pub struct MailFilter {
    filter: Arc<Mutex<dbacl::MailFilter>>,
    stop: Arc<AtomicBool>,
}

/// The messages of one change, each as its bytes.
type Mails<'a> = &'a mut dyn Iterator<Item = &'a [u8]>;

fn lock(filter: &Mutex<dbacl::MailFilter>) -> MutexGuard<'_, dbacl::MailFilter> {
    filter.lock().unwrap_or_else(PoisonError::into_inner)
}

fn options(lock_timeout: f64, stop: &Arc<AtomicBool>) -> PyResult<MailFilterOptions> {
    let limit = Duration::try_from_secs_f64(lock_timeout)
        .map_err(|_| PyValueError::new_err("lock_timeout is not a number of seconds"))?;
    Ok(MailFilterOptions::default().lock_timeout(limit).stop(Arc::clone(stop)))
}

/// A change of a filter by messages with a label.
type Change = fn(&mut dbacl::MailFilter, &str, Mails<'_>) -> Result<ChangeReport, MailFilterError>;

impl MailFilter {
    fn new(set: dbacl::MailFilter, stop: Arc<AtomicBool>) -> Self {
        Self { filter: Arc::new(Mutex::new(set)), stop }
    }

    /// Changes the filter by a message, or several, on a thread of its own; Ctrl-C ends waiting and
    /// changes nothing.
    fn change(
        &self,
        py: Python<'_>,
        label: String,
        mail: &Bound<'_, PyAny>,
        change: Change,
    ) -> PyResult<MailReport> {
        let is_one = mail.is_instance_of::<PyString>() || mail.is_instance_of::<PyBytes>();
        let mails = if is_one { vec![one(mail)?] } else { all(mail)? };
        let filter = Arc::clone(&self.filter);
        let work =
            move |_| change(&mut lock(&filter), &label, &mut mails.iter().map(Vec::as_slice));
        let done = run(py, &self.stop, After::Wait, work, &mut |_| Ok(()));
        self.stop.store(false, Ordering::Relaxed);
        done?.map(|report| MailReport::of(&report)).map_err(errors::of_set)
    }
}

#[pymethods]
impl MailFilter {
    /// Opens the filter in a folder.
    #[new]
    #[pyo3(signature = (folder, *, lock_timeout=10.0))]
    fn open(py: Python<'_>, folder: PathBuf, lock_timeout: f64) -> PyResult<Self> {
        let stop = Arc::default();
        let options = options(lock_timeout, &stop)?;
        let set =
            py.detach(|| dbacl::MailFilter::open(&folder, &options)).map_err(errors::of_set)?;
        Ok(Self::new(set, stop))
    }

    /// Learns two to 64 folders of mail, such as `{"ham": path, "spam": [path, path]}`, into the
    /// filter in a folder, which is made if it is not there, as `dbacl --mail-learn` does.
    #[staticmethod]
    #[pyo3(signature = (folder, mail, *, protect=None, lock_timeout=10.0))]
    fn create(
        py: Python<'_>,
        folder: PathBuf,
        mail: &Bound<'_, PyDict>,
        protect: Option<String>,
        lock_timeout: f64,
    ) -> PyResult<Self> {
        let mut folders = Vec::new();
        for (label, paths) in mail {
            let is_list = paths.is_instance_of::<PyList>() || paths.is_instance_of::<PyTuple>();
            let paths: Vec<PathBuf> =
                if is_list { paths.extract()? } else { vec![paths.extract()?] };
            let mut paths = paths.into_iter();
            let Some(first) = paths.next() else {
                return Err(PyValueError::new_err(format!("there is no folder for {label}")));
            };
            let own = MailFolder::new(label.extract::<String>()?, first);
            folders.push(paths.fold(own, MailFolder::and));
        }
        let stop: Arc<AtomicBool> = Arc::default();
        let mut wishes = MailLearnOptions::default().set_options(options(lock_timeout, &stop)?);
        if let Some(label) = protect {
            wishes = wishes.protect(label);
        }
        let work = move |_| dbacl::MailFilter::learn_folders(&folder, &folders, &wishes);
        let done = run(py, &stop, After::Wait, work, &mut |_| Ok(()))?;
        let (set, learned) = done.map_err(errors::of_set)?;
        warn(py, &learned.notes)?;
        warn(py, &learned.warnings)?;
        Ok(Self::new(set, stop))
    }

    /// Labels of the mail; the first is the one that must not be lost.
    #[getter]
    fn labels(&self) -> Vec<String> {
        lock(&self.filter).labels().to_vec()
    }

    /// Messages that the filter was fitted on.
    #[getter]
    fn documents(&self) -> u32 {
        lock(&self.filter).documents()
    }

    /// The verdict on a message, given as it came, headers first.
    fn judge(&self, py: Python<'_>, mail: &Bound<'_, PyAny>) -> PyResult<Verdict> {
        let mail = one(mail)?;
        let verdict = py.detach(|| lock(&self.filter).classify(&mail));
        verdict.map(|verdict| Verdict::of_mail(&verdict)).map_err(errors::of_set)
    }

    /// The mail with its verdict in a header line.
    fn filter<'py>(
        &self,
        py: Python<'py>,
        mail: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mail = one(mail)?;
        let mail = py.detach(|| lock(&self.filter).filter(&mail));
        Ok(PyBytes::new(py, &mail))
    }

    /// Learns a message, or several, also those that the filter knows.
    fn learn(
        &self,
        py: Python<'_>,
        label: String,
        mail: &Bound<'_, PyAny>,
    ) -> PyResult<MailReport> {
        self.change(py, label, mail, |set, label, mails| set.learn_all(label, mails))
    }

    /// Corrects a message, or several: forgets them under other labels and learns them as `label`,
    /// unless they are known so.
    fn correct(
        &self,
        py: Python<'_>,
        label: String,
        mail: &Bound<'_, PyAny>,
    ) -> PyResult<MailReport> {
        self.change(py, label, mail, |set, label, mails| set.correct_all(label, mails))
    }

    /// Forgets a message, or several, that were learned as `label`.
    fn forget(
        &self,
        py: Python<'_>,
        label: String,
        mail: &Bound<'_, PyAny>,
    ) -> PyResult<MailReport> {
        self.change(py, label, mail, |set, label, mails| set.forget_all(label, mails))
    }

    /// Opens the filter again if others have changed it; returns whether they have.
    fn reload(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| lock(&self.filter).reload_if_changed()).map_err(errors::of_set)
    }

    fn __repr__(&self) -> String {
        let set = lock(&self.filter);
        format!("<dbacl.MailFilter: {}, {} messages>", set.labels().join(", "), set.documents())
    }
}
