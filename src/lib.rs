// SPDX-License-Identifier: GPL-3.0-or-later
//! dbacl is a maximum-entropy n-gram classifier: it says of a text to which of several learned
//! categories it belongs.
//!
//! The library learns categories from documents, compares documents with categories, and keeps mail
//! filters, which learn and forget single messages. The program `dbacl` is made of it, and writes
//! the same bytes and digits. [`text`] learns labelled texts: one model of many labels.
//!
//! # Learn
//!
//! ```
//! use dbacl::{LearnOptions, Learner};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let mut sea = Learner::new(&LearnOptions::text())?;
//! sea.learn("Call me Ishmael. Some years ago I went to sea in a whaling ship.");
//! sea.read(&b"The whale breached, and all the sailors of the ship saw it."[..])?; // any stream
//! sea.finish()?.category.save(&folder.join("sea"))?;
//! # Ok::<(), dbacl::Error>(())
//! ```
//!
//! Tokenizer, n-grams, regular expressions and table sizes are methods of [`LearnOptions`];
//! [`LearnOptions::mail`] learns mail. A large corpus is counted in parts, on any number of
//! machines, and learned once: see [`PartCounter`].
//!
//! # Classify
//!
//! Categories that were learned alike can be compared. A set reads a document as its categories
//! were learned, so a set of categories of mail is given messages.
//!
//! ```
//! # use dbacl::{LearnOptions, Learner};
//! use dbacl::CategorySet;
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! # for (name, text) in [("sea", "the whale and the ship"), ("war", "the nation and the war")] {
//! #     let mut learner = Learner::new(&LearnOptions::text())?;
//! #     learner.learn(text);
//! #     learner.finish()?.category.save(&folder.join(name))?;
//! # }
//! let set = CategorySet::open(&[folder.join("sea"), folder.join("war")])?;
//! let verdict = set.classify("a whale of a ship");
//! assert_eq!(verdict.best(), "sea");
//! assert!(verdict.scores()[0] > verdict.scores()[1]); // nats: higher is better
//! let why = set.explain("a whale of a ship")?.explanation;
//! assert!(why.tokens.iter().any(|token| token.text == "whale" && token.bits > 0.0));
//!
//! // Many documents, such as the lines of a stream, are read fastest by one classifier.
//! # let stream = &b"a ship\na nation\n"[..];
//! let mut classifier = set.classifier();
//! for line in std::io::BufRead::lines(stream) {
//!     println!("{}", classifier.classify(line?).best());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Mail
//!
//! A mail filter learns folders of sorted mail (mailboxes, Maildirs, folders of files), fits the
//! categories together, and keeps them in a folder on disk. `dbacl --mail-learn` makes the same
//! files.
//!
//! ```
//! use dbacl::{MailFilter, MailFilterOptions, MailFolder, MailLearnOptions};
//!
//! # let room = tempfile::tempdir()?;
//! # let [folder, good, junk] = ["filter", "good", "junk"].map(|name| room.path().join(name));
//! # for (folder, words) in [(&good, "minutes of the meeting"), (&junk, "cheap pills")] {
//! #     std::fs::create_dir(folder)?;
//! #     for number in 0..20 {
//! #         let mail = format!("From: x@example.org\nSubject: {words}\n\n{words} {number}\n");
//! #         std::fs::write(folder.join(number.to_string()), mail)?;
//! #     }
//! # }
//! let folders = [MailFolder::new("ham", &good), MailFolder::new("spam", &junk)];
//! MailFilter::learn_folders(&folder, &folders, &MailLearnOptions::default())?;
//!
//! // It classifies in any process, and from any number of threads.
//! let message = b"From: shop@example.org\nSubject: pills\n\nBuy cheap pills here.\n";
//! let mut filter = MailFilter::open(&folder, &MailFilterOptions::default())?;
//! let verdict = filter.classify(message)?;
//! println!("{verdict}"); // such as `spam 99.95%`, or `unsure 61.20% spam`
//! assert_eq!(verdict.category, "spam");
//!
//! // It learns, corrects and forgets single messages.
//! filter.correct("ham", message)?;
//! # Ok::<(), dbacl::Error>(())
//! ```
//!
//! # Files
//!
//! | file | read | written |
//! |---|---|---|
//! | category | [`Category::new`], [`CategorySet::open`] | [`Category::save`] |
//! | counts of a part | [`Counts::open`] | [`Counts::save`] |
//! | several categories in one | [`Container::open`] | [`save_container`] |
//! | a mail filter | [`MailFilter::open`] | by each change |
//!
//! A file is replaced only by a complete one. `docs/spec/category-format.md` and its neighbours
//! describe the bytes.
//!
//! # How data flows
//!
//! ```text
//! bytes → lines → text → tokens → features → counts → fit → category file        (learn)
//!         input   filter  token   document   learn    learn  category
//!                                    └→ categories → scores → verdict → report   (classify)
//!                                       category     score    classify  report
//! ```
//!
//! The left side of an arrow never imports the right side. `docs/architecture.md` lists all modules
//! and says why they are as they are; `docs/spec` describes what is computed, with the
//! section numbers that comments cite.
//!
//! # Versions
//!
//! This crate follows Semantic Versioning, but for alpha versions. The oldest Rust that it needs,
//! 1.89, rises with minor versions only.
//!
//! # Errors, warnings, safety
//!
//! Operations fail with [`Error`], or with an error type of their own that `?` turns into
//! [`Error`]; there is a variant for each case that a caller may want to handle. A problem that
//! does not stop an operation is a [`Warning`], in a list or given to a function of the caller. The
//! library prints nothing, reads no environment and never ends the process. The library has
//! `unsafe` code in two modules only: memory maps, which a caller must ask for with an `unsafe`
//! call, and hints about memory.
//!
//! The feature `cli`, on by default, builds the programs dbacl, bayesol and hypex. A library needs
//! none of their dependencies: use `default-features = false`.

#![warn(missing_docs)]
// What only the programs use.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub mod alloc_hints;
mod category;
#[cfg(feature = "fuzzing")]
pub mod checks;
mod container;
pub mod corpus;
mod document;
mod error;
mod filter;
mod fit;
mod input;
mod learn;
mod linear;
pub mod mail;
pub mod measures;
mod model;
pub mod parallel;
#[cfg(feature = "cli")]
pub mod programs;
#[cfg(test)]
mod properties;
mod report;
mod risk;
mod score;
mod sets;
mod shards;
mod store;
#[cfg(test)]
mod tests;
pub mod text;
mod token;

// Documents and their features.
pub use crate::document::{
    Cutter, FeatureReader, FeatureSink, FilteredText, LineState, ReadOptions,
};
pub use crate::input::source::Source;
pub use crate::model::medium::Medium;
pub use crate::model::settings::{ModelOption, ModelOptions};
pub use crate::token::id::{FeatureId, ShortWord};
pub use crate::token::pattern::PatternList;
pub use crate::token::{Feature, PatternId};
#[doc(no_inline)]
pub use dbacl_regex::Locale;
#[doc(no_inline)]
pub use dbacl_words::Scheme;
#[doc(no_inline)]
pub use dbacl_words::charset::Charset;

// Learning.
pub use crate::learn::learner::{Learned, Learner};
pub use crate::learn::options::LearnOptions;
pub use crate::learn::reference::Reference;
pub use crate::shards::counts::Counts;
pub use crate::shards::part::PartCounter;

// Category files.
pub use crate::category::header::{Fault, Header};
pub use crate::category::mapped::{MappedCategory, open as open_category};
pub use crate::category::reader::{Category, StoredSlot};
pub use dbacl_numeric::quantize::QuantWeight;

// Files of models.
pub use crate::container::{
    Container, ContainerFault, MemberKind, bytes as container_bytes,
    check_target as check_container, save as save_container,
};

// Comparing and explaining.
pub use crate::report::evidence::{Explanation, Piece, TokenEvidence};
pub use crate::sets::classify::explain::Explained;
pub use crate::sets::classify::{CategorySet, Classifier, Incomparable, Verdict};

// Filtering mail.
pub use crate::fit::joint::{FitNote, FitVerdicts, Quality as FitQuality};
pub use crate::fit::thresholds::Caution;
pub use crate::sets::{
    ChangeReport, DocumentId, DocumentReport, FilterOpenError, FilterPlace, LearnedSet, MailFilter,
    MailFilterError, MailFilterOptions, MailFolder, MailLearnOptions, MailRole, MailVerdict,
    ManyUnsure, Outcome, Reasons, RecentVerdicts,
};

// Pages in which all text is escaped.
pub use crate::report::html;

// What can go wrong.
pub use crate::error::{Error, Result, Warning, WarningSink};
