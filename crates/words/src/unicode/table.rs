// SPDX-License-Identifier: GPL-3.0-or-later
//! The folded form of each character, and the class of that form.
//!
//! Both are worked out from the tables of Unicode 16.0.0 when a character is first met, and kept,
//! since a text has few different characters.

use super::cell::{Cell, Class};
use caseless::Caseless;
use std::collections::HashMap;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

/// The version of Unicode whose tables are used, whatever the compiler's standard library knows.
pub const UNICODE_VERSION: (u64, u64, u64) = (16, 0, 0);

/// Characters below this have two bytes of UTF-8 at most. All of them are in the first block, where
/// they are found at once: letters of Latin, Greek, Cyrillic, Hebrew and Arabic.
const NEAR: usize = 0x800;

/// Characters of any other block of the table.
const BLOCK: usize = 256;

/// The character has been looked up.
const KNOWN: u32 = 1 << 30;
/// The character is not simply replaced by one other.
const SPECIAL: u32 = 1 << 31;
/// The character is special, but its neighbours matter only if the next character is special, too.
const LONE: u32 = 1 << 29;

/// Several characters or none take its place: the rest of the number says which.
const SEVERAL: u32 = 15 << 21;

/// What replaces a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u32);

impl Entry {
    const UNKNOWN: Self = Self(0);

    /// The one character that takes its place, if it is not special.
    #[inline]
    pub(super) const fn simple(self) -> Option<Cell> {
        if self.0 & SPECIAL == 0 { Some(Cell::from_number(self.0)) } else { None }
    }

    /// Which characters take its place, if they are several or none.
    const fn several(self) -> Option<usize> {
        let is_several = self.0 & (SPECIAL | SEVERAL) == SPECIAL | SEVERAL;
        if is_several { Some((self.0 & 0x1f_ffff) as usize) } else { None }
    }

    /// The mark itself, if it is one that never composes with what stands before it.
    pub(super) const fn lone_mark(self) -> Option<Cell> {
        if self.0 & LONE == 0 { None } else { Some(Cell::from_number(self.0)) }
    }
}

/// The characters met so far.
#[derive(Debug, Clone)]
pub(super) struct Table {
    keeps_case: bool,
    /// The characters below [`NEAR`]; empty until the first character is met.
    near: Vec<Entry>,
    /// The others by block, each empty until one of its characters is met.
    blocks: Vec<Vec<Entry>>,
    /// What takes the place of characters that become several.
    several: Vec<Box<[char]>>,
}

impl Table {
    /// A table of no character. With `keeps_case` capital letters stay what they are.
    pub(super) const fn new(keeps_case: bool) -> Self {
        Self { keeps_case, near: Vec::new(), blocks: Vec::new(), several: Vec::new() }
    }

    /// What replaces `character`.
    #[inline]
    pub(super) fn entry(&mut self, character: char) -> Entry {
        let code = character as usize;
        match self.near.get(code).or_else(|| self.far(code)) {
            Some(&entry) if entry != Entry::UNKNOWN => entry,
            _ => self.look_up(character),
        }
    }

    #[inline]
    fn far(&self, code: usize) -> Option<&Entry> {
        self.blocks.get(code / BLOCK)?.get(code % BLOCK)
    }

    #[cold]
    fn look_up(&mut self, character: char) -> Entry {
        let entry = self.make(character);
        let code = character as usize;
        if self.near.is_empty() {
            self.near.resize(NEAR, Entry::UNKNOWN);
            self.blocks.resize(char::MAX as usize / BLOCK + 1, Vec::new());
        }
        if let Some(near) = self.near.get_mut(code) {
            *near = entry;
            return entry;
        }
        let block = &mut self.blocks[code / BLOCK];
        if block.is_empty() {
            block.resize(BLOCK, Entry::UNKNOWN);
        }
        block[code % BLOCK] = entry;
        entry
    }

    fn make(&mut self, character: char) -> Entry {
        let folded = self.folded(character);
        if let &[only] = folded.as_slice() {
            if !composes(only) && !is_disguise(only) {
                return Entry(classified(only).number() | KNOWN);
            }
            if only == character {
                let is_lone = is_nfc(only) && !is_disguise(only);
                let lone = if is_lone { LONE } else { 0 };
                return Entry(classified(only).number() | KNOWN | SPECIAL | lone);
            }
        }
        let number = self.several.len();
        self.several.push(folded.into());
        // There are fewer such characters than code points, so the number fits.
        #[allow(clippy::cast_possible_truncation)]
        Entry(KNOWN | SPECIAL | SEVERAL | number as u32)
    }

    /// Appends the characters that take the place of `character`.
    pub(super) fn fold_into(&mut self, character: char, out: &mut Vec<char>) {
        let entry = self.entry(character);
        match entry.several() {
            Some(number) => out.extend_from_slice(&self.several[number]),
            None => out.push(Cell::from_number(entry.0).character()),
        }
    }

    /// The characters that take the place of `character`: NFKC, full case folding unless case is
    /// kept, and without what cannot be seen (as `NFKC_Casefold` of the standard).
    pub(super) fn folded(&self, character: char) -> Vec<char> {
        let mut text = vec![character];
        // For few characters one step changes the result of another; three rounds settle all of
        // them.
        for _ in 0..4 {
            let seen = text.iter().copied().filter(|&c| !is_invisible(c));
            let next: Vec<char> = if self.keeps_case {
                seen.nfkc().collect()
            } else {
                seen.nfd().default_case_fold().nfkc().collect()
            };
            let is_settled = next == text;
            text = next;
            if is_settled {
                break;
            }
        }
        text
    }

    /// The class and the bits of a character that has been folded.
    pub(super) fn cell(&mut self, folded: char) -> Cell {
        match self.entry(folded).simple() {
            Some(cell) if cell.code() == folded as u32 => cell,
            _ => classified(folded),
        }
    }
}

/// Whether a character may combine with one before it, or trade places with it.
pub(super) fn composes(character: char) -> bool {
    canonical_combining_class(character) != 0 || !is_nfc(character)
}

fn is_nfc(character: char) -> bool {
    is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes
}

/// Characters that are not seen: `Default_Ignorable_Code_Point`, and the marks of annotations.
pub(super) const fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Marks that belong to no script and have not been composed with their letter: strokes through it,
/// circles around it, accents that no alphabet puts there.
pub(super) fn is_disguise(character: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, SpacingMark};
    match character.general_category() {
        EnclosingMark => true,
        NonspacingMark | SpacingMark => character.script() == Script::Inherited,
        _ => false,
    }
}

/// The class and the bits of a folded character.
fn classified(character: char) -> Cell {
    let class = class(character);
    let cell = Cell::new(character, class);
    if !matches!(class, Class::Letter) {
        return cell;
    }
    let script = character.script();
    if script == Script::Latin {
        // Letters that look like two letters of ASCII, and the dotless i, are used by alphabets.
        let is_used = character.is_ascii() || character == 'ı';
        let looks = !is_used && ascii_lookalike(character).is_some_and(|text| text.len() == 1);
        return cell.with(Cell::LATIN | if looks { Cell::LOOKS } else { 0 });
    }
    if matches!(script, Script::Common | Script::Inherited) {
        return cell;
    }
    let bits = match (ascii_lookalike(character), large_lookalike(character)) {
        (Some(_), _) => Cell::LOOKS,
        (None, Some(_)) => Cell::LOOKS_LARGE,
        (None, None) => 0,
    };
    cell.with(Cell::FOREIGN | bits)
}

/// Characters that look like letters and digits of ASCII (the confusables of UTS #39). Each line
/// has such letters, a blank, and the characters that look like them. The table of a crate would
/// cost each start of a program the relocation of 6,300 addresses.
const LOOKALIKES: &str = include_str!("lookalikes.txt");

/// The letters and digits of ASCII that a letter looks like.
fn ascii_lookalike(character: char) -> Option<&'static str> {
    static KNOWN: LazyLock<HashMap<char, &str>> = LazyLock::new(|| {
        let lines = LOOKALIKES.lines().filter_map(|line| line.split_once(' '));
        lines.flat_map(|(plain, all)| all.chars().map(move |one| (one, plain))).collect()
    });
    KNOWN.get(&character).copied()
}

/// The letters and digits that the capital form of a Greek or Cyrillic letter looks like. These
/// blocks do not change between versions of Unicode.
fn large_lookalike(character: char) -> Option<&'static str> {
    if !matches!(character, '\u{370}'..='\u{4ff}') {
        return None;
    }
    let mut large = character.to_uppercase();
    match (large.next(), large.next()) {
        (Some(large), None) if large != character => ascii_lookalike(large),
        _ => None,
    }
}

/// What a letter stands for in a disguise: the ASCII that it looks like, small or large.
pub(super) fn undisguised(character: char) -> Option<&'static str> {
    ascii_lookalike(character).or_else(|| large_lookalike(character))
}

/// The class of a folded character.
fn class(character: char) -> Class {
    use GeneralCategory as G;
    match character {
        '\n' => return Class::Newline,
        '.' => return Class::Dot,
        '\'' | '\u{2019}' => return Class::Apostrophe,
        '\u{b7}' | '\u{5f4}' | '\u{2027}' => return Class::MiddleDot,
        ',' | '\u{60c}' | '\u{66b}' | '\u{66c}' => return Class::Comma,
        // The mark of prolonged sounds goes with both kana.
        '\u{30fc}' => return Class::Unspaced,
        // The replacement character of decoders, and the empty Braille pattern.
        '\u{fffd}' | '\u{2800}' => return Class::Cut,
        '\u{1f1e6}'..='\u{1f1ff}' => return Class::Flag,
        // Colours of skin.
        '\u{1f3fb}'..='\u{1f3ff}' => return Class::Mark,
        _ => {}
    }
    match character.general_category() {
        G::UppercaseLetter
        | G::LowercaseLetter
        | G::TitlecaseLetter
        | G::ModifierLetter
        | G::OtherLetter
        | G::LetterNumber => match character.script() {
            Script::Han
            | Script::Hiragana
            | Script::Katakana
            | Script::Bopomofo
            | Script::Thai
            | Script::Lao
            | Script::Khmer
            | Script::Myanmar
            | Script::Tai_Le
            | Script::New_Tai_Lue
            | Script::Tai_Tham
            | Script::Tai_Viet
            | Script::Tangut
            | Script::Nushu
            | Script::Khitan_Small_Script => Class::Unspaced,
            Script::Hangul if matches!(character, '\u{ac00}'..='\u{d7a3}') => Class::Hangul,
            _ => Class::Letter,
        },
        G::DecimalNumber | G::OtherNumber => Class::Digit,
        G::NonspacingMark | G::SpacingMark | G::EnclosingMark => Class::Mark,
        G::ConnectorPunctuation => Class::Connector,
        G::CurrencySymbol => Class::Currency,
        // Characters of later versions of Unicode are most often pictures.
        G::OtherSymbol | G::PrivateUse => Class::Symbol,
        G::Unassigned if !is_noncharacter(character) => Class::Symbol,
        _ => Class::Cut,
    }
}

const fn is_noncharacter(character: char) -> bool {
    let code = character as u32;
    code & 0xfffe == 0xfffe || matches!(code, 0xfdd0..=0xfdef)
}

/// The cells of ASCII in small letters.
pub(super) const FOLDED_ASCII: [Cell; 128] = {
    let mut cells = [Cell::new('\0', Class::Cut); 128];
    let mut code = 0u8;
    while code < 128 {
        let byte = code.to_ascii_lowercase();
        let class = match byte {
            b'\n' => Class::Newline,
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' => Class::Letter,
            b'_' => Class::Connector,
            b'.' => Class::Dot,
            b'\'' => Class::Apostrophe,
            b',' => Class::Comma,
            b'$' => Class::Currency,
            _ => Class::Cut,
        };
        let bits = if matches!(class, Class::Letter) { Cell::LATIN } else { 0 };
        cells[code as usize] = Cell::new(byte as char, class).with(bits);
        code += 1;
    }
    cells
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_are_of_one_version() {
        let (major, minor, update) = unicode_normalization::UNICODE_VERSION;
        assert_eq!((u64::from(major), u64::from(minor), u64::from(update)), UNICODE_VERSION);
        assert_eq!(unicode_properties::UNICODE_VERSION, UNICODE_VERSION);
        assert_eq!(unicode_script::UNICODE_VERSION, UNICODE_VERSION);
        assert_eq!(unicode_security::UNICODE_VERSION, UNICODE_VERSION);
        assert_eq!(caseless::UNICODE_VERSION, UNICODE_VERSION);
    }

    #[test]
    fn the_list_of_lookalikes_is_unicodes() {
        let skeleton = |character: char| {
            let mut bytes = [0; 4];
            let text: String =
                unicode_security::skeleton(character.encode_utf8(&mut bytes)).collect();
            let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
            is_plain.then(|| text.to_ascii_lowercase())
        };
        let mut listed = std::collections::HashMap::new();
        for (plain, characters) in LOOKALIKES.lines().filter_map(|line| line.split_once(' ')) {
            for character in characters.chars() {
                assert_eq!(ascii_lookalike(character), Some(plain));
                assert_eq!(listed.insert(character, plain), None, "{character:?}");
            }
        }
        for character in '\0'..=char::MAX {
            let found = listed.get(&character).map(|&plain| plain.to_owned());
            assert_eq!(found, skeleton(character), "{character:?}");
        }
    }

    #[test]
    fn ascii_is_as_its_properties_say() {
        let table = Table::new(false);
        for code in 0..128u8 {
            let folded = table.folded(char::from(code));
            let &[only] = folded.as_slice() else { panic!("ASCII stays one character") };
            assert!(classified(only) == FOLDED_ASCII[usize::from(code)], "{code:#x}");
        }
    }

    #[test]
    fn characters_fold_to_what_folds_to_itself() {
        for keeps_case in [false, true] {
            let table = Table::new(keeps_case);
            for character in ('\0'..=char::MAX).step_by(if keeps_case { 7 } else { 1 }) {
                if matches!(character.general_category(), GeneralCategory::Unassigned) {
                    continue;
                }
                for folded in table.folded(character) {
                    assert_eq!(table.folded(folded), [folded], "{character:?}");
                }
            }
        }
    }
}
