// SPDX-License-Identifier: GPL-3.0-or-later
//! Messages to learn, with which several tests of mail filters begin.

/// A message of a mailbox, of one of two kinds that share some words.
pub(crate) fn mail(label: &str, number: usize) -> String {
    let words = if label == "spam" { "cheap pills offer" } else { "meeting agenda minutes" };
    format!(
        "From a@b.c Mon Jan  1 00:00:00 2024\nFrom: {label}{}@example.org\nSubject: {words} \
         {number}\n\n\
         {words} number n{} and something common for all of us\n\n",
        number % 7,
        number % 5
    )
}
