// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers and lists of numbers as bytes, for what goes from one process to another.

use super::error::BlockError;
use crate::numeric::varint;

/// Bytes that grow.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, number: u64) {
        varint::append(&mut self.0, number);
    }

    pub fn numbers(&mut self, numbers: &[u64]) {
        for &number in numbers {
            self.number(number);
        }
    }

    pub fn lists(&mut self, lists: &[Vec<f32>]) {
        for list in lists {
            self.floats(list);
        }
    }

    pub fn real(&mut self, number: f64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Numbers of four bytes each, which are given as such.
    pub fn words(&mut self, words: impl ExactSizeIterator<Item = [u8; 4]>) {
        self.number(words.len() as u64);
        self.0.reserve(4 * words.len());
        words.for_each(|word| self.0.extend_from_slice(&word));
    }

    pub fn floats(&mut self, floats: &[f32]) {
        self.words(floats.iter().map(|float| float.to_le_bytes()));
    }

    pub fn integers(&mut self, integers: &[u32]) {
        self.words(integers.iter().map(|integer| integer.to_le_bytes()));
    }

    pub fn reals(&mut self, reals: &[f64]) {
        self.number(reals.len() as u64);
        for &real in reals {
            self.real(real);
        }
    }
}

/// The rest of bytes that a [`Writer`] wrote; `what` is their name in errors.
pub struct Reader<'a> {
    pub rest: &'a [u8],
    pub what: &'static str,
}

impl<'a> Reader<'a> {
    pub const fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    pub const fn damaged(&self) -> BlockError {
        BlockError::Damaged(self.what)
    }

    pub fn number(&mut self) -> Result<u64, BlockError> {
        varint::take(&mut self.rest).ok_or(self.damaged())
    }

    /// A number that counts what is in memory.
    pub fn size(&mut self) -> Result<usize, BlockError> {
        usize::try_from(self.number()?).map_err(|_| self.damaged())
    }

    pub fn small(&mut self) -> Result<u32, BlockError> {
        u32::try_from(self.number()?).map_err(|_| self.damaged())
    }

    pub fn byte(&mut self) -> Result<u8, BlockError> {
        u8::try_from(self.number()?).map_err(|_| self.damaged())
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], BlockError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(self.damaged())?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn real(&mut self) -> Result<f64, BlockError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(f64::from_le_bytes(bytes))
    }

    fn words<T>(&mut self, of: impl Fn([u8; 4]) -> T) -> Result<Vec<T>, BlockError> {
        let length = self.size()?.checked_mul(4).ok_or(self.damaged())?;
        let (words, _) = self.take(length)?.as_chunks::<4>();
        Ok(words.iter().map(|&word| of(word)).collect())
    }

    pub fn floats(&mut self) -> Result<Vec<f32>, BlockError> {
        self.words(f32::from_le_bytes)
    }

    pub fn integers(&mut self) -> Result<Vec<u32>, BlockError> {
        self.words(u32::from_le_bytes)
    }

    pub fn reals(&mut self) -> Result<Vec<f64>, BlockError> {
        let length = self.size()?;
        if length > self.rest.len() / 8 {
            return Err(self.damaged());
        }
        (0..length).map(|_| self.real()).collect()
    }
}
