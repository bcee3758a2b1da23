// SPDX-License-Identifier: GPL-3.0-or-later
//! How odd texts are for a model → from when on a text has none of the labels.
//!
//! ```text
//! oddness    entropy of softmax(3 s), nats; with a label `none`: s_none - largest other s
//! threshold  a quantile of the oddness of texts that were left out, by known features
//! ```
//!
//! A text is odd where no label stands out. Its probability says less: it is that of the best label
//! if one of them must be right.

use crate::text::calibrate::Cut;
use dbacl_numeric::elementary::{exp, log, narrow, real};

/// The label of examples that have none of the others.
pub const NONE: &str = "none";
/// Shares of texts of the labels that keep their label, for which thresholds are found.
pub(crate) const KEPT: [f64; 5] = [0.8, 0.9, 0.95, 0.98, 0.99];
/// What margins are multiplied by.
const SLOPE: f64 = 3.0;
/// Texts of a group with a threshold of its own, at least, and groups at most.
const FEWEST: usize = 100;
const GROUPS: usize = 5;

/// Thresholds of texts with up to so many known features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Group {
    pub known: f32,
    /// For each of [`KEPT`], rising.
    pub thresholds: [f32; KEPT.len()],
}

/// How odd a text with these scores is; `none` is the number of the label [`NONE`].
pub(super) fn oddness<S: Into<f64> + Copy>(scores: &[S], none: Option<usize>) -> f64 {
    let highest = |skipped: Option<usize>| {
        let others = scores.iter().enumerate().filter(|(at, _)| Some(*at) != skipped);
        others.map(|(_, &score)| score.into()).fold(f64::NEG_INFINITY, f64::max)
    };
    if let Some(none) = none {
        return scores[none].into() - highest(Some(none));
    }
    let highest = highest(None);
    let (mut sum, mut weighted) = (0.0, 0.0);
    for &score in scores {
        let margin = SLOPE * (score.into() - highest);
        let share = exp(margin);
        sum += share;
        weighted += share * margin;
    }
    log(sum) - weighted / sum
}

/// The thresholds that texts which were left out show: whole ones, and shortened copies with fewer
/// known features than those.
pub(super) fn groups(cuts: &[Cut<'_>], none: Option<usize>) -> Vec<Group> {
    let is_own = |cut: &&Cut<'_>| none.is_none_or(|none| !cut.labels.contains(&label(none)));
    let mut whole: Vec<u32> =
        cuts.iter().filter(is_own).filter(|cut| cut.words == 0).map(|cut| cut.known).collect();
    whole.sort_unstable();
    let Some(&shortest) = whole.get(whole.len() / 20) else { return Vec::new() };
    let chosen = |is_whole: bool| {
        let is_chosen = move |cut: &&Cut<'_>| match is_whole {
            true => cut.words == 0,
            false => cut.words > 0 && cut.known < shortest,
        };
        let known = cuts.iter().filter(is_own).filter(is_chosen).filter(|cut| cut.known > 0);
        known.map(|cut| (cut.known, oddness(&cut.scores, none))).collect::<Vec<_>>()
    };
    if whole.len() < FEWEST {
        return Vec::new();
    }
    let mut groups: Vec<Group> = Vec::new();
    for group in [chosen(false), chosen(true)].into_iter().flat_map(divided) {
        // Texts with equal numbers of known features have one group.
        match groups.last_mut() {
            Some(last) if last.known >= group.known => *last = group,
            _ => groups.push(group),
        }
    }
    groups
}

/// The groups of texts with so many known features and this oddness.
fn divided(mut texts: Vec<(u32, f64)>) -> Vec<Group> {
    texts.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let number = (texts.len() / FEWEST).min(GROUPS);
    let group = |at: usize| {
        let own = &texts[at * texts.len() / number..(at + 1) * texts.len() / number];
        let mut odd: Vec<f64> = own.iter().map(|(_, oddness)| *oddness).collect();
        odd.sort_by(f64::total_cmp);
        let known = own.last().map_or(0, |(known, _)| *known);
        let thresholds = KEPT.map(|kept| narrow(quantile(&odd, kept)));
        Group { known: narrow(f64::from(known)), thresholds }
    };
    (0..number).map(group).collect()
}

fn label(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The number below which the share `share` of sorted numbers lies.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let most = share * real(sorted.len());
    let place = sorted.iter().zip(1usize..).position(|(_, count)| real(count) >= most);
    sorted[place.unwrap_or(sorted.len() - 1)]
}

/// The oddness above which a text with so many known features has none of the labels, where the
/// share `kept` of the texts that have one is to keep it.
pub(super) fn threshold(groups: &[Group], known: u32, kept: f64) -> f64 {
    let is_own = |group: &&Group| f64::from(known) <= f64::from(group.known);
    let Some(group) = groups.iter().find(is_own).or(groups.last()) else { return f64::INFINITY };
    let above = KEPT.iter().position(|&own| own >= kept).unwrap_or(KEPT.len() - 1);
    let below = above.saturating_sub(1);
    let [low, high] = [below, above].map(|at| f64::from(group.thresholds[at]));
    let width = KEPT[above] - KEPT[below];
    let share = if width > 0.0 { (kept - KEPT[below]) / width } else { 1.0 };
    low + share.clamp(0.0, 1.0) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_a_best_label_are_odd() {
        let sure = oddness(&[2.0, -1.0, -1.0], None);
        let torn = oddness(&[0.5, 0.4, -1.0], None);
        let lost = oddness(&[-1.0, -1.0, -1.0], None);
        assert!(sure < torn && torn < lost && (lost - 3f64.ln()).abs() < 1e-12);
        assert_eq!(oddness(&[1.0, 0.25, 0.5], Some(2)), -0.5);
    }

    #[test]
    fn thresholds_keep_the_share_that_is_asked_for() {
        let labels = [0u32];
        let cut = |at: u32, words| Cut {
            words,
            scores: vec![narrow(f64::from(at) / 1000.0), 0.0],
            known: 10 + at % 40 - if words > 0 { 9 } else { 0 },
            labels: &labels,
        };
        let mut cuts: Vec<Cut<'_>> = (0..2000).map(|at| cut(at, 0)).collect();
        let groups = super::groups(&cuts, None);
        assert_eq!(groups.len(), 5);
        for kept in [0.8, 0.85, 0.95, 0.99] {
            let is_kept =
                |cut: &&Cut<'_>| oddness(&cut.scores, None) <= threshold(&groups, cut.known, kept);
            let share = real(cuts.iter().filter(is_kept).count()) / 2000.0;
            assert!((share - kept).abs() < 0.02, "{kept}: {share}");
        }
        // Copies count only where no whole text is as short, and few texts have no thresholds.
        let before = groups.last().copied();
        cuts.extend((0..2000).map(|at| cut(at, 1)));
        assert_eq!(super::groups(&cuts, None).last().copied(), before);
        assert!(super::groups(&cuts[..FEWEST - 1], None).is_empty());
        assert!(super::groups(&[], None).is_empty());
        assert_eq!(threshold(&[], 3, 0.95), f64::INFINITY);
    }
}
