// SPDX-License-Identifier: GPL-3.0-or-later
//! Turns a line of bytes into folded characters.
//!
//! Bytes are decoded as UTF-8; each character is replaced by its folded form, and letters are
//! composed with their marks (NFC), so that one text has one form. Marks that only disguise a
//! letter are left out.

use super::cell::Cell;
use super::table::{Table, composes, is_disguise, is_invisible};
use crate::charset::{Charset, decode};
use unicode_normalization::UnicodeNormalization;

/// The most characters of a letter with its marks; further marks are left out. No language has more
/// than a few.
const MAX_CLUSTER: usize = 32;

/// Folds lines.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    table: Table,
    cells: Vec<Cell>,
    /// A letter and its marks, before they are composed.
    cluster: Vec<char>,
    /// A line as decoded.
    decoded: Vec<u8>,
}

impl Folder {
    /// A folder that keeps capital letters or makes them small.
    pub(super) fn new(keeps_case: bool) -> Self {
        Self {
            table: Table::new(keeps_case),
            cells: Vec::new(),
            cluster: Vec::new(),
            decoded: Vec::new(),
        }
    }

    /// Folds a line and returns its characters.
    pub(super) fn fold(&mut self, line: &[u8]) -> &[Cell] {
        self.cells.clear();
        match std::str::from_utf8(line) {
            Ok(_) if is_iso_2022_jp(line) => self.decoded(Charset::by_label(b"iso-2022-jp"), line),
            Ok(text) => self.text(text),
            Err(_) => self.other(line),
        }
        &self.cells
    }

    /// A line that is not valid UTF-8. If it has more good characters outside ASCII than stray
    /// bytes, each stray byte is the character that it is in windows-1252; else the whole line is
    /// in another character set, which is guessed. Nothing depends on other lines.
    fn other(&mut self, line: &[u8]) {
        let (mut good, mut stray) = (0, 0);
        for chunk in line.utf8_chunks() {
            good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
            stray += chunk.invalid().len();
        }
        if good <= stray {
            return self.decoded(Some(Charset::guess(line)), line);
        }
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.clear();
        for chunk in line.utf8_chunks() {
            decoded.extend_from_slice(chunk.valid().as_bytes());
            decode(Charset::WINDOWS_1252, chunk.invalid(), &mut decoded);
        }
        self.whole(decoded);
    }

    /// A line that is in `charset`.
    fn decoded(&mut self, charset: Option<Charset>, line: &[u8]) {
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.clear();
        decode(charset.unwrap_or(Charset::WINDOWS_1252), line, &mut decoded);
        self.whole(decoded);
    }

    /// A line as decoded; its memory is kept.
    fn whole(&mut self, decoded: Vec<u8>) {
        // Decoders write UTF-8.
        if let Ok(text) = std::str::from_utf8(&decoded) {
            self.text(text);
        }
        self.decoded = decoded;
    }

    fn text(&mut self, text: &str) {
        self.cells.reserve(text.len());
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            let entry = self.table.entry(character);
            if let Some(cell) = entry.simple() {
                self.cells.push(cell);
                continue;
            }
            if let Some(mark) = entry.lone_mark()
                && rest.clone().next().is_none_or(|next| self.is_simple(next))
            {
                self.cells.push(mark);
                continue;
            }
            self.special(character, &mut rest);
        }
    }

    fn is_simple(&mut self, character: char) -> bool {
        self.table.entry(character).simple().is_some()
    }

    /// Handles a character that becomes none or several, or a mark on the character before it.
    fn special(&mut self, character: char, rest: &mut std::str::Chars<'_>) {
        if is_invisible(character) {
            return;
        }
        let mut cluster = std::mem::take(&mut self.cluster);
        cluster.clear();
        cluster.extend(self.cells.last().copied().map(Cell::character));
        let before = cluster.len();
        self.table.fold_into(character, &mut cluster);
        if !cluster[before..].iter().copied().any(composes) {
            for &character in cluster[before..].iter().filter(|&&c| !is_disguise(c)) {
                let cell = self.table.cell(character);
                self.cells.push(cell);
            }
            self.cluster = cluster;
            return;
        }
        self.cells.pop();
        let mut ahead = rest.clone();
        while let Some(next) = ahead.next() {
            if self.is_simple(next) {
                break;
            }
            if !is_invisible(next) {
                let length = cluster.len();
                self.table.fold_into(next, &mut cluster);
                if !cluster[length..].iter().copied().all(composes) {
                    cluster.truncate(length);
                    break;
                }
                cluster.truncate(MAX_CLUSTER.max(before));
            }
            *rest = ahead.clone();
        }
        for character in cluster.iter().copied().nfc() {
            if !is_disguise(character) {
                let cell = self.table.cell(character);
                self.cells.push(cell);
            }
        }
        self.cluster = cluster;
    }
}

/// Whether a line of ASCII has the escape sequence that begins Japanese in ISO-2022-JP: escape,
/// dollar, and `@` or `B`.
pub(super) fn is_iso_2022_jp(line: &[u8]) -> bool {
    memchr::memchr_iter(0x1b, line)
        .any(|at| matches!(line.get(at + 1..at + 3), Some(b"$@" | b"$B")))
}
