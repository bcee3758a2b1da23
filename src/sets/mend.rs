// SPDX-License-Identifier: GPL-3.0-or-later
//! Repairs a mail filter on disk that has a damaged category.

use super::error::FittedSetError;
use super::files::{SetFiles, store_of};
use super::filter_folder::{LEDGER, ORDER, labels};
use super::fitted_set::FittedSet;
use super::open_set::direct;
use super::options::FittedSetOptions;
use super::refit::{HowToFit, fit_files, look, no_documents};
use crate::category::sparse::SparseCategory;
use crate::fit::header::RefitLine;
use crate::fit::joint::FitOptions;
use crate::model::settings::ModelOption;
use crate::sets::classify::shared::default_scheme;
use crate::store::generations::ledger_file;
use std::path::{Path, PathBuf};

impl FittedSet {
    /// As [`Self::open`]; a filter that is damaged is repaired first, see [`Self::mend`].
    ///
    /// # Errors
    /// Those of [`Self::open`] and [`Self::mend`].
    #[doc(hidden)]
    pub fn open_to_change(
        folder: &Path,
        options: &FittedSetOptions,
    ) -> Result<Self, FittedSetError> {
        match Self::open(folder, options) {
            Err(FittedSetError::Open(error)) if error.is_damage() => Self::mend(folder, options),
            opened => opened,
        }
    }

    /// Repairs the mail filter in `folder` when [`Self::open`] finds a category missing, truncated
    /// or damaged, and opens it. The set is fitted again from its ordinary categories and its
    /// ledger, as `dbacl --mail-correct` does in this case. An undamaged filter is fitted again as
    /// well.
    ///
    /// # Errors
    /// [`FittedSetError::Open`] when there is no filter in the folder,
    /// [`FittedSetError::NoOrdinary`] and [`FittedSetError::Ledger`] when the files that it would
    /// be fitted from are damaged, too. After an error the files are as they were.
    pub fn mend(folder: &Path, options: &FittedSetOptions) -> Result<Self, FittedSetError> {
        let labels = labels(&folder.join(ORDER))?;
        let ledger = direct(&folder.join(LEDGER));
        let lock = options.lock(&store_of(&[], Some(&ledger)))?;
        let names: Vec<PathBuf> = labels.iter().map(|label| direct(&folder.join(label))).collect();
        let mut warnings = Vec::new();
        let mut warn = |warning| warnings.push(warning);
        let files = SetFiles::open(&names, Some(&ledger), lock, &mut warn)?;
        let as_it_was = || {
            files.set_aside_damaged()?;
            let heads = files.paths.iter().map(|path| Ok(look(path)?.1));
            let heads: Vec<SparseCategory> = heads.collect::<Result<_, FittedSetError>>()?;
            let line = heads.iter().find_map(|head| RefitLine::find(&head.other_lines));
            let fit = line.map_or_else(FitOptions::mail, |line| FitOptions::like(&line, false));
            let Some(first) = heads.first() else { return Err(FittedSetError::NotFitted) };
            let header = &first.header;
            let scheme = header.scheme.unwrap_or_else(|| default_scheme(header.options));
            let settings =
                ledger_file::settings(header.options, scheme, header.max_order, &first.patterns);
            Ok((fit, settings, header.options.has(ModelOption::Mail)))
        };
        let (fit, settings, is_mail) = as_it_was().map_err(|error| files.in_words(error))?;
        let how = HowToFit { options: &fit, settings: &settings, is_mail, ledger_leads: false };
        let mut warn = |warning| warnings.push(warning);
        fit_files(files, how, no_documents, (&mut |_| {}, &mut warn), &options.stop)?;
        let mut set = Self::open(folder, options)?;
        set.warnings.splice(0..0, warnings);
        Ok(set)
    }
}
