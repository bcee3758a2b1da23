// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter's folder → verdicts on mails.

use super::reading::DocumentReader;
use crate::category::sparse::SparseCategory;
use crate::classify::{Incomparable, SharedReading};
use crate::document::ReadOptions;
use crate::error::{Error, Warning, WarningSink};
use crate::input::verdict_header::Marker;
use crate::joint::documents::CorpusBuilder;
use crate::joint::header::{Decision, RefitLine, set_of};
use crate::joint::store::{Generation, Store, member};
use crate::model::settings::Locale;
use crate::score::model::Model;
use crate::token::id::FeatureId;
use memmap2::Mmap;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The ledger in a filter's folder.
pub const LEDGER: &str = "ledger";

/// The file that names the categories; the first is to be protected, the second what the filter is
/// there to find.
pub const ORDER: &str = "order";

/// How that file begins.
pub const MAGIC: &[u8] = b"# dbacl mail filter\n";

/// Bytes of a mail that are judged at most. What says what a mail is stands before that, and a
/// limit bounds memory and time.
const JUDGED: usize = 8 << 20;

/// The verdict on a mail that cannot be judged.
pub const ERROR: &[u8] = b"error";

/// A mail filter that `dbacl --mail-learn` has made, open to judge mails.
///
/// ```no_run
/// use dbacl::MailFilter;
/// use std::path::Path;
///
/// let folder = Path::new("/home/me/.filter");
/// let filter = MailFilter::open(folder, &mut |warning| eprintln!("{warning}"))?;
/// let mail = b"From: friend@example.org\nSubject: lunch\n\nSee you at noon.\n";
/// let verdict = filter.classify(mail)?;
/// println!("{} ({:.2} %)", verdict.category, 100.0 * verdict.probability);
/// // The same mail with a line such as `X-DBACL: ham 99.87%` in its header.
/// let passed_on = filter.filter(mail);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An open filter stays what it was when it was opened, whatever is learned and corrected
/// meanwhile: it holds one generation of the files (`docs/ledger-format.md`). Who judges mail for a
/// long time opens it again now and then. It can be shared between threads. Of the categories only
/// the features of a mail are read, from the files, so an open filter takes little memory.
#[derive(Debug)]
pub struct MailFilter {
    names: Vec<String>,
    categories: Vec<SparseCategory>,
    line: RefitLine,
    reading: ReadOptions,
    /// Keeps the files from being removed.
    _generation: Option<Generation>,
}

/// What a filter says of a mail. Shown, it is what the header line says: `spam 99.12%`, or
/// `unsure 61.00% spam`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MailVerdict {
    /// Name of the more probable category.
    pub category: String,
    /// Its probability, 0 to 1.
    pub probability: f64,
    /// Whether the mail lies between the thresholds and cannot be told.
    pub is_unsure: bool,
}

impl fmt::Display for MailVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ref category, probability, is_unsure } = *self;
        let mut text = Vec::new();
        let decision = Decision { category: 0, probability, is_unsure };
        decision.write(&mut text, category.as_bytes());
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// Why a filter cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailFilterError {
    /// The folder holds no filter, or its file `order` cannot be read.
    #[error("{}: {source}", path.display())]
    NoFilter {
        /// The file that names the categories.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file that names the categories does not name two.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file concerned.
        path: PathBuf,
    },
    /// The current generation of the filter's files cannot be opened.
    #[error(transparent)]
    Generation(Error),
    /// A category cannot be opened.
    #[error("could not load category {}: {source}", name.display())]
    Category {
        /// What the category is called in the filter's folder.
        name: PathBuf,
        /// The file that the name stands for.
        path: PathBuf,
        /// What is wrong with it.
        source: Error,
    },
    /// The categories cannot be compared.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// The categories are not a whole set that was fitted together: why, for people.
    #[error("{0}")]
    NotFitted(&'static str),
}

impl MailFilter {
    /// Opens the filter in `folder`.
    ///
    /// # Errors
    /// Each variant of [`MailFilterError`] says what is missing or wrong.
    pub fn open(folder: &Path, warnings: WarningSink<'_>) -> Result<Self, MailFilterError> {
        let generation = Store::beside(&folder.join(LEDGER)).open();
        let generation = generation.map_err(MailFilterError::Generation)?;
        let generation = generation.filter(|generation| generation.has(OsStr::new(ORDER)));
        let order = match &generation {
            Some(generation) => generation.path(OsStr::new(ORDER)),
            None => folder.join(ORDER),
        };
        let mut shared = SharedReading::new(Locale::C);
        let (mut names, mut categories) = (Vec::new(), Vec::new());
        for label in labels(&order)? {
            let name = direct(&folder.join(&label));
            let path = if let Some(generation) = &generation {
                generation.path(&member("category.", OsStr::new(&label)))
            } else {
                warn_of_writers(&name, warnings);
                name.clone()
            };
            let category = match SparseCategory::open(&path) {
                Ok(category) => category,
                Err(source) => return Err(MailFilterError::Category { name, path, source }),
            };
            shared.add_header(
                label.as_bytes(),
                category.header(),
                category.patterns(),
                warnings,
            )?;
            names.push(label);
            categories.push(category);
        }
        if let Some(generation) = &generation {
            generation.warnings().into_iter().for_each(&mut *warnings);
        }
        let reading = shared.finish::<Mmap>(&[] as &[Model<Mmap>], Locale::C)?;
        let lines: Vec<Option<RefitLine>> =
            categories.iter().map(|category| RefitLine::find(category.other_lines())).collect();
        let line =
            set_of(&lines).map_err(|mismatch| MailFilterError::NotFitted(mismatch.text()))?;
        let line = line.cloned().ok_or(NOT_FITTED)?;
        Ok(Self { names, categories, line, reading, _generation: generation })
    }

    /// Names of the two categories; the first is the one that must not be lost.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The verdict on a mail, given as it came, headers first. Verdicts that it brings play no
    /// part. Of a mail of more than 8 MB the beginning is judged.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read any more.
    pub fn classify(&self, mail: &[u8]) -> Result<MailVerdict, Error> {
        self.judge(mail, None)
    }

    /// The same; reading the mail ends early once `stop` is set.
    pub(crate) fn judge(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<MailVerdict, Error> {
        let mut corpus = CorpusBuilder::default();
        let mut reader = DocumentReader::new(&self.reading, stop);
        reader.read::<Vec<u8>>(beginning(mail), 0, &[], &mut corpus);
        let corpus = corpus.finish();
        let mut scores = vec![f64::NAN; self.categories.len()];
        if let Some(document) = corpus.documents.first() {
            let terms = corpus.terms_of(0);
            let ids: Vec<FeatureId> = terms.iter().map(|term| term.id).collect();
            for (category, score) in self.categories.iter().zip(&mut scores) {
                let weights = category.weights(&ids)?.into_iter();
                let (header, occurrences) = (category.header(), document.occurrences);
                *score = self.line.scoring.score_by(header, occurrences, terms, weights);
            }
        }
        let Decision { category, probability, is_unsure } = self.line.verdict(&scores);
        Ok(MailVerdict { category: self.names[category].clone(), probability, is_unsure })
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without such lines that it
    /// brought. A mail that cannot be judged comes through all the same; its verdict is `error`.
    pub fn filter(&self, mail: &[u8]) -> Vec<u8> {
        let verdict = self.classify(mail).map(|verdict| verdict.to_string().into_bytes());
        let verdict = verdict.unwrap_or_else(|_| ERROR.to_vec());
        let mut marked = Vec::with_capacity(mail.len() + 64);
        let mut keep = |piece: &[u8]| {
            marked.extend_from_slice(piece);
            Ok(())
        };
        let mut marker = Marker::new(&verdict, mail);
        // Memory takes all that is kept.
        let _ = marker.feed(mail, &mut keep).and_then(|()| marker.finish(&mut keep));
        marked
    }
}

/// What is wrong with ordinary categories.
const NOT_FITTED: MailFilterError =
    MailFilterError::NotFitted("these categories were not fitted together");

/// What is judged of a mail: all of it, or whole lines of its beginning.
fn beginning(mail: &[u8]) -> &[u8] {
    let Some(beginning) = mail.get(..JUDGED) else { return mail };
    let end = memchr::memrchr(b'\n', beginning).map_or(JUDGED, |at| at + 1);
    &beginning[..end]
}

/// The two labels in the file `path`.
///
/// # Errors
/// [`MailFilterError::NoFilter`], [`MailFilterError::Damaged`].
pub fn labels(path: &Path) -> Result<Vec<String>, MailFilterError> {
    let path = path.to_path_buf();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(MailFilterError::NoFilter { path, source }),
    };
    let labels: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    if labels.len() != 2 || labels.iter().any(|label| label.is_empty() || label.contains('/')) {
        return Err(MailFilterError::Damaged { path });
    }
    Ok(labels.into_iter().map(str::to_owned).collect())
}

/// A path that says where it begins: no program looks it up in other folders.
pub fn direct(path: &Path) -> PathBuf {
    let begins = matches!(path.as_os_str().as_bytes().first(), Some(b'/' | b'.'));
    if begins { path.into() } else { Path::new(".").join(path) }
}

/// Warns of a file that decides verdicts and that anybody may write to. A file that its group may
/// write to is shared on purpose.
pub fn warn_of_writers(path: &Path, warnings: WarningSink<'_>) {
    const OTHERS: u32 = 0o002;
    if std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.mode() & OTHERS != 0) {
        warnings(Warning::new(format!("anybody may write to {}", path.display())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_judged_of_a_large_mail() {
        let line = b"so many words in a line\n";
        let mail = line.repeat(JUDGED / line.len() + 2);
        let found = beginning(&mail);
        assert!(found.len() <= JUDGED && found.len() > JUDGED - line.len());
        assert!(found.ends_with(b"line\n"));
        assert_eq!(beginning(line), line);
        let long = vec![b'x'; JUDGED + 1];
        assert_eq!(beginning(&long).len(), JUDGED);
    }

    #[test]
    fn verdicts_are_shown_as_the_header_says_them() {
        let verdict = |probability, is_unsure| MailVerdict {
            category: "spam".into(),
            probability,
            is_unsure,
        };
        assert_eq!(verdict(0.99123, false).to_string(), "spam 99.12%");
        assert_eq!(verdict(0.61, true).to_string(), "unsure 61.00% spam");
    }
}
