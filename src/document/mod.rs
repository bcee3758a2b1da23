// SPDX-License-Identifier: GPL-3.0-or-later
//! Turns documents into features, which models count and look up. This is the only way from bytes
//! to features.
//!
//! ```text
//! bytes ─→ lines ─→ text (filters for mail and markup) ─→ words and expressions ─→ features
//!                                                                                     ↓
//!                                                                                FeatureSink
//! ```
//!
//! A [`FeatureReader`] reads documents as [`ReadOptions`] say and hands their features to a
//! [`FeatureSink`]: a counter that learns, a scorer that classifies, or anything else. All programs
//! read through it, so a text has the same features wherever it is learned, classified or counted.
//!
//! ```
//! use dbacl::{Feature, FeatureReader, FeatureSink, ReadOptions};
//!
//! #[derive(Default)]
//! struct Words(Vec<String>);
//!
//! impl FeatureSink for Words {
//!     fn feature(&mut self, feature: Feature<'_>) {
//!         self.0.extend(feature.words().map(|word| String::from_utf8_lossy(word).into_owned()));
//!     }
//! }
//!
//! let mut words = Words::default();
//! FeatureReader::new(&ReadOptions::text()).read_bytes(b"Of all these\nfriends", &mut words)?;
//! assert_eq!(words.0, ["of", "all", "these", "friends"]);
//! # Ok::<(), std::io::Error>(())
//! ```

pub(crate) mod cutter;
pub(crate) mod decoding;
pub(crate) mod filtered;
mod options;
mod reader;
mod sink;

pub use cutter::Cutter;
pub use filtered::FilteredText;
pub use options::ReadOptions;
pub(crate) use reader::Ending;
pub use reader::FeatureReader;
pub use sink::{FeatureSink, LineState};
