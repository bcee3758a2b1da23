// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns labelled documents in memory into a new set on disk.
//!
//! ```text
//! documents ─→ ordinary categories, ledger ─→ fit ─→ first generation
//! ```

use super::error::{FittedSetError, unless_stopped};
use super::files::{SetNames, check_paths};
use super::filter_folder::{LEDGER, ORDER};
use super::fitted_set::FittedSet;
use super::folder_counts::KeptCounts;
use super::learn_folders::{private_folder, write_order};
use super::mail_folders::LearnedSet;
use super::options::FittedSetOptions;
use super::protection::check_labels;
use super::refit::{HowToFit, fit_files, no_documents};
use dbacl_engine::document::FeatureReader;
use dbacl_engine::learn::options::LearnOptions;
use dbacl_engine::learn::reference::Reference;
use dbacl_joint::beginning::LIMIT;
use dbacl_joint::fit::FitOptions;
use dbacl_model::settings::ModelOption;
use dbacl_store::generations::ledger_file;
use dbacl_store::ledger::Ledger;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

impl FittedSet {
    /// Learns labelled documents, texts or messages, into a new set in `folder`, which is created
    /// if it does not exist: `dbacl -l LABEL --keep`, for each label, and `dbacl --refit --keep`.
    /// The categories are in the order in which their labels appear first, two to 64 of them.
    ///
    /// ```
    /// # mod dbacl {
    /// #     pub use dbacl_engine::learn::options::LearnOptions;
    /// #     pub use dbacl_joint::fit::FitOptions;
    /// #     pub use dbacl_sets::{FittedSet, FittedSetOptions, Outcome};
    /// # }
    /// use dbacl::{FitOptions, FittedSet, FittedSetOptions, LearnOptions};
    ///
    /// # let room = tempfile::tempdir()?;
    /// # let folder = room.path().join("books");
    /// let texts = [
    ///     ("sea", "the whale and the ship"),
    ///     ("war", "the nation and the war"),
    ///     ("sea", "sailors of a whaler"),
    ///     ("war", "a regiment of soldiers"),
    /// ];
    /// let (learning, fit, options) =
    ///     (LearnOptions::text(), FitOptions::default(), FittedSetOptions::default());
    /// FittedSet::create(&folder, texts, &learning, &fit, &options)?;
    ///
    /// // Later, in any process.
    /// let mut set = FittedSet::open(&folder, &options)?;
    /// assert_eq!(set.classify("a ship of sailors")?.category, "sea");
    /// set.correct("war", "the ship of the admiral")?;
    /// set.forget("sea", "sailors of a whaler")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The reference measure is the uniform one, whatever `learning` says, since a ledger holds
    /// nothing of others. The fit is used even if it is no better than the ordinary categories.
    ///
    /// # Errors
    /// [`FittedSetError::Folder`] if `folder` has a set already; what else stopped it. There is no
    /// set then.
    pub fn create<L: AsRef<str>, D: AsRef<[u8]>>(
        folder: &Path,
        documents: impl IntoIterator<Item = (L, D)>,
        learning: &LearnOptions,
        fit: &FitOptions,
        options: &FittedSetOptions,
    ) -> Result<(Self, LearnedSet)> {
        let learning = learning.clone().reference(Reference::Uniform);
        let refused = learning.reading().patterns.refuse_unstorable();
        refused.map_err(|source| FittedSetError::Learning { source })?;
        let mut reader = FeatureReader::stoppable(learning.reading(), &options.stop);
        if learning.reading().has(ModelOption::Mail) {
            reader = reader.of_beginnings(LIMIT);
        }
        let (mut labels, mut counts) = (Vec::<String>::new(), Vec::new());
        for (label, document) in documents {
            let known = labels.iter().position(|known| known == label.as_ref());
            let at = known.unwrap_or(labels.len());
            if known.is_none() {
                labels.push(label.as_ref().to_owned());
                counts.push(KeptCounts::new(&learning)?);
            }
            counts[at].read(document.as_ref(), &mut reader);
            unless_stopped(&options.stop)?;
        }
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        check_labels(&labels)?;
        let is_new = folder.symlink_metadata().is_err();
        let learned = write(folder, (&labels, counts), (&learning, fit), options);
        if learned.is_err() && is_new {
            // It stays if another process has put something into it.
            let _ = fs::remove_dir(folder);
        }
        let learned = learned?;
        Ok((Self::open(folder, options)?, learned))
    }
}

fn write(
    folder: &Path,
    (labels, counts): (&[&str], Vec<KeptCounts>),
    (learning, fit): (&LearnOptions, &FitOptions),
    options: &FittedSetOptions,
) -> Result<LearnedSet> {
    let set = SetNames::in_folder(folder, labels);
    check_paths(&set.names)?;
    private_folder(folder)?;
    let store = set.store();
    let lock = options.lock(&store)?;
    let is_taken = |name: &str| folder.join(name).symlink_metadata().is_ok();
    if store.folder.exists() || is_taken(ORDER) || is_taken(LEDGER) {
        let path = folder.to_path_buf();
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "it has a set already");
        return Err(FittedSetError::Folder { path, source });
    }
    let (mut notes, mut warnings) = (Vec::new(), Vec::new());
    let mut warn = |warning| warnings.push(warning);
    let change = store.replacement(&[], &mut warn)?;
    let reading = learning.reading();
    let patterns = learning.stored_patterns();
    let settings = ledger_file::settings(reading.options, reading.scheme, reading.order, &patterns);
    let mut ledger = Ledger::new(settings, Vec::new());
    for (at, counts) in counts.into_iter().enumerate() {
        let learned = counts.finish(learning, &set.names[at])?;
        learned.write(&change.path(&set.members[at]), labels[at], &mut ledger)?;
        learned.warnings.into_iter().for_each(&mut warn);
    }
    write_order(&change, labels)?;
    ledger_file::save(&change.path(OsStr::new(LEDGER)), &ledger)?;
    let files = set.files(change, lock);
    let how = HowToFit {
        options: &fit.clone().always(),
        settings: &settings,
        is_mail: reading.has(ModelOption::Mail),
        ledger_leads: false,
    };
    let mut note = |note| notes.push(note);
    let fitted = fit_files(files, how, no_documents, (&mut note, &mut warn), &options.stop)?;
    Ok(LearnedSet::new((fitted, 0), notes, warnings))
}
