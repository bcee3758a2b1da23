// SPDX-License-Identifier: GPL-3.0-or-later
//! Mistakes that deserve a word, said only to a person: standard error is a terminal, no `--quiet`.
//! A misspelt long option is named in pipes as well, since the original had none.
//! What a run does never depends on it.

use super::failure::Failure;
use super::inputs;
use super::jobs::Reading;
use super::messages::MESSAGES;
use super::options::TABLE;
use super::signals::Signals;
use crate::category::header::Header;
use crate::document::{FeatureSink, ReadOptions};
use crate::learn::state::LearningState;
use crate::mail::mailbox::begins_message;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::token::Feature;
use crate::token::id::FeatureId;
use std::collections::HashSet;
use std::io::{self, IsTerminal};

/// Fewer tokens than this make a model that depends on chance.
const FEW_TOKENS: u32 = 500;

/// One in this many features is remembered to estimate how many there are.
const SAMPLING: u32 = 16;

/// Header fields that mail software writes and other texts hardly begin with.
const MAIL_BEGINNINGS: [&[u8]; 6] = [
    b"return-path:",
    b"received:",
    b"delivered-to:",
    b"message-id:",
    b"x-envelope-from:",
    b"mime-version:",
];

/// Whether somebody is there to read a hint.
pub(super) fn are_welcome() -> bool {
    !MESSAGES.is_quiet() && io::stderr().is_terminal()
}

/// Says something helpful to a person.
pub(super) fn give(text: &str) {
    if are_welcome() {
        MESSAGES.hint(text);
    }
}

/// What to say when the text is to be typed.
pub(super) const TYPED: &str = "reading the text from the terminal; it ends with Ctrl-D";

/// What to say of a message that is to be forgotten.
pub(super) const FORGET: &str = "dbacl --mail-forget DIR LABEL MESSAGE forgets a message";

/// What to say to somebody who asks for nothing.
pub(super) const MAIL: [&str; 5] = [
    "dbacl --mail-learn DIR ham=MAIL spam=MAIL makes a mail filter in the folder DIR",
    "dbacl --mail-verdict DIR MESSAGE says what it thinks of a message",
    "dbacl --mail-filter DIR passes a message on with a verdict in its header",
    "dbacl --mail-correct DIR spam MESSAGE corrects a verdict",
    "dbacl --mail-help and dbacl --help show examples and all options",
];

/// How alike names of options must be for one to be meant by the other, 0 to 1.
const ALIKE: f64 = 0.75;

/// What to say of a long option that there is not, of which `complaint` is getopt's message.
pub(super) fn about_option(complaint: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(complaint).ok()?;
    let given = text.split_once("unrecognized option '--")?.1.strip_suffix('\'')?;
    let given = given.split('=').next().unwrap_or(given);
    let likeness = |name: &str| strsim::jaro_winkler(given, name);
    let names = TABLE.iter().map(|option| option.long).filter(|name| !name.is_empty());
    let best = names.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    Some(if likeness(best) >= ALIKE {
        format!("did you mean --{best}?")
    } else {
        "--help lists all options".into()
    })
}

/// What to say about the counts of a run, which are `full` if features were left out; `features` is
/// their number in the whole text, if it is known. `looks_like_mail` says whether a source began
/// like a message.
pub(super) fn about_counts(
    looks_like_mail: bool,
    state: &LearningState,
    full: bool,
    features: Option<u64>,
) -> Vec<String> {
    let mut hints = Vec::new();
    if looks_like_mail && !state.options.has(ModelOption::Mail) {
        hints.push("this looks like mail; learn mail with -T email".into());
    }
    match features {
        Some(features) if full => {
            // The number is an estimate.
            let bits = state.table.bits_for_more(features + features / 20);
            let way = match bits {
                Some(bits) => format!("-H {bits} makes room for them"),
                None => "no table takes as many: use a smaller -w".into(),
            };
            hints.push(format!("there are about {features} different features; {way}"));
        }
        None if full => hints.push("-H 20 makes room for a million features".into()),
        _ => {}
    }
    if state.total < FEW_TOKENS {
        let total = state.total;
        hints.push(format!(
            "learned from {total} tokens only; verdicts get better with some thousands"
        ));
    }
    hints
}

/// Reads the inputs once more and estimates how many different features they have; `None` if
/// standard input has gone by.
pub(super) fn features(
    reading: &Reading,
    options: &ReadOptions,
    signals: &Signals,
) -> Result<Option<u64>, Failure> {
    if reading.operands.is_empty() {
        return Ok(None);
    }
    let mut features = FeatureSample(HashSet::new());
    let mut reader = inputs::reader(reading, options, signals);
    inputs::read(reading, signals, &mut reader, &mut features, |_, _| Ok(()))?;
    Ok(Some(features.0.len() as u64 * u64::from(SAMPLING)))
}

/// Remembers a sample of the features of the inputs.
struct FeatureSample(HashSet<u32>);

impl FeatureSink for FeatureSample {
    fn feature(&mut self, feature: Feature<'_>) {
        let id = FeatureId::of(feature.body, feature.medium).0;
        if is_sampled(id) {
            self.0.insert(id);
        }
    }
}

/// Whether a text that begins with `line` is most likely mail.
pub(super) fn begins_mail(line: &[u8]) -> bool {
    let starts =
        |name: &&[u8]| line.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
    begins_message(line) || MAIL_BEGINNINGS.iter().any(starts)
}

fn is_sampled(id: u32) -> bool {
    // Multiplicative hashing: the upper bits of the product depend on all bits of the id.
    id.wrapping_mul(0x9e37_79b1) < u32::MAX / SAMPLING
}

/// What must agree for scores of two categories to be comparable: which features a text has.
pub(super) type Cut = (ModelOptions, Option<Scheme>, u8, Vec<Vec<u8>>);

/// How the text of a category was cut into features.
pub(super) fn cut(header: &Header, patterns: &[Vec<u8>]) -> Cut {
    let mut options = header.options;
    for option in [ModelOption::Entropy, ModelOption::Overflow, ModelOption::ReferenceOnly] {
        options.remove(option);
    }
    (options, header.scheme, header.max_order, patterns.to_vec())
}

/// What to say about categories that were learned in different ways, if they were.
pub(super) fn about_cuts(cuts: &[(Vec<u8>, Cut)]) -> Option<String> {
    let (first, reference) = cuts.first()?;
    let (other, _) = cuts.iter().find(|(_, cut)| cut != reference)?;
    Some(format!(
        "{} and {} were learned with different options; learn both with the same for a fair \
         comparison",
        String::from_utf8_lossy(first),
        String::from_utf8_lossy(other)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_options_are_recognised() {
        for (given, expected) in [
            ("mial-learn", Some("did you mean --mail-learn?")),
            ("protct=ham", Some("did you mean --protect?")),
            ("catgory", Some("did you mean --category?")),
            ("zzz", Some("--help lists all options")),
            ("mail-forgot", Some("did you mean --mail-forget?")),
        ] {
            let complaint = format!("dbacl: unrecognized option '--{given}'");
            assert_eq!(about_option(complaint.as_bytes()).as_deref(), expected, "{given}");
        }
        assert_eq!(about_option(b"dbacl: invalid option -- 'k'"), None);
    }

    #[test]
    fn mail_is_known_by_its_first_line() {
        for (line, is_mail) in [
            (&b"From ann@example.org Mon Jan  1 00:00:00 2024\n"[..], true),
            (b"Return-Path: <ann@example.org>\r\n", true),
            (b"received: from here\n", true),
            (b"From the beginning\n", false),
            (b"from 10:30 to 11:30\n", false),
            (b"Subject matters\n", false),
            (b"", false),
        ] {
            assert_eq!(begins_mail(line), is_mail, "{line:?}");
        }
    }

    #[test]
    fn one_feature_in_sixteen_is_sampled() {
        let sampled = (0..160_000u32).filter(|&id| is_sampled(id)).count();
        assert!((9_500..10_500).contains(&sampled), "{sampled}");
    }
}
