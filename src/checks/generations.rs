// SPDX-License-Identifier: GPL-3.0-or-later
//! A fitted set's folder of generations, as damage, other programs or other users may have left it.

use crate::fit::checksum::Checksum;
use crate::store::generations::{Change, Force, Name, Opened, Store};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, process};

/// Names of generations, possible ones and others.
const NUMBERS: [&str; 8] =
    ["1", "2", "3", "0", "new.0", "18446744073709551614", "18446744073709551615", "current.new"];

/// Names of files in a generation, possible ones and others.
const FILES: [&str; 8] = [
    "order",
    "category.ham",
    "category.spam",
    "ledger",
    "ledger.state",
    "../../outside/kept",
    "generation",
    "",
];

/// What the file outside the set holds.
const KEPT: &[u8] = b"nobody may change this";

/// What a change writes.
const FRESH: &[u8] = b"# dbacl category that was made anew";

/// A folder for one run.
struct Room {
    folder: PathBuf,
    store: Store,
}

impl Room {
    fn new() -> Self {
        let folder = env::temp_dir().join(format!("dbacl-fuzz-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("outside")).expect("a folder of our own");
        fs::create_dir(folder.join("ledger.set")).expect("a folder of our own");
        fs::write(folder.join("outside/kept"), KEPT).expect("a file of our own");
        let store = Store::beside(&folder.join("ledger"));
        Self { folder, store }
    }

    fn check_outside(&self) {
        let mut found = fs::read_dir(self.folder.join("outside")).expect("our own").flatten();
        let file = found.next().expect("the file outside is still there");
        assert!(found.next().is_none(), "something came into the folder outside");
        assert_eq!(fs::read(file.path()).expect("our own"), KEPT);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn take(data: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = data.split_first()?;
    *data = rest;
    Some(first)
}

/// Bytes up to one that is 255.
fn text<'a>(data: &mut &'a [u8]) -> &'a [u8] {
    let end = data.iter().position(|&byte| byte == 255).unwrap_or(data.len());
    let (text, rest) = data.split_at(end);
    *data = rest.get(1..).unwrap_or_default();
    text
}

fn of<const N: usize>(names: [&'static str; N], choice: u8) -> &'static str {
    names[usize::from(choice) % N]
}

/// A list of files with its checksum.
fn sealed(facts: &[u8]) -> Vec<u8> {
    let mut list = facts.to_vec();
    list.extend_from_slice(format!("sum {:016x}\n", Checksum::of(facts)).as_bytes());
    list
}

/// A generation with the files that `chosen` names, all whole.
fn whole(folder: &Path, is_forced: bool, chosen: u8) {
    let _ = fs::create_dir(folder);
    let mut facts = b"# dbacl generation 1\n".to_vec();
    facts.extend_from_slice(if is_forced { b"forced\n" } else { b"quick\n" });
    for (bit, name) in FILES.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 != 0) {
        facts.extend_from_slice(format!("{bit} {name}\n").as_bytes());
        if bit < 5 {
            let _ = fs::write(folder.join(name), &KEPT[..bit]);
        }
    }
    write_list(folder, &sealed(&facts));
}

/// Writes a list of files; a pipe that is there would wait for a reader.
fn write_list(folder: &Path, list: &[u8]) {
    let path = folder.join("generation");
    let _ = fs::remove_file(&path);
    let _ = fs::write(path, list);
}

/// One step that leaves something in the set's folder; none if no bytes are left.
fn damage(room: &Room, data: &mut &[u8]) -> Option<()> {
    let step = take(data)?;
    let set = &room.store.folder;
    let name = of(NUMBERS, step >> 3);
    let folder = set.join(name);
    // Damage is done to the set's own folder: these steps would follow a link to the one outside.
    if folder.is_symlink() && matches!(step & 7, 1..=3 | 6..) {
        return Some(());
    }
    match step & 7 {
        0 => {
            let target = if step >= 128 { text(data) } else { name.as_bytes() };
            let current = set.join("current");
            let _ = fs::remove_file(&current);
            let target: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(target);
            let _ = symlink(target, current);
        }
        1 => whole(&folder, step >= 128, take(data)?),
        2 => {
            let facts = text(data);
            let list = if step >= 128 { sealed(facts) } else { facts.to_vec() };
            let _ = fs::create_dir(&folder);
            write_list(&folder, &list);
        }
        3 => {
            let choice = take(data)?;
            let file = folder.join(FILES[usize::from(choice) % 5]);
            match fs::read(&file) {
                Ok(bytes) if choice >= 128 => {
                    let _ = fs::write(&file, &bytes[..bytes.len() / 2]);
                }
                _ => drop(fs::remove_file(&file)),
            }
        }
        4 => drop(symlink("../outside", &folder)),
        5 => drop(fs::write(&folder, KEPT)),
        6 => {
            let list = folder.join("generation");
            let _ = fs::remove_file(&list);
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let fifo = rustix::fs::FileType::Fifo;
            let _ = rustix::fs::mknodat(rustix::fs::CWD, &list, fifo, mode, 0);
        }
        _ => {
            let file = folder.join(of(FILES, take(data)?));
            let _ = fs::create_dir(&folder);
            let _ = fs::create_dir(file);
        }
    }
    Some(())
}

/// Puts a category into a generation that is being made, and makes it current.
fn publish(room: &Room, change: Change, is_forced: bool) -> bool {
    let path = change.path(OsStr::new("category.ham"));
    let _ = fs::remove_file(&path);
    if fs::write(&path, FRESH).is_err() {
        return false;
    }
    let before = fs::read_link(room.store.folder.join("current")).ok();
    if change.publish(if is_forced { Force::All } else { Force::Lessons }).is_err() {
        assert_eq!(before, fs::read_link(room.store.folder.join("current")).ok());
        return false;
    }
    let found = room.store.open().expect("what was made can be opened").expect("it is there");
    assert!(!found.is_earlier && found.has(OsStr::new("category.ham")));
    let bytes = fs::read(found.path(OsStr::new("category.ham")));
    assert_eq!(bytes.expect("the file is there"), FRESH);
    true
}

/// Steps that leave something in the folder; then the set is opened, changed and replaced. Whatever
/// was there, the answer is a set or an error, a change that is said to hold can be read, a reader
/// keeps its generation, and nothing outside the folder is changed.
pub fn generations(mut data: &[u8]) {
    let Some(flags) = take(&mut data) else { return };
    let room = Room::new();
    let store = &room.store;
    for _ in 0..32 {
        if damage(&room, &mut data).is_none() {
            break;
        }
    }
    room.check_outside();
    if let Ok(Some(found)) = store.open() {
        assert_eq!(found.folder.parent(), Some(store.folder.as_path()));
        for name in FILES {
            let name = OsStr::new(name);
            let is_inside = found.path(name).parent() == Some(found.folder.as_path());
            assert!(is_inside || !found.has(name), "{} is no file of the set", name.display());
        }
        let _ = found.warnings();
    }
    room.check_outside();
    let name = Name {
        path: room.folder.join("ham"),
        member: "category.ham".into(),
        ours: b"# dbacl category",
    };
    let is_forced = flags & 1 != 0;
    if let Ok(change) = store.change(std::slice::from_ref(&name), &mut |_| {}) {
        publish(&room, change, is_forced);
    }
    room.check_outside();
    if let Ok(change) = store.replacement(&[], &mut |_| {})
        && publish(&room, change, is_forced)
    {
        if store.link_names([&name]).is_ok() {
            let (file, _) = Opened::default().file(&name.path).expect("the set can be opened");
            assert_eq!(fs::read(file).expect("the file is there"), FRESH);
        }
        let held = store.open().expect("it was published").expect("it was published");
        // After the generation of the largest number none can follow.
        let is_last =
            || store.open().expect("it is there").expect("it is there").number == u64::MAX;
        let is_final = is_last();
        for _ in 0..3 {
            let was_last = is_last();
            let change = store.replacement(&[], &mut |_| {}).expect("the folder was just changed");
            assert_eq!(publish(&room, change, false), !was_last);
        }
        let bytes = fs::read(held.path(OsStr::new("category.ham")));
        assert_eq!(bytes.expect("a reader keeps its generation"), FRESH);
        drop(store.replacement(&[], &mut |_| {}));
        let found = store.open().expect("it was published").expect("it was published");
        assert_eq!(found.number == held.number, is_final);
    }
    room.check_outside();
}
