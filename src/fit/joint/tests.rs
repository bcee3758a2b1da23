// SPDX-License-Identifier: GPL-3.0-or-later
use super::*;
use crate::fit::general::SameLabels;
use std::sync::atomic::{AtomicU32, Ordering};

const NAMES: [&str; 4] = ["ham", "spam", "work", "lists"];

/// Messages of these numbers by label; each has words of its kind, tags of its kind, words of all,
/// and words of its own. The first `wrong` of each label are of the next kind.
fn data(sizes: &[usize], wrong: usize) -> Dataset {
    let mut data = Dataset::new(sizes.len());
    let mut random = SplitMix64::new(4);
    let mut key = 0;
    for (label, &size) in sizes.iter().enumerate() {
        for number in 0..size {
            let kind = if number < wrong { (label + 1) % sizes.len() } else { label };
            let mut ids = |base: u32| {
                let kind = 100 * u32::try_from(kind).unwrap();
                let mut below = || u32::try_from(random.below(40)).unwrap();
                let mut ids: Vec<u32> = (0..12)
                    .flat_map(|_| [base + 1 + kind + below(), base + 900 + below()])
                    .collect();
                ids.push(100_000 + base + 10 * key);
                ids.sort_unstable();
                ids.dedup();
                ids
            };
            let (text, tags, agreement) = (ids(0), ids(5_000), ids(10_000));
            data.push(label, u64::from(key), [text, tags, agreement]);
            key += 1;
        }
    }
    data.complete()
}

fn solve(data: &Dataset, wishes: &Wishes, general: Option<&GeneralModel>) -> Solution {
    let names: Vec<String> = NAMES.iter().take(data.width).map(|&name| name.into()).collect();
    let problem = Problem { data, names: &names, wishes, general, stop: Stop::NEVER };
    problem.solve(&mut |_| {}).unwrap()
}

#[test]
fn messages_with_wrong_labels_are_left_out_and_others_are_not() {
    for sizes in [&[150, 150][..], &[150, 150, 150]] {
        for wrong in [0, 3] {
            let found = solve(&data(sizes, wrong), &Wishes::default(), None);
            let left_out: Vec<usize> =
                (0..found.is_left_out.len()).filter(|&at| found.is_left_out[at]).collect();
            let expected: Vec<usize> = (0..sizes.len())
                .flat_map(|label| (0..wrong).map(move |at| 150 * label + at))
                .collect();
            assert_eq!(left_out, expected, "{sizes:?}");
            assert_eq!(found.misfiled.len(), expected.len());
            let FitVerdicts { wrong, missed, judged, .. } = found.verdicts;
            assert_eq!(
                (wrong, missed, judged),
                (0, 0, sizes.iter().sum::<usize>() - expected.len())
            );
        }
    }
    // With few messages none is.
    assert!(!solve(&data(&[50, 50], 2), &Wishes::default(), None).is_left_out.contains(&true));
}

#[test]
fn what_is_left_out_might_as_well_not_be_there() {
    let all = data(&[40, 40], 0);
    let mut part = Dataset::new(2);
    for at in 0..70 {
        let own = all.row(at).map(|own| own.iter().map(|&at| all.ids[at as usize]).collect());
        part.push(all.labels[at], all.keys[at], own);
    }
    let names = [];
    let wishes = Wishes::default();
    let fit = |data: &Dataset, is_out: &dyn Fn(usize) -> bool| {
        let problem =
            Problem { data, names: &names, wishes: &wishes, general: None, stop: Stop::NEVER };
        problem.fit(is_out).unwrap().duals
    };
    assert_eq!(fit(&all, &|at| at >= 70), fit(&part, &|_| false));
}

#[test]
fn few_messages_are_never_sure_and_many_labels_have_thresholds_of_their_own() {
    let few = solve(&data(&[7, 30], 0), &Wishes::default(), None);
    assert_eq!((few.rule.band, few.verdicts.unsure), ((-NEVER, NEVER), 37));
    let protected = vec![None, None, Some(0.001)];
    for caution in [Caution::Low, Caution::Normal, Caution::High] {
        let wishes = Wishes { caution, protected: protected.clone(), ..Wishes::default() };
        let found = solve(&data(&[60, 60, 60], 6), &wishes, None).rule;
        assert_eq!((found.gaps.len(), found.limits[0], found.limits[1]), (3, None, None));
        assert!(found.limits[2].is_some_and(|limit| limit >= 20f64.ln()), "{found:?}");
        assert!(found.known > 0.0 && found.usual.len() == 3);
    }
}

#[test]
fn a_general_model_speaks_for_a_label_without_messages() {
    let data = data(&[40, 0], 0);
    let same = SameLabels::new(&["ham".to_owned(), "spam".to_owned()], &["ham", "spam"]);
    // It knows the words of the first kind as ham.
    let knows: Vec<bool> = data.ids.iter().map(|&id| id < 900).collect();
    let weights = knows.iter().map(|&own| if own { -0.2 } else { 0.0 }).collect();
    let general =
        GeneralModel { same, knows, weights, intercepts: vec![0.1], slope: 4.0, even: 0.2 };
    let found = solve(&data, &Wishes::default(), Some(&general));
    assert_eq!((found.rule.general, found.rule.band), (SHARE_OF_FEW, (-NEVER, NEVER)));
    assert!(found.duals.iter().all(|&dual| dual == 0.0) && !found.is_left_out.contains(&true));
    assert_eq!(found.rule.calibration, Calibration { slope: 8.0, offset: -0.8 });
    // Without it there is no fit.
    let names = ["ham".to_owned(), "spam".to_owned()];
    let wishes = Wishes::default();
    let problem =
        Problem { data: &data, names: &names, wishes: &wishes, general: None, stop: Stop::NEVER };
    let refused = problem.solve(&mut |_| {}).err();
    assert_eq!(refused, Some(FitError::NoDocuments { label: "spam".into() }));
}

#[test]
fn a_fit_ends_at_whichever_pass_it_is_asked_to() {
    let data = data(&[12, 12, 12], 0);
    let names = NAMES.map(str::to_owned);
    let wishes = Wishes::default();
    let solve = |stop: Stop<'_>| {
        let problem = Problem { data: &data, names: &names, wishes: &wishes, general: None, stop };
        problem.solve(&mut |_| {}).map(|found| found.duals)
    };
    let asked = AtomicU32::new(0);
    let count = || {
        asked.fetch_add(1, Ordering::Relaxed);
        false
    };
    let duals = solve(Stop::when(&count)).unwrap();
    let asked = asked.into_inner();
    assert_eq!(asked, (4 + 1) * PASSES);
    for last in 0..asked {
        let rest = AtomicU32::new(last);
        let ends = || {
            let less = |rest: u32| rest.checked_sub(1);
            rest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
        };
        assert_eq!(solve(Stop::when(&ends)), Err(FitError::Stopped), "{last} of {asked}");
    }
    assert_eq!(solve(Stop::NEVER).unwrap(), duals);
}
