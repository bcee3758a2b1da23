// SPDX-License-Identifier: GPL-3.0-or-later
//! Every cut of an input, merged in any tree, is the input read in one pass.

use super::collect::Counting;
use super::counts::{CountSettings, Counts, Documents, MergeFault, counting_options};
use super::file::CountsFile;
use super::replay::{Order, ReplayFault, replay, replay_file};
use super::{dump, file};
use crate::document::{FeatureReader, ReadOptions};
use crate::learn::counter::Counter;
use crate::learn::learner::LearnedCounts;
use crate::learn::memory_dump::{self, Dump, RunFlags};
use crate::learn::reference::Reference;
use crate::learn::state::{LearningState, Sampled};
use crate::learn::tokens::TokenList;
use crate::learn::{LearnSettings, LearnedModel};
use dbacl_model::settings::{Locale, ModelOption, ModelOptions, Scheme};
use proptest::prelude::*;

/// How a run learns.
#[derive(Debug, Clone)]
struct Run {
    options: ModelOptions,
    scheme: Scheme,
    order: u8,
    bits: u8,
    max_bits: Option<u8>,
    confidence: bool,
}

impl Run {
    fn count_settings(&self) -> CountSettings {
        let mail = self.options.has(ModelOption::Mail);
        CountSettings {
            options: counting_options(self.options),
            scheme: self.scheme,
            order: self.order,
            locale: Locale::C,
            documents: match (mail, self.confidence) {
                (false, _) => Documents::None,
                (true, false) => Documents::Bags,
                (true, true) => Documents::Sequences,
            },
            keeps_nul: false,
            patterns: Vec::new(),
        }
    }

    fn learn_settings(&self) -> LearnSettings {
        LearnSettings {
            bits: self.bits,
            max_bits: self.max_bits,
            decimation: None,
            reference: Reference::Dirichlet,
            quality: None,
            min_count: 0,
            confidence: self.confidence,
            reservoir: self.confidence,
            options: self.options,
            scheme: self.scheme,
        }
    }

    fn counter(&self) -> Counter {
        let state = LearningState::new(self.bits, self.options, self.scheme, 0);
        Counter::new(state, &self.learn_settings(), false)
    }

    fn reader(&self) -> FeatureReader<'static> {
        let Self { options, scheme, order, .. } = *self;
        let options = options.with(ModelOption::StandardTokenizer);
        FeatureReader::new(&ReadOptions { options, scheme, order, ..ReadOptions::text() })
    }

    /// What one pass over the files learns.
    fn one_pass(&self, files: &[Vec<u8>]) -> LearningState {
        let mut counter = self.counter();
        let by_words = counter.expect_words(self.order);
        let mut counts = LearnedCounts::going_on(counter, by_words);
        let mut reader = self.reader();
        for file in files {
            reader.read_bytes(file, &mut counts).unwrap();
        }
        counts.counter.into_state(&mut |_| {})
    }

    fn count(&self, files: &[Vec<u8>], place: Option<u32>) -> Counts {
        let mut counting = Counting::new(self.count_settings(), place.is_some());
        let mut reader = self.reader();
        counting.start_shard(place.unwrap_or(0));
        for file in files {
            reader.read_bytes(file, &mut counting).unwrap();
        }
        counting.end_shard(reader.ending());
        counting.into_counts().unwrap()
    }

    /// What is learned from the bytes of a file.
    fn streamed(&self, bytes: &[u8]) -> Result<LearningState, ReplayFault> {
        let mut counter = self.counter();
        let file = CountsFile::open(Box::new(bytes))?;
        replay_file(file, Order::Appearance, &mut counter, &mut |_| {})?;
        Ok(counter.into_state(&mut |_| {}))
    }

    fn replayed(&self, counts: &Counts, order: Order) -> LearningState {
        let mut counter = self.counter();
        replay(counts, order, &mut counter, &mut |_| {}).unwrap();
        counter.into_state(&mut |_| {})
    }
}

/// Everything that learning has counted: the dump, and the reservoir, which it leaves out.
fn everything(state: &LearningState) -> (Vec<u8>, Vec<Sampled>) {
    let mut state = state.clone();
    // Cut off from its inputs, a run cannot know how many messages without a token began: whether a
    // file begins within a header block depends on the file before it. No category has this number.
    state.empty_documents = 0;
    let mut bytes = Vec::new();
    memory_dump::write(&mut bytes, &state, RunFlags::default()).unwrap();
    (bytes, state.reservoir)
}

/// The category, but for its name.
fn category(run: &Run, mut state: LearningState) -> Vec<u8> {
    let settings = run.learn_settings();
    if state.used == 0 {
        return Vec::new();
    }
    let order = state.max_order;
    let model = LearnedModel::of(&mut state, &settings, order, &mut |_| {}).unwrap();
    model.to_bytes(b"name", &[], &state.table)
}

fn written(counts: &Counts) -> Vec<u8> {
    let mut bytes = Vec::new();
    file::write(&mut bytes, counts).unwrap();
    bytes
}

fn through_file(counts: &Counts) -> Counts {
    let bytes = written(counts);
    let back = file::read(bytes.as_slice()).unwrap();
    assert_eq!(written(&back), bytes, "reading and writing is the identity");
    back
}

/// Merges neighbours in the order that `picks` choose; with `swap` also the right into the left.
fn merged(mut parts: Vec<Counts>, picks: &[usize], any_order: bool) -> Counts {
    let mut picks = picks.iter().cycle();
    while parts.len() > 1 {
        let &pick = picks.next().unwrap();
        let at = pick % (parts.len() - 1);
        let other =
            if any_order { (at + 1 + pick % (parts.len() - 1)) % parts.len() } else { at + 1 };
        if other == at {
            continue;
        }
        let part = parts[other].clone();
        parts[at].merge(&part).unwrap();
        parts.remove(other);
    }
    through_file(&parts.remove(0))
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-e]{1,2}",
        3 => "[a-zA-Z0-9]{1,8}",
        1 => "[!-~]{1,6}",
        1 => "[\u{80}-\u{ff}]{1,3}",
        1 => "[xy]{28,65}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    (
        proptest::collection::vec(word(), 0..8),
        prop_oneof![" ", ", ", "  "],
        prop_oneof![
            6 => Just("\n"), 1 => Just("\r\n"), 1 => Just(" \n"), 1 => Just(". \t\n")
        ],
    )
        .prop_map(|(words, between, end)| words.join(&between) + end)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(line(), 0..12).prop_map(|lines| lines.concat().into_bytes())
}

fn mail() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        3 => text().prop_map(|text| [b"\n".to_vec(), text].concat()),
        1 => text().prop_map(|text| [
            b"Content-Type: text/html\n\n<html><body><a href=\"http://x.org/q\">see</a>\n".to_vec(),
            text, b"<!-- note --></body></html>\n".to_vec()].concat()),
        1 => "[A-Za-z0-9+/]{0,200}".prop_map(|text| format!(
            "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n\
             {text}\n\n").into_bytes()),
        1 => text().prop_map(|text| [
            b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"bb\"\n\n\
              --bb\n\n".to_vec(),
            text, b"\n--bb\nContent-Type: text/html\n\n<b>bold</b> word\n\
                    --bb--\n".to_vec()].concat()),
    ];
    let message = (word(), body).prop_map(|(subject, body)| {
        let head =
            format!("From joe@example.com Mon Jan  1 00:00:00 2001\nSubject: {subject}\nX-A: b\n");
        [head.into_bytes(), body, b"\n".to_vec()].concat()
    });
    proptest::collection::vec(message, 0..5).prop_map(|messages| messages.concat())
}

fn run(mail: bool) -> impl Strategy<Value = Run> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let table = (1..9u8, proptest::option::of(1..11u8));
    (0..Scheme::ALL.len(), 1..8u8, table, switches).prop_map(
        move |(scheme, order, (bits, max_bits), on)| {
            let (straddle, keep_case, confidence, multinomial) = on;
            let mut options = ModelOptions::default().with(ModelOption::StandardTokenizer);
            let mut set = |on: bool, option| {
                if on {
                    options.insert(option);
                }
            };
            set(!mail, ModelOption::Text);
            set(mail, ModelOption::Mail);
            set(mail, ModelOption::Html);
            set(mail || confidence, ModelOption::Entropy);
            set(straddle, ModelOption::Straddle);
            set(keep_case, ModelOption::KeepCase);
            set(multinomial && (mail || confidence), ModelOption::Multinomial);
            Run { options, scheme: Scheme::ALL[scheme], order, bits, max_bits, confidence }
        },
    )
}

fn check(run: &Run, files: &[Vec<u8>], cuts: &[usize], picks: &[usize]) {
    let whole = run.one_pass(files);
    let expected = everything(&whole);
    let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (files.len() + 1)).collect();
    bounds.extend([0, files.len()]);
    bounds.sort_unstable();
    let shards = || bounds.windows(2).map(|pair| &files[pair[0]..pair[1]]);
    let parts = shards().map(|shard| run.count(shard, None)).collect();
    let in_order = merged(parts, picks, false);
    if in_order.is_inexact() {
        return; // the inputs before a shard would have changed how it is read; this is told
    }
    let one = run.count(files, None);
    let same = |left: &Counts, right: &Counts| {
        let plain = |counts: &Counts| {
            let mut counts = counts.clone();
            for shard in &mut counts.shards {
                shard.ending = crate::document::Ending::default();
            }
            written(&counts)
        };
        plain(left) == plain(right)
    };
    assert!(same(&in_order, &one), "merged counts are those of one pass");
    assert!(everything(&run.replayed(&in_order, Order::Appearance)) == expected, "in order");
    let streamed = |counts| everything(&run.streamed(&written(counts)).unwrap());
    assert!(streamed(&in_order) == expected, "in order, from a file");
    let parts = (0u32..).zip(shards()).map(|(k, shard)| run.count(shard, Some(3 * k + 1)));
    let placed = merged(parts.collect(), picks, true);
    let state = run.replayed(&placed, Order::Appearance);
    assert!(everything(&state) == expected, "by place");
    assert!(streamed(&placed) == expected, "by place, from a file");
    assert!(same(&placed.without_places().unwrap(), &one), "places can be dropped");
    assert_eq!(category(run, state), category(run, whole));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_cut_of_text_is_one_pass(
        run in run(false),
        files in proptest::collection::vec(text(), 1..8),
        cuts in proptest::collection::vec(0..100usize, 0..19),
        picks in proptest::collection::vec(0..1000usize, 1..8),
    ) {
        check(&run, &files, &cuts, &picks);
    }

    #[test]
    fn every_cut_of_mail_is_one_pass(
        run in run(true),
        files in proptest::collection::vec(mail(), 1..6),
        cuts in proptest::collection::vec(0..100usize, 0..19),
        picks in proptest::collection::vec(0..1000usize, 1..8),
    ) {
        check(&run, &files, &cuts, &picks);
    }

    #[test]
    fn text_may_be_cut_between_lines(
        mut run in run(false),
        lines in proptest::collection::vec(line(), 1..20),
        cuts in proptest::collection::vec(0..100usize, 0..19),
    ) {
        run.options.remove(ModelOption::Straddle);
        let whole = run.one_pass(&[lines.concat().into_bytes()]);
        let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (lines.len() + 1)).collect();
        bounds.extend([0, lines.len()]);
        bounds.sort_unstable();
        let pieces = bounds.windows(2).map(|pair| lines[pair[0]..pair[1]].concat().into_bytes());
        let parts = pieces.map(|piece| run.count(&[piece], None)).collect();
        let counts = merged(parts, &[0], false);
        let state = run.replayed(&counts, Order::Appearance);
        prop_assert!(everything(&state) == everything(&whole));
    }

    #[test]
    fn canonical_categories_know_no_order(
        is_mail: bool,
        text_run in run(false),
        mail_run in run(true),
        texts in proptest::collection::vec(text(), 2..6),
        mails in proptest::collection::vec(mail(), 2..6),
        turn in 0..6usize,
    ) {
        let (run, files) = if is_mail { (mail_run, mails) } else { (text_run, texts) };
        let mut turned = files.clone();
        turned.rotate_left(turn % files.len());
        turned.swap(0, 1);
        let learn = |files: &[Vec<u8>]| {
            let parts = files.iter().map(|file| run.count(std::slice::from_ref(file), None));
            let counts = merged(parts.collect(), &[0], false);
            let inexact = counts.is_inexact();
            (everything(&run.replayed(&counts, Order::Canonical)), inexact)
        };
        let ((one, a), (other, b)) = (learn(&files), learn(&turned));
        prop_assert!(a || b || one == other);
    }

    #[test]
    fn dumps_become_counts_and_back(
        run in run(false),
        files in proptest::collection::vec(text(), 1..4),
    ) {
        let mut run = Run { bits: 12, ..run };
        run.options.remove(ModelOption::Multinomial);
        run.options.remove(ModelOption::Entropy);
        let state = run.one_pass(&files);
        let mut bytes = Vec::new();
        memory_dump::write(&mut bytes, &state, RunFlags::default()).unwrap();
        let read = memory_dump::read(&bytes).unwrap();
        let counts = through_file(&dump::counts(&read, Locale::C).unwrap());
        let mut back = Vec::new();
        let replayed = run.replayed(&counts, Order::Appearance);
        memory_dump::write(&mut back, &replayed, RunFlags::default()).unwrap();
        prop_assert!(back == bytes);
        let refused = |change: fn(&mut Dump)| {
            let mut other = read.clone();
            change(&mut other);
            dump::counts(&other, Locale::C).is_err()
        };
        prop_assert!(refused(|own| own.patterns = 1));
        prop_assert!(refused(|own| own.state.options.remove(ModelOption::StandardTokenizer)));
        prop_assert!(refused(|own| own.state.options.insert(ModelOption::Entropy)));
        prop_assert!(refused(|own| own.state.options.insert(ModelOption::Mail)));
        prop_assert!(refused(|own| own.state.options.insert(ModelOption::Multinomial)));
        prop_assert!(refused(|own| own.state.options.insert(ModelOption::Overflow)));
        prop_assert!(refused(|own| own.state.total_of[0] = 1));
        prop_assert!(refused(|own| own.state.total += 1));
    }

    #[test]
    fn damage_is_noticed(
        is_mail: bool,
        text_run in run(false),
        mail_run in run(true),
        texts in text(),
        mails in mail(),
        at in any::<proptest::sample::Index>(),
        bit in 0..8u8,
        cut in any::<proptest::sample::Index>(),
    ) {
        let (run, file) = if is_mail { (mail_run, mails) } else { (text_run, texts) };
        let good = written(&run.count(&[file], Some(4)));
        let mut bad = good.clone();
        bad[at.index(good.len())] ^= 1 << bit;
        let longer = [good.as_slice(), b"x"].concat();
        for bytes in [bad.as_slice(), &good[..cut.index(good.len())], &longer] {
            prop_assert!(file::read(bytes).is_err());
            prop_assert!(run.streamed(bytes).is_err());
        }
    }
}

#[test]
fn words_of_any_bytes_can_be_read_again() {
    let bytes: Vec<u8> = (0..=255).flat_map(|byte| [byte, b'a', byte, b' ']).collect();
    let options = ModelOptions::default().with(ModelOption::Text);
    for scheme in Scheme::ALL {
        let options = options.with(ModelOption::StandardTokenizer);
        let run = Run { options, scheme, order: 2, bits: 12, max_bits: None, confidence: false };
        through_file(&run.count(std::slice::from_ref(&bytes), None));
    }
}

#[test]
fn a_file_says_which_part_of_it_is_wrong() {
    let options = ModelOptions::default().with(ModelOption::Text);
    let options = options.with(ModelOption::StandardTokenizer);
    let (scheme, order) = (Scheme::Alpha, 1);
    let run = Run { options, scheme, order, bits: 8, max_bits: None, confidence: false };
    let file = |documents, place: Option<u32>| {
        let settings = CountSettings { documents, ..run.count_settings() };
        let mut counting = Counting::new(settings, place.is_some());
        counting.start_shard(place.unwrap_or(0));
        run.reader().read_bytes(b"aa bb aa\n", &mut counting).unwrap();
        counting.end_shard(crate::document::Ending::default());
        written(&counting.into_counts().unwrap())
    };
    let (plain, bags) = (file(Documents::None, None), file(Documents::Bags, None));
    let (placed, length) = (file(Documents::None, Some(4)), bags.len());
    let sums = "its documents do not hold what was counted";
    for (file, fault, changes) in [
        (&plain, "", &[(22, 7), (23, 1), (29, 7), (30, 63), (35, 15), (37, 4)][..]),
        (&placed, "", &[(49, 6)]),
        (&plain, "its tokenizing scheme is unknown", &[(21, 99)]),
        (&plain, "its order is impossible", &[(22, 0), (22, 8)]),
        (&plain, "its character set is unknown", &[(23, 2)]),
        (&plain, "its statistics of documents are unknown", &[(24, 3)]),
        (&plain, "it has unknown flags", &[(25, 4), (29, 8), (30, 11), (30, 64)]),
        (&plain, "a length is impossible", &[(26, 64), (36, 32)]),
        (&plain, "its shards are out of order", &[(27, 2), (28, 1)]),
        (&plain, "it has documents that it does not keep", &[(31, 1)]),
        (&plain, "something follows", &[(32, 1)]),
        (&plain, "it is cut short or a number is broken", &[(32, 3)]),
        (&plain, "it is cut short", &[(36, 31), (47, 1)]),
        (&plain, "a feature has no beginning", &[(33, 1), (40, 2)]),
        (&plain, "a feature has too many words", &[(40, 1)]),
        (&plain, "a word is impossible", &[(34, 1), (41, 2), (35, 16), (37, 3)]),
        (&plain, "a feature is there twice", &[(41, 1)]),
        (&placed, "a feature is from a shard that it does not have", &[(40, 0), (41, 5)]),
        (&bags, sums, &[(31, 0), (length - 10, 4), (length - 9, 1), (length - 8, 2)]),
        (&bags, sums, &[(length - 7, 1), (length - 7, 3), (length - 5, 0)]),
    ] {
        for &(at, byte) in changes {
            let mut bytes = file.clone();
            bytes[at] = byte;
            let (body, sum) = bytes.split_last_chunk_mut().unwrap();
            *sum = crc32fast::hash(body).to_le_bytes();
            let said = file::read(&bytes[..]).err().map_or(String::new(), |own| own.to_string());
            assert_eq!(said.trim_start_matches("it is damaged: "), fault, "byte {at} is {byte}");
        }
    }
}

#[test]
fn counts_with_other_settings_are_refused() {
    let options = ModelOptions::default().with(ModelOption::StandardTokenizer);
    let run = Run {
        options: options.with(ModelOption::Text),
        scheme: Scheme::Alpha,
        order: 2,
        bits: 8,
        max_bits: None,
        confidence: false,
    };
    let files = [b"one two three\n".to_vec()];
    let counts = |run: &Run, place| run.count(&files, place);
    let merge = |mut left: Counts, right: &Counts| left.add_parts(right);
    let settings = || run.count_settings();
    let with = |option| settings().options.with(option);
    for (settings, what) in [
        (CountSettings { options: with(ModelOption::KeepCase), ..settings() }, "-T, -j, -S or -g"),
        (CountSettings { scheme: Scheme::Alnum, ..settings() }, "-e"),
        (CountSettings { order: 3, ..settings() }, "-w"),
        (CountSettings { patterns: vec![Vec::new()], ..settings() }, "-g"),
        (CountSettings { locale: Locale::Utf8, ..settings() }, "LC_ALL"),
        (CountSettings { keeps_nul: true, ..settings() }, "--keep-nul"),
        (CountSettings { documents: Documents::Bags, ..settings() }, "-X"),
    ] {
        let fault = merge(counts(&run, None), &Counts::new(settings, false)).unwrap_err();
        assert!(fault.to_string().ends_with(&format!(" ({what})")), "{fault}");
    }
    for (left, right, fault) in [
        (counts(&run, None), counts(&run, Some(1)), Some(MergeFault::Placement)),
        (counts(&run, Some(1)), counts(&run, Some(1)), Some(MergeFault::SamePlace(1))),
        (counts(&run, Some(2)), counts(&run, Some(1)), None),
    ] {
        assert_eq!(merge(left, &right).err(), fault);
    }
}

#[test]
fn a_word_that_spans_two_files_is_reported_as_inexact() {
    let options = ModelOptions::default().with(ModelOption::Text);
    let options = options.with(ModelOption::StandardTokenizer);
    let (scheme, order) = (Scheme::Adp, 1);
    let run = Run { options, scheme, order, bits: 8, max_bits: None, confidence: false };
    let files = [b":<\n".to_vec(), b"Subject: a\n".to_vec()];
    let (first, second) = (run.count(&files[..1], None), run.count(&files[1..], None));
    let mut both = first.clone();
    both.merge(&second).expect("counts of one kind");
    let one = run.one_pass(&files);
    let differs = everything(&run.replayed(&both, Order::Appearance)) != everything(&one);
    assert_eq!(both.is_inexact(), differs, "the state of the scheme outlives a file");
}

#[test]
fn counts_beyond_a_model_are_refused() {
    let options = ModelOptions::default().with(ModelOption::Text);
    let options = options.with(ModelOption::StandardTokenizer);
    let (scheme, order) = (Scheme::Alpha, 1);
    let run = Run { options, scheme, order, bits: 8, max_bits: None, confidence: false };
    let mut counting = Counting::new(run.count_settings(), false);
    counting.start_shard(0);
    assert!(counting.spelled(
        [&b"word"[..]].into_iter(),
        dbacl_model::medium::Medium::TEXT,
        1 << 31
    ));
    counting.end_shard(crate::document::Ending::default());
    let mut counts = counting.into_counts().unwrap();
    let mut counter = run.counter();
    assert!(replay(&counts, Order::Appearance, &mut counter, &mut |_| {}).is_ok());
    assert!(matches!(counter.state().tokens, TokenList::Terms(_)), "words are counted as words");
    let same = counts.clone();
    counts.merge(&same).unwrap();
    let fault = replay(&counts, Order::Appearance, &mut run.counter(), &mut |_| {});
    assert!(matches!(fault, Err(ReplayFault::TooMany)));
    assert!(matches!(run.streamed(&written(&counts)), Err(ReplayFault::TooMany)));
    for _ in 0..31 {
        let same = counts.clone();
        counts.merge(&same).unwrap();
    }
    let same = counts.clone();
    assert_eq!(counts.add_parts(&same), Err(MergeFault::Overflow));
}
