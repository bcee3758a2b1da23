// SPDX-License-Identifier: GPL-3.0-or-later
//! Puts new weights into the file of a fitted category. The file is copied in small parts, which
//! are checked and changed on the way, so that no memory is needed for all of it.

use super::error::FittedSetError;
use super::files::SetFiles;
use crate::category::layout::{ANY_MAGIC, DIGRAM_BYTES, SLOT_BYTES};
use crate::category::mapped::error_of;
use crate::category::sparse::SparseCategory;
use crate::error::Error;
use crate::fit::header::RefitLine;
use crate::fit::publish::{self, Patch};
use crate::store::generations::ledger_file;
use crate::token::id::FeatureId;
use dbacl_files::atomic_file::{Draft, Unforced};
use dbacl_files::checked::{Parts, Sums};
use dbacl_files::reading::read_regular;
use dbacl_numeric::quantize::QuantWeight;
use std::io;
use std::ops::Range;
use std::path::Path;

/// What is new in a category.
pub struct News<'a> {
    /// What the header calls it.
    pub name: &'a [u8],
    /// The line of the fit.
    pub line: &'a RefitLine,
    /// Features with new weights.
    pub weights: &'a [(FeatureId, QuantWeight)],
    /// log Z.
    pub log_partition: f64,
}

/// Replaces the file at `path`, of the generation that is being made, which is the open `category`.
/// Returns false if it is damaged; then it is empty.
pub fn patch(
    files: &SetFiles,
    path: &Path,
    category: &SparseCategory,
    news: &News<'_>,
) -> Result<bool, FittedSetError> {
    let mut copied: io::Result<Option<Sums>> = Ok(None);
    let mut write = |out: &mut dyn Draft| {
        copied = copy(category, news, out);
        let is_copied = matches!(copied, Ok(Some(_)));
        if is_copied { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
    };
    let replaced = ledger_file::replace_with(&Unforced, path, ANY_MAGIC, &mut write);
    match copied {
        Ok(Some(sums)) => {
            replaced?;
            return files.know(path, sums).map(|()| true);
        }
        Ok(None) => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
        Err(error) => return Err(FittedSetError::category(path, Error::io(path, error))),
    }
    if files.set_aside_if_damaged(path)? {
        return Ok(false);
    }
    let bytes = read_regular(path);
    let bytes = bytes.map_err(|error| FittedSetError::category(path, Error::io(path, error)))?;
    let News { name, line, weights, log_partition } = *news;
    let new = publish::patch(bytes, name, line, weights, log_partition);
    let new = new.map_err(|fault| FittedSetError::category(path, error_of(fault, path)))?;
    ledger_file::replace(&Unforced, path, ANY_MAGIC, &new)?;
    Ok(true)
}

/// Copies a category with new weights; `None` if its table has to grow, its head would have another
/// length, or it has no checksums.
fn copy(
    category: &SparseCategory,
    news: &News<'_>,
    out: &mut dyn Draft,
) -> io::Result<Option<Sums>> {
    let (slots, header) = (category.slots, &category.header);
    let patch = Patch::new(header, news.weights);
    if patch.is_full() {
        return Ok(None);
    }
    let mut copying = Copying { patch, slots, done: slots, beginning: Vec::new(), out };
    let Some(mut sums) = category.file.copy(&mut copying)? else { return Ok(None) };
    let Copying { mut patch, done, mut beginning, out, .. } = copying;
    let start = usize::try_from(slots).unwrap_or(usize::MAX).min(beginning.len());
    if patch.is_waiting() {
        patch.part(&mut beginning[start..], 0, |_| {});
    }
    let from = (header, &category.patterns[..], &category.other_lines[..]);
    let head = patch.head(from, news.name, news.line, news.log_partition);
    let size = (SLOT_BYTES as u64) << header.bits;
    if patch.is_full() || head.len() + DIGRAM_BYTES != start || done - slots != size {
        return Ok(None);
    }
    beginning[..head.len()].copy_from_slice(&head);
    sums.renew(&beginning);
    out.write_at(&beginning, 0)?;
    Ok(Some(sums))
}

/// A category that is copied.
struct Copying<'a> {
    patch: Patch,
    /// Where the slots begin.
    slots: u64,
    /// Where the first slot is that has not been passed.
    done: u64,
    /// The parts with the head, which is known at the end, and the first slots.
    beginning: Vec<u8>,
    out: &'a mut dyn Draft,
}

impl Parts for Copying<'_> {
    fn change(
        &mut self,
        at: u64,
        bytes: &mut [u8],
        changed: &mut dyn FnMut(Range<usize>),
    ) -> usize {
        let start = usize::try_from(self.done - at).unwrap_or(usize::MAX);
        let Some(rest) = bytes.len().checked_sub(start) else { return bytes.len() };
        let end = bytes.len() - rest % SLOT_BYTES;
        let first = usize::try_from(self.done - self.slots).unwrap_or(usize::MAX) / SLOT_BYTES;
        let changed = |range: Range<usize>| changed(start + range.start..start + range.end);
        self.patch.part(&mut bytes[start..end], first, changed);
        self.done += (end - start) as u64;
        end
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if at <= self.slots {
            self.beginning.extend_from_slice(bytes);
            return Ok(());
        }
        self.out.write_at(bytes, at)
    }
}
