// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns a large category (`--large`) from counts, without the classic table and its limits.

use super::counts::{Counts, Documents, ROOT};
use crate::error::{Error, Result, WarningSink};
use crate::learn::counter::DocumentEntropy;
use crate::learn::large::{LargeCounts, LargeFeature, LargeModel, NO_SUFFIX};
use crate::learn::{LearnSettings, Progress};
use crate::model::digram::{CharacterCounts, DigramTable};
use crate::model::medium::Medium;
use crate::token::id::WideId;
use dbacl_numeric::quantize::QuantWeight;

impl Counts {
    /// The large category of these counts; it is the same for any order of the input. Their regular
    /// expressions are none.
    ///
    /// # Errors
    /// [`Error::NoTokens`], [`Error::Numeric`].
    pub(crate) fn learn_large(
        self,
        settings: &LearnSettings,
        progress: &mut Progress<'_>,
        warnings: WarningSink<'_>,
    ) -> Result<LargeModel> {
        if self.features() == 0 {
            return Err(Error::NoTokens);
        }
        progress.say(|| {
            let total: u64 = self.nodes().iter().map(|node| node.count).sum();
            format!("picked up {total} ({} distinct) tokens", self.features())
        });
        progress.say(|| "calculating reference word weights".into());
        let digrams = settings.reference.measure(&characters(&self), progress, warnings)?;
        let documents = documents(&self);
        let mut large = features(self, &digrams);
        large.documents = documents;
        LargeModel::of(large, digrams, settings, progress)
    }
}

/// The characters of single words; their counts stop at 2^24.
fn characters(counts: &Counts) -> CharacterCounts {
    let (mut characters, mut body) = (CharacterCounts::default(), Vec::new());
    for (at, node) in (0u32..).zip(counts.nodes()) {
        if node.parent == ROOT && node.count > 0 {
            counts.spell(at, &mut body);
            characters.count_times(&body, u32::try_from(node.count).unwrap_or(u32::MAX));
        }
    }
    characters
}

/// The number of documents that have tokens, and the sums of their negative and squared entropies.
fn documents(counts: &Counts) -> (u32, f64, f64) {
    let (mut number, mut negative_sum, mut squared_sum) = (0u32, 0.0, 0.0);
    if counts.settings.documents != Documents::Bags {
        return (0, 0.0, 0.0);
    }
    for shard in &counts.shards {
        counts.each_document(shard, |entries| {
            let length: u64 = entries.iter().map(|(_, times)| times).sum();
            if length == 0 {
                return;
            }
            let mut entropy = DocumentEntropy::of_length(usize::try_from(length).unwrap_or(0));
            for &(_, times) in entries {
                entropy.add(u32::try_from(times).unwrap_or(u32::MAX));
            }
            let entropy = entropy.sum;
            negative_sum += -entropy;
            squared_sum += entropy * entropy;
            number = number.saturating_add(1);
        });
    }
    (number, negative_sum, squared_sum)
}

/// The features order by order, and by id within an order.
fn features(mut counts: Counts, digrams: &DigramTable) -> LargeCounts {
    let orders = orders(&counts);
    let suffixes = suffixes(&counts, &orders);
    counts.forget_index();
    let mut large = LargeCounts::with_room(counts.features());
    // The place of each node among the features.
    let mut places = vec![NO_SUFFIX; counts.nodes().len()];
    let mut body = Vec::new();
    let counted = counts.nodes().iter().zip(&orders).filter(|(node, _)| node.count > 0);
    for order in 1..=counted.map(|(_, &order)| order).max().unwrap_or(0) {
        let is_of_order = |node: &u32| {
            let at = *node as usize;
            orders[at] == order && counts.nodes()[at].count > 0
        };
        let of_order = (0u32..).take(orders.len()).filter(is_of_order);
        let mut sorted: Vec<(WideId, u32, QuantWeight, Medium)> = of_order
            .map(|node| {
                let (medium, _) = counts.spell(node, &mut body);
                let reference = QuantWeight::from_log_probability(digrams.log_reference(&body));
                (WideId::of(&body, medium), node, reference, medium)
            })
            .collect();
        sorted.sort_unstable_by_key(|&(id, node, ..)| (id, node));
        for (id, node, reference, medium) in sorted {
            let at = node as usize;
            let count = counts.nodes()[at].count;
            let suffix = places.get(suffixes[at] as usize).copied().unwrap_or(NO_SUFFIX);
            let place = large.push(LargeFeature { id, count, suffix, reference, medium });
            places[at] = u32::try_from(place).unwrap_or(NO_SUFFIX);
        }
        large.end_order();
    }
    large
}

/// The number of words of each node.
fn orders(counts: &Counts) -> Vec<u8> {
    let mut orders: Vec<u8> = Vec::with_capacity(counts.nodes().len());
    // Parents stand before their children.
    for node in counts.nodes() {
        orders.push(orders.get(node.parent as usize).map_or(1, |order| order + 1));
    }
    orders
}

/// For each node its longest proper suffix that was counted, or [`ROOT`].
fn suffixes(counts: &Counts, orders: &[u8]) -> Vec<u32> {
    let nodes = counts.nodes();
    let mut suffixes = vec![ROOT; nodes.len()];
    // Those of the nodes with fewer words are known.
    for order in 2..=orders.iter().copied().max().unwrap_or(0) {
        for at in (0..nodes.len()).filter(|&at| orders[at] == order) {
            let mut beginning = suffixes[nodes[at].parent as usize];
            suffixes[at] = loop {
                match counts.find(beginning, nodes[at].term) {
                    Some(suffix) => break suffix,
                    None if beginning == ROOT => break ROOT,
                    None => beginning = suffixes[beginning as usize],
                }
            };
        }
    }
    // What only begins others adds nothing to a sum of weights.
    for at in 0..nodes.len() {
        while let Some(suffix) = nodes.get(suffixes[at] as usize)
            && suffix.count == 0
        {
            suffixes[at] = suffixes[suffixes[at] as usize];
        }
    }
    suffixes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::header::Header;
    use crate::category::layout::{DIGRAM_BYTES, LARGE_SLOT_BYTES, SUM_BYTES};
    use crate::category::reader::{AnyCategory, Category, Fault};
    use crate::document::{FeatureReader, FeatureSink};
    use crate::learn::options::LearnOptions;
    use crate::learn::reference::Reference;
    use crate::model::settings::{ModelOption, Scheme};
    use crate::score::document::finish;
    use crate::score::model::{Model, PatternSet};
    use crate::score::scorer::Scorer;
    use crate::shards::part::PartCounter;
    use crate::token::Feature;

    /// Text whose words are the rarer the longer they are, in lines of nine words.
    fn text(seed: u64, words: usize) -> String {
        let mut state = seed;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut text = String::new();
        for number in 1..=words {
            for _ in 0..=(next(4) * next(4)) / 3 {
                text.push(char::from(b'a' + u8::try_from(next(10)).unwrap()));
            }
            text.push(if number % 9 == 0 { '\n' } else { ' ' });
        }
        text
    }

    fn count(options: &LearnOptions, texts: &[&str]) -> Counts {
        let mut part = PartCounter::new(options).unwrap();
        for text in texts {
            part.count(text.as_bytes());
        }
        part.finish().unwrap()
    }

    fn large(options: &LearnOptions, counts: Counts) -> Vec<u8> {
        let (mut progress, mut bytes) = (Progress::silent(), Vec::new());
        let model = counts.learn_large(options.settings(), &mut progress, &mut |_| {}).unwrap();
        model.write(&mut bytes, b"category").unwrap();
        bytes
    }

    /// Calls `each` for the features of a text.
    struct Each<F>(F);

    impl<F: FnMut(Feature<'_>)> FeatureSink for Each<F> {
        fn feature(&mut self, feature: Feature<'_>) {
            (self.0)(feature);
        }
    }

    fn read(options: &LearnOptions, text: &str, each: impl FnMut(Feature<'_>)) {
        let mut reader = FeatureReader::new(options.reading());
        reader.read_bytes(text.as_bytes(), &mut Each(each)).unwrap();
    }

    /// The score of a text, its complexity, its features that are not known.
    fn score<D: AsRef<[u8]>>(
        category: AnyCategory<D>,
        options: &LearnOptions,
        text: &str,
    ) -> (f64, f64, u32) {
        let model = Model::learned(Vec::new(), category, PatternSet::default());
        let mut scorer = Scorer::new(vec![model], None);
        read(options, text, |feature| scorer.score(&feature, &mut |_| {}));
        let tally = scorer.tallies()[0];
        (finish(&scorer, true)[0].score, tally.complexity, tally.misses)
    }

    #[test]
    fn a_large_category_has_the_weights_of_a_classic_one() {
        let mail = "From a@b Mon Jan  1 00:00:00 2024\nSubject: one\n\n";
        for (options, beginning) in [
            (LearnOptions::text(), ""),
            (LearnOptions::text().order(2).quality(4), ""),
            (LearnOptions::text().order(3).min_count(1).reference(Reference::MaximumEntropy), ""),
            (LearnOptions::text().order(7).with(ModelOption::Straddle).min_count(-900), ""),
            (LearnOptions::text().order(2).tokenizer(Scheme::Word), ""),
            (LearnOptions::mail().order(2), mail),
            (LearnOptions::text().with(ModelOption::ReferenceOnly), ""),
        ] {
            let texts = [3, 4].map(|seed| beginning.to_owned() + &text(seed, 3000));
            let [learned, other] = texts.each_ref().map(String::as_str);
            let counts = count(&options, &[learned, learned, &learned[..900]]);
            let classic = AnyCategory::from(counts.learn(&options).unwrap().category);
            let bytes = large(&options, counts);
            assert!(Category::new(bytes.as_slice()).is_err(), "others do not read it");
            let large = AnyCategory::new(bytes.as_slice()).and_then(AnyCategory::check).unwrap();
            let (theirs, ours) = (classic.header(), large.header());
            let near = |one: f64, two: f64| (one - two).abs() <= 2e-6 + one.abs() * 1e-9;
            for (one, two) in [
                (theirs.log_partition, ours.log_partition),
                (theirs.divergence, ours.divergence),
                (theirs.moments.shannon, ours.moments.shannon),
                (theirs.moments.shannon_variance, ours.moments.shannon_variance),
            ] {
                assert!(near(one, two), "{one} {two} {options:?}");
            }
            assert_eq!(
                Header { bits: 0, large: ours.large, ..theirs.clone() },
                Header {
                    log_partition: theirs.log_partition,
                    divergence: theirs.divergence,
                    moments: theirs.moments,
                    ..ours.clone()
                }
            );
            read(&options, learned, |feature| {
                let id = WideId::of(feature.body, feature.medium);
                let found = large.find(id).expect("a feature that was learned");
                assert_eq!(found.id, id);
                assert_eq!(Some(found.weight), classic.find(id).map(|slot| slot.weight));
                let reference = large.log_reference(feature.body);
                assert_eq!(reference, classic.log_reference(feature.body));
            });
            for text in texts.each_ref() {
                let (ours, complexity, misses) = score(large.clone(), &options, text);
                let (theirs, its_complexity, its_misses) = score(classic.clone(), &options, text);
                assert_eq!((complexity, misses), (its_complexity, its_misses));
                let renorms = 1e-6 * complexity;
                assert!((ours - theirs).abs() <= renorms, "{ours} {theirs} {options:?}");
            }
            assert!(score(large, &options, other).2 > 10);
        }
    }

    #[test]
    fn a_large_category_is_the_same_for_any_order_of_the_input() {
        let options = LearnOptions::text().order(3);
        let parts = [5, 6, 7].map(|seed| text(seed, 2000));
        let parts = parts.each_ref().map(String::as_str);
        let [one, two, three] = parts;
        let expected = large(&options, count(&options, &parts));
        assert_eq!(large(&options, count(&options, &[three, one, two])), expected);
        let mut merged = count(&options, &[two, three]);
        merged.merge(&count(&options, &[one])).unwrap();
        assert_eq!(large(&options, merged), expected);
    }

    #[test]
    fn any_damaged_byte_of_a_large_category_is_found() {
        let options = LearnOptions::text().order(2);
        let bytes = large(&options, count(&options, &["call me ishmael call me"]));
        let open = |bytes: &[u8]| AnyCategory::new(bytes).and_then(AnyCategory::check).map(|_| ());
        assert_eq!(open(&bytes), Ok(()));
        // Each byte of the header, the slots and the checksum, and each row of the digrams.
        let header = bytes.windows(2).position(|at| at == b"#\n").unwrap() + 2;
        let digrams = header..header + DIGRAM_BYTES;
        let is_tried = |at: &usize| !digrams.contains(at) || (at - header).is_multiple_of(511);
        for length in (0..bytes.len()).filter(is_tried) {
            assert!(AnyCategory::new(&bytes[..length]).is_err(), "cut at {length}");
        }
        assert_eq!(open(&[bytes.as_slice(), b"\0"].concat()), Err(Fault::Slots));
        let mut damaged = bytes.clone();
        for at in (0..bytes.len()).filter(is_tried) {
            damaged[at] ^= 1;
            assert!(open(&damaged).is_err(), "byte {at}");
            damaged[at] ^= 1;
        }
    }

    #[test]
    fn damaged_ids_do_not_lead_out_of_the_table() {
        let options = LearnOptions::text();
        let mut bytes = large(&options, count(&options, &[&text(8, 500)]));
        let table = bytes.len() - SUM_BYTES;
        let start = table - LARGE_SLOT_BYTES * 20;
        // A map is not summed up, so that look-ups meet what is there.
        for fill in [0, 0x01, 0xff] {
            bytes[start..table].fill(fill);
            let category = AnyCategory::new(bytes.as_slice()).unwrap();
            assert!(category.clone().check().is_err());
            for id in [0, 1, u64::MAX / 2, u64::MAX - 1] {
                assert_eq!(category.find(WideId(id)), None);
            }
        }
    }

    #[test]
    fn two_features_with_one_id_are_one() {
        let feature = |id, count| LargeFeature {
            id: WideId(id),
            count,
            suffix: NO_SUFFIX,
            reference: QuantWeight(64),
            medium: Medium::TEXT,
        };
        let mut counts = LargeCounts::default();
        let places = [feature(5, 1), feature(9, 2), feature(9, u64::from(u32::MAX))];
        assert_eq!(places.map(|feature| counts.push(feature)), [0, 1, 1]);
        counts.end_order();
        assert_eq!(counts.push(feature(9, 3)), 2);
        counts.end_order();
        let settings = LearnOptions::text().settings().clone();
        let digrams = DigramTable::zero();
        let model = LargeModel::of(counts, digrams, &settings, &mut Progress::silent()).unwrap();
        assert_eq!(model.header.features, u64::from(u32::MAX) + 6);
        let mut bytes = Vec::new();
        model.write(&mut bytes, b"x").unwrap();
        let category = AnyCategory::new(bytes.as_slice()).and_then(AnyCategory::check).unwrap();
        assert_eq!(category.header().features, u64::from(u32::MAX) + 6);
        let weights = [5, 9, 7].map(|id| category.find(WideId(id)).map(|slot| slot.weight.0));
        assert!(weights[1] > weights[0] && weights[2].is_none(), "{weights:?}");
    }
}
