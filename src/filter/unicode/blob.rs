// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds data that is written as lines of text: uuencoded files, and the armour of PGP. It holds no
//! words.
//!
//! Only lines that have the form of such data are left out, so that no text is lost after a line
//! that only looks like the beginning of data.

use crate::filter::plain::is_armour;

/// Letters that an armoured line may hold beside digits.
const ARMOUR: &[u8] = b"+/=";
/// A line of armoured data has at least so many bytes, or is the line after such a line, or the
/// checksum. Single words on lines of their own are text wherever they stand.
const FULL: usize = 40;

/// Says which lines of a text are data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Blob {
    /// In text.
    #[default]
    Outside,
    /// In an uuencoded file.
    Encoded,
    /// In an armour.
    Armoured {
        /// Whether the line before was a full line of data, so that a shorter one may follow.
        goes_on: bool,
    },
}

impl Blob {
    /// Whether a line, which may have blanks at its end, is data.
    pub(super) fn holds(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii_end();
        let (next, is_data) = match *self {
            Self::Encoded if line == b"end" || line.is_empty() => (Self::Outside, true),
            Self::Encoded if is_encoded(line) => (Self::Encoded, true),
            Self::Armoured { .. } if line.starts_with(b"-----END PGP ") => (Self::Outside, false),
            Self::Armoured { goes_on } if is_armoured(line) => {
                let is_full = line.len() >= FULL;
                let is_sum = line.len() == 5 && line[0] == b'=';
                (Self::Armoured { goes_on: is_full }, is_full || goes_on || is_sum)
            }
            // Armours begin with fields such as Version, and an empty line.
            Self::Armoured { .. }
                if line.is_empty() || memchr::memmem::find(line, b": ").is_some() =>
            {
                (Self::Armoured { goes_on: false }, false)
            }
            _ => (Self::beginning(line), false),
        };
        *self = next;
        is_data
    }

    /// The state after a line of text, which may begin data.
    fn beginning(line: &[u8]) -> Self {
        if let Some(rest) = line.strip_prefix(b"begin ") {
            let digits = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let is_named = rest.get(digits) == Some(&b' ') && rest.len() > digits + 1;
            return if matches!(digits, 3 | 4) && is_named { Self::Encoded } else { Self::Outside };
        }
        if is_armour(line, b"-----BEGIN PGP ") {
            Self::Armoured { goes_on: false }
        } else {
            Self::Outside
        }
    }
}

/// Whether a line has the form of uuencoded bytes: their number, and four characters for three.
/// Some programs leave out blanks at the end, and some add a character.
fn is_encoded(line: &[u8]) -> bool {
    let Some((&first, data)) = line.split_first() else { return false };
    let length = usize::from(first.wrapping_sub(b' ') & 63).div_ceil(3) * 4;
    line.iter().all(|byte| matches!(byte, b' '..=b'`'))
        && data.len() <= length + 1
        && (length == 0 || data.len() * 2 > length)
}

fn is_armoured(line: &[u8]) -> bool {
    !line.is_empty()
        && line.iter().all(|byte| byte.is_ascii_alphanumeric() || ARMOUR.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a text that are not data.
    fn text(lines: &str) -> String {
        let mut blob = Blob::default();
        let kept: Vec<&str> = lines.lines().filter(|line| !blob.holds(line.as_bytes())).collect();
        kept.join("|")
    }

    #[test]
    fn data_is_left_out_and_text_is_not() {
        let full = "iD8DBQE9".repeat(8);
        let signature = format!(
            "-----BEGIN PGP SIGNATURE-----\nVersion: 1\n\n{full}\n{full}\niD8D\n=x1Yz\n\
             -----END PGP SIGNATURE-----\nbye"
        );
        for (lines, kept) in [
            ("see\nbegin 644 cat.txt\n#0V%T\n`\nend\nthere", "see|begin 644 cat.txt|there"),
            ("begin 644 cat.txt\nDear all,\n#0V%T", "begin 644 cat.txt|Dear all,|#0V%T"),
            ("begin 9 x\nMORE", "begin 9 x|MORE"),
            ("begin\n#0V%T\nend", "begin|#0V%T|end"),
            (
                signature.as_str(),
                "-----BEGIN PGP SIGNATURE-----|Version: 1||-----END PGP SIGNATURE-----|bye",
            ),
            ("-----BEGIN PGP SIGNED MESSAGE-----\nword", "-----BEGIN PGP SIGNED MESSAGE-----|word"),
            // Text after the beginning of an armour is kept if it is not data.
            (
                "-----BEGIN PGP MESSAGE-----\n\nBUY\nNOW\n\nplain words\nabc",
                "-----BEGIN PGP MESSAGE-----||BUY|NOW||plain words|abc",
            ),
        ] {
            assert_eq!(text(lines), kept, "{lines}");
        }
    }
}
