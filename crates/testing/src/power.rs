// SPDX-License-Identifier: GPL-3.0-or-later
//! Power cuts: what a program has written so far, with and without what it did not force onto the
//! disk, for every moment of its run.
//!
//! ```text
//! program under strace ─→ lines ─→ calls ─→ tree with what is forced ─→ three folders a moment
//! ```

use crate::{Done, Scratch, done};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

const CALLS: &str = "trace=openat,write,writev,pwrite64,lseek,ftruncate,fsync,fdatasync,rename,\
    renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat";

#[derive(Debug, Clone)]
enum Node {
    File { now: Vec<u8>, forced: Vec<u8> },
    Folder { now: BTreeMap<Vec<u8>, usize>, forced: BTreeMap<Vec<u8>, usize> },
    Link(PathBuf),
}

/// A folder in the memory of a machine, and on its disk.
struct Disk {
    root: PathBuf,
    nodes: Vec<Node>,
    /// Where the next byte of a descriptor of a file goes.
    places: BTreeMap<(u32, usize), u64>,
}

impl Disk {
    /// The folder as it is, all of it forced.
    fn of(root: &Path) -> Self {
        let mut disk = Self { root: root.to_owned(), nodes: Vec::new(), places: BTreeMap::new() };
        disk.load(root);
        disk
    }

    fn load(&mut self, path: &Path) -> usize {
        let own = self.nodes.len();
        let kind = fs::symlink_metadata(path).expect("a path of ours").file_type();
        if kind.is_symlink() {
            self.nodes.push(Node::Link(fs::read_link(path).expect("a link")));
        } else if kind.is_dir() {
            self.nodes.push(Node::Folder { now: BTreeMap::new(), forced: BTreeMap::new() });
            let mut names = BTreeMap::new();
            for entry in fs::read_dir(path).expect("a folder").flatten() {
                names.insert(entry.file_name().as_bytes().to_vec(), self.load(&entry.path()));
            }
            self.nodes[own] = Node::Folder { now: names.clone(), forced: names };
        } else {
            let now = fs::read(path).unwrap_or_default();
            self.nodes.push(Node::File { forced: now.clone(), now });
        }
        own
    }

    /// The node of a folder, and the name in it, of a path below the root.
    fn entry(&self, path: &Path) -> Option<(usize, Vec<u8>)> {
        let below = if path.is_absolute() { path.strip_prefix(&self.root).ok()? } else { path };
        let parent = self.find(below.parent()?)?;
        Some((parent, below.file_name()?.as_bytes().to_vec()))
    }

    fn find(&self, path: &Path) -> Option<usize> {
        let below = if path.is_absolute() { path.strip_prefix(&self.root).ok()? } else { path };
        let (mut at, mut folder, mut stack) = (0, PathBuf::new(), Vec::new());
        for part in below.components() {
            match part {
                Component::ParentDir => (at, folder) = stack.pop()?,
                Component::Normal(name) => {
                    let Node::Folder { now, .. } = &self.nodes[at] else { return None };
                    let next = *now.get(name.as_bytes())?;
                    stack.push((at, folder.clone()));
                    if let Node::Link(target) = &self.nodes[next] {
                        at = self.find(&folder.join(target))?;
                    } else {
                        at = next;
                    }
                    folder.push(name);
                }
                _ => {}
            }
        }
        Some(at)
    }

    fn names(&mut self, folder: usize) -> &mut BTreeMap<Vec<u8>, usize> {
        match &mut self.nodes[folder] {
            Node::Folder { now, .. } => now,
            _ => panic!("a path through what is no folder"),
        }
    }

    fn add(&mut self, path: &Path, node: Node) -> Option<usize> {
        let (folder, name) = self.entry(path)?;
        self.nodes.push(node);
        let own = self.nodes.len() - 1;
        self.names(folder).insert(name, own);
        Some(own)
    }

    /// Takes a call that succeeded; whether it changed anything.
    fn take(&mut self, call: &Call) -> Option<()> {
        let path = |at: usize| self.root.join(&call.paths[at]);
        match call.name.as_str() {
            "openat" => {
                let path = path(0);
                let (creates, empties) = (call.has("O_CREAT"), call.has("O_TRUNC"));
                let file = match self.find(&path) {
                    Some(file) => file,
                    None if creates => {
                        self.add(&path, Node::File { now: Vec::new(), forced: Vec::new() })?
                    }
                    None => return None,
                };
                let Node::File { now, .. } = &mut self.nodes[file] else { return None };
                if empties {
                    now.clear();
                }
                let end = if call.has("O_APPEND") { now.len() as u64 } else { 0 };
                self.places.insert((u32::try_from(call.result).ok()?, file), end);
            }
            "write" | "writev" | "pwrite64" => {
                let file = self.find(&path(0))?;
                let place = self.places.entry((call.descriptor, file)).or_default();
                let written = usize::try_from(call.result).ok()?;
                let start = if call.name == "pwrite64" { call.last } else { *place };
                if call.name != "pwrite64" {
                    *place += written as u64;
                }
                let start = usize::try_from(start).ok()?;
                let Node::File { now, .. } = &mut self.nodes[file] else { return None };
                now.resize(now.len().max(start + written), 0);
                now[start..start + written].copy_from_slice(&call.data[..written]);
            }
            "lseek" => {
                let file = self.find(&path(0))?;
                self.places.insert((call.descriptor, file), u64::try_from(call.result).ok()?);
                return None;
            }
            "ftruncate" => {
                let file = self.find(&path(0))?;
                let Node::File { now, .. } = &mut self.nodes[file] else { return None };
                now.resize(usize::try_from(call.last).ok()?, 0);
            }
            "fsync" | "fdatasync" => {
                let node = self.find(&path(0))?;
                match &mut self.nodes[node] {
                    Node::File { now, forced } => forced.clone_from(now),
                    Node::Folder { now, forced } => forced.clone_from(now),
                    Node::Link(_) => {}
                }
            }
            "mkdir" | "mkdirat" => {
                let empty = Node::Folder { now: BTreeMap::new(), forced: BTreeMap::new() };
                self.add(&path(0), empty)?;
            }
            "symlink" | "symlinkat" => {
                self.add(&path(1), Node::Link(call.paths[0].clone()))?;
            }
            "unlink" | "unlinkat" | "rmdir" => {
                let (folder, name) = self.entry(&path(0))?;
                self.names(folder).remove(&name);
            }
            _ => {
                let [(from, old), (to, new)] = [self.entry(&path(0))?, self.entry(&path(1))?];
                let node = *self.names(from).get(&old)?;
                let other = self.names(to).insert(new, node);
                match other.filter(|_| call.has("RENAME_EXCHANGE")) {
                    Some(other) => drop(self.names(from).insert(old, other)),
                    None if call.name.starts_with("link") => {}
                    None => drop(self.names(from).remove(&old)),
                }
            }
        }
        Some(())
    }

    /// Writes a folder to `place` with forced names only, or forced bytes only.
    fn write(&self, node: usize, place: &Path, names_forced: bool, bytes_forced: bool) {
        match &self.nodes[node] {
            Node::File { now, forced } => {
                fs::write(place, if bytes_forced { forced } else { now }).expect("our own");
            }
            Node::Link(target) => symlink(target, place).expect("our own"),
            Node::Folder { now, forced } => {
                fs::create_dir_all(place).expect("our own");
                for (name, &node) in if names_forced { forced } else { now } {
                    let place = place.join(OsStr::from_bytes(name));
                    self.write(node, &place, names_forced, bytes_forced);
                }
            }
        }
    }
}

/// A call of the operating system, as strace shows it.
#[derive(Debug, Default)]
struct Call {
    name: String,
    flags: String,
    paths: Vec<PathBuf>,
    descriptor: u32,
    data: Vec<u8>,
    /// The last argument, where it is a number.
    last: u64,
    result: i64,
}

impl Call {
    fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    fn of(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once('(')?;
        let (arguments, result) = rest.rsplit_once(" = ")?;
        let result = result.split(['<', ' ']).next()?.parse().ok().filter(|&it| it >= 0)?;
        let arguments = arguments.trim_end().strip_suffix(')')?;
        let mut call = Self { name: name.to_owned(), result, ..Self::default() };
        let (mut bases, mut rest) = (Vec::new(), arguments);
        // Strings stand between quotation marks, paths of descriptors between angles.
        while let Some(at) = rest.find(['"', '<']) {
            call.flags.push_str(&rest[..at]);
            let close = if rest.as_bytes()[at] == b'"' { '"' } else { '>' };
            let end = at + 1 + rest[at + 1..].find(close)?;
            let bytes = unhexed(&rest[at + 1..end]);
            if close == '>' {
                let number = rest[..at].rsplit([' ', ',', '(']).next()?;
                call.descriptor = number.parse().unwrap_or_default();
                bases.push(PathBuf::from(OsStr::from_bytes(&bytes)));
            } else if call.name.contains("write") {
                call.data.extend(bytes);
            } else {
                let base = if call.name == "symlinkat" && call.paths.is_empty() {
                    PathBuf::new()
                } else {
                    bases.pop().unwrap_or_default()
                };
                call.paths.push(base.join(OsStr::from_bytes(&bytes)));
            }
            rest = &rest[end + 1..];
        }
        call.flags.push_str(rest);
        call.last = rest.rsplit([' ', ',']).next()?.trim().parse().unwrap_or_default();
        if call.paths.is_empty() {
            call.paths = bases;
        }
        (!call.paths.is_empty()).then_some(call)
    }
}

/// The bytes of `\x61\x62`.
fn unhexed(text: &str) -> Vec<u8> {
    let codes = text.split("\\x").skip(1);
    codes.map(|code| u8::from_str_radix(code, 16).expect("two digits")).collect()
}

/// The calls in the order in which they ended. Those of several threads may be interrupted.
fn calls(log: &str) -> Vec<Call> {
    let (mut begun, mut found) = (BTreeMap::new(), Vec::new());
    for line in log.lines() {
        let Some((thread, line)) = line.split_once(' ') else { continue };
        let line = line.trim_start();
        if let Some(start) = line.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, start.to_owned());
        } else if let Some((_, rest)) = line.split_once(" resumed>") {
            found.extend(Call::of(&(begun.remove(thread).unwrap_or_default() + rest)));
        } else {
            found.extend(Call::of(line));
        }
    }
    found
}

/// Cuts the power at every moment while `change` runs in a folder, and runs `check` in what is
/// left. It says what it said before the change or says afterwards, and the latter once the change
/// has ended. Returns the number of different folders.
///
/// # Panics
/// It says something else.
pub fn cut(place: &Scratch, change: &str, check: &str) -> usize {
    let root = fs::canonicalize(place.path("")).expect("our own");
    let mut disk = Disk::of(&root);
    let said = |place: &Scratch| {
        let Done { status, stdout, .. } = place.sh(check);
        (status, stdout)
    };
    let before = said(&place.copy());
    let logs = Scratch::new();
    let log = logs.path("log");
    let mut traced = place.command("strace");
    traced.args(["-f", "-qq", "-y", "-xx", "-s", "16777216", "-e", CALLS, "-o"]);
    let run = done(traced.arg(&log).args(["sh", "-c", change]));
    assert_eq!(run.status, 0, "{change}: {}", run.stderr);
    let after = said(&place.copy());
    assert_ne!(before, after, "{change} changes nothing that {check} says");
    let log = fs::read_to_string(&log).expect("hexadecimal text");
    let mut seen = BTreeSet::new();
    let calls = calls(&log);
    for number in 0..=calls.len() {
        if number > 0 && disk.take(&calls[number - 1]).is_none() && number < calls.len() {
            continue;
        }
        for (names_forced, bytes_forced) in [(false, false), (true, true), (false, true)] {
            let left = Scratch::new();
            disk.write(0, &left.path(""), names_forced, bytes_forced);
            let is_end = number == calls.len();
            if !seen.insert(content(&left.path(""))) && !is_end {
                continue;
            }
            let own = said(&left);
            let what = calls.get(number.saturating_sub(1)).map(|it| (&it.name, &it.paths));
            let is_right = own == after || own == before && !is_end;
            assert!(
                is_right,
                "{change}: after {what:?}, names forced {names_forced}, bytes forced \
                 {bytes_forced}: {check} says {own:?}, before {before:?}, after {after:?}"
            );
        }
    }
    seen.len()
}

/// All names and bytes below a folder.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let name = path.strip_prefix(folder).unwrap_or(&path).to_owned();
        let kind = fs::symlink_metadata(&path).expect("our own").file_type();
        if kind.is_dir() {
            waiting.extend(fs::read_dir(&path).expect("ours").flatten().map(|it| it.path()));
            found.push((name, Vec::new()));
        } else if kind.is_symlink() {
            found.push((
                name,
                fs::read_link(&path).expect("ours").into_os_string().into_encoded_bytes(),
            ));
        } else {
            found.push((name, fs::read(&path).expect("ours")));
        }
    }
    found.sort();
    found
}
