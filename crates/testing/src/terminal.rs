// SPDX-License-Identifier: GPL-3.0-or-later
//! What programs write to a terminal.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

/// A terminal, and the side of it that programs use; `None`, with a word to the user, if there is
/// none to be had.
///
/// # Panics
/// When there are no more descriptors.
pub fn open(test: &str) -> Option<(File, File)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let opened = openpt(flags).and_then(|terminal| {
        grantpt(&terminal)?;
        unlockpt(&terminal)?;
        let name = ptsname(&terminal, Vec::new())?;
        Ok((terminal, name))
    });
    let Ok((terminal, name)) = opened else {
        crate::skip(test, "no pseudo-terminal");
        return None;
    };
    let name = name.into_string().expect("a plain name");
    let side = OpenOptions::new().read(true).write(true).open(name).expect("our terminal");
    Some((terminal.into(), side))
}

/// What `command` writes to a terminal, on standard output and standard error; `None`, and the test
/// is skipped, if there is no terminal to be had. Its standard input stays as it was chosen.
///
/// # Panics
/// When the program does not start.
pub fn shown(command: &mut Command) -> Option<String> {
    let (mut terminal, side) = open("control bytes on a terminal")?;
    command.stdout(side.try_clone().expect("a descriptor"));
    command.stderr(side.try_clone().expect("a descriptor"));
    let mut child = command.spawn().expect("it starts");
    // `Command` holds copies of the terminal's descriptors until they are replaced.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    drop(side);
    let mut seen = Vec::new();
    let mut block = [0; 4096];
    // When the program has ended, reading from the terminal fails.
    while let Ok(length @ 1..) = terminal.read(&mut block) {
        seen.extend_from_slice(&block[..length]);
    }
    child.wait().expect("our child");
    Some(String::from_utf8_lossy(&seen).into_owned())
}

/// Checks that what `command` writes holds `raw`, which has an escape character, as it is in a pipe
/// and with the character shown on a terminal, where no other escape character comes through.
///
/// # Panics
/// When it does not.
#[track_caller]
pub fn shows_escapes(command: &mut Command, raw: &str) {
    command.stdin(Stdio::null());
    let piped = command.output().expect("it starts");
    let piped = [piped.stdout, piped.stderr].concat();
    let piped = String::from_utf8_lossy(&piped);
    assert!(raw.contains('\x1b') && piped.contains(raw), "{raw:?} in {piped:?}");
    let Some(seen) = shown(command) else { return };
    assert!(!seen.contains('\x1b'), "{seen:?}");
    assert!(seen.contains(&raw.replace('\x1b', "^[")), "{raw:?} in {seen:?}");
}
