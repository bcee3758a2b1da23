// SPDX-License-Identifier: GPL-3.0-or-later
//! Which of a mail filter's folders hold mail that must not be lost, and how much of it may be.

use super::error::MailFilterError;
use super::mail_folders::{MailFolder, MailLearnOptions};
use super::roles::MailRole;
use crate::fit::joint::{FALSE_POSITIVES, Wishes};

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// The longest label, in bytes.
const LONGEST: usize = 237;

/// The most categories that a filter can have.
const MOST: usize = 64;

/// Checks the labels of a set in a folder of its own.
pub(super) fn check_labels(labels: &[&str]) -> Result<()> {
    let is_plain = |label: &str| {
        (1..=LONGEST).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && !["unsure", "error"].contains(&label)
    };
    // What follows compares each label with all others.
    if labels.len() > MOST {
        return Err(MailFilterError::NotFolders);
    }
    let are_distinct = (1..labels.len()).all(|at| !labels[..at].contains(&labels[at]));
    if let Some(&wrong) = labels.iter().find(|label| !is_plain(label)) {
        return Err(MailFilterError::BadLabel { label: wrong.into() });
    }
    if labels.len() < 2 || !are_distinct {
        return Err(MailFilterError::NotFolders);
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
            MailFilterError::Protect { label: label.clone(), labels }
        })?;
        rates[place] = Some(share.unwrap_or(usual));
    }
    if options.protect.is_empty() {
        if let [first, second] = folders {
            let good = MailRole::ham_of_two(&first.label, &second.label);
            let good = good.ok_or_else(|| {
                let (first, second) = (first.label.clone(), second.label.clone());
                MailFilterError::Roles { first, second }
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

/// What is wanted of the fit, given the share of each folder's mail that may confidently be called
/// other mail.
pub(super) fn wishes(protected: Vec<Option<f64>>, options: &MailLearnOptions) -> Wishes {
    // If the user gave a share, a warning says when there are too few messages to verify it.
    let is_asked = options.false_positives.is_some()
        || options.protect.iter().any(|(_, share)| share.is_some());
    Wishes { caution: options.caution, protected, is_asked, ..Wishes::default() }
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
        for wrong in ["ham", "ham ham", "a/b d", "ham a b a", "unsure spam"] {
            assert!(in_order(&folders(wrong), &usual).is_err(), "{wrong}");
        }
        let long = "a".repeat(LONGEST);
        assert!(in_order(&folders(&format!("{long} spam")), &usual).is_ok());
        let refused = in_order(&folders(&format!("{long}x spam")), &usual).err();
        assert!(matches!(refused, Some(MailFilterError::BadLabel { .. })));
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
}
