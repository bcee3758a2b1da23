// SPDX-License-Identifier: GPL-3.0-or-later
//! Character sets, from a name or from the bytes themselves to text in UTF-8, and the encodings of
//! text in mail and HTML.
//!
//! ```text
//! label, byte order mark or sample ─→ Charset ─→ Decoder: bytes ─→ UTF-8
//! ```
//!
//! Labels are those of the WHATWG's Encoding Standard and further names that mail uses. UTF-7 (RFC
//! 2152), HZ (RFC 1843), ISO-2022-KR (RFC 1557), UTF-32 and code pages of DOS are not encodings of
//! that standard; they are brought into one that is, a few bytes at a time (`stateful`, `wide`,
//! `pages`). What cannot be decoded becomes U+FFFD, so nothing around it is lost. A decoder holds a
//! few bytes, whatever it is fed.
//!
//! [`transfer`] decodes base64 and quoted-printable, [`fields`] the encoded words of header fields,
//! [`parameters`] what stands after a `;` in them, and [`references`] the character references of
//! HTML.
//!
//! ```
//! use dbacl_words::charset::{Charset, decode};
//!
//! let mut text = Vec::new();
//! let charset = Charset::by_label(b"KOI8-R").expect("a known name");
//! decode(charset, b"\xcd\xc9\xd2", &mut text);
//! assert_eq!(text, "\u{43c}\u{438}\u{440}".as_bytes()); // "mir", peace
//! assert_eq!(Charset::detect("caf\u{e9}".as_bytes()), Charset::UTF_8);
//! ```

mod detect;
pub mod fields;
mod pages;
pub mod parameters;
pub mod reader;
pub mod references;
mod stateful;
pub mod transfer;
mod wide;

use encoding_rs::{CoderResult, Encoding};
use pages::{CP437, CP850, CP852, FromPage, Page};
use stateful::{Hz, Iso2022Kr, Utf7};
use wide::{Order, Utf16, Utf32};

/// A character set that text can be decoded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An encoding of the WHATWG's standard, other than `replacement` and `x-user-defined`.
    Standard(&'static Encoding),
    /// UTF-16 in the byte order of its mark, or else of its text.
    Utf16,
    /// UTF-32, perhaps in a known byte order.
    Utf32(Option<Order>),
    Page(Page),
    Utf7,
    Hz,
    Iso2022Kr,
}

/// Labels in lower case that the WHATWG's table does not have, or for which it has no decoder.
const FURTHER_LABELS: [(&str, Kind); 18] = [
    ("utf-16 utf16 unicode", Kind::Utf16),
    ("utf-16le utf16le", Kind::Standard(encoding_rs::UTF_16LE)),
    ("utf-32 utf32 ucs-4 iso-10646-ucs-4", Kind::Utf32(None)),
    ("utf-32le utf32le", Kind::Utf32(Some(Order::Little))),
    ("utf-32be utf32be", Kind::Utf32(Some(Order::Big))),
    ("cp437 ibm437 437 cspc8codepage437", Kind::Page(CP437)),
    ("cp850 ibm850 850 cp858 ibm858 cspc850multilingual", Kind::Page(CP850)),
    ("cp852 ibm852 852 cspcp852", Kind::Page(CP852)),
    ("utf-7 utf7 csunicode11utf7", Kind::Utf7),
    ("unicode-1-1-utf-7 unicode-2-0-utf-7 x-unicode-2-0-utf-7", Kind::Utf7),
    ("hz-gb-2312 hz", Kind::Hz),
    ("iso-2022-kr csiso2022kr", Kind::Iso2022Kr),
    ("cp932 windows-932", Kind::Standard(encoding_rs::SHIFT_JIS)),
    ("cp936 ms936 windows-936", Kind::Standard(encoding_rs::GBK)),
    ("cp949 ks_c_5601 uhc", Kind::Standard(encoding_rs::EUC_KR)),
    ("cp950 big-5", Kind::Standard(encoding_rs::BIG5)),
    ("eucjp", Kind::Standard(encoding_rs::EUC_JP)),
    (
        "iso-2022-jp-1 iso-2022-jp-2 iso-2022-jp-ms cp50220",
        Kind::Standard(encoding_rs::ISO_2022_JP),
    ),
];

/// Longer labels are unknown.
const LONGEST_LABEL: usize = 40;

impl Charset {
    /// UTF-8.
    pub const UTF_8: Self = Self(Kind::Standard(encoding_rs::UTF_8));
    /// windows-1252, which ISO-8859-1 and US-ASCII are read as.
    pub const WINDOWS_1252: Self = Self(Kind::Standard(encoding_rs::WINDOWS_1252));

    /// The character set that `label` names, whatever its case. `None` if the label is unknown.
    pub fn by_label(label: &[u8]) -> Option<Self> {
        let label = label.trim_ascii();
        if label.is_empty() || label.len() > LONGEST_LABEL {
            return None;
        }
        let further = FURTHER_LABELS
            .iter()
            .find(|(names, _)| {
                names.split(' ').any(|name| name.as_bytes().eq_ignore_ascii_case(label))
            })
            .map(|&(_, kind)| Self(kind));
        further.or_else(|| {
            Encoding::for_label_no_replacement(label)
                .filter(|&encoding| encoding != encoding_rs::X_USER_DEFINED)
                .map(|encoding| Self(Kind::Standard(encoding)))
        })
    }

    /// The character set whose byte order mark `text` begins with, and the mark's length.
    pub fn by_mark(text: &[u8]) -> Option<(Self, usize)> {
        match text {
            [0, 0, 0xFE, 0xFF, ..] => return Some((Self(Kind::Utf32(Some(Order::Big))), 4)),
            [0xFF, 0xFE, 0, 0, ..] => return Some((Self(Kind::Utf32(Some(Order::Little))), 4)),
            _ => {}
        }
        Encoding::for_bom(text).map(|(encoding, length)| (Self(Kind::Standard(encoding)), length))
    }

    /// The name, which [`Self::by_label`] gives back.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Standard(encoding) => encoding.name(),
            Kind::Utf16 => "UTF-16",
            Kind::Utf32(None) => "UTF-32",
            Kind::Utf32(Some(Order::Big)) => "UTF-32BE",
            Kind::Utf32(Some(Order::Little)) => "UTF-32LE",
            Kind::Page(page) => page.name,
            Kind::Utf7 => "UTF-7",
            Kind::Hz => "HZ-GB-2312",
            Kind::Iso2022Kr => "ISO-2022-KR",
        }
    }

    /// Whether bytes of ASCII stand for themselves, so that a text of them alone needs no decoder.
    pub fn keeps_ascii(self) -> bool {
        matches!(self.0, Kind::Standard(encoding) if encoding.is_ascii_compatible())
    }
}

/// The conversion to a standard encoding that comes before the decoder of that encoding.
#[derive(Debug)]
enum Before {
    Nothing,
    Utf16(Utf16),
    Utf32(Utf32),
    Page(FromPage),
    Utf7(Utf7),
    Hz(Hz),
    Iso2022Kr(Iso2022Kr),
}

/// Decodes a text in one character set, in pieces of any size.
#[derive(Debug)]
pub struct Decoder {
    charset: Charset,
    before: Before,
    /// Bytes in the standard encoding, where a conversion comes first.
    middle: Vec<u8>,
    standard: Standard,
}

/// A decoder of a standard encoding. That of `encoding_rs` is large, and few texts need it.
enum Standard {
    /// UTF-8. The first bytes of a character whose rest has not come yet are kept.
    Utf8 {
        held: Vec<u8>,
    },
    Other(Box<encoding_rs::Decoder>),
}

impl std::fmt::Debug for Standard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Standard")
    }
}

impl Standard {
    fn decode(&mut self, bytes: &[u8], is_last: bool, output: &mut Vec<u8>) {
        match self {
            Self::Utf8 { held } => utf8(held, bytes, is_last, output),
            Self::Other(decoder) => {
                let start = output.len();
                // The length overflows only for more bytes than memory has.
                let room = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(usize::MAX / 2);
                output.resize(start + room, 0);
                let (result, _, written, _) =
                    decoder.decode_to_utf8(bytes, &mut output[start..], is_last);
                debug_assert_eq!(result, CoderResult::InputEmpty);
                output.truncate(start + written);
            }
        }
    }
}

/// Appends the valid part of the UTF-8 that is `held` and of `bytes`, U+FFFD for what is not valid,
/// and holds a character that the end cuts off.
fn utf8(held: &mut Vec<u8>, bytes: &[u8], is_last: bool, output: &mut Vec<u8>) {
    let mut joined = std::mem::take(held);
    let mut rest = bytes;
    if !joined.is_empty() {
        joined.extend_from_slice(bytes);
        rest = &joined;
    }
    while let Err(error) = std::str::from_utf8(rest) {
        let (valid, behind) = rest.split_at(error.valid_up_to());
        output.extend_from_slice(valid);
        let Some(length) = error.error_len().or(is_last.then_some(behind.len())) else {
            return held.extend_from_slice(behind);
        };
        output.extend_from_slice("\u{FFFD}".as_bytes());
        rest = &behind[length..];
    }
    output.extend_from_slice(rest);
}

impl Decoder {
    /// A decoder at the start of a text.
    pub fn new(charset: Charset) -> Self {
        let (before, encoding) = match charset.0 {
            Kind::Standard(encoding) => (Before::Nothing, encoding),
            Kind::Utf16 => (Before::Utf16(Utf16::default()), encoding_rs::UTF_16BE),
            Kind::Utf32(order) => (Before::Utf32(Utf32::new(order)), encoding_rs::UTF_16BE),
            Kind::Page(page) => (Before::Page(FromPage::new(page)), encoding_rs::UTF_16BE),
            Kind::Utf7 => (Before::Utf7(Utf7::default()), encoding_rs::UTF_16BE),
            Kind::Hz => (Before::Hz(Hz::default()), encoding_rs::GBK),
            Kind::Iso2022Kr => (Before::Iso2022Kr(Iso2022Kr::default()), encoding_rs::EUC_KR),
        };
        let standard = match charset.0 {
            _ if charset == Charset::UTF_8 => Standard::Utf8 { held: Vec::new() },
            _ => Standard::Other(Box::new(encoding.new_decoder_without_bom_handling())),
        };
        Self { charset, before, middle: Vec::new(), standard }
    }

    /// Decodes the next bytes of a text and appends the characters to `output`, as valid UTF-8.
    pub fn decode(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        self.step(bytes, false, output);
    }

    /// Ends a text: appends U+FFFD if the last character was cut off. Then another text in the same
    /// character set may begin.
    pub fn finish(&mut self, output: &mut Vec<u8>) {
        self.step(&[], true, output);
        if self.charset != Charset::UTF_8 {
            *self = Self { middle: std::mem::take(&mut self.middle), ..Self::new(self.charset) };
        }
    }

    fn step(&mut self, bytes: &[u8], is_last: bool, output: &mut Vec<u8>) {
        let middle = &mut self.middle;
        middle.clear();
        match &mut self.before {
            Before::Nothing => return self.standard.decode(bytes, is_last, output),
            Before::Utf16(state) => state.write_utf16(bytes, is_last, middle),
            Before::Utf32(state) => state.write_utf16(bytes, is_last, middle),
            Before::Page(page) => page.write_utf16(bytes, middle),
            Before::Utf7(state) => state.write_utf16(bytes, middle),
            Before::Hz(state) => state.write_gbk(bytes, middle),
            Before::Iso2022Kr(state) => state.write_euc_kr(bytes, middle),
        }
        self.standard.decode(middle, is_last, output);
    }
}

/// Decodes a whole text and appends it, valid UTF-8, to `output`.
pub fn decode(charset: Charset, text: &[u8], output: &mut Vec<u8>) {
    let mut decoder = Decoder::new(charset);
    decoder.decode(text, output);
    decoder.finish(output);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `text` in a character set of the WHATWG's standard, UTF-16 with a mark.
    fn encode(label: &str, text: &str) -> Vec<u8> {
        if label == "utf-16" {
            let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
            return units.flat_map(u16::to_le_bytes).collect();
        }
        let encoding = Encoding::for_label(label.as_bytes()).expect("a label of the standard");
        let (bytes, _, has_lost) = encoding.encode(text);
        assert!(!has_lost, "{label}: {text}");
        bytes.into_owned()
    }

    fn decoded(label: &str, bytes: &[u8]) -> String {
        let charset = Charset::by_label(label.as_bytes()).expect("a label");
        let mut whole = Vec::new();
        decode(charset, bytes, &mut whole);
        for size in [1, 2, 3, 7] {
            let mut decoder = Decoder::new(charset);
            let mut pieces = Vec::new();
            // The second text is decoded as if it came first.
            for _ in 0..2 {
                pieces.clear();
                bytes.chunks(size).for_each(|piece| decoder.decode(piece, &mut pieces));
                decoder.finish(&mut pieces);
            }
            assert_eq!(pieces, whole, "{label} in pieces of {size}");
        }
        String::from_utf8(whole).expect("valid UTF-8")
    }

    #[test]
    fn texts_come_back_from_their_character_set() {
        for (labels, text) in [
            ("utf-8 utf-16 windows-1251 koi8-r koi8-u iso-8859-5 gb18030", "Привет, мир! 2"),
            ("utf-8 utf-16 iso-8859-1 windows-1252 iso-8859-15 latin1 cp1252", "Grüße, naïf"),
            ("utf-8 utf-16 iso-8859-2 windows-1250 gb18030", "Žluťoučký kůň"),
            ("utf-8 utf-16 iso-8859-9 windows-1254", "çığır açtı, şöyle"),
            ("utf-8 utf-16 iso-8859-7 windows-1253", "Καλημέρα κόσμε"),
            ("utf-8 utf-16 windows-1255 iso-8859-8", "שלום עולם"),
            ("utf-8 utf-16 windows-1256 iso-8859-6", "مرحبا بالعالم"),
            ("utf-8 utf-16 gb2312 gbk gb18030 cp936 big5", "中文 abc"),
            ("utf-8 utf-16 euc-jp shift_jis iso-2022-jp cp932", "日本語のテスト abc"),
            ("utf-8 utf-16 euc-kr ks_c_5601-1987 cp949", "안녕하세요 abc"),
        ] {
            for label in labels.split(' ') {
                let whatwg = match label {
                    "cp936" => "gbk",
                    "cp932" => "shift_jis",
                    "cp949" => "euc-kr",
                    other => other,
                };
                assert_eq!(decoded(label, &encode(whatwg, text)), text, "{label}");
                let charset = Charset::by_label(label.as_bytes()).expect("a label");
                assert_eq!(Charset::by_label(charset.name().as_bytes()), Some(charset), "{label}");
            }
        }
    }

    #[test]
    fn wide_characters_are_read_in_either_order() {
        let text = "Gr\u{fc}\u{df}e, \u{1f600}!";
        let units = |swap: bool| -> Vec<u8> {
            text.encode_utf16()
                .flat_map(|unit| if swap { unit.to_le_bytes() } else { unit.to_be_bytes() })
                .collect()
        };
        let marked = |mark: &[u8], swap| [mark, &units(swap)].concat();
        let wide = |swap: bool| -> Vec<u8> {
            let numbers = text.chars().map(u32::from);
            numbers.flat_map(|it| if swap { it.to_le_bytes() } else { it.to_be_bytes() }).collect()
        };
        for (label, bytes) in [
            ("utf-16", units(false)),
            ("utf-16", units(true)),
            ("utf-16", marked(b"\xfe\xff", false)),
            ("utf-16", marked(b"\xff\xfe", true)),
            ("utf-32", wide(false)),
            ("utf-32", wide(true)),
            ("utf-32", [b"\xff\xfe\0\0".to_vec(), wide(true)].concat()),
            ("utf-32le", wide(true)),
            ("UTF-32BE", wide(false)),
        ] {
            assert_eq!(decoded(label, &bytes), text, "{label} {}", bytes.escape_ascii());
        }
        // Nothing says which order it is: RFC 2781.
        assert_eq!(decoded("utf-16", b"\x04\x1c\x04\x38"), "\u{41c}\u{438}");
        assert_eq!(decoded("utf-16", b"\0a\0"), "a\u{fffd}");
        assert_eq!(decoded("utf-32le", b"a\0\0\0\xff\xff\xff\xff\0"), "a\u{fffd}\u{fffd}");
        let marks = |text: &[u8]| Charset::by_mark(text).map(|(charset, _)| charset.name());
        assert_eq!(marks(b"\xff\xfe\0\0a\0\0\0"), Some("UTF-32LE"));
        assert_eq!(marks(b"\xff\xfea\0"), Some("UTF-16LE"));
    }

    #[test]
    fn code_pages_of_dos_are_known() {
        for (label, bytes, expected) in [
            ("cp437", &b"\x9c 5\x80 caf\x82\n"[..], "\u{a3} 5\u{c7} caf\u{e9}\n"),
            ("ibm850", b"\xb8 \xe0 na\x8bf ..\n", "\u{a9} \u{d3} na\u{ef}f ..\n"),
            ("CP852", b"\x9f \xa7 p\xfdi z\xa0\n", "\u{10d} \u{17e} p\u{159}i z\u{e1}\n"),
        ] {
            assert_eq!(decoded(label, bytes), expected, "{label}");
        }
    }

    #[test]
    fn utf7_follows_rfc_2152() {
        for (bytes, expected) in [
            ("Hi Mom -+Jjo--!", "Hi Mom -\u{263a}-!"),
            ("A+ImIDkQ.", "A\u{2262}\u{391}."),
            ("+ZeVnLIqe-", "\u{65e5}\u{672c}\u{8a9e}"),
            ("Item 3 is +AKM-1.", "Item 3 is \u{a3}1."),
            ("1 +- 1 = 2", "1 + 1 = 2"),
            ("+2D3eAA-", "\u{1f600}"),
            ("+2D0-x", "\u{fffd}x"),
            ("+AGEAYg", "ab"),
            ("+AGE,b", "a,b"),
            ("+", ""),
            ("+\u{e9}", "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(decoded("utf-7", bytes.as_bytes()), expected, "{bytes}");
        }
    }

    #[test]
    fn hz_follows_rfc_1843() {
        for (bytes, expected) in [
            ("This sentence is in ASCII.\n", "This sentence is in ASCII.\n"),
            ("~{<:Ky2;S{#,NpJ)l6HK!#~}Bye.", "己所不欲，勿施於人。Bye."),
            ("a ~~ b", "a ~ b"),
            ("one ~\ntwo", "one two"),
            // The end of a line leads back to ASCII.
            ("~{VPND\nabc", "中文\nabc"),
            ("~x", "~x"),
            ("~", ""),
        ] {
            assert_eq!(decoded("hz-gb-2312", bytes.as_bytes()), expected, "{bytes}");
        }
    }

    #[test]
    fn iso_2022_kr_follows_rfc_1557() {
        let text = b"\x1b$)C\x0e>H3g\x0f abc \x0e>H\nabc";
        assert_eq!(decoded("iso-2022-kr", text), "안녕 abc 안\nabc");
    }

    #[test]
    fn a_broken_escape_sequence_hides_no_ascii() {
        // ISO-2022-JP: an unknown escape sequence, and ASCII text after it.
        let text = decoded("iso-2022-jp", b"a\x1b$Zb <script> \x1b(Bc");
        assert!(text.contains("<script>"), "{text}");
        assert_eq!(decoded("iso-2022-jp", b"\x1b$B\x1b(Bplain"), "\u{fffd}plain");
    }

    #[test]
    fn what_is_not_utf8_becomes_a_replacement() {
        for (bytes, expected) in [
            (&b"a\xffb"[..], "a\u{fffd}b"),
            (b"a\xc3", "a\u{fffd}"),
            (b"\xc3\xc3\xa9", "\u{fffd}\u{e9}"),
            (b"\xc0\xaf", "\u{fffd}\u{fffd}"),
            (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xf0\x9f\x98\x80", "\u{1f600}"),
            (b"\xf0\x9f\x98x", "\u{fffd}x"),
        ] {
            assert_eq!(decoded("utf-8", bytes), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn unknown_labels_name_no_character_set() {
        let long = "utf-8".repeat(20);
        for label in ["", " ", "x-unknown", "unknown-8bit", "=utf-8", "utf-8;", &long, "\u{e9}"] {
            assert_eq!(Charset::by_label(label.as_bytes()), None, "{label}");
        }
        for (label, name) in [
            (" UTF-8 ", "UTF-8"),
            ("us-ascii", "windows-1252"),
            ("iso-2022-cn", ""),
            ("replacement", ""),
            ("x-user-defined", ""),
            ("unicode", "UTF-16"),
            ("utf-16be", "UTF-16BE"),
        ] {
            let found = Charset::by_label(label.as_bytes()).map_or("", Charset::name);
            assert_eq!(found, name, "{label}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode_to_valid_text_of_bounded_length(
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), prop::sample::select(b"+-~{}\x1b$B(J\x0e\x0f".to_vec())],
                0..300),
            cuts in proptest::collection::vec(0_usize..300, 0..8),
        ) {
            for label in ["utf-8", "utf-7", "hz-gb-2312", "iso-2022-jp", "iso-2022-kr", "utf-16",
                "utf-32", "cp850", "gb18030", "big5", "shift_jis", "euc-jp", "koi8-r"]
            {
                let charset = Charset::by_label(label.as_bytes()).expect("a label");
                let mut whole = Vec::new();
                decode(charset, &bytes, &mut whole);
                prop_assert!(std::str::from_utf8(&whole).is_ok());
                prop_assert!(whole.len() <= 3 * bytes.len() + 6, "{}", label);
                let mut decoder = Decoder::new(charset);
                let mut pieces = Vec::new();
                let mut cuts: Vec<usize> = cuts.iter().map(|&cut| cut.min(bytes.len())).collect();
                cuts.extend([0, bytes.len()]);
                cuts.sort_unstable();
                for pair in cuts.windows(2) {
                    decoder.decode(&bytes[pair[0]..pair[1]], &mut pieces);
                }
                decoder.finish(&mut pieces);
                prop_assert_eq!(&pieces, &whole, "{}", label);
            }
        }
    }
}
