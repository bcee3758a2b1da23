// SPDX-License-Identifier: GPL-3.0-or-later
//! How much memory one large mail takes, in any language and however its lines are
//! (`docs/mail.md`).

use crate::mails::mail;
use crate::sets::filter;
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::{Scratch, done, is_installed};
use std::fs;

/// Bytes of the messages: a little less than is classified.
const SIZE: usize = 8_000_000;

/// Megabytes that the program takes for a message of a few words, and for buffers.
const FIXED: u64 = 16;

/// By how many megabytes runs differ: the system has more or less of the program's file in memory.
const SPREAD: u64 = 4;

/// A message of about [`SIZE`] bytes in this character set, whose lines have so many words.
fn large(charset: &str, words: usize, word: impl Fn(&mut SplitMix64) -> Vec<u8>) -> Vec<u8> {
    let mut numbers = SplitMix64::new(7);
    dbacl_testing::mails::large(charset, SIZE, words, || word(&mut numbers))
}

/// A word of up to seven letters beginning with this one, and a blank.
fn letters(numbers: &mut SplitMix64, first: u8, count: usize) -> Vec<u8> {
    let length = 1 + numbers.below(7);
    let mut letter = || first + u8::try_from(numbers.below(count)).expect("a letter");
    (0..length).map(|_| letter()).chain([b' ']).collect()
}

fn mails() -> [(&'static str, Vec<u8>); 7] {
    let ideograph = |numbers: &mut SplitMix64| {
        char::from_u32(0x4e00 + u32::try_from(numbers.below(0x5000)).expect("small"))
            .map_or_else(Vec::new, |character| character.to_string().into_bytes())
    };
    // Pairs of bytes in the part of GB 18030 that has ideographs only.
    let of_gb = |numbers: &mut SplitMix64| {
        let byte = |number: usize| u8::try_from(number).expect("a byte");
        vec![byte(0x81 + numbers.below(32)), byte(0x80 + numbers.below(0x7e))]
    };
    [
        ("words", large("us-ascii", 12, |numbers| letters(numbers, b'a', 26))),
        ("words in one line", large("us-ascii", SIZE, |numbers| letters(numbers, b'a', 26))),
        ("words of the filter", large("us-ascii", 9, |_| b"cheap pills agenda ".to_vec())),
        ("ideographs", large("utf-8", 40, ideograph)),
        ("ideographs in two bytes", large("gb18030", 40, of_gb)),
        ("ideographs in one line", large("gb18030", SIZE, of_gb)),
        ("Russian", large("koi8-r", 12, |numbers| letters(numbers, 0xc0, 32))),
    ]
}

/// The most memory that the program takes, in megabytes, with the file `mail` to read; and what it
/// prints.
pub(crate) fn peak(place: &Scratch, args: &str) -> (u64, String) {
    let script = "import resource, subprocess, sys\n\
                  done = subprocess.run(sys.argv[1:], stdin=open('mail'), capture_output=True)\n\
                  sys.stdout.buffer.write(done.stdout[:2000] + done.stderr)\n\
                  print(done.returncode, file=sys.stderr)\n\
                  print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)";
    let mut run = place.command("python3");
    run.args(["-c", script, "dbacl"]).args(args.split(' '));
    let done = done(&mut run);
    let said = done.stderr;
    let numbers: Vec<u64> = said.lines().filter_map(|line| line.parse().ok()).collect();
    let [0, kilobytes] = numbers[..] else { panic!("{args:?}: {said}{}", done.stdout) };
    (kilobytes / 1024, done.stdout)
}

#[test]
fn a_mail_of_any_language_takes_two_bytes_a_byte() {
    if !is_installed("python3", "memory") {
        return;
    }
    let place = filter();
    for (name, mail) in mails() {
        place.write("mail", &mail);
        let megabytes = mail.len() as u64 >> 20;
        for args in ["--mail-filter f", "--mail-filter f --reasons"] {
            let (found, said) = peak(&place, args);
            assert!(said.contains("X-DBACL: ") && !said.contains("X-DBACL: error"), "{said}");
            assert!(found <= 2 * megabytes + FIXED + SPREAD, "{name}: {found} MB {args:?}");
        }
    }
}

#[test]
fn large_mails_are_corrected_in_the_memory_that_the_guide_names() {
    if !is_installed("python3", "memory") {
        return;
    }
    let place = filter();
    for (name, mail) in mails() {
        // More than is learned.
        place.write("mail", mail.repeat(3));
        let (found, said) = peak(&place, "--mail-correct f ham");
        assert!(found <= 600, "{name}: {found} MB");
        assert!(!said.contains("error"), "{said}");
    }
}

#[test]
fn only_the_beginning_of_a_mail_is_judged_and_learned() {
    let place = filter();
    let filtered = |mail: String| {
        let output = place.dbacl_reading("--mail-filter f", mail).stdout;
        output.lines().find(|line| line.starts_with("X-DBACL")).expect("a verdict").to_owned()
    };
    let head = "Subject: x\n\n";
    let line = "cheap pills offer ".repeat(500_000);
    let lines = "cheap pills offer\n".repeat(500_000);
    let found = filtered(format!("{head}{line}"));
    assert_eq!(found, filtered(format!("{head}{lines}")));
    assert!(found.starts_with("X-DBACL: spam"), "{found}");
    // The same beginning is the same mail.
    let beginning = mail("ham", 500).split_once('\n').expect("a line").1.to_owned() + &lines;
    let [one, other] = ["one end", "another end"].map(|end| beginning.clone() + end);
    let correct = |mail: &str| {
        place.dbacl_reading("--mail-correct f ham", mail).output();
        fs::read(place.path("f/journal")).expect("a journal")
    };
    let first = correct(&one);
    assert_eq!(correct(&other), first, "it is known");
    place.write("ham.mbox", format!("From a@b.c Mon Jan  1 00:00:00 2024\n{other}"));
    let done = place.dbacl("--mail-learn f ham=ham.mbox spam=spam.mbox").output();
    // The mail was found in its folder: it is not a correction any more.
    assert!(!done.contains("correction"), "{}", done);
}
