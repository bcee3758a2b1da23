// SPDX-License-Identifier: GPL-3.0-or-later
//! The mail filter as a program: whatever comes in goes out, but for verdicts in the header.

use std::env;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The program: `DBACL_FUZZ_PROGRAM`, or that which was built with this one, a folder above it.
fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let named = env::var_os("DBACL_FUZZ_PROGRAM").map(PathBuf::from);
        named.unwrap_or_else(|| {
            let this = env::current_exe().expect("its own path");
            this.ancestors().nth(2).expect("a folder above").join("dbacl")
        })
    })
}

/// Whether a line begins a verdict that somebody else wrote. Blanks before the colon are allowed,
/// and what begins with a name and so many blanks that it has 64 bytes is one without a colon.
fn is_verdict(line: &[u8]) -> bool {
    let Some((name, rest)) = line.split_at_checked(b"x-dbacl".len()) else { return false };
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace() && **byte != b'\n');
    let blanks = blanks.count();
    name.eq_ignore_ascii_case(b"x-dbacl")
        && (rest.get(blanks) == Some(&b':') || name.len() + blanks >= 64)
}

/// The mail without verdicts in its header, with their continuation lines.
fn without_verdicts(mail: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(mail.len());
    let (mut in_header, mut drops) = (true, false);
    for line in mail.split_inclusive(|&byte| byte == b'\n') {
        if in_header {
            let goes_on = matches!(line.first(), Some(b' ' | b'\t'));
            drops = if goes_on { drops } else { is_verdict(line) };
            in_header = !matches!(line, b"\n" | b"\r\n");
        }
        if !(in_header && drops) {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// What the filter must print: the mail with a verdict before its first header line. A first line
/// that begins with a blank must not go on with the verdict: an empty header stands between them.
fn expected(mail: &[u8]) -> Vec<u8> {
    let end: &[u8] = match mail.iter().position(|&byte| byte == b'\n') {
        Some(at) if at > 0 && mail[at - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    };
    let kept = without_verdicts(mail);
    let first = kept.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let envelope = if kept.starts_with(b"From ") { first } else { 0 };
    let (envelope, rest) = kept.split_at(envelope);
    let folded = matches!(rest.first(), Some(b' ' | b'\t'));
    let between = if folded { [b"X-DBACL-Folded:", end].concat() } else { Vec::new() };
    [envelope, b"X-DBACL: error", end, &between, rest].concat()
}

/// Filters a message in a folder without categories.
pub(crate) fn mail_filter(data: &[u8]) {
    let mut command = Command::new(program());
    command.args(["--mail-filter", "/nowhere"]).env_clear().env("LC_ALL", "C");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program dbacl is built");
    // Less than a pipe holds, so nobody waits for the other.
    let data = &data[..data.len().min(1 << 15)];
    child.stdin.take().expect("piped").write_all(data).expect("the filter reads all");
    let output = child.wait_with_output().expect("our child");
    assert_eq!(output.status.code(), Some(0));
    // Lines that all end in CR alone get other ends, so that the verdict stands on a line.
    let has_cr_alone = !data.contains(&b'\n') && data.contains(&b'\r');
    let ends = |byte: &u8| if *byte == b'\r' { b'\n' } else { *byte };
    let data: Vec<u8> = if has_cr_alone { data.iter().map(ends).collect() } else { data.to_vec() };
    let data = &data[..];
    assert!(output.stdout == expected(data), "{:?}", output.stdout.escape_ascii().to_string());
}
