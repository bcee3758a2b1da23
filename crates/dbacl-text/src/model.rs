// SPDX-License-Identifier: GPL-3.0-or-later
//! A trained model: labels and their categories, in one file.

use crate::kept;
use crate::label::{self, file_name};
use dbacl::{
    Category, CategorySet, Classifier, Container, ContainerFault, Explained, Incomparable,
    MemberKind, NewMember, container_bytes, save_container,
};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why a file or bytes are no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read or is none of ours.
    #[error(transparent)]
    File(#[from] dbacl::Error),
    /// The bytes are damaged.
    #[error(transparent)]
    Damaged(#[from] ContainerFault),
    /// A category in it is damaged, or its label is none.
    #[error("the category of the label {label} is damaged")]
    Category {
        /// The label.
        label: String,
    },
    /// The categories in it do not belong together.
    #[error("the categories of the model do not belong together: {0}")]
    Set(#[from] Incomparable),
    /// The categories in it were not fitted together.
    #[error("the categories of the model were not fitted together")]
    NotFitted,
    /// A file cannot be written while unpacking.
    #[error("{}: {source}", path.display())]
    Unpack {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Labels and their categories, which were fitted together.
#[derive(Debug)]
pub struct TextModel {
    labels: Vec<String>,
    /// Documents of each label that were learned.
    documents: Vec<u64>,
    about: Vec<(String, String)>,
    /// The documents that it was trained on, see [`crate::kept`].
    kept: Option<Vec<u8>>,
    set: CategorySet<Vec<u8>>,
}

impl TextModel {
    /// The model of labels, their numbers of documents, and their categories.
    pub(crate) fn new(
        parts: Vec<(String, u64, Category<Vec<u8>>)>,
        about: Vec<(String, String)>,
        kept: Option<Vec<u8>>,
    ) -> Result<Self, ModelError> {
        let (mut labels, mut documents, mut categories) = (Vec::new(), Vec::new(), Vec::new());
        for (label, count, category) in parts {
            categories.push((file_name(&label), category));
            labels.push(label);
            documents.push(count);
        }
        let set = CategorySet::new(categories)?;
        if !set.is_fitted() {
            return Err(ModelError::NotFitted);
        }
        Ok(Self { labels, documents, about, kept, set })
    }

    /// Opens the model at `path`, all of which is read and checked.
    ///
    /// # Errors
    /// A file that cannot be read, is no model, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Self::of(&Container::open(path)?).map_err(|error| match error {
            ModelError::Damaged(fault) => fault.at(path).into(),
            ModelError::File(_) | ModelError::Unpack { .. } => error,
            other => dbacl::Error::damaged(path, other.to_string()).into(),
        })
    }

    /// The model that [`Self::to_bytes`] has made.
    ///
    /// # Errors
    /// Bytes that are no model, or damaged.
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Result<Self, ModelError> {
        Self::of(&Container::new(bytes)?)
    }

    fn of<D: AsRef<[u8]>>(container: &Container<D>) -> Result<Self, ModelError> {
        let (mut parts, mut about, mut kept) = (Vec::new(), Vec::new(), None);
        for member in container.members() {
            match member.kind {
                MemberKind::Category => {
                    let label = member.name.clone();
                    let bytes = container.bytes_of(member)?.into_owned();
                    let (Ok(_), Ok(category)) =
                        (label::check(label.as_bytes()), Category::new(bytes))
                    else {
                        return Err(ModelError::Category { label });
                    };
                    parts.push((label, member.documents, category));
                }
                MemberKind::About => {
                    let bytes = container.bytes_of(member)?;
                    let lines = String::from_utf8_lossy(&bytes);
                    let fields = lines.lines().filter_map(|line| line.split_once(": "));
                    about.extend(fields.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                MemberKind::Documents => kept = Some(container.bytes_of(member)?.into_owned()),
                MemberKind::Other(_) => {}
            }
        }
        if kept.as_ref().is_some_and(|kept| kept::read(kept, parts.len()).is_none()) {
            return Err(ModelError::Damaged(ContainerFault::Member));
        }
        Self::new(parts, about, kept)
    }

    fn members(&self) -> Vec<NewMember<'_>> {
        let about: String =
            self.about.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let mut members = vec![NewMember::new(MemberKind::About, "", about.into_bytes())];
        let categories = self.labels.iter().zip(&self.documents).zip(self.set.categories());
        members.extend(categories.map(|((label, &documents), category)| {
            NewMember::category(label.clone(), documents, category)
        }));
        let kept = self.kept.as_deref().map(|kept| NewMember::new(MemberKind::Documents, "", kept));
        members.extend(kept);
        members
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        container_bytes(&self.members())
    }

    /// Saves the model so that `path` is whole at every moment.
    ///
    /// # Errors
    /// [`dbacl::Error::Occupied`] when `path` is a file of something else; those of the operating
    /// system. The old file is kept.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        Ok(save_container(path, &self.members())?)
    }

    /// Writes an ordinary category file for each label into `folder`, which is made, and returns
    /// their paths; `dbacl -c` reads them.
    ///
    /// # Errors
    /// Those of saving categories.
    pub fn unpack(&self, folder: &Path) -> Result<Vec<PathBuf>, ModelError> {
        fs::create_dir_all(folder)
            .map_err(|source| ModelError::Unpack { path: folder.to_path_buf(), source })?;
        let mut paths = Vec::new();
        for (name, category) in self.set.names().iter().zip(self.set.categories()) {
            let path = folder.join(name);
            category.save(&path)?;
            paths.push(path);
        }
        Ok(paths)
    }

    /// The labels, in the order of all other lists.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Documents of each label that the model was trained on.
    pub fn documents(&self) -> &[u64] {
        &self.documents
    }

    /// Has the model tell `name: value` of itself.
    pub fn tell(&mut self, name: &str, value: &str) {
        match self.about.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.about.push((name.to_owned(), value.to_owned())),
        }
    }

    /// How the model was made, for people: names and values.
    pub fn about(&self) -> &[(String, String)] {
        &self.about
    }

    /// The documents of each label that the model was trained on, if it keeps them.
    pub fn kept(&self) -> Option<Vec<Vec<&[u8]>>> {
        let bytes = self.kept.as_ref()?;
        let found = kept::read(bytes, self.labels.len())?;
        let texts = |places: Vec<Range<usize>>| places.into_iter().map(|at| &bytes[at]).collect();
        Some(found.into_iter().map(texts).collect())
    }

    /// The categories, in the order of the labels.
    pub fn categories(&self) -> impl Iterator<Item = &Category<Vec<u8>>> {
        self.set.categories()
    }

    /// Which words of a text speak for the best label and against the second best.
    ///
    /// # Errors
    /// Those of [`CategorySet::explain`].
    pub fn explain(&self, text: &[u8]) -> Result<Explained, Incomparable> {
        self.set.explain(text)
    }

    /// Judges texts, one after the other. Each thread has one of its own.
    pub fn predictor(&self) -> Predictor {
        let all: u64 = self.documents.iter().sum();
        #[allow(clippy::cast_precision_loss)] // shares of documents
        let share = |&own: &u64| own as f64 / all.max(1) as f64;
        let shares = self.documents.iter().map(share).collect();
        Predictor { classifier: self.set.classifier(), shares }
    }
}

/// What a model makes of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    probabilities: Vec<f64>,
}

impl Prediction {
    /// A prediction of these probabilities.
    pub fn of(probabilities: Vec<f64>) -> Self {
        Self { probabilities }
    }

    /// The probability of each label; they add up to 1.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Number of the most probable label; of equal ones the first.
    pub fn best(&self) -> usize {
        self.ranked(1).first().copied().unwrap_or(0)
    }

    /// Numbers of the `k` most probable labels, the most probable first.
    pub fn ranked(&self, k: usize) -> Vec<usize> {
        let of = |at: usize| self.probabilities[at];
        let mut order: Vec<usize> = (0..self.probabilities.len()).collect();
        let by = |&a: &usize, &b: &usize| of(b).total_cmp(&of(a)).then(a.cmp(&b));
        if k == 0 {
            return Vec::new();
        }
        if k < order.len() {
            order.select_nth_unstable_by(k - 1, by);
            order.truncate(k);
        }
        order.sort_unstable_by(by);
        order
    }
}

/// Judges one text after the other.
pub struct Predictor {
    classifier: Classifier<Vec<u8>>,
    /// Share of each label in the documents that were learned: what is to be said of a text without
    /// words.
    shares: Vec<f64>,
}

impl Predictor {
    /// The probabilities of the labels for a text.
    pub fn predict(&mut self, text: &[u8]) -> Prediction {
        let verdict = self.classifier.classify(text);
        let probabilities = verdict.probabilities();
        let probabilities = if probabilities.iter().all(|one| one.is_finite()) {
            probabilities.to_vec()
        } else {
            self.shares.clone()
        };
        Prediction { probabilities }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_probable_come_first() {
        let prediction = Prediction { probabilities: vec![0.1, 0.4, 0.1, 0.4] };
        assert_eq!(prediction.best(), 1);
        assert_eq!(prediction.ranked(3), [1, 3, 0]);
        assert_eq!(prediction.ranked(0), [0; 0]);
        assert_eq!(prediction.ranked(9), [1, 3, 0, 2]);
    }
}
