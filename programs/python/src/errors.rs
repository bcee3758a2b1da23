// SPDX-License-Identifier: GPL-3.0-or-later
//! Errors of the libraries → exceptions of Python.

use dbacl::text::{DataError, ModelError, TrainError};
use dbacl::{FilterOpenError, Incomparable, MailFilterError};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use std::io;
use std::path::Path;

create_exception!(
    dbacl,
    Error,
    PyException,
    "A file that is damaged or of another kind, or a change that cannot be made."
);

/// An error of the operating system about a file, as Python's exception: `FileNotFoundError` and so
/// on.
pub fn of_system(path: &Path, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, text, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}

pub fn of_library(error: dbacl::Error) -> PyErr {
    match error {
        dbacl::Error::Io { path, source } | dbacl::Error::Temporary { path, source } => {
            of_system(&path, &source)
        }
        error @ dbacl::Error::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        error @ (dbacl::Error::Pattern { .. }
        | dbacl::Error::UnstorablePattern { .. }
        | dbacl::Error::TooManyPatterns
        | dbacl::Error::NoTokens) => PyValueError::new_err(error.to_string()),
        error => Error::new_err(error.to_string()),
    }
}

pub fn of_model(error: ModelError) -> PyErr {
    match error {
        ModelError::File(error) => of_library(error),
        error => Error::new_err(error.to_string()),
    }
}

pub fn of_training(error: TrainError) -> PyErr {
    match error {
        TrainError::Learn(error) => of_library(error),
        TrainError::Model(error) => of_model(error),
        TrainError::NotKept => Error::new_err(error.to_string().replace("--keep", "keep=True")),
        error => PyValueError::new_err(error.to_string()),
    }
}

pub fn of_data(error: DataError) -> PyErr {
    match error {
        DataError::Io { path, source } => of_system(&path, &source),
        error => PyValueError::new_err(error.to_string().replace("--format", "format=")),
    }
}

pub fn of_incomparable(error: Incomparable) -> PyErr {
    Error::new_err(error.to_string())
}

pub fn of_set(error: MailFilterError) -> PyErr {
    match error {
        error @ MailFilterError::Held { .. } => PyTimeoutError::new_err(error.to_string()),
        error @ (MailFilterError::UnknownLabel { .. }
        | MailFilterError::BadLabel { .. }
        | MailFilterError::Roles { .. }
        | MailFilterError::Protect { .. }
        | MailFilterError::NotFolders) => PyValueError::new_err(error.to_string()),
        MailFilterError::Open(FilterOpenError::NoFilter { folder: path, source })
        | MailFilterError::Source { path, source }
        | MailFilterError::Unread { path, source }
        | MailFilterError::Folder { path, source } => of_system(&path, &source),
        error => Error::new_err(error.to_string()),
    }
}
