// SPDX-License-Identifier: GPL-3.0-or-later
//! Which messages belong together: those of one sender, with one subject, or with links to one
//! domain.
//!
//! A person who files mail in the wrong folder does so with all mail of a kind.

use super::reading::first_link;
use crate::filter::unicode::agreement::registered;
use crate::filter::unicode::shapes::address_form;
use crate::mail::header_fields::header_fields;
use crate::mail::reader::canonical;
use crate::mail::subject::subject;
use hashbrown::HashMap;
use std::fmt;

/// A group has at most one in so many messages: larger ones would leave too little to learn from.
const PARTS: usize = 8;

/// Bytes of a subject that says something.
const TELLING: usize = 8;

/// Bytes of a message in which its sender is looked for.
const HEAD: usize = 1 << 16;

/// Beginnings of subjects of answers and of messages that were passed on.
const ANSWERS: [&str; 7] = ["re", "fw", "fwd", "aw", "wg", "sv", "rv"];

/// What messages may have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Trait {
    /// The address of the sender.
    Sender(String),
    /// The words of the subject.
    Subject(String),
    /// The registered domain of the first link.
    Link(String),
}

impl fmt::Display for Trait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sender(address) => write!(f, "from {address}"),
            Self::Subject(words) => write!(f, "about \"{words}\""),
            Self::Link(domain) => write!(f, "with links to {domain}"),
        }
    }
}

/// The traits of a message.
pub(super) fn traits(mail: &[u8]) -> Vec<Trait> {
    let head = canonical(&mail[..mail.len().min(HEAD)]);
    let from = header_fields(&head).find(|(name, _)| name.eq_ignore_ascii_case(b"from"));
    let sender = from.map(|(_, value)| text(address_form(&value).1)).filter(|own| !own.is_empty());
    let subject = subject(mail).map(|own| words(&own)).filter(|own| own.len() >= TELLING);
    let link = first_link(mail).map(|host| {
        let domain = text(&registered(&host));
        if domain.is_empty() { text(&host) } else { domain }
    });
    let traits = [
        sender.map(Trait::Sender),
        subject.map(Trait::Subject),
        link.filter(|own| !own.is_empty()).map(Trait::Link),
    ];
    traits.into_iter().flatten().collect()
}

/// What can be shown of an address or a host.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase().replace(char::is_control, "\u{fffd}")
}

/// The words of a subject, without those that answers and lists add in front, and without numbers,
/// which copies of a message differ in.
fn words(subject: &str) -> String {
    let lower = subject.to_lowercase();
    let mut rest = lower.trim_start();
    loop {
        let (first, after) = rest.split_once(':').unwrap_or((rest, ""));
        let after = if ANSWERS.contains(&first.trim()) {
            after
        } else if let Some((_, after)) = rest.strip_prefix('[').and_then(|own| own.split_once(']'))
        {
            after
        } else {
            break;
        };
        rest = after.trim_start();
    }
    let words =
        rest.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().nth(1).is_some());
    words.collect::<Vec<_>>().join(" ")
}

/// The messages of each label that have a trait.
pub(super) fn by_trait<'t>(
    labels: &[usize],
    traits: &'t [Vec<Trait>],
) -> HashMap<(usize, &'t Trait), Vec<usize>> {
    let mut found: HashMap<(usize, &Trait), Vec<usize>> = HashMap::new();
    for (at, (&label, own)) in labels.iter().zip(traits).enumerate() {
        for one in own {
            found.entry((label, one)).or_default().push(at);
        }
    }
    found
}

/// The number of the group of each message: of those that have a label and a trait in common, and
/// of groups that share a message. Rare traits come first, and one that would make too large a
/// group joins nothing.
pub(super) fn groups(labels: &[usize], traits: &[Vec<Trait>]) -> Vec<usize> {
    let mut common: Vec<_> =
        by_trait(labels, traits).into_iter().filter(|(_, own)| own.len() > 1).collect();
    common.sort_by(|(a, one), (b, other)| one.len().cmp(&other.len()).then_with(|| a.cmp(b)));
    let most = labels.len() / PARTS;
    let mut above: Vec<usize> = (0..labels.len()).collect();
    let mut sizes = vec![1; labels.len()];
    for (_, members) in common {
        let mut roots: Vec<usize> = members.into_iter().map(|at| root(&mut above, at)).collect();
        roots.sort_unstable();
        roots.dedup();
        let size = roots.iter().map(|&root| sizes[root]).sum();
        if size <= most {
            for &root in &roots {
                above[root] = roots[0];
            }
            sizes[roots[0]] = size;
        }
    }
    (0..labels.len()).map(|at| root(&mut above, at)).collect()
}

/// The first message of a group.
fn root(above: &mut [usize], mut at: usize) -> usize {
    while above[at] != at {
        above[at] = above[above[at]];
        at = above[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_sender_a_subject_and_a_link() {
        let shown = |mail: &str| -> String {
            let shown: Vec<String> = traits(mail.as_bytes()).iter().map(Trait::to_string).collect();
            shown.join("; ")
        };
        let page = "Content-Type: text/html\n\n<a href=\"http://WWW.Shop.example.co.uk/x\">x</a>\n\
                    http://other.example/\n";
        for (mail, expected) in [
            (
                &*format!(
                    "From: \"A, B\" <News@X.example>\nSubject: Re: [li] fwd: 7 Offers No 1\n{page}"
                ),
                "from news@x.example; about \"offers no\"; with links to example.co.uk",
            ),
            (
                "From: a\nSubject: short\n\nhttp://192.0.2.1:80/x http://b.example\n",
                "with links to 192.0.2.1",
            ),
            ("Subject: Re: re:\n\nnothing\n", ""),
            (
                "Subject: =?utf-8?q?=C3=84rger_im_Verein?=\n\nhttp://localhost/\n",
                "about \"\u{e4}rger im verein\"",
            ),
            ("", ""),
        ] {
            assert_eq!(shown(mail), expected, "{mail}");
        }
    }

    #[test]
    fn messages_with_common_traits_are_groups_within_a_label() {
        let sender = |name: &str| Trait::Sender(name.into());
        let link = |name: &str| Trait::Link(name.into());
        let mut traits = vec![
            vec![sender("a"), link("l")],
            vec![sender("b"), link("l")],
            vec![sender("b")],
            vec![sender("a")],
            vec![],
        ];
        traits.resize(40, Vec::new());
        let mut labels = vec![0; 40];
        labels[3] = 1;
        let found = groups(&labels, &traits);
        assert_eq!(found[..5], [0, 0, 0, 3, 4]);
        // What most messages have in common joins none of them.
        for own in &mut traits {
            own.push(link("all"));
        }
        assert_eq!(groups(&labels, &traits), found);
        // Five of forty are the most that a group may have.
        for (members, is_group) in [(5, true), (6, false)] {
            let mut traits = vec![Vec::new(); 40];
            traits[..members].fill(vec![sender("c")]);
            assert_eq!(groups(&[0; 40], &traits)[members - 1] == 0, is_group);
        }
    }
}
