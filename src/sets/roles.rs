// SPDX-License-Identifier: GPL-3.0-or-later
//! What the categories of a mail filter are for: which has mail that must not be lost, and which
//! has spam. All programs ask here; the place of a category in a list says nothing.

/// What a category of a mail filter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MailRole {
    /// It has mail that must not be lost: what `learn ham` means.
    Ham,
    /// It has what the filter is there to find: what `learn spam` means.
    Spam,
}

impl MailRole {
    /// `ham` or `spam`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ham => "ham",
            Self::Spam => "spam",
        }
    }

    /// The role that a usual label names; `None` for other labels.
    pub(super) fn named(label: &str) -> Option<Self> {
        if is_one_of(label, HAM) {
            Some(Self::Ham)
        } else if is_one_of(label, SPAM) || is_one_of(label, THROWN_AWAY) {
            Some(Self::Spam)
        } else {
            None
        }
    }

    /// Which of two labels is that of the mail that must not be lost: one usual label is enough to
    /// say so. `None` if both labels mean the same, or neither says anything.
    pub(super) fn ham_of_two(first: &str, second: &str) -> Option<usize> {
        match (Self::named(first), Self::named(second)) {
            (Some(Self::Ham), Some(Self::Spam) | None) | (None, Some(Self::Spam)) => Some(0),
            (Some(Self::Spam), Some(Self::Ham) | None) | (None, Some(Self::Ham)) => Some(1),
            _ => None,
        }
    }
}

fn is_one_of(label: &str, names: &str) -> bool {
    names.split(' ').any(|name| label.eq_ignore_ascii_case(name))
}

/// Usual labels of mail that must not be lost. If a filter has several, lessons are for the one
/// that comes first here.
const HAM: &str =
    "ham good nonspam non-spam notspam not-spam nospam legit legitimate clean wanted inbox";

/// Usual labels of spam, in the same order of precedence.
const SPAM: &str = "spam junk unwanted unsolicited bad phishing malware";

/// A label that means spam only in a filter of two labels. In a filter of more, it means mail that
/// was read and is no longer needed.
const THROWN_AWAY: &str = "trash";

/// The roles of the categories of one filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roles {
    /// By place.
    pub each: Vec<Option<MailRole>>,
    ham: Option<usize>,
    spam: Option<usize>,
}

impl Roles {
    /// The roles of categories with these labels. `is_protected` says whether the user has asked
    /// that the mail of a category must not be lost.
    pub(crate) fn of<T: AsRef<str>>(labels: &[T], is_protected: &dyn Fn(usize) -> bool) -> Self {
        let place =
            |name: &str| labels.iter().position(|label| label.as_ref().eq_ignore_ascii_case(name));
        let [mut ham, mut spam] = [HAM, SPAM].map(|names| names.split(' ').find_map(place));
        if let [first, second] = labels {
            // Without a usual label the first of two is protected.
            let good = MailRole::ham_of_two(first.as_ref(), second.as_ref()).unwrap_or(0);
            (ham, spam) = (Some(good), Some(1 - good));
        } else if ham.is_none() {
            let mut protected = (0..labels.len()).filter(|at| is_protected(*at));
            ham = protected.next().filter(|_| protected.next().is_none());
        }
        let role = |at: usize, label: &str| {
            if Some(at) == spam {
                Some(MailRole::Spam)
            } else if Some(at) == ham {
                Some(MailRole::Ham)
            } else if is_one_of(label, SPAM) {
                Some(MailRole::Spam)
            } else {
                (is_one_of(label, HAM) || is_protected(at)).then_some(MailRole::Ham)
            }
        };
        let each = labels.iter().enumerate().map(|(at, label)| role(at, label.as_ref())).collect();
        Self { each, ham, spam }
    }

    /// The role of the category at a place; `None` for one that is neither spam nor protected.
    pub(crate) fn at(&self, place: usize) -> Option<MailRole> {
        self.each.get(place).copied().flatten()
    }

    /// The place of the category that lessons for a role are for.
    pub(crate) const fn place(&self, role: MailRole) -> Option<usize> {
        match role {
            MailRole::Ham => self.ham,
            MailRole::Spam => self.spam,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_not_places_say_what_categories_are_for() {
        for (labels, protected, ham, spam) in [
            ("ham spam", "ham", "ham", "spam"),
            ("spam ham", "spam", "ham", "spam"),
            ("a b", "a", "a", "b"),
            ("Junk work", "", "work", "Junk"),
            ("trash work", "", "work", "trash"),
            ("ham trash", "ham", "ham", "trash"),
            ("lists good", "", "good", "lists"),
            ("junk spam", "junk", "junk", "spam"),
            ("ham work spam", "ham", "ham", "spam"),
            ("spam work private", "", "-", "spam"),
            ("spam work private", "private", "private", "spam"),
            ("work private lists spam", "work private", "-", "spam"),
            ("work JUNK Inbox private lists", "", "Inbox", "JUNK"),
            ("inbox good junk spam", "", "good", "spam"),
            ("work private lists", "", "-", "-"),
            ("work private trash", "", "-", "-"),
        ] {
            let labels: Vec<&str> = labels.split(' ').collect();
            let is_protected = |at: usize| protected.split(' ').any(|label| label == labels[at]);
            let roles = Roles::of(&labels, &is_protected);
            let shown = |role| roles.place(role).map_or("-", |at| labels[at]);
            assert_eq!((shown(MailRole::Ham), shown(MailRole::Spam)), (ham, spam), "{labels:?}");
            for role in [MailRole::Ham, MailRole::Spam] {
                assert!(
                    roles.place(role).is_none_or(|at| roles.at(at) == Some(role)),
                    "{labels:?}"
                );
            }
        }
    }

    #[test]
    fn every_label_of_spam_is_spam_and_other_labels_are_not() {
        let labels = ["phishing", "spam", "trash", "lists", "ham", "work"];
        let roles = Roles::of(&labels, &|at| labels[at] == "work");
        let found: Vec<Option<MailRole>> = (0..labels.len()).map(|at| roles.at(at)).collect();
        let (ham, spam) = (Some(MailRole::Ham), Some(MailRole::Spam));
        assert_eq!(found, [spam, spam, None, None, ham, ham]);
    }
}
