// SPDX-License-Identifier: GPL-3.0-or-later
//! The header line `X-DBACL` that the mail filter adds: a mail that brings one is not believed.

/// The header's name.
pub const NAME: &[u8] = b"x-dbacl";

/// Whether a line begins such a header: blanks may stand before the colon.
pub fn begins(line: &[u8]) -> bool {
    line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
        && line[NAME.len()..].trim_ascii_start().first() == Some(&b':')
}

/// Looks at the lines of a mail, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub struct VerdictHeaders {
    is_inside: bool,
}

impl VerdictHeaders {
    /// Whether this line belongs to such a header: begins one, or goes on with it.
    pub fn contain(&mut self, line: &[u8]) -> bool {
        let goes_on = self.is_inside && matches!(line.first(), Some(b' ' | b'\t'));
        self.is_inside = begins(line) || goes_on;
        self.is_inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_on_in_lines_that_begin_with_a_blank() {
        let mut headers = VerdictHeaders::default();
        for (line, expected) in [
            (" folded\n", false),
            ("X-DBACL-Other: a\n", false),
            ("X-Dbacl \t: ham\n", true),
            ("\t100%\n", true),
            ("Subject: x-dbacl: a\n", false),
            (" b\n", false),
            ("x-dbacl", false),
        ] {
            assert_eq!(headers.contain(line.as_bytes()), expected, "{line}");
        }
    }
}
