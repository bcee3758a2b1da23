// SPDX-License-Identifier: GPL-3.0-or-later
//! The program in a folder, and messages to learn: what several tests of fitted sets begin with.

use dbacl_testing::{Done, command, finish, programs};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub fn program() -> PathBuf {
    programs().join("dbacl")
}

/// Starts a command in `folder` and gives it `input` to read.
pub fn spawn(mut command: Command, folder: &Path, input: &[u8]) -> Child {
    let mut child = command
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // It may end without reading.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child
}

/// Runs dbacl in `folder`, with `input` to read.
pub fn dbacl(folder: &Path, args: &[&str], input: impl AsRef<[u8]>) -> Done {
    let mut run = command(program());
    run.args(args);
    finish(spawn(run, folder, input.as_ref()))
}

/// A message of a mailbox, of one of two kinds that share some words.
pub fn mail(label: &str, number: usize) -> String {
    let words = if label == "spam" { "cheap pills offer" } else { "meeting agenda minutes" };
    format!(
        "From a@b.c Mon Jan  1 00:00:00 2024\nFrom: {label}{}@example.org\nSubject: {words} \
         {number}\n\n\
         {words} number n{} and something common for all of us\n\n",
        number % 7,
        number % 5
    )
}
