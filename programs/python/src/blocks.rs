// SPDX-License-Identifier: GPL-3.0-or-later
//! Training in blocks on several machines: what each process does, and what leads them.

use crate::errors;
use crate::model::Model;
use crate::texts::all;
use crate::trainer::{Trainer, warn};
use dbacl::text::blocks::place;
use dbacl::text::{Frame, InBlocks, TrainError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// How texts are fitted in blocks. Each process makes one with the same options.
#[pyclass(frozen, module = "dbacl")]
pub struct BlockPlan {
    plan: dbacl::text::BlockPlan,
}

#[pymethods]
impl BlockPlan {
    /// The plan for blocks of so many texts of so many labels, with the options of `trainer`.
    #[new]
    #[pyo3(signature = (trainer, labels, *, block, features=None))]
    fn new(
        py: Python<'_>,
        trainer: &Bound<'_, Trainer>,
        labels: usize,
        block: u64,
        features: Option<u64>,
    ) -> PyResult<Self> {
        let features = features.unwrap_or(InBlocks::FEATURES);
        let in_blocks = Some(InBlocks { block, features });
        let recipe = dbacl::text::Recipe { in_blocks, ..trainer.get().recipe() };
        let mut warnings = Vec::new();
        let plan = dbacl::text::BlockPlan::new(&recipe, labels, &mut |text| warnings.push(text));
        warn(py, &warnings)?;
        Ok(Self { plan: plan.map_err(errors::of_training)? })
    }

    /// The tally of a segment: of as many texts as a block has, one after the other.
    fn tally<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, texts) = (texts.py(), all(texts)?);
        let tally = py.detach(|| self.plan.tally(texts.iter().map(Vec::as_slice)));
        Ok(PyBytes::new(py, &tally))
    }

    /// The frame of the tallies of all segments in their order.
    fn frame<'py>(&self, tallies: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, mut error) = (tallies.py(), None);
        // Tallies come one by one, so that few of them are in memory.
        let each = tallies.try_iter()?.map_while(|tally| {
            let tally = tally.and_then(|tally| Ok(tally.cast_into::<PyBytes>()?));
            tally.map_err(|raised| error = Some(raised)).ok()
        });
        let frame = self.plan.frame(each.map(|tally| tally.as_bytes().to_vec()));
        match error {
            Some(error) => Err(error),
            None => Ok(PyBytes::new(py, &frame.map_err(errors::of_training)?.to_bytes())),
        }
    }

    /// How many chains of blocks the texts of a frame are dealt to.
    #[staticmethod]
    fn chains(frame: &[u8]) -> PyResult<usize> {
        Ok(Frame::from_bytes(frame).map_err(errors::of_training)?.chains())
    }

    /// The number of the chain of text `number` of `texts`, and that of its block in the chain.
    fn place(&self, number: u64, texts: u64) -> (u64, u64) {
        place(number, texts, self.plan.block())
    }

    /// A block from its texts in their order, with the number of each among all texts, and the
    /// number of its label among the sorted labels.
    fn numbered<'py>(
        &self,
        frame: &[u8],
        numbers: Vec<u64>,
        labels: Vec<u32>,
        texts: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (py, texts) = (texts.py(), all(texts)?);
        if numbers.len() != texts.len() || labels.len() != texts.len() {
            return Err(PyValueError::new_err("there are not as many numbers or labels as texts"));
        }
        let frame = Frame::from_bytes(frame).map_err(errors::of_training)?;
        let each = numbers.into_iter().zip(labels).zip(&texts);
        let each = each.map(|((number, label), text)| (number, label, text.as_slice()));
        let block = py.detach(|| self.plan.numbered(&frame, each));
        Ok(PyBytes::new(py, &block))
    }

    /// Trains a model: `ask` is called with tasks, and returns the answers of all chains in their
    /// order. `labels` are the sorted labels with their numbers of texts. Temporary files lie in
    /// `folder`.
    fn train(
        &self,
        frame: &[u8],
        labels: Vec<(String, u64)>,
        ask: &Bound<'_, PyAny>,
        folder: PathBuf,
    ) -> PyResult<Model> {
        let frame = Frame::from_bytes(frame).map_err(errors::of_training)?;
        for (label, _) in &labels {
            dbacl::text::check_label(label.as_bytes())
                .map_err(|fault| PyValueError::new_err(format!("label {label:?}: {fault}")))?;
        }
        if labels.len() < 2 || !labels.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(PyValueError::new_err("two labels or more are needed, sorted"));
        }
        // What the function has raised.
        let mut error = None;
        let mut each = |task: &[u8], take: &mut dyn FnMut(&[u8]) -> Result<(), TrainError>| {
            let mut raised = |raised: PyErr| {
                let text = raised.to_string();
                error = Some(raised);
                TrainError::Elsewhere(text)
            };
            let answers = ask.call1((PyBytes::new(ask.py(), task),));
            let answers = answers.and_then(|answers| answers.try_iter()).map_err(&mut raised)?;
            for answer in answers {
                let answer = answer.and_then(|answer| Ok(answer.cast_into::<PyBytes>()?));
                take(answer.map_err(&mut raised)?.as_bytes())?;
            }
            Ok(())
        };
        let trained = self.plan.train(&frame, &labels, &mut each, &folder);
        if let Some(error) = error {
            return Err(error);
        }
        let trained = trained.map_err(errors::of_training)?;
        warn(ask.py(), &trained.warnings)?;
        Ok(Model::new(trained.model))
    }
}

/// A task that is being done with the blocks of a chain, which come one after the other in their
/// order.
#[pyclass(module = "dbacl")]
pub struct BlockWork(Option<dbacl::text::BlockWork>);

impl BlockWork {
    fn ended() -> PyErr {
        PyValueError::new_err("the answer was given before")
    }
}

#[pymethods]
impl BlockWork {
    /// The work on a task.
    #[new]
    fn new(py: Python<'_>, frame: &[u8], task: &[u8]) -> PyResult<Self> {
        let work = py.detach(|| dbacl::text::BlockWork::new(frame, task));
        Ok(Self(Some(work.map_err(errors::of_training)?)))
    }

    /// Takes the next block. Returns what the next task needs in place of `state`, which is empty
    /// at first.
    fn add<'py>(
        &mut self,
        py: Python<'py>,
        block: &[u8],
        state: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let work = self.0.as_mut().ok_or_else(Self::ended)?;
        let state = py.detach(|| work.add(block, state)).map_err(errors::of_training)?;
        Ok(PyBytes::new(py, &state))
    }

    /// The answer, after the last block.
    fn answer<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let work = self.0.take().ok_or_else(Self::ended)?;
        Ok(PyBytes::new(py, &py.detach(|| work.answer())))
    }
}
