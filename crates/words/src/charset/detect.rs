// SPDX-License-Identifier: GPL-3.0-or-later
//! Which character set a text is in, going by its bytes.

use super::{Charset, Kind};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// Bytes of a text that are examined. The limit is small because detecting takes far longer than
/// decoding.
const LONGEST_SAMPLE: usize = 1 << 13;

/// How many characters beyond ASCII must be valid UTF-8 before a declaration is not believed.
const ENOUGH: usize = 4;

/// How much of a sample is valid UTF-8.
struct Utf8Count {
    /// Characters beyond ASCII that are valid.
    valid: usize,
    /// Places that are not valid; a character that the end of the sample cuts off does not count.
    broken: usize,
}

fn count_utf8(sample: &[u8]) -> Utf8Count {
    let mut count = Utf8Count { valid: 0, broken: 0 };
    for chunk in sample.utf8_chunks() {
        // Each byte from C0 up begins a character beyond ASCII.
        count.valid += chunk.valid().bytes().filter(|&byte| byte >= 0xC0).count();
        count.broken += usize::from(!chunk.invalid().is_empty());
    }
    let is_cut = (1..=3.min(sample.len())).any(|length| {
        let end = &sample[sample.len() - length..];
        end[0] >= 0xC0 && std::str::from_utf8(end).is_err_and(|error| error.error_len().is_none())
    });
    count.broken -= usize::from(count.broken > 0 && is_cut);
    count
}

impl Charset {
    /// Guesses the character set of a text from `sample`, its beginning or all of it.
    ///
    /// It is UTF-8 if the sample is ASCII, or if it has valid characters beyond ASCII, at least
    /// four of them for each invalid place; a character that the sample's end cuts off does not
    /// count. Otherwise it is the guess of the crate chardetng, which gets no hint at the country.
    pub fn detect(sample: &[u8]) -> Self {
        let sample = &sample[..sample.len().min(LONGEST_SAMPLE)];
        if sample.is_ascii() && !sample.contains(&0x1B) {
            return Self::UTF_8;
        }
        let Utf8Count { valid, broken } = count_utf8(sample);
        if valid > 0 && valid / 4 >= broken { Self::UTF_8 } else { Self::guess(sample) }
    }

    /// Guesses the character set of a text that is not UTF-8 from `sample`, a part of it.
    pub fn guess(sample: &[u8]) -> Self {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        detector.feed(&sample[..sample.len().min(LONGEST_SAMPLE)], true);
        Self(Kind::Standard(detector.guess(None, Utf8Detection::Deny)))
    }

    /// The character set of `sample`, which was declared to be in this one: this one, unless the
    /// bytes contradict it.
    ///
    /// A text declared to have one byte a character is taken for UTF-8 if all its bytes beyond
    /// ASCII are valid UTF-8, at least four characters of them; no language writes such sequences
    /// in those sets. If less than half of the characters beyond ASCII of a text declared as UTF-8
    /// are valid, the declaration is ignored.
    #[must_use]
    pub fn or_detect(self, sample: &[u8]) -> Self {
        let sample = &sample[..sample.len().min(LONGEST_SAMPLE)];
        let has_single_bytes = match self.0 {
            Kind::Standard(encoding) => encoding.is_single_byte(),
            Kind::Page(_) => true,
            _ => false,
        };
        if sample.is_ascii() || self != Self::UTF_8 && !has_single_bytes {
            return self;
        }
        let Utf8Count { valid, broken } = count_utf8(sample);
        if self == Self::UTF_8 && broken > valid {
            Self::detect(sample)
        } else if broken == 0 && valid >= ENOUGH {
            Self::UTF_8
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(label: &str, text: &str) -> Vec<u8> {
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).expect("a label");
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn undeclared_texts_are_recognised() {
        for (label, text) in [
            ("utf-8", "Grüße"),
            ("windows-1251", "Добрый день, высылаю вам договор и счёт на оплату"),
            ("koi8-r", "Добрый день, высылаю вам договор и счёт на оплату"),
            ("windows-1252", "Größere Mengen müssen früh bestellt werden"),
            ("iso-2022-jp", "日本語の文章です"),
            ("shift_jis", "日本語の文章です。よろしくお願いします"),
            ("euc-jp", "日本語の文章です。よろしくお願いします"),
            ("gb2312", "我们很高兴地通知您，您的订单已经发货"),
            ("big5", "我們很高興地通知您，您的訂單已經發貨"),
            ("euc-kr", "안녕하세요 주문하신 상품이 발송되었습니다"),
            ("windows-1253", "Καλημέρα σας, σας στέλνω το συμβόλαιο"),
            ("windows-1255", "שלום רב, מצורף בזאת החוזה לחתימה"),
            ("windows-1256", "السلام عليكم، أرسل لكم العقد للتوقيع"),
        ] {
            let sample = encode(label, text);
            let mut decoded = Vec::new();
            crate::charset::decode(Charset::detect(&sample), &sample, &mut decoded);
            assert_eq!(String::from_utf8_lossy(&decoded), text, "{label}");
        }
    }

    #[test]
    fn plain_ascii_and_cut_characters_are_utf8() {
        for sample in [&b"plain"[..], b"", b"gr\xc3\xbc\xc3", b"\xe2\x82\xac \xe2\x82"] {
            assert_eq!(Charset::detect(sample), Charset::UTF_8, "{}", sample.escape_ascii());
        }
    }

    #[test]
    fn declarations_hold_unless_the_bytes_speak_against_them() {
        let latin = Charset::WINDOWS_1252;
        let koi8 = Charset::by_label(b"koi8-r").expect("a label");
        let gb = Charset::by_label(b"gb2312").expect("a label");
        let german = "Größere Mengen müssen früh weg";
        for (declared, sample, expected) in [
            (latin, encode("utf-8", german), Charset::UTF_8),
            (latin, encode("iso-8859-1", german), latin),
            (latin, encode("utf-8", "Grün"), latin),
            (koi8, encode("koi8-r", "Добрый день"), koi8),
            (gb, encode("utf-8", german), gb),
            (Charset::UTF_8, encode("iso-8859-1", german), latin),
            (Charset::UTF_8, encode("utf-8", german), Charset::UTF_8),
            (Charset::UTF_8, b"gr\xc3\xbc\xc3\x9fe \xff".to_vec(), Charset::UTF_8),
        ] {
            assert_eq!(declared.or_detect(&sample), expected, "{}", sample.escape_ascii());
        }
    }
}
