// SPDX-License-Identifier: GPL-3.0-or-later
//! The exit statuses of `sysexits.h` (4.3BSD), which mail systems and scripts understand.

use std::io;

/// The command line or the configuration is wrong (`EX_USAGE`).
pub const USAGE: u8 = 64;
/// An input does not hold what it should (`EX_DATAERR`).
pub const DATA: u8 = 65;
/// An input cannot be opened (`EX_NOINPUT`).
pub const NO_INPUT: u8 = 66;
/// Something that the program needs cannot be used (`EX_UNAVAILABLE`).
pub const UNAVAILABLE: u8 = 69;
/// A fault in the program, or a computation that left its range (`EX_SOFTWARE`).
pub const SOFTWARE: u8 = 70;
/// An output cannot be made (`EX_CANTCREAT`).
pub const CANNOT_CREATE: u8 = 73;
/// Reading or writing failed (`EX_IOERR`).
pub const IO: u8 = 74;
/// The same may work later (`EX_TEMPFAIL`).
pub const LATER: u8 = 75;
/// The peer spoke something else than its protocol (`EX_PROTOCOL`).
pub const PROTOCOL: u8 = 76;
/// The user is not allowed to (`EX_NOPERM`).
pub const FORBIDDEN: u8 = 77;

/// The status for an input that cannot be opened or read.
pub fn of_input(error: &io::Error) -> u8 {
    use io::ErrorKind::{InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    match error.kind() {
        NotFound | PermissionDenied | InvalidInput | IsADirectory | NotADirectory => NO_INPUT,
        _ => IO,
    }
}
