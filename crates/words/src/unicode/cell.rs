// SPDX-License-Identifier: GPL-3.0-or-later
//! A character of folded text with the properties that are needed to cut words, in 32 bits.

/// How a character affects the boundaries of words (after UAX #29, with the differences of spec
/// text 4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// It ends words and belongs to none: blanks, most punctuation.
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
    /// It joins letters and digits: a full stop and the like.
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

/// The classes by their numbers; unused numbers are cuts.
const CLASSES: [Class; 16] = {
    use Class::{
        Apostrophe, Comma, Connector, Currency, Cut, Digit, Dot, Flag, Hangul, Letter, Mark,
        MiddleDot, Newline, Symbol, Unspaced,
    };
    [
        Cut, Newline, Letter, Hangul, Digit, Connector, Mark, Dot, Apostrophe, MiddleDot, Comma,
        Currency, Unspaced, Symbol, Flag, Cut,
    ]
};

impl Class {
    /// Whether such a character always belongs to a word, whatever stands beside it.
    pub(super) const fn is_in_words(self) -> bool {
        matches!(self, Self::Letter | Self::Hangul | Self::Digit | Self::Connector | Self::Mark)
    }

    /// Whether it is a letter of a word.
    pub(super) const fn is_letter(self) -> bool {
        matches!(self, Self::Letter | Self::Hangul)
    }

    /// Whether a character of this class belongs to the word of its neighbours, which are not
    /// marks.
    pub(super) const fn joins(self, before: Self, behind: Self) -> bool {
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

/// A character, its class, and bits that help to recognise disguised words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell(u32);

/// Bits of a code point.
const CODE: u32 = (1 << 21) - 1;
/// Where the class is.
const CLASS: u32 = 21;

impl Cell {
    /// A Latin letter.
    pub(super) const LATIN: u32 = 1 << 25;
    /// A letter of another script.
    pub(super) const FOREIGN: u32 = 1 << 26;
    /// A letter outside ASCII that looks like a letter or digit of ASCII.
    pub(super) const LOOKS: u32 = 1 << 27;
    /// A letter whose capital form looks like a letter of ASCII.
    pub(super) const LOOKS_LARGE: u32 = 1 << 28;

    /// A character without bits.
    pub(super) const fn new(character: char, class: Class) -> Self {
        Self(character as u32 | (class as u32) << CLASS)
    }

    /// The character with more bits.
    pub(super) const fn with(self, bits: u32) -> Self {
        Self(self.0 | bits)
    }

    /// The cell whose [`Self::number`] is in the lower 29 bits of `number`; the others are ignored.
    pub(super) const fn from_number(number: u32) -> Self {
        Self(number & ((1 << 29) - 1))
    }

    /// The cell as a number below 2^29.
    pub(super) const fn number(self) -> u32 {
        self.0
    }

    /// The character.
    pub(super) fn character(self) -> char {
        char::from_u32(self.0 & CODE).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// The character's code point.
    pub(super) const fn code(self) -> u32 {
        self.0 & CODE
    }

    /// Whether it is a letter of a script that has blanks between words.
    #[inline]
    pub(super) const fn is_letter(self) -> bool {
        self.0 >> CLASS & 15 == Class::Letter as u32
    }

    /// Its class.
    #[inline]
    pub(super) fn class(self) -> Class {
        CLASSES[(self.0 >> CLASS & 15) as usize]
    }

    /// Whether it has any of these bits.
    pub(super) const fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }
}
