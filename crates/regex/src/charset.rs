// SPDX-License-Identifier: GPL-3.0-or-later
//! Sets of characters, and the named classes of both locales.

use regex_syntax::hir::{Class, HirKind};

use crate::locale::Locale;
use crate::subject::MAX_CODE;

/// A set of character codes, as ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct CharSet {
    /// First and last codes. Sorted, disjoint and not adjacent once [`CharSet::settle`] has run.
    pub ranges: Vec<(u32, u32)>,
}

impl CharSet {
    /// The set of one character.
    pub(crate) fn of(code: u32) -> Self {
        Self { ranges: vec![(code, code)] }
    }

    /// Every character of `locale`; in a UTF-8 locale stray bytes are not characters.
    pub(crate) fn any(locale: Locale) -> Self {
        Self { ranges: vec![(0, largest(locale))] }
    }

    /// Sorts the ranges and joins those that touch.
    pub(crate) fn settle(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, last| {
            let touches = next.0 <= last.1.saturating_add(1);
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
    }

    /// The characters of `locale` that are not in this set.
    pub(crate) fn negated(mut self, locale: Locale) -> Self {
        self.settle();
        let mut rest = Self::default();
        let mut from = 0;
        for &(low, high) in self.ranges.iter().filter(|range| range.0 <= largest(locale)) {
            if low > from {
                rest.ranges.push((from, low - 1));
            }
            from = high.saturating_add(1);
        }
        if from <= largest(locale) {
            rest.ranges.push((from, largest(locale)));
        }
        rest
    }

    /// Adds the characters that differ from a member in their case only. The set is settled, before
    /// and after.
    pub(crate) fn ignore_case(&mut self, cases: &Cases) {
        let members = Membership::new(self.clone());
        let same = cases.of_one_capital();
        let wanted = same.filter(|letters| letters.clone().any(|code| members.holds(code)));
        self.ranges.extend(wanted.flatten().map(|code| (code, code)));
        self.settle();
    }
}

/// Largest character code of `locale`.
fn largest(locale: Locale) -> u32 {
    match locale {
        Locale::C => 0xff,
        Locale::Utf8 => MAX_CODE,
    }
}

/// Letters that differ in their case only. For the C library these are the letters with one capital
/// form: `s` and the long s, but not `k` and the sign for kelvin, which is a capital of its own.
#[derive(Debug)]
pub(crate) struct Cases {
    /// Capitals, each with one of the other letters that have it, sorted.
    letters: Vec<(u32, u32)>,
}

impl Cases {
    /// The letters of `locale`: those of ASCII in the C locale.
    pub(crate) fn of(locale: Locale) -> Self {
        // Scripts with two cases stand in the first two planes.
        let top = if locale == Locale::C { '\u{7f}' } else { '\u{1ffff}' };
        let letters = ('\0'..=top).filter_map(|letter| {
            let mut forms = letter.to_uppercase();
            let capital = forms.next().filter(|&capital| capital != letter)?;
            forms.next().is_none().then_some((u32::from(capital), u32::from(letter)))
        });
        let mut letters: Vec<_> = letters.collect();
        letters.sort_unstable();
        Self { letters }
    }

    /// All letters of a capital, itself included, for each capital.
    fn of_one_capital(&self) -> impl Iterator<Item = impl Iterator<Item = u32> + Clone + '_> {
        let same = self.letters.chunk_by(|a, b| a.0 == b.0);
        same.map(|letters| {
            letters.iter().take(1).map(|pair| pair.0).chain(letters.iter().map(|pair| pair.1))
        })
    }
}

/// A [`CharSet`] arranged for fast look-up.
#[derive(Debug, Clone)]
pub(crate) struct Membership {
    /// One bit for each code below 256.
    low: [u64; 4],
    /// Ranges of higher codes, sorted and disjoint.
    high: Box<[(u32, u32)]>,
}

impl Membership {
    /// Arranges a set.
    pub(crate) fn new(mut set: CharSet) -> Self {
        set.settle();
        let mut low = [0; 4];
        for &(from, to) in set.ranges.iter().filter(|range| range.0 < 256) {
            for code in from..=to.min(255) {
                low[(code >> 6) as usize] |= 1 << (code & 63);
            }
        }
        let high = set.ranges.into_iter().filter(|range| range.1 >= 256).collect();
        Self { low, high }
    }

    /// Whether the set holds `code`.
    #[inline]
    pub(crate) fn holds(&self, code: u32) -> bool {
        if code < 256 {
            return self.low[(code >> 6) as usize] >> (code & 63) & 1 == 1;
        }
        let after = self.high.partition_point(|range| range.1 < code);
        self.high.get(after).is_some_and(|range| range.0 <= code)
    }
}

/// The class called `name` in POSIX bracket expressions; `None` if there is no such class.
///
/// In UTF-8 the classes follow Unicode as the GNU C library's tables do: letters are the
/// alphabetic characters and all digits but the ASCII ones, blanks that forbid a line break are
/// not space, and what is visible and neither letter nor digit is punctuation.
pub(crate) fn named(name: &[u8], locale: Locale) -> Option<CharSet> {
    let ascii = |belongs: fn(u8) -> bool| {
        let members = (0..0x80).filter(|&byte| belongs(byte)).map(u32::from);
        let mut set = CharSet { ranges: members.map(|code| (code, code)).collect() };
        set.settle();
        set
    };
    let pick = |narrow: fn(u8) -> bool, wide: &str| match locale {
        Locale::C => ascii(narrow),
        Locale::Utf8 => unicode(wide),
    };
    Some(match name {
        b"alnum" => pick(|byte| byte.is_ascii_alphanumeric(), r"[\p{Alphabetic}\p{Nd}]"),
        b"alpha" => pick(|byte| byte.is_ascii_alphabetic(), r"[\p{Alphabetic}[\p{Nd}--[0-9]]]"),
        b"blank" => {
            pick(|byte| matches!(byte, b' ' | b'\t'), r"[\t[\p{Zs}--[\u00A0\u2007\u202F]]]")
        }
        b"cntrl" => pick(|byte| byte.is_ascii_control(), r"[\p{Cc}\u2028\u2029]"),
        b"digit" => ascii(|byte| byte.is_ascii_digit()),
        b"graph" => pick(|byte| byte.is_ascii_graphic(), GRAPH),
        b"lower" => pick(|byte| byte.is_ascii_lowercase(), LOWER),
        b"print" => {
            pick(|byte| byte.is_ascii_graphic() || byte == b' ', r"[^\p{Cn}\p{Cc}\u2028\u2029]")
        }
        b"punct" => pick(
            |byte| byte.is_ascii_punctuation(),
            r"[[^\p{Cn}\p{Cc}\p{Z}\p{Alphabetic}\p{Nd}]\u00A0\u2007\u202F]",
        ),
        b"space" => pick(
            |byte| matches!(byte, 0x09..=0x0d | b' '),
            r"[\u0009-\u000D[\p{Z}--[\u00A0\u2007\u202F]]]",
        ),
        b"upper" => pick(|byte| byte.is_ascii_uppercase(), UPPER),
        b"xdigit" => ascii(|byte| byte.is_ascii_hexdigit()),
        _ => return None,
    })
}

/// Visible characters: assigned, no control codes, no space.
const GRAPH: &str = r"[[^\p{Cn}\p{Cc}\p{Z}]\u00A0\u2007\u202F]";
/// Small letters, and the four title-case letters that have a capital form.
const LOWER: &str = r"[\p{Lowercase}\u01C5\u01C8\u01CB\u01F2]";
/// Capital and title-case letters.
const UPPER: &str = r"[\p{Uppercase}\p{Lt}]";

/// The characters of words, as `\w`, `\b`, `\<` and their like see them.
pub(crate) fn word(locale: Locale) -> CharSet {
    let mut set = named(b"alnum", locale).unwrap_or_default();
    set.ranges.push((u32::from(b'_'), u32::from(b'_')));
    set.settle();
    set
}

/// The set that one of the expressions above describes.
fn unicode(expression: &str) -> CharSet {
    let parsed = regex_syntax::parse(expression).map(regex_syntax::hir::Hir::into_kind);
    let Ok(HirKind::Class(Class::Unicode(class))) = parsed else { return CharSet::default() };
    let ranges = class.ranges().iter().map(|range| (range.start().into(), range.end().into()));
    CharSet { ranges: ranges.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_class_has_members_in_both_locales() {
        for name in [
            "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "xdigit",
        ] {
            for locale in [Locale::C, Locale::Utf8] {
                let set = named(name.as_bytes(), locale).unwrap();
                assert!(!set.ranges.is_empty(), "{name}");
            }
        }
        assert_eq!(named(b"foo", Locale::C), None);
    }

    #[test]
    fn members_follow_the_locale() {
        for (name, code, c, utf8) in [
            ("alpha", 0xe9, false, true),
            ("digit", 0x661, false, false),
            ("alpha", 0x661, false, true),
            ("space", 0x2003, false, true),
            ("space", 0xa0, false, false),
            ("punct", 0xa0, false, true),
            ("space", 0x0b, true, true),
            ("upper", u32::from(b'A'), true, true),
            ("lower", 0xdf, false, true),
            ("graph", 0xe000, false, true),
        ] {
            let holds =
                |locale| Membership::new(named(name.as_bytes(), locale).unwrap()).holds(code);
            assert_eq!((holds(Locale::C), holds(Locale::Utf8)), (c, utf8), "{name} {code:x}");
        }
    }

    #[test]
    fn negation_leaves_out_stray_bytes() {
        let set = CharSet::of(u32::from(b'a')).negated(Locale::Utf8);
        let members = Membership::new(set);
        assert!(!members.holds(u32::from(b'a')) && members.holds(u32::from(b'b')));
        assert!(members.holds(MAX_CODE) && !members.holds(crate::subject::STRAY | 0xe9));
    }
}
