// SPDX-License-Identifier: GPL-3.0-or-later
//! dbacl is a maximum-entropy n-gram classifier: it says of a text to which of several learned
//! categories it belongs.
//!
//! The library learns categories from documents, compares documents with categories, fits
//! categories together, and keeps sets of them that learn and forget single documents. The program
//! `dbacl` is made of it, and writes the same bytes and digits.
//!
//! # Learn, save, load, classify
//!
//! ```
//! use dbacl::{CategorySet, LearnOptions, Learner};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! // One learner a category; any number of documents, in memory or from a stream.
//! let mut sea = Learner::new(&LearnOptions::text())?;
//! sea.learn(b"Call me Ishmael. Some years ago I went to sea in a whaling ship.");
//! sea.learn(b"The whale breached, and all the sailors of the ship saw it.");
//! sea.finish()?.save(&folder.join("sea"))?;
//!
//! let mut war = Learner::new(&LearnOptions::text())?;
//! war.read(&b"Four score and seven years ago our fathers brought forth a new nation."[..])?;
//! war.finish()?.save(&folder.join("war"))?;
//!
//! // Categories that were learned alike can be compared.
//! let set = CategorySet::open(&[folder.join("sea"), folder.join("war")])?;
//! let verdict = set.classify(b"a whale of a ship");
//! assert_eq!(verdict.best(), "sea");
//! assert!(verdict.scores()[0] > verdict.scores()[1]); // nats: higher is better
//!
//! // Why?
//! let why = set.explain(b"a whale of a ship")?.explanation;
//! assert!(why.tokens.iter().any(|token| token.text == "whale" && token.bits > 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Tokenizer, n-grams, regular expressions and table sizes are methods of [`LearnOptions`];
//! [`LearnOptions::mail`] learns mail. A set reads a document as its categories were learned, so a
//! set of categories of mail is given mails. A large corpus is counted in parts, on any number of
//! machines, and learned once: see [`PartCounter`].
//!
//! # Filter mail
//!
//! A mail filter learns folders of sorted mail (mailboxes, Maildirs, folders of files), fits the
//! categories together, and keeps them in a folder on disk. `dbacl --mail-learn` makes the same
//! files.
//!
//! ```
//! use dbacl::{FittedSet, FittedSetOptions, MailFilter, MailFolder, MailLearnOptions};
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
//! FittedSet::learn_folders(&folder, &folders, &MailLearnOptions::default())?;
//!
//! // Judge mail, in any process and from any number of threads. A `MailFilter` only judges.
//! let mail = b"From: shop@example.org\nSubject: pills\n\nBuy cheap pills here.\n";
//! let filter = MailFilter::open(&folder, &mut |warning| eprintln!("{warning}"))?;
//! let verdict = filter.classify(mail)?;
//! println!("{verdict}"); // such as `spam 99.95%`, or `unsure 61.20% spam`
//! assert_eq!(verdict.category, "spam");
//!
//! // The user disagrees: learn this mail as ham. A `FittedSet` judges and learns.
//! FittedSet::open(&folder, &FittedSetOptions::default())?.correct("ham", mail)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`JointFit`] fits any categories together, in memory, on labelled documents: they judge much
//! better, and their probabilities are calibrated. [`FittedSet`] keeps any such set on disk, and
//! learns, corrects and forgets single documents.
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
//! The left side of an arrow never imports the right side. The formulas that decide the bits of a
//! result stand in the crates `dbacl-numeric` and `dbacl-model`. `docs/architecture.md` lists all
//! modules and crates and says where a change goes; `docs/spec` describes what is computed, with
//! the section numbers that comments cite.
//!
//! # Errors, warnings, safety
//!
//! Operations fail with [`Error`] or an error type of their own; there is a variant for each case
//! that a caller may want to handle. A problem that does not stop an operation is a [`Warning`], in
//! a list or given to a function of the caller. The library prints nothing, reads no environment
//! and never ends the process. The library has `unsafe` code in two modules only: memory maps,
//! which a caller must ask for with an `unsafe` call, and hints about memory.
//!
//! The feature `choices` adds the module `choices`: learning which of several texts is chosen, as
//! chess-adapter and `dbacl --choices` do. The feature `cli`, on by default, adds what only the
//! programs need: option tables, help, signals. With `default-features = false` none of their
//! dependencies is built. The feature also opens the engine's modules to the programs and tests of
//! this repository; they are hidden here, and change without notice.

#![warn(missing_docs)]
// Without the programs, parts of the engine that only they use are left over.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

mod alloc_hints;
#[doc(hidden)]
pub use alloc_hints::is_available as is_memory_available;
#[doc(hidden)]
pub mod blocks;
#[cfg(feature = "choices")]
pub mod choices;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

#[cfg(not(feature = "cli"))]
mod category;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod category;
#[cfg(not(feature = "cli"))]
mod chernoff;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod chernoff;
#[cfg(not(feature = "cli"))]
mod classify;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod classify;
#[cfg(not(feature = "cli"))]
mod container;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod container;
#[cfg(not(feature = "cli"))]
mod document;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod document;
#[cfg(not(feature = "cli"))]
mod error;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod error;
#[cfg(not(feature = "cli"))]
mod input;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod input;
#[cfg(not(feature = "cli"))]
mod joint;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod joint;
#[cfg(not(feature = "cli"))]
mod learn;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod learn;
#[cfg(not(feature = "cli"))]
mod parallel;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod parallel;
#[cfg(not(feature = "cli"))]
mod report;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod report;
#[cfg(not(feature = "cli"))]
mod score;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod score;
#[cfg(not(feature = "cli"))]
mod sets;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod sets;
#[cfg(not(feature = "cli"))]
mod shards;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod shards;
#[cfg(not(feature = "cli"))]
mod token;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod token;

// Rooms that are crates of their own.
#[cfg(not(feature = "cli"))]
use dbacl_charset as charset;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use dbacl_charset as charset;
#[cfg(not(feature = "cli"))]
use dbacl_files::{atomic_file, lock, reading};
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use dbacl_files::{atomic_file, lock, reading};
#[cfg(not(feature = "cli"))]
use dbacl_filter as filter;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use dbacl_filter as filter;
#[cfg(not(feature = "cli"))]
use dbacl_mail as mail;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use dbacl_mail as mail;
#[cfg(not(feature = "cli"))]
use dbacl_model as model;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use dbacl_model as model;
#[cfg(not(feature = "cli"))]
use dbacl_numeric as numeric;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use dbacl_numeric as numeric;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use dbacl_risk as risk;

// Documents and their features.
#[doc(no_inline)]
pub use dbacl_charset::Charset;
#[doc(no_inline)]
pub use dbacl_words::Scheme;
#[doc(hidden)]
pub use document::{Cutter, FilteredText, LineState};
pub use document::{FeatureReader, FeatureSink, ReadOptions};
pub use input::source::Source;
pub use model::medium::Medium;
pub use model::settings::{ModelOption, ModelOptions};
#[doc(no_inline)]
pub use posix_regex::Locale;
pub use token::id::FeatureId;
pub use token::pattern::PatternList;
pub use token::{Feature, PatternId};

// Learning.
pub use learn::learner::Learner;
pub use learn::options::LearnOptions;
pub use learn::reference::Reference;
pub use shards::counts::Counts;
pub use shards::part::PartCounter;

// Category files.
pub use category::header::Header;
#[doc(hidden)]
pub use category::header::HeaderFault;
pub use category::mapped::{MappedCategory, open as open_category};
pub use category::reader::{Category, Fault, StoredSlot};
pub use numeric::quantize::QuantWeight;

// Several categories in one file.
#[doc(hidden)]
pub use container::bytes as container_bytes;
pub use container::{
    Container, ContainerFault, Member, MemberKind, NewMember, save as save_container,
};

// Comparing and explaining.
pub use classify::explain::Explained;
pub use classify::{CategorySet, Classifier, Incomparable, Verdict};
pub use joint::explain::{Explanation, Piece, TokenEvidence};

// How good verdicts are.
#[doc(no_inline)]
pub use dbacl_measures as measures;

// Fitting together, keeping a set on disk, and filtering mail.
#[doc(hidden)]
pub use joint::calibrate::temperature;
pub use joint::fit::{FitError, FitNote, FitOptions, FitVerdicts};
pub use joint::select::{Quality as FitQuality, Settings as FitSettings};
pub use sets::{DocumentId, DocumentReport, FittedSet, FittedSetError, FittedSetOptions, Outcome};
pub use sets::{Fit, JointFit, MailFilter, MailFilterError, MailFolder};
pub use sets::{MailLearnOptions, MailLearned, MailReading, SetReport, SetVerdict};

// What can go wrong.
pub use error::{Error, Result, Warning, WarningSink};
