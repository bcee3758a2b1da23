// SPDX-License-Identifier: GPL-3.0-or-later
//! The memory that the server reckons with for a message is enough for the messages that take most.

use crate::wire::learn;
use dbacl_numeric::random::SplitMix64;
use dbacl_server::{of_judging, of_learning};
use dbacl_testing::Scratch;

/// As much of a message as is classified and learned.
const SIZE: usize = 8 << 20;

/// A message of [`SIZE`] in this character set, whose lines have so many words.
fn large(charset: &str, words: usize, word: impl Fn(&mut SplitMix64) -> Vec<u8>) -> Vec<u8> {
    let mut numbers = SplitMix64::new(7);
    dbacl_testing::mails::large(charset, SIZE, words, || word(&mut numbers))
}

fn byte(number: usize) -> u8 {
    u8::try_from(number).expect("a byte")
}

/// Messages of ideographs and of short words, drawn at random. Nearly every pair of ideographs is a
/// word of its own.
fn mails() -> [(&'static str, Vec<u8>); 2] {
    let ideograph = |numbers: &mut SplitMix64| {
        let second = numbers.below(157);
        let second = if second < 63 { 0x40 + second } else { 0xa1 + second - 63 };
        vec![byte(0xa4 + numbers.below(35)), byte(second)]
    };
    let word = |numbers: &mut SplitMix64| {
        let letters = 1 + numbers.below(7);
        let mut letter = || b'a' + byte(numbers.below(26));
        (0..letters).map(|_| letter()).chain([b' ']).collect()
    };
    [("ideographs", large("big5", 40, ideograph)), ("words", large("us-ascii", 12, word))]
}

/// Addresses are counted and not pages: that is what an allocation can fail for.
#[test]
fn large_mails_are_judged_and_learned_in_the_memory_reckoned_with() {
    let scratch = Scratch::new();
    learn(&scratch, "filter");
    for (name, mail) in mails() {
        scratch.write("mail", &mail);
        let limit = |reckoned: usize| (reckoned + mail.len()).div_ceil(1024);
        let judging = limit(of_judging(mail.len()));
        let judge = "dbacl --mail-filter filter <mail >judged; head -n 1 judged";
        let verdict = scratch.sh(&format!("ulimit -v {judging}; {judge}")).quiet(0);
        assert!(verdict.starts_with("X-DBACL: "), "{name}: {verdict}");
        assert!(!verdict.starts_with("X-DBACL: error"), "{name}: {verdict}");
        let learning = limit(of_learning(mail.len()));
        let correct = "dbacl --mail-correct filter spam <mail";
        scratch.sh(&format!("ulimit -v {learning}; {correct}")).quiet(0);
    }
}
