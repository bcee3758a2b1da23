// SPDX-License-Identifier: GPL-3.0-or-later
//! Error exponents between two dumped unigram models: Kullback-Leibler divergences and the Chernoff
//! information (spec tools 4).
//!
//! With P0 and P1 the two models, the family `Q(beta)`, proportional to `P0^beta P1^(1-beta)`,
//! leads from P1 to P0. At the member with equal divergences from both, this divergence is the best
//! rate at which the error of a test between the two models can fall with the length of the text.
//!
//! Weights are f32 and added in f32 where the formulas say so; all else is f64. Sums run in the
//! slot order of the table that [`Pair`] stands for.

use crate::category::header::Header;
use dbacl_numeric::elementary::{exp, log};
use dbacl_numeric::parse::{strtof, strtol};

/// Beginning of the line after which the features of a dump come.
const TITLE: &[u8] = b"# lambda | dig_ref | count | id     | token";
/// Slots of the table in whose order features are summed: 2^15.
const SLOTS: usize = 1 << 15;
/// If reference weights of a feature differ by more than this, the models have different measures.
const SAME_REFERENCE: f64 = 0.00001;

/// A dumped unigram model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dump {
    /// Log-partition, nats, as printed in the dump.
    pub log_partition: f64,
    /// The features in the order of the dump.
    pub features: Vec<DumpedFeature>,
}

/// One line of a dump.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DumpedFeature {
    /// Weight, nats.
    pub weight: f32,
    /// Log reference weight, nats.
    pub reference: f32,
    /// The feature's identifier.
    pub id: u32,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum DumpFault {
    /// It does not begin like a dump, or has no features' title.
    #[error("is not a dbacl model dump! (see dbacl(1) -d switch)")]
    NotADump,
    /// The model has features of several words.
    #[error("is not supported (model too complex)")]
    TooComplex,
    /// The line with this number, from 1, is not a feature.
    #[error("unable to parse line {0}")]
    Line(usize),
    /// More or fewer features than announced.
    #[error("incorrect number of features, expectig {expected}, got {found}")]
    Count {
        /// As announced in the header.
        expected: u32,
        /// Lines after the title, the end of the file counted as one.
        found: usize,
    },
}

/// Reads what `dbacl -d` printed when it learned.
pub(super) fn parse(text: &[u8]) -> Result<Dump, DumpFault> {
    let parsed = Header::parse(text).map_err(|_| DumpFault::NotADump)?;
    let mut line_number = newlines(&text[..parsed.length]) + 1;
    let mut lines = text[parsed.length..].split_inclusive(|&byte| byte == b'\n');
    if !lines.next().is_some_and(|line| line.starts_with(TITLE)) {
        return Err(DumpFault::NotADump);
    }
    if parsed.header.max_order != 1 {
        return Err(DumpFault::TooComplex);
    }
    let mut features = Vec::new();
    for line in lines {
        line_number += 1;
        features.push(feature(line).ok_or(DumpFault::Line(line_number))?);
    }
    let expected = parsed.header.unique_features;
    if u32::try_from(features.len()) != Ok(expected) {
        return Err(DumpFault::Count { expected, found: features.len() + 1 });
    }
    Ok(Dump { log_partition: parsed.header.log_partition, features })
}

fn newlines(text: &[u8]) -> usize {
    text.split(|&byte| byte == b'\n').count() - 1
}

/// Parses weight, reference weight, count and identifier; the rest of the line is ignored.
fn feature(line: &[u8]) -> Option<DumpedFeature> {
    let (weight, rest) = take(line, strtof)?;
    let (reference, rest) = take(rest, strtof)?;
    let (_count, rest) = take(rest, |text| strtol(text, 10))?;
    let (id, _) = take(rest, |text| strtol(text, 16))?;
    Some(DumpedFeature { weight, reference, id: u32::try_from(id).ok()? })
}

/// A number at the front of `text`, and what follows it.
fn take<T>(text: &[u8], read: impl Fn(&[u8]) -> (T, usize)) -> Option<(T, &[u8])> {
    let (value, used) = read(text);
    (used > 0).then(|| (value, &text[used..]))
}

/// Two models over the union of their features.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pair {
    log_partitions: [f64; 2],
    /// In slot order.
    features: Vec<PairedFeature>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct PairedFeature {
    id: u32,
    /// Weights in both models; 0 where a model lacks the feature.
    a: f32,
    b: f32,
    reference: f32,
}

impl Pair {
    /// Joins the two models. Also returns the features with different reference weights, which keep
    /// the weight of the first model only.
    pub(super) fn new(first: &Dump, second: &Dump) -> (Self, Vec<u32>) {
        let mut unequal = Vec::new();
        let mut table = Table::with_room_for(first.features.len() + second.features.len());
        let paired = |&DumpedFeature { id, reference, .. }: &DumpedFeature, a, b| {
            Some(PairedFeature { id, a, b, reference })
        };
        for feature in &first.features {
            *table.slot(feature.id) = paired(feature, feature.weight, 0.0);
        }
        for feature in &second.features {
            let slot = table.slot(feature.id);
            match slot {
                None => *slot = paired(feature, 0.0, feature.weight),
                Some(known) => {
                    let difference = f64::from(known.reference - feature.reference);
                    if difference.abs() > SAME_REFERENCE {
                        unequal.push(feature.id);
                    } else {
                        known.b = feature.weight;
                    }
                }
            }
        }
        let log_partitions = [first.log_partition, second.log_partition];
        (Self { log_partitions, features: table.0.into_iter().flatten().collect() }, unequal)
    }

    /// How far the log-partition recomputed from the features is from the one in each dump, nats.
    /// Both are near 0 for sound dumps.
    pub(super) fn residues(&self) -> [f64; 2] {
        let [z0, z1] = self.log_partitions;
        let (mut sum0, mut sum1) = (0.0, 0.0);
        for f in &self.features {
            let price = exp(f64::from(f.reference));
            sum0 += (exp(f64::from(f.a)) - 1.0) * price;
            sum1 += (exp(f64::from(f.b)) - 1.0) * price;
        }
        [log(1.0 + sum0) - z0, log(1.0 + sum1) - z1]
    }

    /// The divergences `D(P0|P1)` and `D(P1|P0)`, nats.
    pub(super) fn divergences(&self) -> [f64; 2] {
        let [z0, z1] = self.log_partitions;
        let (mut sum0, mut sum1) = (0.0, 0.0);
        for f in &self.features {
            sum0 += f64::from(f.a - f.b) * exp(f64::from(f.a + f.reference) - z0);
            sum1 += f64::from(f.b - f.a) * exp(f64::from(f.b + f.reference) - z1);
        }
        [z1 - z0 + sum0, z0 - z1 + sum1]
    }

    /// The member of the family at `beta`, from 0 (P1) to 1 (P0).
    ///
    /// Compatibility: each divergence is the mean of two expressions, of which the second is off by
    /// the difference of the log-partitions. So at the ends they differ from [`Pair::divergences`]
    /// by half of it (recorded case hypex-uniform).
    #[allow(clippy::manual_midpoint)] // the sum and the half are rounded in this order
    pub(super) fn tilted(&self, beta: f64) -> Tilted {
        let [z0, z1] = self.log_partitions;
        let mut partition = 1.0;
        let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
        for f in &self.features {
            let (a, b, reference) = (f64::from(f.a), f64::from(f.b), f64::from(f.reference));
            let q = beta * a + (1.0 - beta) * b;
            partition += (exp(q) - 1.0) * exp(reference);
            let mass = exp(q + reference);
            s0 += (q - a) * mass;
            s1 += (q - b) * mass;
            s2 += f64::from(f.b - f.a) * mass;
        }
        let log_partition = log(partition);
        let psi = s2 / partition + z0 - z1;
        let mut to_first = s0 / partition + z0 - log_partition;
        to_first = (to_first + z0 - log_partition + (1.0 - beta) * psi) / 2.0;
        let mut to_second = s1 / partition + z1 - log_partition;
        to_second = (to_second + z1 - log_partition - beta * psi) / 2.0;
        Tilted { beta, log_partition, psi, to_first, to_second }
    }
}

/// One member of the family between two models. All but `beta` in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tilted {
    /// Its place, from 0 (P1) to 1 (P0).
    pub beta: f64,
    pub log_partition: f64,
    /// Its expected log-likelihood ratio of P1 to P0.
    pub psi: f64,
    /// Its divergence from P0.
    pub to_first: f64,
    /// Its divergence from P1.
    pub to_second: f64,
}

/// Follows the family from P1 to P0 and records where the divergences from both are equal.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ChernoffSearch {
    /// The best exponent, nats.
    pub rate: f64,
    /// The beta where it was found; 0 or less if it was not found.
    pub beta: f64,
    last: f64,
}

impl ChernoffSearch {
    /// Takes in the next member, `step` after the one before.
    ///
    /// Compatibility: a crossing at the very first member has a place below 0 and so counts as not
    /// found (recorded case hypex-identical).
    pub(super) fn visit(&mut self, member: &Tilted, step: f64) {
        if self.beta <= 0.0 {
            self.rate = self.last;
            if member.to_first <= member.to_second {
                self.beta = member.beta - step / 2.0;
                self.rate = (self.rate + member.to_first + member.to_second) / 4.0;
            }
        }
        self.last = member.to_first + member.to_second;
    }
}

/// The places that are visited: from 0 by repeated addition of `step` while below 1.
pub(super) fn places(step: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(0.0), move |beta| Some(beta + step)).take_while(|&beta| beta < 1.0)
}

/// A hash table with open addressing: identifier modulo size, linear probing. So each feature has
/// the slot that it has in hypex 1.14.1.
struct Table(Vec<Option<PairedFeature>>);

impl Table {
    /// A table that `count` features do not fill.
    fn with_room_for(count: usize) -> Self {
        Self(vec![None; SLOTS.max((count + 1).next_power_of_two())])
    }

    /// The slot that holds the feature, or the empty one in which it belongs.
    fn slot(&mut self, id: u32) -> &mut Option<PairedFeature> {
        let mask = self.0.len() - 1;
        let mut at = id as usize & mask;
        while self.0[at].is_some_and(|feature| feature.id != id) {
            at = (at + 1) & mask;
        }
        &mut self.0[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(order: u8, unique: usize, features: &str) -> String {
        format!(
            "# dbacl 1.14.1 dlw portable category ./k \n\
             # entropy 1.5 logZ 0.25 max_order {order} type hierarchical\n\
             # hash_size 15 features 9 unique_features {unique} documents 0\n\
             # shannon 0.0 shannon_s2 0.0\n# alpha 0.0 beta 0.0 mu 0.0 s2 0.0\n\
             # medialp 1.0 \n# min_feature_count 0 max_feature_count 3\n\
             # options 8388612 2 0 (CP_ALPHA)\n#\n\
             # lambda | dig_ref | count | id     | token\n{features}"
        )
    }

    fn model(features: &[(f32, f32, u32)]) -> Dump {
        let mut sum = 0.0;
        for &(weight, reference, _) in features {
            sum += (f64::from(weight).exp() - 1.0) * f64::from(reference).exp();
        }
        Dump {
            log_partition: (1.0 + sum).ln(),
            features: features
                .iter()
                .map(|&(weight, reference, id)| DumpedFeature { weight, reference, id })
                .collect(),
        }
    }

    #[test]
    fn dumps_are_read_or_refused() {
        let line = "    3.938    -7.844       5 123f0012 []tom[](1)\n";
        let read = parse(dump(1, 1, line).as_bytes()).expect("a good dump");
        assert_eq!(read.log_partition, 0.25);
        assert_eq!(
            read.features,
            [DumpedFeature { weight: 3.938, reference: -7.844, id: 0x123f0012 }]
        );
        for (text, expected) in [
            (String::new(), "is not a dbacl model dump! (see dbacl(1) -d switch)"),
            (dump(1, 1, line).replace("# lambda", "# lambada"), {
                "is not a dbacl model dump! (see dbacl(1) -d switch)"
            }),
            (dump(2, 1, line), "is not supported (model too complex)"),
            (dump(1, 2, line), "incorrect number of features, expectig 2, got 2"),
            (dump(1, 1, ""), "incorrect number of features, expectig 1, got 1"),
            (dump(1, 1, &line.repeat(2)), "incorrect number of features, expectig 1, got 3"),
            (dump(1, 1, "\n"), "unable to parse line 11"),
            (dump(1, 1, "1 2 3\n"), "unable to parse line 11"),
            (dump(1, 1, &format!("{line}x 2 3 4 []\n")), "unable to parse line 12"),
        ] {
            let fault = parse(text.as_bytes()).expect_err("a bad dump");
            assert_eq!(fault.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn ends_of_the_family_are_the_models() {
        let first = model(&[(1.0, -2.0, 1), (2.0, -3.0, 2), (0.5, -1.5, 3)]);
        let second = model(&[(1.5, -3.0, 2), (-1.0, -1.0, 0x8001)]);
        let (pair, unequal) = Pair::new(&first, &second);
        assert!(unequal.is_empty());
        for residue in pair.residues() {
            assert!(residue.abs() < 1e-6);
        }
        let [d01, d10] = pair.divergences();
        assert!(d01 > 0.0 && d10 > 0.0);
        let half = (first.log_partition - second.log_partition) / 2.0;
        let start = pair.tilted(0.0);
        let end = pair.tilted(1.0);
        for (found, expected) in [
            (start.to_first, d10 + half),
            (start.to_second, 0.0),
            (end.to_first, 0.0),
            (end.to_second, d01 - half),
            (start.log_partition, second.log_partition),
            (end.log_partition, first.log_partition),
        ] {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn features_with_unequal_reference_weights_lose_their_second_weight() {
        let first = model(&[(1.0, -2.0, 7), (1.0, -2.0, 8)]);
        let second = model(&[(3.0, -2.0001, 7), (3.0, -2.000001, 8)]);
        let (pair, unequal) = Pair::new(&first, &second);
        assert_eq!(unequal, [7]);
        assert_eq!(pair.features.iter().map(|f| f.b).collect::<Vec<_>>(), [0.0, 3.0]);
    }

    #[test]
    fn slots_follow_identifiers_and_probing() {
        let first = model(&[(1.0, -2.0, 0x8005), (1.0, -2.0, 3), (1.0, -2.0, 0x7fff)]);
        let second = model(&[(1.0, -2.0, 5), (1.0, -2.0, 0xffff)]);
        let (pair, _) = Pair::new(&first, &second);
        let ids: Vec<u32> = pair.features.iter().map(|feature| feature.id).collect();
        assert_eq!(ids, [0xffff, 3, 0x8005, 5, 0x7fff]);
    }

    #[test]
    fn crossing_is_between_two_steps() {
        let member = |beta, to_first, to_second| Tilted {
            beta,
            log_partition: 0.0,
            psi: 0.0,
            to_first,
            to_second,
        };
        let mut search = ChernoffSearch::default();
        search.visit(&member(0.0, 8.0, 0.0), 0.5);
        assert_eq!((search.rate, search.beta), (0.0, 0.0));
        search.visit(&member(0.5, 1.0, 3.0), 0.5);
        assert_eq!((search.rate, search.beta), (3.0, 0.25));
        search.visit(&member(0.9, 0.0, 9.0), 0.5);
        assert_eq!((search.rate, search.beta), (3.0, 0.25));
    }

    #[test]
    fn places_stop_below_one() {
        assert_eq!(places(0.3).count(), 4);
        // 0.1 added ten times is just below 1
        assert_eq!(places(0.1).count(), 11);
        assert_eq!(places(0.5).collect::<Vec<_>>(), [0.0, 0.5]);
    }
}
