// SPDX-License-Identifier: GPL-3.0-or-later
//! Which of a mail filter's folders hold mail that must not be lost, and how much of it may be.

use super::error::FittedSetError;
use super::filter_folder::{LEDGER, MOST, ORDER};
use super::mail_folders::{MailFolder, MailLearnOptions};
use super::mail_reading::MailReading;
use super::roles::MailRole;
use crate::fit::joint::{FALSE_POSITIVES, FitOptions};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// The longest label, in bytes. A label is a part of file names, which have 255 bytes at most.
const LONGEST: usize = 237;

/// Bytes of a label that the names of a set's files have.
const IN_NAMES: usize = 200;

/// Checks the labels of a set in a folder of its own.
pub(super) fn check_labels(labels: &[&str]) -> Result<()> {
    let is_plain = |label: &str| {
        (1..=LONGEST).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && ![LEDGER, ORDER, "unsure", "error"].contains(&label)
    };
    // What follows compares each label with all others.
    if labels.len() > MOST {
        return Err(FittedSetError::NotFolders);
    }
    let is_alone = |at: usize| {
        let name = labels[at].get(..IN_NAMES);
        name.is_none() || labels[..at].iter().all(|other| other.get(..IN_NAMES) != name)
    };
    let are_distinct = (1..labels.len()).all(|at| !labels[..at].contains(&labels[at]));
    let wrong =
        (0..labels.len()).find(|&at| !is_plain(labels[at]) || are_distinct && !is_alone(at));
    if let Some(at) = wrong {
        return Err(FittedSetError::BadLabel { label: labels[at].into() });
    }
    if labels.len() < 2 || !are_distinct {
        return Err(FittedSetError::NotFolders);
    }
    Ok(())
}

/// The folders, with the protected ones first, each with the share of its mail that may confidently
/// be called other mail; `None` for those that are not protected.
pub(super) fn in_order<'a>(
    folders: &'a [MailFolder],
    options: &MailLearnOptions,
) -> Result<Vec<(&'a MailFolder, Option<f64>)>> {
    check_labels(&folders.iter().map(|folder| folder.label.as_str()).collect::<Vec<_>>())?;
    let usual = options.false_positives.unwrap_or(FALSE_POSITIVES);
    let mut rates = vec![None; folders.len()];
    for (label, share) in &options.protect {
        let place = folders.iter().position(|folder| folder.label == *label);
        let place = place.ok_or_else(|| {
            let labels = folders.iter().map(|folder| folder.label.clone()).collect();
            FittedSetError::Protect { label: label.clone(), labels }
        })?;
        rates[place] = Some(share.unwrap_or(usual));
    }
    if options.protect.is_empty() {
        if let [first, second] = folders {
            let good = MailRole::ham_of_two(&first.label, &second.label);
            let good = good.ok_or_else(|| {
                let (first, second) = (first.label.clone(), second.label.clone());
                FittedSetError::Roles { first, second }
            })?;
            rates[good] = Some(usual);
        } else {
            // With more than two folders, none has to be protected.
            for (rate, folder) in rates.iter_mut().zip(folders) {
                let is_good = MailRole::named(&folder.label) == Some(MailRole::Ham);
                *rate = is_good.then_some(usual);
            }
        }
    }
    let mut ordered: Vec<_> = folders.iter().zip(rates).collect();
    ordered.sort_by_key(|(_, rate)| rate.is_none());
    Ok(ordered)
}

/// The options of the fit, given the share of each folder's mail that may confidently be called
/// other mail.
pub(super) fn fit_options(
    mut rates: Vec<Option<f64>>,
    options: &MailLearnOptions,
    reading: MailReading,
) -> FitOptions {
    let fit_options = FitOptions::mail();
    let fit_options =
        if reading == MailReading::Blocks { fit_options.blocks() } else { fit_options };
    let fit_options = fit_options.caution(options.caution);
    if rates.len() > 2 {
        return fit_options.rates(rates);
    }
    // Of two folders the first is always protected. If the user gave the share, a warning says when
    // there are too few messages to verify it.
    let is_asked_for = options.false_positives.is_some()
        || options.protect.iter().any(|(_, share)| share.is_some());
    let first = rates.first_mut().and_then(Option::take).filter(|_| is_asked_for);
    let fit_options = first.map_or(fit_options.clone(), |share| fit_options.false_positives(share));
    fit_options.rates(if rates.iter().any(Option::is_some) { rates } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(labels: &str) -> Vec<MailFolder> {
        labels.split(' ').map(|label| MailFolder::new(label, "x")).collect()
    }

    #[test]
    fn learning_takes_two_labels_or_more() {
        let usual = MailLearnOptions::default();
        for wrong in ["ham", "ham ham", "ham ledger", "a/b d", "ham a b a", "unsure spam"] {
            assert!(in_order(&folders(wrong), &usual).is_err(), "{wrong}");
        }
        let long = "a".repeat(LONGEST);
        assert!(in_order(&folders(&format!("{long} spam")), &usual).is_ok());
        let alike = &long[..IN_NAMES];
        for wrong in [format!("{long}x spam"), format!("{alike}x {alike}y spam")] {
            let refused = in_order(&folders(&wrong), &usual).err();
            assert!(matches!(refused, Some(FittedSetError::BadLabel { .. })), "{wrong}");
        }
        let many: Vec<String> = (0..=MOST).map(|number| format!("l{number}")).collect();
        assert!(in_order(&folders(&many.join(" ")), &usual).is_err());
        assert_eq!(in_order(&folders(&many[1..].join(" ")), &usual).unwrap().len(), MOST);
    }

    #[test]
    fn names_tell_which_mail_must_not_be_lost() {
        for (labels, protect, expected) in [
            ("ham spam", "", "ham 0.001 spam"),
            ("spam ham", "", "ham 0.001 spam"),
            ("Junk work", "", "work 0.001 Junk"),
            ("lists good", "", "good 0.001 lists"),
            ("a b", "", "refused"),
            ("ham good", "", "refused"),
            ("spam junk", "", "refused"),
            ("a b", "b", "b 0.001 a"),
            ("work lists spam", "", "work lists spam"),
            ("lists spam good inbox", "", "good 0.001 inbox 0.001 lists spam"),
            ("lists spam good", "lists", "lists 0.001 spam good"),
            ("lists spam good", "good lists:0.05", "lists 0.05 good 0.001 spam"),
            ("ham spam", "spam", "spam 0.001 ham"),
            ("ham spam", "ham spam:0.01", "ham 0.001 spam 0.01"),
            ("ham spam", "other", "refused"),
        ] {
            let mut options = MailLearnOptions::default();
            for wish in protect.split_whitespace() {
                options = match wish.split_once(':') {
                    Some((label, share)) => options.protect_at(label, share.parse().unwrap()),
                    None => options.protect(wish),
                };
            }
            let folders = folders(labels);
            let found = in_order(&folders, &options).map_or("refused".to_owned(), |found| {
                let shown = found.iter().map(|(folder, rate)| {
                    let rate = rate.map_or_else(String::new, |rate| format!(" {rate}"));
                    format!("{}{rate}", folder.label)
                });
                shown.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found, expected, "{labels} {protect}");
        }
    }

    #[test]
    fn shares_reach_the_fit() {
        let options = MailLearnOptions::default();
        let pair = fit_options(vec![Some(0.001), None], &options, MailReading::Classic);
        assert_eq!((pair.false_positives, pair.rates.len()), (None, 0));
        let asked = fit_options(
            vec![Some(0.002), Some(0.01)],
            &options.clone().protect_at("a", 0.002),
            MailReading::Classic,
        );
        assert_eq!((asked.false_positives, asked.rates), (Some(0.002), vec![None, Some(0.01)]));
        let many = fit_options(vec![Some(0.001), None, None], &options, MailReading::Classic);
        assert_eq!((many.false_positives, many.rates), (None, vec![Some(0.001), None, None]));
    }
}
