// SPDX-License-Identifier: GPL-3.0-or-later
//! Categories that can be compared with each other.

use super::shared::{Incomparable, SharedReading};
use crate::category::reader::Category;
use crate::category::{access, mapped};
use crate::document::ReadOptions;
use crate::error::{Error, Warning};
use crate::model::settings::Locale;
use crate::score::model::Model;
use memmap2::Mmap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Categories with which documents are compared. Their order is that of all lists in verdicts.
///
/// ```
/// use dbacl::{CategorySet, LearnOptions, Learner};
///
/// let learn = |text: &str| {
///     let mut learner = Learner::new(&LearnOptions::text())?;
///     learner.learn(text.as_bytes());
///     learner.finish().map(|learned| learned.category)
/// };
/// let sea = learn("the whale and the ship and the sea and the sailors")?;
/// let war = learn("the war and the nation and the battle and the soldiers")?;
/// let set = CategorySet::new([("sea", sea), ("war", war)])?;
/// let verdict = set.classify(b"soldiers of this nation");
/// assert_eq!(verdict.best(), "war");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A set can be shared between threads; each thread has a classifier of
/// its own ([`super::Classifier`]).
#[derive(Clone)]
pub struct CategorySet<D = Mmap> {
    pub(super) models: Vec<Model<D>>,
    pub(super) reading: ReadOptions,
    pub(super) names: Arc<[String]>,
    warnings: Vec<Warning>,
}

impl<D> fmt::Debug for CategorySet<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("CategorySet");
        shown.field("names", &self.names);
        shown.finish_non_exhaustive()
    }
}

impl CategorySet<Mmap> {
    /// Opens category files; each category is called by the last part of its path.
    ///
    /// # Errors
    /// A file that cannot be read or is not a category; categories that cannot be compared.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Incomparable> {
        let open = |path: &P| -> Result<_, Error> {
            let path = path.as_ref();
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            Ok((name.into_owned(), mapped::open(path)?))
        };
        let categories: Result<Vec<_>, Error> = paths.iter().map(open).collect();
        let mut set = Self::shared(categories?, Locale::C)?;
        set.warnings.extend(paths.iter().filter_map(|path| access::warning_about(path.as_ref())));
        Ok(set)
    }
}

impl<D: AsRef<[u8]>> CategorySet<D> {
    /// A set of named categories.
    ///
    /// # Errors
    /// Why they cannot be compared.
    pub fn new<N: Into<String>>(
        categories: impl IntoIterator<Item = (N, Category<D>)>,
    ) -> Result<Self, Incomparable> {
        Self::shared(categories, Locale::C)
    }

    /// A set of named categories that may be large, or shared with other owners. Their regular
    /// expressions see the characters of `locale`.
    ///
    /// # Errors
    /// Why they cannot be compared.
    pub fn shared<N: Into<String>>(
        categories: impl IntoIterator<Item = (N, impl Into<Arc<Category<D>>>)>,
        locale: Locale,
    ) -> Result<Self, Incomparable> {
        let mut reading = SharedReading::new(locale);
        let mut warnings = Vec::new();
        let (mut models, mut names) = (Vec::new(), Vec::new());
        for (name, category) in categories {
            let (name, category) = (name.into(), category.into());
            let mut warn = |warning| warnings.push(warning);
            let patterns =
                reading.add(name.as_bytes(), category.header(), category.patterns(), &mut warn)?;
            models.push(Model::learned(name.clone().into_bytes(), category, patterns));
            names.push(name);
        }
        if models.is_empty() {
            return Err(Incomparable::Empty);
        }
        let reading = reading.finish(&models, locale)?;
        Ok(Self { models, reading, names: names.into(), warnings })
    }

    /// Names of the categories, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Warnings about the choice of categories, such as options that were changed to suit all of
    /// them.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}
