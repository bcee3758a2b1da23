// SPDX-License-Identifier: GPL-3.0-or-later
//! A character of folded text, with what the cutting of words asks of it, in 32 bits.

/// What a character does to words (after UAX #29, with the differences of spec text 4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// It ends words and is lost: blanks, most punctuation.
    Cut,
    /// The end of a line.
    Newline,
    /// A letter of a script that has blanks between words.
    Letter,
    /// A syllable of Hangul.
    Hangul,
    /// A decimal digit.
    Digit,
    /// A low line and the like.
    Connector,
    /// It belongs to the character before it.
    Mark,
    /// It joins letters and digits.
    Dot,
    /// It joins letters, or digits.
    Apostrophe,
    /// It joins letters.
    MiddleDot,
    /// It joins digits.
    Comma,
    /// It belongs to a digit beside it.
    Currency,
    /// A letter of a script without blanks between words.
    Unspaced,
    /// A word of its own: a sign, a picture.
    Symbol,
    /// Half of a flag.
    Flag,
}

/// By number; the last one is none.
const CLASSES: [Class; 16] = [
    Class::Cut,
    Class::Newline,
    Class::Letter,
    Class::Hangul,
    Class::Digit,
    Class::Connector,
    Class::Mark,
    Class::Dot,
    Class::Apostrophe,
    Class::MiddleDot,
    Class::Comma,
    Class::Currency,
    Class::Unspaced,
    Class::Symbol,
    Class::Flag,
    Class::Cut,
];

impl Class {
    /// Whether words consist of such characters, whatever stands beside them.
    pub const fn is_in_words(self) -> bool {
        matches!(self, Self::Letter | Self::Hangul | Self::Digit | Self::Connector | Self::Mark)
    }

    /// Whether it is a letter of a word.
    pub const fn is_letter(self) -> bool {
        matches!(self, Self::Letter | Self::Hangul)
    }

    /// Whether a character of this class belongs to the word of its neighbours, which are no marks.
    pub const fn joins(self, before: Self, behind: Self) -> bool {
        let digits = matches!((before, behind), (Self::Digit, Self::Digit));
        let letters = before.is_letter() && behind.is_letter();
        match self {
            Self::Dot => {
                (before.is_letter() || matches!(before, Self::Digit))
                    && (behind.is_letter() || matches!(behind, Self::Digit))
            }
            Self::Apostrophe => letters || digits,
            Self::MiddleDot => letters,
            Self::Comma => digits,
            Self::Currency => matches!(before, Self::Digit) || matches!(behind, Self::Digit),
            _ => false,
        }
    }
}

/// A character, its class, and bits that tell of disguises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell(u32);

/// Bits of a code point.
const CODE: u32 = (1 << 21) - 1;
/// Where the class is.
const CLASS: u32 = 21;

impl Cell {
    /// A Latin letter.
    pub const LATIN: u32 = 1 << 25;
    /// A letter of another script.
    pub const FOREIGN: u32 = 1 << 26;
    /// A letter outside ASCII that looks like a letter or digit of ASCII.
    pub const LOOKS: u32 = 1 << 27;
    /// The same, if only as a capital letter.
    pub const LOOKS_LARGE: u32 = 1 << 28;

    /// A character without bits.
    pub const fn new(character: char, class: Class) -> Self {
        Self(character as u32 | (class as u32) << CLASS)
    }

    /// The character with more bits.
    pub const fn with(self, bits: u32) -> Self {
        Self(self.0 | bits)
    }

    /// The cell kept as `number`, of which other bits are the keeper's.
    pub const fn from_number(number: u32) -> Self {
        Self(number & ((1 << 29) - 1))
    }

    /// The cell as a number below 2^29.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The character.
    pub fn character(self) -> char {
        char::from_u32(self.0 & CODE).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// The character's code point.
    pub const fn code(self) -> u32 {
        self.0 & CODE
    }

    /// Its class.
    #[inline]
    pub fn class(self) -> Class {
        CLASSES[(self.0 >> CLASS & 15) as usize]
    }

    /// Whether it has any of these bits.
    pub const fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }
}
