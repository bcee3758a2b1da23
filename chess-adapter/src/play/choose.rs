// SPDX-License-Identifier: GPL-3.0-or-later
//! Choosing by scores: the selection rules and the randomised draw (spec chess 5.2 and 5.3).

use dbacl_numeric::elementary::exp2;
use shakmaty::Role;

use chess_games::game::Completion;
use dbacl_numeric::random::SplitMix64;

/// Which completions are preferred, given their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Rule {
    /// The best score.
    #[default]
    Basic,
    /// The best score among the captures, if there are any.
    Captures,
    /// Captures by the cheapest piece, if at least two without the king's are there.
    Tactical,
}

/// A completion and its score in bits, smaller is better.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scored {
    pub completion: Completion,
    pub score: f64,
}

/// Puts the best first; equal scores in byte order of the words.
pub(crate) fn sort(list: &mut [Scored]) {
    list.sort_by(|a, b| {
        a.score.total_cmp(&b.score).then_with(|| a.completion.word.cmp(&b.completion.word))
    });
}

/// The candidates of a rule, the preferred one first; indices into a sorted, non-empty list.
pub(crate) fn candidates(list: &[Scored], rule: Rule) -> Vec<usize> {
    let all: Vec<usize> = (0..list.len()).collect();
    let mut found = all.clone();
    found.retain(|&i| list[i].completion.m.is_capture());
    // The piece that captures; a promoting pawn counts as what it becomes.
    let capturer = |i: usize| {
        let m = list[i].completion.m;
        m.promotion().unwrap_or_else(|| m.role())
    };
    let fewest = match rule {
        Rule::Basic => return all,
        Rule::Captures => 1,
        Rule::Tactical => {
            found.retain(|&i| capturer(i) != Role::King);
            found.sort_by_key(|&i| capturer(i));
            2
        }
    };
    if found.len() >= fewest { found } else { all }
}

/// The weight of each score in a randomised draw: `min(1, 2^-((s - first) / temperature))`.
pub(crate) fn weights(scores: &[f64], temperature: f64) -> Vec<f64> {
    let Some(first) = scores.first() else { return Vec::new() };
    scores.iter().map(|s| exp2(-(s - first) / temperature).min(1.0)).collect()
}

/// A place drawn with probability proportional to its weight; `None` if no weight is positive.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
pub(crate) fn weighted(weights: &[f64], random: &mut SplitMix64) -> Option<usize> {
    let total: f64 = weights.iter().filter(|w| w.is_finite() && **w > 0.0).sum();
    let mut left = (random.draw() >> 11) as f64 / (1u64 << 53) as f64 * total;
    let mut last = None;
    for (place, &weight) in weights.iter().enumerate() {
        if weight.is_finite() && weight > 0.0 {
            last = Some(place);
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}

pub(crate) fn draw(
    list: &[Scored],
    candidates: &[usize],
    temperature: f64,
    random: &mut SplitMix64,
) -> usize {
    if temperature <= 0.0 {
        return candidates[0];
    }
    let scores: Vec<f64> = candidates.iter().map(|&i| list[i].score).collect();
    weighted(&weights(&scores, temperature), random)
        .map_or(candidates[0], |drawn| candidates[drawn])
}

/// The probabilities with which [`draw`] takes the moves of a sorted list: shares that sum to one.
/// At temperature 0 the first has all.
pub(crate) fn shares(list: &[Scored], temperature: f64) -> Vec<f64> {
    if temperature <= 0.0 {
        return (0..list.len()).map(|place| f64::from(u8::from(place == 0))).collect();
    }
    let scores: Vec<f64> = list.iter().map(|s| s.score).collect();
    let weights = weights(&scores, temperature);
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_games::game::{Game, read_fen};
    use chess_games::notation::Spelling;

    /// All moves of a position; those named get the scores 1, 2, ..., the others 100.
    fn scored(fen: &str, best: &[&str]) -> Vec<Scored> {
        let game = Game::new(read_fen(fen).expect("good FEN"), Spelling::default());
        let mut list: Vec<Scored> = game
            .completions()
            .into_iter()
            .map(|completion| {
                let place = best.iter().position(|w| *w == completion.word);
                let score =
                    place.map_or(100.0, |p| f64::from(u32::try_from(p).expect("small") + 1));
                Scored { completion, score }
            })
            .collect();
        sort(&mut list);
        list
    }

    #[test]
    fn rules_prefer_captures() {
        let two = "4k3/8/8/3p4/4P3/2N5/3K4/8 w - - 0 1"; // exd5, Nxd5
        let one = "4k3/8/8/3p4/8/2N5/3K4/8 w - - 0 1"; // Nxd5
        let promotion = "1n2k3/P7/8/1n6/8/2N5/3K4/8 w - - 0 1"; // axb8=Q, Nxb5
        let rows: &[(&str, &[&str], Rule, &str)] = &[
            (two, &["Kd3", "Nxd5", "exd5"], Rule::Basic, "Kd3"),
            (two, &["Kd3", "Nxd5", "exd5"], Rule::Captures, "Nxd5"),
            (two, &["Kd3", "Nxd5", "exd5"], Rule::Tactical, "exd5"),
            (one, &["Kd3", "Nxd5"], Rule::Tactical, "Kd3"),
            (one, &["Kd3", "Nxd5"], Rule::Captures, "Nxd5"),
            (promotion, &["Kd3", "axb8=Q+", "Nxb5"], Rule::Tactical, "Nxb5"),
        ];
        for (fen, best, rule, chosen) in rows {
            let list = scored(fen, best);
            assert_eq!(
                list[candidates(&list, *rule)[0]].completion.word,
                *chosen,
                "{rule:?} {fen}"
            );
        }
    }

    #[test]
    fn ties_fall_to_the_smaller_word() {
        let list = scored("4k3/8/8/8/8/8/8/4K3 w - - 0 1", &[]);
        assert_eq!(list[0].completion.word, "Kd1");
    }

    #[test]
    fn draws_have_the_stated_frequencies() {
        let list = scored("4k3/8/8/3p4/4P3/2N5/3K4/8 w - - 0 1", &["Kd3", "Nxd5", "exd5"]);
        let all = candidates(&list, Rule::Basic);
        let mut random = SplitMix64::new(3);
        let mut counts = vec![0u32; list.len()];
        for _ in 0..20_000 {
            counts[draw(&list, &all, 1.0, &mut random)] += 1;
        }
        for (i, expected) in [(0, 4.0 / 7.0), (1, 2.0 / 7.0), (2, 1.0 / 7.0)] {
            assert!((f64::from(counts[i]) / 20_000.0 - expected).abs() < 0.015, "{counts:?}");
        }
        // In a regrouped list a line that scores better than the first one has the weight 1.
        assert_eq!(weights(&[3.0, 2.0, 4.0], 1.0), [1.0, 1.0, 0.5]);
        assert_eq!(weights(&[3.0, 5.0], 2.0), [1.0, 0.5]);
        assert_eq!(draw(&list, &all, 0.0, &mut random), 0);
        assert_eq!(weighted(&[0.0, f64::NAN, -1.0], &mut random), None);
        // What is shown is what is drawn.
        let ratio = |temperature: f64| {
            let shares = shares(&list, temperature);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            shares[0] / shares[1]
        };
        assert!((ratio(1.0) - 2.0).abs() < 1e-12 && (ratio(0.5) - 4.0).abs() < 1e-12);
        assert_eq!(shares(&list, 0.0)[..2], [1.0, 0.0]);
    }
}
