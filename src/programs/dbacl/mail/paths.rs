// SPDX-License-Identifier: GPL-3.0-or-later
//! Patterns of file names → the paths that fit. Names may be of any bytes.

use super::super::failure::{Failure, Kind, unopened};
use glob::Pattern;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether a path may be a pattern.
pub(super) fn is_pattern(place: &OsStr) -> bool {
    place.as_bytes().iter().any(|byte| b"*?[".contains(byte))
}

/// The paths that fit a pattern, in order; `**` stands for any number of folders.
pub(super) fn expand(pattern: &OsStr) -> Result<Vec<PathBuf>, Failure> {
    let start = if pattern.as_bytes().starts_with(b"/") { "/" } else { "" };
    let mut found = vec![PathBuf::from(start)];
    for part in pattern.as_bytes().split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for folder in &found {
            if part == b"**" {
                below(folder, &mut next)?;
            } else if is_pattern(OsStr::from_bytes(part)) {
                let names = names(folder)?;
                let fitting: Result<Vec<_>, Failure> =
                    names.into_iter().map(|name| Ok((fits(part, &name)?, name))).collect();
                next.extend(fitting?.into_iter().filter(|one| one.0).map(|one| one.1));
            } else {
                let path = folder.join(OsStr::from_bytes(part));
                match std::fs::metadata(&path) {
                    Ok(_) => next.push(path),
                    Err(error) if is_nothing(error.kind()) => {}
                    Err(error) => return Err(unopened(&path, &error)),
                }
            }
        }
        found = next;
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

const fn is_nothing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Whether the name of a path fits a part of a pattern. If one of them is not UTF-8, bytes are
/// compared in place of characters.
fn fits(part: &[u8], path: &Path) -> Result<bool, Failure> {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let latin = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    let (part, name) = match (std::str::from_utf8(part), std::str::from_utf8(name)) {
        (Ok(part), Ok(name)) => (part.to_owned(), name.to_owned()),
        _ => (latin(part), latin(name)),
    };
    let pattern = Pattern::new(&part)
        .map_err(|error| Failure::new(Kind::Usage, format!("{part}: {error}")))?;
    Ok(pattern.matches(&name))
}

/// What is in a folder; nothing if it is not a folder.
fn names(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // The names of a folder may be readable where its files are not.
    let entries = std::fs::metadata(here.join(".")).and_then(|_| std::fs::read_dir(here));
    let entries = match entries {
        Err(error) if is_nothing(error.kind()) => return Ok(Vec::new()),
        entries => entries.map_err(|error| unopened(here, &error))?,
    };
    entries
        .map(|entry| Ok(folder.join(entry.map_err(|error| unopened(here, &error))?.file_name())))
        .collect()
}

/// Adds a folder and all folders below it; links are not followed.
fn below(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    found.push(folder.to_owned());
    for path in names(folder)? {
        if std::fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir()) {
            below(&path, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_testing::Scratch;

    #[test]
    fn names_of_any_bytes_fit_patterns() {
        let place = Scratch::new();
        let names: [&[u8]; 6] =
            [b"a/1", b"a/\xff\xfe", b"a/caf\xe9", b"\xe9/x/1", b"\xe8/1", "ä/1".as_bytes()];
        for name in names {
            let path = place.path("").join(OsStr::from_bytes(name));
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("our own");
            std::fs::write(path, "").expect("our own");
        }
        for (pattern, expected) in [
            (&b"a/*"[..], &[0, 2, 1][..]),
            (b"a/\xff*", &[1]),
            (b"a/caf?", &[2]),
            (b"\xe9/*/*", &[3]),
            (b"?/1", &[0, 5, 4]),
            (b"**/1", &[0, 5, 4, 3]),
            (b"a/[1-9]", &[0]),
            (b"no*/1", &[]),
            (b"a/1/*", &[]),
        ] {
            let whole = place.path("").join(OsStr::from_bytes(pattern));
            let found = expand(whole.as_os_str()).unwrap_or_else(|_| panic!("{pattern:?}"));
            let expected: Vec<PathBuf> = expected
                .iter()
                .map(|&at: &usize| place.path("").join(OsStr::from_bytes(names[at])))
                .collect();
            assert_eq!(found, expected, "{}", pattern.escape_ascii());
        }
    }
}
