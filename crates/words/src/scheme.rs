// SPDX-License-Identifier: GPL-3.0-or-later
//! The ways to cut text into words, with the names and numbers that users and files give them.

/// How text is cut into words (`-e`, spec text 4). The value is the number stored in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scheme {
    /// Every visible byte is a word.
    Char = 1,
    /// Runs of letters.
    Alpha = 2,
    /// Runs of letters and digits.
    Alnum = 3,
    /// Runs of visible bytes.
    Graph = 4,
    /// Words with inner punctuation, amounts of money, addresses.
    Cef = 5,
    /// Letters, digits and punctuation in runs of a kind, repetitions squeezed.
    Adp = 6,
    /// Atoms of mail headers and addresses.
    Cef2 = 7,
    /// Words of any language, by Unicode.
    Word = 8,
    /// Characters of any language, by Unicode.
    Glyph = 9,
    /// Four neighbouring bytes of text in any language, folded by Unicode.
    Gram = 10,
}

impl Scheme {
    /// All schemes, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Char,
        Self::Alpha,
        Self::Alnum,
        Self::Graph,
        Self::Cef,
        Self::Adp,
        Self::Cef2,
        Self::Word,
        Self::Glyph,
        Self::Gram,
    ];

    /// Whether the scheme sees characters of Unicode, not bytes.
    pub const fn is_unicode(self) -> bool {
        matches!(self, Self::Word | Self::Glyph | Self::Gram)
    }

    /// The scheme's name as `-e` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::Alpha => "alpha",
            Self::Alnum => "alnum",
            Self::Graph => "graph",
            Self::Cef => "cef",
            Self::Adp => "adp",
            Self::Cef2 => "cef2",
            Self::Word => "word",
            Self::Glyph => "glyph",
            Self::Gram => "gram",
        }
    }

    /// The scheme called `name`, whatever its case.
    pub fn by_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// The scheme stored as `number`.
    pub fn by_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|&scheme| i64::from(scheme as u8) == number)
    }
}
