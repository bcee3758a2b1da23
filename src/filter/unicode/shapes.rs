// SPDX-License-Identifier: GPL-3.0-or-later
//! Words and shapes of fields and texts, of which tags are made.

/// A shape, of which only the beginning is kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outline {
    bytes: [u8; 20],
    length: usize,
}

impl Outline {
    /// Adds a byte, if there is room.
    pub(super) fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }

    /// Adds a byte unless it is the last one.
    fn push_run(&mut self, byte: u8) {
        if self.bytes[..self.length].last() != Some(&byte) {
            self.push(byte);
        }
    }

    /// The shape.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The shape of a word of text: runs of small letters `a`, capitals `c`, other letters `u`, digits
/// `0`; other characters of ASCII as they are, all else `x`.
pub(super) fn outline(word: &str) -> Outline {
    let mut shape = Outline::default();
    for character in word.chars().take(60) {
        match character {
            'a'..='z' => shape.push_run(b'a'),
            'A'..='Z' => shape.push_run(b'c'),
            '0'..='9' => shape.push_run(b'0'),
            _ if character.is_ascii_graphic() => {
                shape.push_run(u8::try_from(character).unwrap_or(b'x'));
            }
            _ if character.is_alphabetic() => shape.push_run(b'u'),
            _ => shape.push_run(b'x'),
        }
    }
    shape
}

/// The same of bytes.
pub(super) fn short_outline(text: &[u8]) -> Outline {
    outline(&String::from_utf8_lossy(&text[..text.len().min(80)]).replace(char::is_whitespace, "_"))
}

/// The words of a Received field, in which names of hosts stay whole: neither numbers nor ids.
pub(super) fn relay_words(field: &[u8]) -> impl Iterator<Item = &[u8]> {
    let in_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
    field.split(move |byte| !in_host(byte)).filter(|word| {
        let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
        !word.is_empty() && (digits < 3 || word.contains(&b'.')) && digits < word.len()
    })
}

/// The form of a field with addresses, and its first address: `q` a text in quotes, `a` an address,
/// `n` other words, and `<`, `(`, `,` as they are.
pub(crate) fn address_form(value: &[u8]) -> (Outline, &[u8]) {
    let mut form = Outline::default();
    let mut address: &[u8] = b"";
    let mut at = 0;
    let is_special = |byte: &u8| b"\"<>(),".contains(byte);
    while let Some(&byte) = value.get(at) {
        let rest = &value[at + 1..];
        match byte {
            b'"' => {
                form.push(b'q');
                at += memchr::memchr(b'"', rest).map_or(rest.len(), |end| end + 1);
            }
            b'<' | b'(' | b',' => form.push(byte),
            _ if is_special(&byte) || byte.is_ascii_whitespace() => {}
            _ => {
                let end = rest.iter().position(is_special).unwrap_or(rest.len());
                let word = value[at..=at + end].trim_ascii();
                let is_address = memchr::memchr(b'@', word).is_some();
                form.push(if is_address { b'a' } else { b'n' });
                if is_address && address.is_empty() {
                    let mut words = word.split(|&byte| byte == b' ');
                    address = words.rfind(|word| word.contains(&b'@')).unwrap_or(word);
                }
                at += end;
            }
        }
        at += 1;
    }
    (form, address)
}

/// The number of binary digits.
pub(super) fn log2(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()) as usize
}

/// A share in steps of a factor of two: 0 for none, 9 for more than half.
pub(super) fn bin(part: usize, whole: usize) -> usize {
    let times = whole.checked_div(part);
    times.map_or(0, |times| 10_usize.saturating_sub(log2(times)).max(1))
}
