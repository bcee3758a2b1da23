// SPDX-License-Identifier: GPL-3.0-or-later
//! Spam that the mail filter catches, in each disguise of `benches/quality/attacks.awk`: it hardly
//! ever passes for good mail. The mail is made up; `benches/quality/attacks.sh` does the same with
//! real mail.

use dbacl::{MailFilter, MailFilterOptions};
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::{Scratch, root};
use std::fmt::Write as _;
use std::fs;

/// Messages of each kind that are learned.
const LEARNED: usize = 60;

/// Spams that are disguised.
const DISGUISED: usize = 20;

/// How many spams may pass for good mail, and the disguises of which so many may.
const KINDS: [(usize, &str); 4] = [
    (
        0,
        "none preamble epilogue alternative display class tiny white rgba font left clip escape \
         media deep title comment tags comments zero-width base64",
    ),
    (
        1,
        "attachment message homoglyphs capitals digits split image headers references random-1000 \
         random-5000 repeated",
    ),
    (2, "forged"),
    (4, "forged-thread visible before"),
];

/// A made-up word that looks like a real one.
fn word(number: usize) -> String {
    let mut word = String::new();
    let mut rest = number + 20;
    while rest > 0 {
        word.push(char::from(b"bdfgklmnprst"[rest % 12]));
        word.push(char::from(b"aeiou"[rest / 12 % 5]));
        rest /= 60;
    }
    word
}

/// A message of one of the kinds, of words that both have and words that hardly any mail of the
/// other has.
fn mail(label: &str, number: usize, random: &mut SplitMix64) -> String {
    let own = if label == "spam" { 2000 } else { 1000 };
    let mut text = String::new();
    for at in 0..150 {
        let drawn = match random.below(10) {
            0..5 => random.below(600),
            // Words that are more frequent than others.
            5..9 => {
                let most = 1 + random.below(1000);
                own + random.below(most)
            }
            _ => 1000 + random.below(2000),
        };
        let _ = write!(text, "{}{}", word(drawn), if at % 12 == 11 { "\n" } else { " " });
    }
    let subject = word(own + random.below(100));
    format!(
        "Received: from mail.{label}{}.example.org; Mon, 1 Jan 2024\nFrom: {label}{}@example.org\n\
         To: me@example.net\nMessage-ID: <{number}@example.org>\nSubject: {subject} {subject}\n\n\
         {text}\n",
        number % 9,
        number % 23
    )
}

fn write_all(place: &Scratch, label: &str, folder: &str, number: usize, random: &mut SplitMix64) {
    for at in 0..number {
        place.write(&format!("{folder}/{at:03}"), mail(label, at, random));
    }
}

/// The verdicts on the messages of a folder.
fn verdicts(place: &Scratch, folder: &str) -> Vec<String> {
    let filter =
        MailFilter::open(&place.path("f"), &MailFilterOptions::default()).expect("a filter");
    let files = fs::read_dir(place.path(folder)).expect("a folder");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let verdict = |mail| filter.classify(mail).expect("a verdict");
    let verdicts = files.iter().map(|file| verdict(fs::read(file).expect("a message")));
    verdicts.map(|it| if it.is_unsure { "unsure".into() } else { it.category }).collect()
}

#[test]
fn disguised_spam_hardly_ever_passes_for_good_mail() {
    let place = Scratch::new();
    let mut random = SplitMix64::new(11);
    for label in ["ham", "spam"] {
        write_all(&place, label, label, LEARNED, &mut random);
    }
    write_all(&place, "spam", "new", 2 * DISGUISED, &mut random);
    write_all(&place, "ham", "good", 2 * DISGUISED, &mut random);
    place.dbacl("--mail-learn f ham=ham spam=spam").output();
    // Although the parts of a message are classified, too, good mail is still classified good.
    let good = verdicts(&place, "good");
    let sure = good.iter().filter(|verdict| *verdict == "ham").count();
    assert!(sure >= good.len() - 2, "{good:?}");
    let found = verdicts(&place, "new");
    let caught: Vec<usize> = (0..found.len()).filter(|&at| found[at] == "spam").collect();
    assert!(caught.len() >= DISGUISED, "{found:?}");
    let words: Vec<String> = (1000..2000).map(word).collect();
    place.write("words", words.join("\n") + "\n");
    let kinds =
        KINDS.iter().flat_map(|(most, kinds)| kinds.split(' ').map(move |kind| (kind, *most)));
    for (kind, most) in kinds {
        for &at in &caught[..DISGUISED] {
            let awk = place
                .command("awk")
                .args(["-v", &format!("kind={kind}"), "-v", "words=words"])
                .args(["-v", &format!("good=good/{:03}", at % 20), "-f"])
                .arg(root().join("benches/quality/attacks.awk"))
                .arg(format!("new/{at:03}"))
                .output()
                .expect("awk runs");
            assert!(awk.status.success() && !awk.stdout.is_empty(), "{awk:?}");
            place.write(&format!("{kind}/{at:03}"), awk.stdout);
        }
        let verdicts = verdicts(&place, kind);
        assert_eq!(verdicts.len(), DISGUISED);
        let passed = verdicts.iter().filter(|verdict| *verdict == "ham").count();
        assert!(passed <= most, "{kind}: {verdicts:?}");
        let caught = verdicts.iter().filter(|verdict| *verdict == "spam").count();
        assert!(kind != "none" || caught == DISGUISED, "{verdicts:?}");
    }
}
