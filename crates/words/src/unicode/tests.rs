// SPDX-License-Identifier: GPL-3.0-or-later
//! Words and characters of texts in many scripts.

use super::*;
use proptest::prelude::*;

/// Words between bars, `/` for a line's end.
#[derive(Default)]
pub(super) struct Shown(pub String);

impl WordSink for Shown {
    fn word(&mut self, word: Word<'_>) {
        self.0.push_str(std::str::from_utf8(word.bytes()).expect("words are UTF-8"));
        self.0.push('|');
    }
    fn end_of_line(&mut self) {
        self.0.push('/');
    }
}

fn cut(scheme: Scheme, keep_case: bool, line: &[u8]) -> String {
    let mut sink = Shown::default();
    UnicodeTokenizer::new(scheme, keep_case, false).line(line, &mut sink);
    sink.0
}

pub(super) fn words(line: &str) -> String {
    let shown = cut(Scheme::Word, false, line.as_bytes());
    shown.strip_suffix("/").expect("a line's end").trim_end_matches('|').replace('|', " ")
}

#[test]
fn words_of_many_languages() {
    let rows = [
        ("Don't pay $5!", "don't pay $5"),
        ("Привет, МИР!\n", "привет мир"),
        ("Straße STRASSE", "strasse strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("İstanbul", "istanbul"),
        ("l’été d'hiver", "l’été d'hiver"),
        ("ﬁnd ｆｕｌｌ Ⅷ", "find full viii"),
        ("我们在北京", "我们 们在 在北 北京"),
        ("水", "水"),
        ("東京タワーへ", "東京 京タ タワ ワー ーへ"),
        ("ﾊﾟﾝ", "パン"),
        ("สวัสดี", "สวั วัส สดี"),
        ("대한민국 만세", "대한민국 대 한 민 국 만세 만 세"),
        ("नमस्ते दुनिया", "नमस्ते दुनिया"),
        ("مرحبا بالعالم", "مرحبا بالعالم"),
        ("מַה שלום", "מַה שלום"),
        ("1,000.50 €20 20€ US$100 3.14 v2.0", "1,000.50 €20 20€ us$100 3.14 v2.0"),
        ("joe.smith@mail.example.com", "joe.smith mail.example.com"),
        ("http://www.example.com/a_b", "http www.example.com a_b"),
        ("ok 👍🏽 🇩🇪🇫🇷 ❤️", "ok 👍🏽 🇩🇪 🇫🇷 ❤"),
        ("Tele\u{ad}fon v\u{200b}i\u{200d}a", "telefon via"),
        ("cafe\u{301}", "café"),
        ("v\u{336}i\u{336}a\u{20dd}gra", "viagra"),
        ("P\u{430}ypal", "p\u{430}ypal paypal"),
        ("\u{440}\u{430}\u{443}\u{440}\u{430}", "\u{440}\u{430}\u{443}\u{440}\u{430} paypa"),
        ("\u{41c}icrosoft", "\u{43c}icrosoft microsoft"),
        ("сера а", "сера cepa а"),
        ("kapı 3D-принтер SMSка", "kapı 3d принтер smsка smska"),
        ("a.b.c 10.0.0.1 end. .x", "a.b.c 10.0.0.1 end x"),
        ("", ""),
    ];
    let found = rows.map(|(line, _)| (line, words(line)));
    assert_eq!(found, rows.map(|(line, expected)| (line, expected.to_owned())));
}

#[test]
fn case_is_kept_on_request() {
    assert_eq!(cut(Scheme::Word, true, "Straße ΣΑΣ Tom".as_bytes()), "Straße|ΣΑΣ|Tom|/");
    assert_eq!(cut(Scheme::Word, true, b"Tom TOM"), "Tom|TOM|/");
}

#[test]
fn glyphs_are_apart_where_blanks_are() {
    assert_eq!(cut(Scheme::Glyph, false, "Ab  é!\n".as_bytes()), "|a|b||é|!||/");
    assert_eq!(cut(Scheme::Glyph, false, b"\n"), "|/");
    assert_eq!(cut(Scheme::Glyph, false, b"a\nb\n"), "|a||/|b||/");
}

#[test]
fn grams_are_four_bytes_of_the_folded_line() {
    assert_eq!(cut(Scheme::Gram, false, b"Ab c\n"), " ab |ab c|b c |/");
    assert_eq!(cut(Scheme::Gram, false, "\u{c9}a\n".as_bytes()), " \u{e9}a|\u{e9}a |/");
    assert_eq!(cut(Scheme::Gram, false, b"a\x01\x02\x03b\n"), cut(Scheme::Gram, false, b"a   b\n"));
    assert_eq!(cut(Scheme::Gram, false, b"\n"), "/");
    assert_eq!(cut(Scheme::Gram, false, b"a\n"), "/");
    // Words that a filter has made stay whole, up to the longest word.
    let long = "y".repeat(40);
    let made = format!("\x1fab:c  d.e {long}\n");
    assert_eq!(cut(Scheme::Gram, false, made.as_bytes()), format!("ab:c|d.e|{}|/", &long[..30]));
    let made = format!("\x1f{}я\n", "y".repeat(29));
    for scheme in [Scheme::Gram, Scheme::Word] {
        assert_eq!(cut(scheme, false, made.as_bytes()), format!("{}|/", &long[..29]));
    }
}

#[test]
fn lines_in_other_character_sets_lose_nothing() {
    let koi8 = b"\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2! \xeb\xc1\xcb \xc4\xc5\xcc\xc1 \
                 \xd3\xc5\xc7\xcf\xc4\xce\xd1?\n";
    assert_eq!(cut(Scheme::Word, false, koi8), "привет|мир|как|дела|сегодня|/");
    // Japanese among ASCII, with its own marks.
    let japanese = b"\x1b$BEl5~\x1b(B 2024\n";
    assert_eq!(cut(Scheme::Word, false, japanese), "東京|2024|/");
    // A stray byte in UTF-8 is a letter of windows-1252.
    assert_eq!(cut(Scheme::Word, false, b"\xd0\xbf\xd1\x80 caf\xe9"), "пр|café|/");
}

#[test]
fn long_words_are_cut_between_characters() {
    let shown = cut(Scheme::Word, false, "я".repeat(40).as_bytes());
    assert_eq!(shown, ["я".repeat(15), "я".repeat(15), "я".repeat(10)].join("|") + "|/");
    let shown = cut(Scheme::Word, false, "語".repeat(3).as_bytes());
    assert_eq!(shown, "語語|語語|/");
}

/// The longest word, and the bytes of all.
struct Lengths {
    longest: usize,
    sum: usize,
}

impl WordSink for Lengths {
    fn word(&mut self, word: Word<'_>) {
        self.longest = self.longest.max(word.len());
        self.sum += word.len();
    }
    fn end_of_line(&mut self) {}
}

#[test]
fn hostile_lines_are_bounded() {
    let marks = format!("a{}b", "\u{301}".repeat(10_000));
    assert_eq!(words(&marks), "áb");
    let marks = format!("क{}", "\u{94d}\u{93c}".repeat(10_000));
    assert!(words(&marks).len() < 40 * 6);
    let overrides = format!("{}abc", "\u{202e}".repeat(10_000));
    assert_eq!(words(&overrides), "abc");
    for unit in ["x", "я", "語", "한", "ำ", "👍", "\u{fdfa}", "\u{1f1e6}"] {
        let line = unit.repeat((1 << 20) / unit.len());
        let mut sink = Lengths { longest: 0, sum: 0 };
        UnicodeTokenizer::new(Scheme::Word, false, false).line(line.as_bytes(), &mut sink);
        assert!(sink.sum <= 12 << 20, "{unit} {}", sink.sum);
        assert!(sink.longest <= MAX_WORD);
    }
    for bytes in [
        &b"\xed\xa0\x80x\xed\xb0\x80"[..],
        b"\xc0\xae\xc0\xae/",
        b"\xf8\x88\x80\x80\x80",
        b"\xff\xfe",
        b"\xd0",
        b"\xf0\x9f\x91",
    ] {
        for scheme in [Scheme::Word, Scheme::Glyph] {
            cut(scheme, false, bytes);
        }
        // Runs of bytes may begin and end within a character.
        let mut sink = Lengths { longest: 0, sum: 0 };
        UnicodeTokenizer::new(Scheme::Gram, false, false).line(bytes, &mut sink);
        assert!(sink.longest <= 4, "{bytes:?}");
    }
}

#[test]
fn any_cut_through_a_character_keeps_the_rest() {
    let text = "Привет 北京 สวัสดี 👍 Straße und noch etwas mehr Text".as_bytes();
    for length in 0..text.len() {
        let shown = cut(Scheme::Word, false, &text[..length]);
        if length > 13 {
            assert!(shown.starts_with("привет|"), "{length} {shown}");
        }
    }
}

/// Text of words, marks, signs and anything.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-cA-C0-9 ._',$@-]{0,70}",
        2 => "[а-яА-Яa-c ]{0,20}",
        2 => "[a-eA-E\u{300}-\u{32f}\u{334}\u{20dd}\u{200d}]{0,9}",
        2 => "\\PC{0,20}",
        1 => "[\u{1100}-\u{1175}\u{11a8}-\u{11c2}\u{ac00}-\u{ac20}]{0,9}",
        1 => "[\u{900}-\u{97f} ]{0,20}",
        1 => "[\u{621}-\u{655}\u{5b0}-\u{5ea}]{0,12}",
        1 => "[\u{e01}-\u{e4e}\u{3040}-\u{30ff}\u{4e00}-\u{4e20}]{0,9}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn masks_find_the_words_of_characters(
        line in "([a-cA-C0-9 ._',$@\n\0-]{0,70}[a-z0-9.]{0,9}){0,4}",
        keep_case: bool,
        straddle: bool,
    ) {
        let mut tokenizer = UnicodeTokenizer::new(Scheme::Word, keep_case, straddle);
        let (mut fast, mut slow) = (Shown::default(), Shown::default());
        tokenizer.line(line.as_bytes(), &mut fast);
        tokenizer.words.words(tokenizer.folder.fold(line.as_bytes()), straddle, &mut slow);
        if !straddle {
            slow.end_of_line();
        }
        prop_assert_eq!(fast.0, slow.0);
    }

    #[test]
    fn canonically_equal_texts_have_the_same_words(text in text()) {
        use unicode_normalization::UnicodeNormalization;
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        let compatible: String = text.nfkd().collect();
        // An iota subscript folds to a letter of its own, which one normal form puts before the
        // letter's other marks and another after them.
        prop_assume!(!compatible.contains('\u{345}'));
        let expected = words(&text);
        prop_assert_eq!(&words(&composed), &expected);
        prop_assert_eq!(&words(&decomposed), &expected);
        prop_assert_eq!(&words(&compatible), &expected);
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for scheme in [Scheme::Word, Scheme::Glyph] {
            cut(scheme, false, &bytes);
        }
    }
}

#[test]
fn what_is_kept_of_characters_is_what_they_fold_to() {
    let mut table = table::Table::new(false);
    for character in ('\0'..=char::MAX).filter(|&c| !table::is_invisible(c)) {
        for _ in 0..2 {
            let mut kept = Vec::new();
            table.fold_into(character, &mut kept);
            assert_eq!(kept, table.folded(character), "{character:?}");
        }
    }
}

#[test]
fn characters_are_encoded_as_the_standard_library_does() {
    for character in '\0'..=char::MAX {
        let mut bytes = [0; 4];
        let expected = character.encode_utf8(&mut bytes).as_bytes();
        let (found, length) = cut::encoded(u32::from(character));
        assert_eq!(&found[..length], expected);
    }
}
