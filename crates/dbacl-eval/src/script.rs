// SPDX-License-Identifier: GPL-3.0-or-later
//! Scripts that tests write and run.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program. A process of its own does that: if this process had the file open for writing
/// while another thread starts a child, the child would hold the file open, too, until it has begun
/// its own program, and running the script would fail with "text file busy" meanwhile.
pub(crate) fn write(path: &Path, text: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"]).arg(path).stdin(Stdio::piped());
    let mut writer = command.spawn().expect("sh starts");
    let mut stdin = writer.stdin.take().expect("piped");
    stdin.write_all(text.as_bytes()).expect("cat reads");
    drop(stdin);
    assert!(writer.wait().expect("our child").success(), "{} was not written", path.display());
}
