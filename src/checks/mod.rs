// SPDX-License-Identifier: GPL-3.0-or-later
//! What must hold for any input of the library, as functions of bytes that panic when it does not:
//! the fuzz targets of this crate (feature `fuzzing`). `fuzz/checks` has those of the programs.

#![allow(missing_docs, clippy::missing_panics_doc)]

mod files;
mod filter_files;
mod mail;

pub use files::{category_open, learning_state, lines, options, risk, tokenizer, unicode};
pub use filter_files::filter_files;
pub use mail::{css, mail_header, mailbox};

use crate::filter::markup::{Markup, MarkupChoice};
use crate::filter::mime::{Boundaries, Content};
use crate::filter::{Filter, decode as decoders};
use crate::model::settings::{Locale, ModelOption, ModelOptions};
use crate::token::pattern::{Expression, PatternList, Syntax};
use dbacl_words::charset::{Charset, Decoder};

/// The options and the locale that the first five bytes choose, and the rest.
fn choices(data: &[u8]) -> Option<(ModelOptions, Locale, &[u8])> {
    let (&bits, rest) = data.split_first_chunk::<4>()?;
    let (&flags, rest) = rest.split_first()?;
    let locale = if flags & 1 == 0 { Locale::C } else { Locale::Utf8 };
    Some((ModelOptions::from_bits(u32::from_le_bytes(bits)), locale, rest))
}

fn split_lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split_inclusive(|&byte| byte == b'\n')
}

/// The transfer decoders.
pub fn decode(data: &[u8]) {
    let mut buffer = data.to_vec();
    assert!(decoders::base64(&mut buffer, 0..data.len(), 0) <= data.len());
    buffer.copy_from_slice(data);
    assert!(decoders::quoted_printable(&mut buffer, 0..data.len(), 0) <= data.len());
    buffer.copy_from_slice(data);
    decoders::encoded_words(&mut buffer);
    assert!(buffer.len() <= data.len());
    if let Some((_, length)) = decoders::percent(data) {
        assert!((3..=data.len()).contains(&length));
    }
}

/// The markup filter, alone and as mail switches it.
pub fn markup(data: &[u8]) {
    let Some((options, locale, text)) = choices(data) else {
        return;
    };
    let mut markup = Markup::new(options, locale);
    for (number, raw) in split_lines(text).enumerate() {
        let mut line = raw.to_vec();
        if options.has(ModelOption::Mail) {
            markup.choose(match number / 3 % 3 {
                0 => MarkupChoice::Smart,
                1 => MarkupChoice::Dumb,
                _ => MarkupChoice::Disabled,
            });
        }
        markup.line_before_nul(&mut line, &[]);
        assert!(line.len() <= raw.len());
    }
}

/// MIME headers and the search for boundaries.
pub fn mime(data: &[u8]) {
    let mut content = Content::default();
    let mut boundaries = Boundaries::default();
    for line in split_lines(data) {
        content.read_header(line);
        boundaries.read_header(line);
        boundaries.match_line(line);
    }
}

/// The whole chain, over two files with the same bytes.
pub fn mail_chain(data: &[u8]) {
    let Some((mut options, locale, text)) = choices(data) else {
        return;
    };
    options.insert(ModelOption::Mail);
    options.remove(ModelOption::MailUnicode);
    let mut filter = Filter::new(options, locale);
    let (mut input, mut output) = (0, 0);
    let mut line = Vec::new();
    for _ in 0..2 {
        filter.start_file();
        for raw in split_lines(text).chain([&b"\r\n"[..]; 2]) {
            line.clear();
            line.extend_from_slice(raw);
            input += line.len();
            if filter.line(&mut line) {
                output += line.len();
            }
            // With `email:atts` a line from which nothing is delivered yet is shown undecoded too.
            assert!(output <= 2 * input);
            assert!((1..16).contains(&filter.medium().number()));
        }
    }
}

/// Mail read as Unicode text, over two files with the same bytes.
pub fn unicode_mail(data: &[u8]) {
    let Some((mut options, locale, text)) = choices(data) else {
        return;
    };
    options.insert(ModelOption::Mail);
    options.insert(ModelOption::MailUnicode);
    let mut filter = Filter::new(options, locale);
    let (mut input, mut output) = (64, 0);
    let mut line = Vec::new();
    for _ in 0..2 {
        filter.start_file();
        for raw in split_lines(text).chain([&b"\r\n"[..]; 2]) {
            input += raw.len();
            filter.take(raw);
            while filter.next_text(&mut line) {
                assert!(std::str::from_utf8(&line).is_ok() && line.len() <= 8193);
                output += line.len();
            }
            // A byte may become three, each text has its end, and labels are written again.
            assert!(output <= 8 * input);
            assert!((1..16).contains(&filter.medium().number()));
        }
        filter.end_file();
        while filter.next_text(&mut line) {
            output += line.len();
        }
        assert!(output <= 8 * input);
    }
}

/// Character sets: a byte that chooses one or has it told, and text, whole and in two pieces.
pub fn charset(data: &[u8]) {
    const LABELS: [&str; 12] = [
        "utf-8",
        "utf-7",
        "utf-16",
        "utf-16be",
        "hz-gb-2312",
        "iso-2022-kr",
        "iso-2022-jp",
        "gb18030",
        "big5",
        "shift_jis",
        "euc-kr",
        "koi8-r",
    ];
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    let charset = LABELS.get(usize::from(choice) % (LABELS.len() + 1));
    let charset = charset.and_then(|label| Charset::by_label(label.as_bytes()));
    let charset = charset.unwrap_or_else(|| Charset::detect(text)).or_detect(text);
    assert_eq!(Charset::by_label(charset.name().as_bytes()), Some(charset));
    let mut whole = Vec::new();
    dbacl_words::charset::decode(charset, text, &mut whole);
    assert!(std::str::from_utf8(&whole).is_ok() && whole.len() <= 3 * text.len() + 6);
    let mut decoder = Decoder::new(charset);
    let mut pieces = Vec::new();
    let (first, second) = text.split_at(usize::from(choice).min(text.len()));
    decoder.decode(first, &mut pieces);
    decoder.decode(second, &mut pieces);
    decoder.finish(&mut pieces);
    assert_eq!(pieces, whole);
}

/// Regular expressions: a byte of flags, the expression, a newline, and text to search.
pub fn pattern(data: &[u8]) {
    let Some((&flags, rest)) = data.split_first() else {
        return;
    };
    let locale = if flags & 1 == 0 { Locale::C } else { Locale::Utf8 };
    let syntax = if flags & 2 == 0 { Syntax::Extended } else { Syntax::Basic };
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let (argument, text) = rest.split_at(end);
    let text = &text[..text.len().min(4096)];
    if let Ok(mut expression) = Expression::new(argument, syntax, locale) {
        let mut groups = [None; 9];
        let found = expression.captures(text, 0, true, &mut groups);
        assert_eq!(found, expression.is_match(text));
        assert!(groups.into_iter().flatten().all(|(from, to)| from <= to && to <= text.len()));
    }
    let mut list = PatternList::new(locale);
    if list.add(argument, &mut |_| {}).is_ok() {
        for line in split_lines(text) {
            list.features(line, flags & 4 == 0, &mut |_, order, body| {
                assert!(order < 8 && body.len() <= 1 + 8 * 31 && body.starts_with(b"\x03"));
            });
        }
    }
}

/// Counts files: the bytes, and the bytes with a checksum that fits. What can be read is written
/// the same way again and again, can be merged with itself, and be learned from.
pub fn counts(data: &[u8]) {
    use crate::learn::LearnSettings;
    use crate::learn::counter::Counter;
    use crate::shards::counts::{Counts, Documents};
    use crate::shards::file::{self, CountsFile};
    use crate::shards::replay::{Order, replay, replay_file};
    let _ = file::read(data.to_vec());
    let body = &data[..data.len().saturating_sub(4)];
    let sealed = [body, &crc32fast::hash(body).to_le_bytes()].concat();
    let Ok(counts) = file::read(sealed.clone()) else {
        return;
    };
    let write = |counts: &Counts| {
        let mut bytes = Vec::new();
        file::write(&mut bytes, counts).expect("memory takes all");
        bytes
    };
    let written = write(&counts);
    let again = file::read(written.clone()).expect("what was written can be read");
    assert_eq!(write(&again), written);
    if let Some(mut one) = counts.without_places() {
        let two = one.clone();
        if one.merge(&two).is_ok() {
            assert_eq!(one.nodes().len(), two.nodes().len());
        }
    }
    let total = counts.nodes().iter().try_fold(0u64, |total, node| total.checked_add(node.count));
    if total.is_some_and(|total| total < 1 << 20) {
        let how = &counts.settings;
        let confidence = how.documents == Documents::Sequences;
        let settings = LearnSettings {
            bits: 6,
            max_bits: Some(8),
            quality: None,
            confidence,
            reservoir: confidence,
            options: how.options,
            scheme: how.scheme,
            ..files::settings()
        };
        for (order, is_file) in
            [(Order::Appearance, false), (Order::Appearance, true), (Order::Canonical, false)]
        {
            let mut counter = Counter::empty(&settings);
            let replayed = if is_file {
                let file = CountsFile::open(sealed.clone());
                file.map_err(Into::into).and_then(|file| replay_file(file, order, &mut counter))
            } else {
                replay(&counts, order, &mut counter)
            };
            assert!(replayed.is_ok());
            counter.into_state();
        }
    }
}
