// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes the weights as two ordinary category files, *chosen* and *other*.
//!
//! Category files hold no negative weights. So a feature with a positive weight stands in *chosen*
//! with its weight, one with a negative weight stands in *other* with the absolute value, and no
//! feature stands in both. Both categories have the same measure of characters and the same log Z,
//! which cancel. So for a text
//!
//! ```text
//! score(chosen) - score(other) = -scale * s / ln 2      bits, as `dbacl -n` prints them
//! ```
//!
//! within the grid of 1/32 nat that stored weights lie on, that is, within 1/64 nat divided by
//! `scale` for each occurrence of a feature.

use super::fit::Fit;
use dbacl_engine::category::header::Header;
use dbacl_engine::category::layout::SLOT_BYTES;
use dbacl_engine::token::id::FeatureId;
use dbacl_joint::blend::{stored, uniform_digrams};
use dbacl_joint::publish::set;
use dbacl_model::digram::DigramTable;
use dbacl_model::medium::MEDIA;
use dbacl_model::moments::Moments;
use dbacl_model::settings::{ModelOption, ModelOptions, Scheme};
use dbacl_numeric::quantize::QuantWeight;

/// How the files are to be written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// The option word of the categories: how texts become features.
    pub options: ModelOptions,
    /// How text is cut into words.
    pub scheme: Scheme,
    /// Longest n-gram.
    pub max_order: u8,
    /// The factor of the weights. With 1 the files hold nats. With a larger factor the grid is
    /// finer, and readers of the scores have to divide by it.
    pub scale: f64,
    /// Groups that were learned.
    pub groups: u64,
}

impl Form {
    /// For groups of [`push_word`](super::Groups::push_word): plain text, words of visible bytes,
    /// case kept, single words; weights as they are.
    pub fn of_words(groups: u64) -> Self {
        let options = ModelOptions::default().with(ModelOption::Text);
        let options = options.with(ModelOption::StandardTokenizer).with(ModelOption::KeepCase);
        Self { options, scheme: Scheme::Graph, max_order: 1, scale: 1.0, groups }
    }
}

/// The bytes of the two files, *chosen* first, under these names.
pub fn files(fit: &Fit, form: &Form, names: [&[u8]; 2]) -> [Vec<u8>; 2] {
    let mut sides: [Vec<(FeatureId, QuantWeight)>; 2] = [Vec::new(), Vec::new()];
    for (id, weight) in fit.weights() {
        let weight = f64::from(weight);
        let quantized = stored(weight.abs() * form.scale);
        if quantized.0 > 0 {
            sides[usize::from(weight < 0.0)].push((id, quantized));
        }
    }
    // Sorted, so that the order does not depend on how the table grew.
    for side in &mut sides {
        side.sort_unstable_by_key(|&(id, _)| id);
    }
    let digrams = uniform_digrams();
    [0, 1].map(|at| one_file(&sides[at], form, names[at], at + 1, &digrams))
}

/// Slots may be filled to seven tenths: most look-ups are of features that the file does not have,
/// and these end at the first empty slot.
const fn bits_for(features: usize) -> u8 {
    let mut bits = 4;
    while features * 10 > 7 << bits {
        bits += 1;
    }
    bits
}

fn one_file(
    features: &[(FeatureId, QuantWeight)],
    form: &Form,
    name: &[u8],
    place: usize,
    digrams: &DigramTable,
) -> Vec<u8> {
    let bits = bits_for(features.len());
    let count = u32::try_from(features.len()).unwrap_or(u32::MAX);
    let header = Header {
        reference_only: false,
        divergence: 0.0,
        log_partition: 0.0,
        max_order: form.max_order,
        multinomial: false,
        bits,
        large: None,
        features: count.into(),
        unique_features: count,
        documents: u32::try_from(form.groups).unwrap_or(u32::MAX),
        moments: Moments::default(),
        log_masses: [0.0; MEDIA],
        options: form.options,
        scheme: Some(form.scheme),
    };
    let mut bytes = Vec::new();
    header.write_numbers(&mut bytes, name);
    let (scale, groups) = (form.scale, form.groups);
    let line = format!("# choices 1 place {place} of 2 groups {groups} scale {scale} end\n");
    bytes.extend_from_slice(line.as_bytes());
    header.write_settings(&mut bytes, &[]);
    for weight in digrams.stored() {
        bytes.extend_from_slice(&weight.0.to_be_bytes());
    }
    let start = bytes.len();
    bytes.resize(start + (SLOT_BYTES << bits), 0);
    for &(id, weight) in features {
        set(&mut bytes[start..], bits, id, weight);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Groups, Settings, Tally};
    use dbacl_engine::category::reader::Category;

    #[test]
    fn the_files_hold_the_weights_with_their_signs() {
        let mut groups = Groups::default();
        for _ in 0..200 {
            for ids in [[7, 8], [7, 9]] {
                for id in ids {
                    groups.push(FeatureId(id));
                }
                groups.end_alternative();
            }
            groups.end_group(0);
        }
        let mut fit = Fit::new(Settings { groups: 200, ..Settings::default() });
        fit.learn(&groups, &mut Tally::default());
        let form = Form { scale: 8.0, ..Form::of_words(200) };
        let [chosen, other] = files(&fit, &form, [b"chosen", b"other"]);
        let read = |bytes: Vec<u8>| Category::new(bytes).expect("a category");
        let (chosen, other) = (read(chosen), read(other));
        let weight = |category: &Category<Vec<u8>>, id: u32| {
            let slot = category.find(FeatureId(id)).filter(|slot| slot.id.0 == id);
            slot.map(|slot| f64::from(slot.weight.weight()) / 8.0)
        };
        for (id, expected) in [(8, 0), (9, 1)] {
            let exact = f64::from(fit.table.find(FeatureId(id)).1).abs();
            let [own, not] = if expected == 0 { [&chosen, &other] } else { [&other, &chosen] };
            let found = weight(own, id).expect("in its file");
            assert!(exact > 0.3 && (found - exact).abs() <= 1.0 / 512.0, "{id} {found} {exact}");
            assert_eq!(weight(not, id), None);
        }
        // A feature of all alternatives changes only because its step changes within a group.
        assert!(weight(&chosen, 7).or(weight(&other, 7)).unwrap_or(0.0) < 0.1);
        assert_eq!(chosen.header().log_partition, other.header().log_partition);
    }
}
