// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads texts of Python as bytes, a block at a time.
//!
//! `bytes` and blocks of Arrow columns are read where they are. A `str` is copied: the stable
//! interface of Python 3.9 does not show its bytes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyIterator, PyList, PyString, PyTuple};
use std::ops::Range;

/// Texts of a block.
const TEXTS: usize = 4096;
/// About how many bytes a block has.
const BYTES: usize = 1 << 20;

/// Where a text is.
enum Place {
    Own(Range<usize>),
    Kept(usize, Range<usize>),
}

/// Some texts.
#[derive(Default)]
pub struct Block {
    kept: Vec<Py<PyBytes>>,
    own: Vec<u8>,
    places: Vec<Place>,
    bytes: usize,
}

impl Block {
    /// The texts, in their order.
    pub fn texts<'a>(&'a self, py: Python<'_>) -> Vec<&'a [u8]> {
        let kept: Vec<&[u8]> = self.kept.iter().map(|bytes| bytes.as_bytes(py)).collect();
        let text = |place: &Place| match place {
            Place::Own(range) => &self.own[range.clone()],
            Place::Kept(at, range) => &kept[*at][range.clone()],
        };
        self.places.iter().map(text).collect()
    }

    fn push_own(&mut self, text: &[u8]) {
        let start = self.own.len();
        self.own.extend_from_slice(text);
        self.places.push(Place::Own(start..self.own.len()));
        self.bytes += text.len();
    }

    fn push_kept(&mut self, bytes: &Bound<'_, PyBytes>) {
        let length = bytes.as_bytes().len();
        self.places.push(Place::Kept(self.kept.len(), 0..length));
        self.kept.push(bytes.clone().unbind());
        self.bytes += length;
    }

    /// Adds a block of an Arrow column: the offsets, each of `width` bytes and one more than there
    /// are texts, and the bytes from the first text on.
    fn push_column(&mut self, column: &Bound<'_, PyTuple>) -> PyResult<()> {
        let (offsets, bytes, width): (Bound<'_, PyBytes>, Bound<'_, PyBytes>, usize) =
            column.extract()?;
        let length = bytes.as_bytes().len();
        let damaged = || PyValueError::new_err("the column's offsets do not fit its bytes");
        let read = |field: &[u8]| match width {
            4 => field.try_into().ok().map(|it| i64::from(i32::from_ne_bytes(it))),
            _ => field.try_into().ok().map(i64::from_ne_bytes),
        };
        if !matches!(width, 4 | 8) {
            return Err(damaged());
        }
        let mut offsets = offsets.as_bytes().chunks_exact(width).map(read);
        let first = offsets.next().flatten().ok_or_else(damaged)?;
        let mut start = 0;
        for offset in offsets {
            let end = offset.and_then(|offset| usize::try_from(offset.checked_sub(first)?).ok());
            let end = end.filter(|&end| start <= end && end <= length).ok_or_else(damaged)?;
            self.places.push(Place::Kept(self.kept.len(), start..end));
            start = end;
        }
        self.kept.push(bytes.unbind());
        self.bytes += length;
        Ok(())
    }
}

/// Texts that are taken one block after the other.
pub struct Texts<'py> {
    items: Bound<'py, PyIterator>,
    taken: usize,
}

impl<'py> Texts<'py> {
    /// The texts of an iterable or a column.
    pub fn new(texts: &Bound<'py, PyAny>) -> PyResult<Self> {
        if is_text(texts) {
            let what = "a list of texts is needed, and this is one text: put it in brackets";
            return Err(PyTypeError::new_err(what));
        }
        let is_plain = texts.is_instance_of::<PyList>() || texts.is_instance_of::<PyTuple>();
        let items = if is_plain {
            texts.try_iter()?
        } else {
            let columns = texts.py().import("dbacl._columns")?;
            columns.getattr("items")?.call1((texts,))?.try_iter()?
        };
        Ok(Self { items, taken: 0 })
    }

    /// The next block; `None` at the end. Signals are looked at.
    pub fn next_block(&mut self) -> PyResult<Option<Block>> {
        self.items.py().check_signals()?;
        let mut block = Block::default();
        while block.places.len() < TEXTS && block.bytes < BYTES {
            let Some(item) = self.items.next() else { break };
            let item = item?;
            if let Ok(column) = item.cast::<PyTuple>() {
                block.push_column(column)?;
            } else {
                with_text(&item, self.taken + block.places.len(), &mut block)?;
            }
        }
        self.taken += block.places.len();
        Ok((!block.places.is_empty()).then_some(block))
    }
}

/// All texts of an iterable or a column.
pub fn all(texts: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    let py = texts.py();
    let (mut texts, mut found) = (Texts::new(texts)?, Vec::new());
    while let Some(block) = texts.next_block()? {
        found.extend(block.texts(py).into_iter().map(<[u8]>::to_vec));
    }
    Ok(found)
}

fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
}

/// Puts text number `at` into a block.
fn with_text(item: &Bound<'_, PyAny>, at: usize, block: &mut Block) -> PyResult<()> {
    if let Ok(text) = item.cast::<PyString>() {
        if let Ok(text) = text.to_cow() {
            block.push_own(text.as_bytes());
        } else {
            // Bytes that were not UTF-8 when Python read the text are restored.
            let bytes = text.call_method1("encode", ("utf-8", "surrogateescape"));
            let bytes = bytes.map_err(|_| {
                PyValueError::new_err(format!(
                    "text {at} holds surrogates, which are not characters"
                ))
            })?;
            block.push_kept(bytes.cast::<PyBytes>()?);
        }
        return Ok(());
    }
    if let Ok(bytes) = item.cast::<PyBytes>() {
        block.push_kept(bytes);
        return Ok(());
    }
    if let Ok(bytes) = item.cast::<PyByteArray>() {
        // A bytearray may be changed by another thread, so it is copied.
        block.push_own(&bytes.to_vec());
        return Ok(());
    }
    let is_missing = item.is_none()
        || item.cast::<PyFloat>().is_ok_and(|number| number.extract().is_ok_and(f64::is_nan));
    if is_missing {
        return Err(PyValueError::new_err(format!("text {at} is missing: it is {item}")));
    }
    let kind = item.get_type().name()?;
    Err(PyTypeError::new_err(format!("text {at} is of the type {kind}, not str or bytes")))
}

/// The bytes of one text.
pub fn one(text: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if !is_text(text) {
        let kind = text.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a text is str or bytes, not {kind}")));
    }
    let mut block = Block::default();
    with_text(text, 0, &mut block)?;
    let texts = block.texts(text.py());
    Ok(texts.first().map(|text| text.to_vec()).unwrap_or_default())
}

/// A label, which is number `at`.
fn checked(label: &Bound<'_, PyString>, at: usize) -> PyResult<String> {
    let label = label.to_cow()?;
    dbacl::text::check_label(label.as_bytes())
        .map_err(|fault| PyValueError::new_err(format!("label {at}: {fault}")))?;
    Ok(label.into_owned())
}

/// The label, or the labels, of text number `at`.
fn label_of(label: &Bound<'_, PyAny>, at: usize) -> PyResult<String> {
    if let Ok(label) = label.cast::<PyString>() {
        return checked(label, at);
    }
    if label.is_instance_of::<PyList>() || label.is_instance_of::<PyTuple>() {
        // Several labels stand in lines, as records of files have them.
        let each = label.try_iter()?.map(|label| checked(label?.cast::<PyString>()?, at));
        return Ok(each.collect::<PyResult<Vec<String>>>()?.join("\n"));
    }
    let kind = label.get_type().name()?;
    Err(PyTypeError::new_err(format!("label {at} is of the type {kind}, not str")))
}

/// Hands each text with its label to `take`; several labels stand in lines.
pub fn labelled(
    texts: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    take: &mut dyn FnMut(&str, &[u8]) -> PyResult<()>,
) -> PyResult<()> {
    let py = texts.py();
    let mut texts = Texts::new(texts)?;
    if is_text(labels) {
        return Err(PyTypeError::new_err("a list of labels is needed, and this is one label"));
    }
    let mut labels = labels.try_iter()?.enumerate();
    while let Some(block) = texts.next_block()? {
        for text in block.texts(py) {
            let Some((at, label)) = labels.next() else {
                return Err(PyValueError::new_err("there are more texts than labels"));
            };
            take(&label_of(&label?, at)?, text)?;
        }
    }
    match labels.next() {
        None => Ok(()),
        Some(_) => Err(PyValueError::new_err("there are more labels than texts")),
    }
}

/// Rows of `columns` numbers: an array of numpy if there is numpy, else a list of lists.
pub fn matrix<'py>(
    py: Python<'py>,
    numbers: &[f64],
    columns: usize,
) -> PyResult<Bound<'py, PyAny>> {
    match py.import("numpy") {
        Ok(numpy) => {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            // A bytearray can be written to, and so can the array.
            let array = numpy.call_method1("frombuffer", (PyByteArray::new(py, &bytes), "f8"))?;
            array.call_method1("reshape", (numbers.len() / columns.max(1), columns))
        }
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) => {
            let rows: Vec<Vec<f64>> = numbers.chunks(columns.max(1)).map(<[f64]>::to_vec).collect();
            Ok(rows.into_pyobject(py)?.into_any())
        }
        Err(error) => Err(error),
    }
}
