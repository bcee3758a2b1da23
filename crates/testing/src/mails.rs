// SPDX-License-Identifier: GPL-3.0-or-later
//! Made-up messages of two kinds, for a filter to learn.

use crate::Scratch;

/// The text of mail of one kind.
pub const SPAM: &str = "cheap pills, limited offer, order today and save money";

/// The text of mail of the other kind.
pub const HAM: &str = "the budget report before the meeting with our team on friday";

/// Beginnings of files that are not mail, and what they are.
pub const NOT_MAIL: [(&[u8], &str); 9] = [
    (b"\x1f\x8b\x08\0\0\0\0\0\x04\x03", "compressed by gzip"),
    (b"\x28\xb5\x2f\xfd\x24\x20words", "compressed by zstd"),
    (b"\xfd7zXZ\0\0\x04", "compressed by xz"),
    (b"BZh91AY&SY", "compressed by bzip2"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture"),
    (b"\xff\xd8\xff\xe0\0\x10JFIF", "a picture"),
    (b"\x7fELF\x02\x01\x01\0", "a program"),
    (b"\x9a\x01\xc7\0\x16\xee\x03words\x8f", "binary data"),
    (b"# dbacl mail filter\nham\nspam\n", "a file of a mail filter"),
];

/// Those, and files of the filter in this folder.
pub fn not_mail(filter: &std::path::Path) -> Vec<(Vec<u8>, &'static str)> {
    let own = ["journal", "table"];
    let own = own.map(|name| (std::fs::read(filter.join(name)).expect(name), "binary data"));
    let others = NOT_MAIL.iter().map(|(bytes, what)| (bytes.to_vec(), *what));
    others.chain(own).collect()
}

/// The labels of both kinds in a filter.
pub const KINDS: [&str; 2] = ["ham", "spam"];

/// The text of mail with a label.
pub fn text(label: &str) -> String {
    match label {
        "spam" | "Junk" => SPAM.into(),
        "ham" | "good" => HAM.into(),
        "work" | "Work" => "patch series for the compiler, reviewed and merged".into(),
        "Lists__sailing" => "photographs of the lake with sailing boats".into(),
        other => {
            // Words of its own for each label.
            let roots = ["ala", "beno", "curu", "dife", "gopa", "hemi", "juno", "kilo"];
            roots.map(|root| format!("{root}{}", other.to_lowercase())).join(" ")
        }
    }
}

/// A number in letters: a filter has no use for digits, so messages that differ in these only are
/// one.
pub fn word(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'k')).collect()
}

/// A mailbox of eighty messages, so many that verdicts on messages like them are sure.
fn mailbox(text: &str) -> String {
    (0..80)
        .map(|number| {
            format!(
                "From a@example.org Mon Jan  1 10:00:00 2024\nFrom: a@example.org\n\
                 Subject: {text}\n\n{text} {number}\n\n"
            )
        })
        .collect()
}

/// Has `dbacl` learn the filter in the folder `filter` from mail of these labels, which stays in
/// mailboxes `LABEL.mbox`.
#[track_caller]
pub fn learn<'a>(
    scratch: &Scratch,
    filter: &str,
    options: &str,
    labels: impl IntoIterator<Item = &'a str>,
) {
    let mut words = format!("--mail-learn {filter} {options}");
    for label in labels {
        scratch.write(&format!("{label}.mbox"), mailbox(&text(label)));
        words.push_str(&format!(" {label}={label}.mbox"));
    }
    scratch.dbacl(&words).output();
}

/// A message of about `bytes` bytes in this character set, whose lines have so many words.
pub fn large(
    charset: &str,
    bytes: usize,
    words: usize,
    mut word: impl FnMut() -> Vec<u8>,
) -> Vec<u8> {
    let head = format!("Subject: x\nContent-Type: text/plain; charset={charset}\n\n");
    let mut mail = head.into_bytes();
    for number in 1.. {
        mail.extend(word());
        if number % words == 0 {
            mail.push(b'\n');
        }
        if mail.len() >= bytes {
            break;
        }
    }
    mail
}
