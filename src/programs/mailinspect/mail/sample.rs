// SPDX-License-Identifier: GPL-3.0-or-later
//! Small mail categories, and classifies by them, for tests.

use super::judge::Judge;
use crate::category::header::Header;
use crate::category::{mapped, writer};
use crate::model::digram::DigramTable;
use crate::model::medium::Medium;
use crate::model::moments::Moments;
use crate::model::settings::{Locale, ModelOption, ModelOptions, Scheme};
use crate::token::id::FeatureId;
use dbacl_numeric::quantize::QuantWeight;
use std::path::Path;

/// A judge by the [`category`] of these words.
pub(crate) fn judge(words: &[(&str, u8, f32)], is_exact: bool) -> Judge {
    let place = tempfile::tempdir().expect("a temporary folder");
    let path = place.path().join("sample");
    self::category(&path, words);
    let category = mapped::open(&path).expect("a category");
    Judge::new(category, b"sample".to_vec(), false, is_exact, Locale::C, &mut |_| {})
        .expect("no expressions")
}

/// Writes a message category whose only features are these words of these media, with weights in
/// nats. Its words end at blanks and ASCII punctuation, its reference measure costs nothing; it
/// learned 9 features in 3 documents.
pub(crate) fn category(path: &Path, words: &[(&str, u8, f32)]) {
    const BITS: u8 = 8;
    let mut slots = vec![(FeatureId(0), QuantWeight(0)); 1 << BITS];
    for &(word, medium, weight) in words {
        let body = [&[3], word.as_bytes(), &[3]].concat();
        let id = FeatureId::of(&body, Medium::new(medium));
        let mut at = id.0 as usize % slots.len();
        while slots[at].0.0 != 0 {
            at = (at + 1) % slots.len();
        }
        slots[at] = (id, QuantWeight::from_weight(weight));
    }
    let options = [ModelOption::Mail, ModelOption::Entropy, ModelOption::StandardTokenizer];
    let header = Header {
        reference_only: false,
        divergence: 0.0,
        log_partition: 0.0,
        max_order: 1,
        multinomial: false,
        bits: BITS,
        features: 9,
        unique_features: 2,
        documents: 3,
        moments: Moments::default(),
        log_masses: [0.0; 16],
        options: options.into_iter().fold(ModelOptions::default(), ModelOptions::with),
        scheme: Some(Scheme::Alpha),
    };
    let mut bytes = Vec::new();
    writer::write(&mut bytes, &header, b"sample", &[], &DigramTable::zero(), slots.into_iter())
        .expect("memory can be written");
    std::fs::write(path, bytes).expect("a temporary file");
}
