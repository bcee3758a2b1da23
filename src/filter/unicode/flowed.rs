// SPDX-License-Identifier: GPL-3.0-or-later
//! Flowed text (RFC 3676) whose writer said `DelSp=yes`: a line that ends in a blank goes on with
//! the next one, and the blank only marks the cut, which may be within a word.

/// A longer line is passed on in pieces.
const LONGEST: usize = 1 << 13;

/// Joins the lines of a text that comes in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Flowed {
    line: Vec<u8>,
    /// The line before was cut.
    goes_on: bool,
}

impl Flowed {
    /// Appends the lines of `text` that are whole, as the writer saw them.
    pub(super) fn join(&mut self, mut text: &[u8], output: &mut Vec<u8>) {
        while let Some(end) = memchr::memchr(b'\n', text) {
            self.line.extend_from_slice(&text[..end]);
            self.end_line(output);
            text = &text[end + 1..];
        }
        self.line.extend_from_slice(text);
        if self.line.len() > LONGEST {
            output.append(&mut self.line);
            self.goes_on = true;
        }
    }

    fn end_line(&mut self, output: &mut Vec<u8>) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let is_quote = |byte: &&u8| **byte == b'>';
        let quotes = line.iter().take_while(is_quote).count();
        // Two dashes and a blank begin a signature.
        let is_signature = line[quotes..].trim_ascii_start() == b"-- ";
        let is_cut = line.ends_with(b" ") && !is_signature;
        // Quotation marks, and a blank after them, begin each line of a text that is quoted.
        let start = if self.goes_on { quotes } else { 0 };
        let text = &line[start..line.len() - usize::from(is_cut)];
        let text = text.strip_prefix(b" ").filter(|_| self.goes_on).unwrap_or(text);
        output.extend_from_slice(text);
        if !is_cut {
            output.push(b'\n');
        }
        self.goes_on = is_cut;
        self.line.clear();
    }

    /// Appends what is left at the end of the text.
    pub(super) fn finish(&mut self, output: &mut Vec<u8>) {
        if !self.line.is_empty() {
            self.end_line(output);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_cut_are_joined() {
        for (text, expected) in [
            ("see example.org/unsub \r\nscribe now\r\n", "see example.org/unsubscribe now\n"),
            ("a  \nb \n c\n d", "a bc\n d\n"),
            ("> one tw \n> o\nthree", "> one two\nthree\n"),
            ("text\n-- \nann\n", "text\n-- \nann\n"),
            ("", ""),
        ] {
            for size in [1, 3, 100] {
                let (mut flowed, mut found) = (Flowed::default(), Vec::new());
                text.as_bytes().chunks(size).for_each(|piece| flowed.join(piece, &mut found));
                flowed.finish(&mut found);
                assert_eq!(
                    String::from_utf8_lossy(&found),
                    expected,
                    "{text:?} in pieces of {size}"
                );
            }
        }
        let (mut flowed, mut found) = (Flowed::default(), Vec::new());
        flowed.join(&[b'x'; LONGEST + 1], &mut found);
        assert_eq!(found.len(), LONGEST + 1);
    }
}
