// SPDX-License-Identifier: GPL-3.0-or-later
//! Targets for what programs read besides mail: lines, categories, counts, command lines, risk
//! specifications.

use crate::category::reader::Category;
use crate::input::lines::{LineReader, Stream};
use crate::learn::memory_dump;
use crate::learn::reference::Reference;
use crate::learn::state::LearningState;
use crate::learn::{LearnSettings, Progress, finish};
use crate::model::medium::Medium;
use crate::model::settings::{Locale, ModelOptions, Scheme};
use crate::programs::dbacl::options::TABLE;
use crate::risk::evidence::CapturedRows;
use crate::risk::{expression, parse};
use crate::token::id::FeatureId;
use crate::token::ngram::Window;
use crate::token::tokenizer::Tokenizer;
use crate::token::word::{MAX_WORD, Word, WordSink};
use dbacl_cli::getopt::{self, Event};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;

/// Lines as cut from any bytes.
pub fn lines(data: &[u8]) {
    let mut reader = LineReader::default();
    let mut stream = Stream::new(Box::new(data));
    let (mut line, mut length) = (Vec::new(), 0);
    while !reader.next_line(&mut stream, &mut line) {
        assert!(!line.contains(&0));
        length += line.len();
    }
    assert!(length + line.len() <= data.len());
}

/// Tokenizers of all schemes; the first byte chooses scheme, case and straddling, the second the
/// order.
pub fn tokenizer(data: &[u8]) {
    let Some((&[flags, order], text)) = data.split_first_chunk::<2>() else {
        return;
    };
    let scheme = Scheme::by_number(i64::from(flags % 7) + 1).expect("seven schemes");
    let order = order % 7 + 1;
    let mut tokenizer = Tokenizer::new(scheme, flags & 64 != 0, flags & 128 != 0, order);
    let mut window = Window::new(order);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let mut line: Vec<u8> = line.iter().copied().filter(|&byte| byte != 0).collect();
        let length = line.len();
        let mut sink = |feature: crate::token::Feature<'_>| {
            assert!((1..=order).contains(&feature.order));
            assert!(feature.body.len() <= 1 + 7 * 32);
        };
        tokenizer.line(&mut line, &mut window.feeding(Medium::TEXT, &mut sink));
        assert_eq!(line.len(), length);
    }
}

/// The tokenizers of Unicode; the first byte chooses scheme, case and straddling.
pub fn unicode(data: &[u8]) {
    struct Words(usize);
    impl WordSink for Words {
        fn word(&mut self, word: Word<'_>) {
            assert!(std::str::from_utf8(word.bytes()).is_ok());
            assert!(word.len() <= MAX_WORD);
            assert!(!word.bytes().iter().any(|byte| *byte < b' '));
            self.0 += word.len();
        }
        fn end_of_line(&mut self) {}
    }
    let Some((&flags, text)) = data.split_first() else {
        return;
    };
    let scheme = if flags & 1 == 0 { Scheme::Word } else { Scheme::Glyph };
    let mut tokenizer = Tokenizer::new(scheme, flags & 2 != 0, flags & 4 != 0, 1);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let (mut line, mut words) = (line.to_vec(), Words(0));
        let length = line.len();
        tokenizer.line(&mut line, &mut words);
        assert_eq!(line.len(), length);
        // One character may stand for eighteen, and a word may be written out three times.
        assert!(words.0 <= 3 * 18 * length, "{} bytes of {length}", words.0);
    }
}

/// Categories: the input is the header and the beginning of the tables, zeros follow.
pub fn category_open(data: &[u8]) {
    let mut bytes = data.to_vec();
    bytes.resize(data.len() + (1 << 17) + 6 * 64, 0);
    let Ok(category) = Category::new(bytes.as_slice()) else { return };
    for id in [0, 1, 5, u32::MAX] {
        category.find(FeatureId(id));
    }
    for body in [b"\x03tom\x03".as_slice(), b"", &[0xff; 300], data] {
        assert!(category.log_reference(body) <= 0.0);
    }
    assert_eq!(category.digrams().count(), 1 << 16);
}

/// How the targets learn.
pub(super) fn settings() -> LearnSettings {
    LearnSettings {
        bits: 3,
        max_bits: Some(6),
        decimation: None,
        reference: Reference::Uniform,
        quality: Some(1),
        min_count: 0,
        confidence: true,
        reservoir: true,
        options: ModelOptions::default(),
        scheme: Scheme::Alpha,
    }
}

/// A dump of nothing, with little room for its token list.
fn empty_dump() -> &'static [u8] {
    static DUMP: OnceLock<Vec<u8>> = OnceLock::new();
    DUMP.get_or_init(|| {
        let state = LearningState::new(&settings());
        let mut bytes = Vec::new();
        let flags = memory_dump::RunFlags::default();
        memory_dump::write(&mut bytes, &state, flags).expect("a vector takes all");
        let room = memory_dump::MAGIC.len() + 48;
        bytes[room..room + 8].copy_from_slice(&64u64.to_le_bytes());
        bytes.truncate(memory_dump::MAGIC.len() + 263_760 + 8 * 19);
        bytes.resize(bytes.len() + 64, 0);
        bytes
    })
}

/// Counts: the input changes a good dump by patches of four bytes, an offset of three and a value;
/// offsets of the record's matrix are left out. What can be read is merged and fitted.
pub fn learning_state(data: &[u8]) {
    let mut bytes = empty_dump().to_vec();
    for patch in data.chunks_exact(4) {
        let offset = u32::from_le_bytes([patch[0], patch[1], patch[2], 0]) as usize % 1400;
        let matrix = memory_dump::MAGIC.len() + 700..memory_dump::MAGIC.len() + 263_000;
        let at = if offset >= matrix.start { offset + matrix.len() } else { offset };
        if let Some(byte) = bytes.get_mut(at) {
            *byte = patch[3];
        }
    }
    let Ok(dump) = memory_dump::read(&bytes) else {
        return;
    };
    let settings = settings();
    let mut state = LearningState::new(&settings);
    let mut max_bits = settings.max_bits;
    memory_dump::merge(&mut state, &dump.state, &mut max_bits, &mut |_| {});
    for mut state in [state, dump.state] {
        let mut silent = Progress::silent();
        let measured = settings.reference.measure(&state.characters, &mut silent, &mut |_| {});
        let digrams = measured.expect("the uniform measure cannot fail");
        let _ = finish(&mut state, &settings, digrams, None, &mut silent, &mut |_| {});
        let mut out = Vec::new();
        memory_dump::write(&mut out, &state, memory_dump::RunFlags::default())
            .expect("a vector takes all");
    }
}

/// Command lines: arguments end with a zero byte or the input.
pub fn options(data: &[u8]) {
    let args: Vec<OsString> =
        data.split(|&byte| byte == 0).map(|arg| OsString::from_vec(arg.to_vec())).collect();
    for posixly_correct in [false, true] {
        let events = getopt::parse(OsStr::new("dbacl"), args.clone(), TABLE, posixly_correct);
        let operands = events.iter().filter(|event| matches!(event, Event::Operand(_))).count();
        assert!(operands <= args.len());
        assert!(events.len() <= data.len() + 1);
    }
}

/// Risk specifications, a zero byte, and a document.
pub fn risk(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let (text, document) = data.split_at(end);
    let relaxed = data.len() % 2 == 1;
    let _ = expression::evaluate(text, None, relaxed);
    let Ok(specification) = parse::parse(text, relaxed, &mut |_| {}) else {
        return;
    };
    if specification.check().is_err() {
        return;
    }
    let mut evidence = CapturedRows::new(&specification, Locale::C, |_| {});
    for line in document.split_inclusive(|&byte| byte == b'\n') {
        if evidence.line(line, &mut |_| {}).is_err() {
            return;
        }
    }
    evidence.end_of_file(true, &mut |_| {});
    let _ = evidence.losses(&mut |_| {});
}
