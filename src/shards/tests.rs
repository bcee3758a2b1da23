// SPDX-License-Identifier: GPL-3.0-or-later
//! Every cut of an input, merged in any tree, is the input read in one pass.

use super::collect::Counting;
use super::counts::{CountSettings, Counts, Documents};
use super::file::CountsFile;
use super::replay::{Order, ReplayFault, replay, replay_file};
use super::{dump, file};
use crate::document::{Ending, FeatureReader};
use crate::learn::LearnSettings;
use crate::learn::learner::{conclude, empty_counter};
use crate::learn::memory_dump::{self, Dump, RunFlags};
use crate::learn::options::LearnOptions;
use crate::learn::reference::Reference;
use crate::learn::state::{LearningState, Sampled};
use crate::learn::tokens::TokenList;
use crate::model::medium::Medium;
use crate::model::settings::{Locale, ModelOption, Scheme};
use proptest::prelude::*;

/// What one pass over the files learns.
fn one_pass(run: &LearnOptions, files: &[Vec<u8>]) -> LearningState {
    let mut counter = empty_counter(run).unwrap();
    counter.expect_words(run.reading().order);
    let mut reader = FeatureReader::new(run.reading());
    for file in files {
        reader.read_bytes(file, &mut counter).unwrap();
    }
    counter.into_state().0
}

fn settings_of(run: &LearnOptions) -> CountSettings {
    CountSettings::of(run.reading(), run.settings().confidence)
}

fn count(run: &LearnOptions, files: &[Vec<u8>], place: Option<u32>) -> Counts {
    let mut counting = Counting::new(settings_of(run), place.is_some());
    let mut reader = FeatureReader::new(run.reading());
    counting.start_shard(place.unwrap_or(0));
    for file in files {
        reader.read_bytes(file, &mut counting).unwrap();
    }
    counting.end_shard(reader.ending());
    counting.into_counts().unwrap()
}

/// What is learned from the bytes of a file.
fn streamed(run: &LearnOptions, bytes: &[u8]) -> Result<LearningState, ReplayFault> {
    let mut counter = empty_counter(run).unwrap();
    let file = CountsFile::open(bytes.to_vec())?;
    replay_file(file, Order::Appearance, &mut counter)?;
    Ok(counter.into_state().0)
}

fn replayed(run: &LearnOptions, counts: &Counts, order: Order) -> LearningState {
    let mut counter = empty_counter(run).unwrap();
    replay(counts, order, &mut counter).unwrap();
    counter.into_state().0
}

fn without(run: &LearnOptions, option: ModelOption) -> LearnOptions {
    let (mut reading, mut settings) = (run.reading().clone(), run.settings().clone());
    reading.options.remove(option);
    settings.options.remove(option);
    LearnOptions::of(reading, settings)
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

fn category(run: &LearnOptions, state: LearningState) -> Vec<u8> {
    if state.used == 0 {
        return Vec::new();
    }
    let learned = conclude(state, run.settings(), &[], Vec::new()).unwrap();
    learned.category.as_bytes().to_vec()
}

fn written(counts: &Counts) -> Vec<u8> {
    let mut bytes = Vec::new();
    file::write(&mut bytes, counts).unwrap();
    bytes
}

fn through_file(counts: &Counts) -> Counts {
    let bytes = written(counts);
    let back = file::read(bytes.clone()).unwrap();
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

fn run(mail: bool) -> impl Strategy<Value = LearnOptions> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let table = (1..9u8, proptest::option::of(1..11u8));
    (0..Scheme::ALL.len(), 1..8u8, table, switches).prop_map(
        move |(scheme, order, (bits, max_bits), on)| {
            let (straddle, keep_case, confidence, multinomial) = on;
            let run = if mail { LearnOptions::mail() } else { LearnOptions::text() };
            let mut run = run.reference(Reference::Dirichlet).order(order);
            if confidence {
                run = run.confidence();
            }
            for (on, option) in [
                (straddle, ModelOption::Straddle),
                (keep_case, ModelOption::KeepCase),
                (multinomial && (mail || confidence), ModelOption::Multinomial),
            ] {
                run = if on { run.with(option) } else { run };
            }
            let settings = LearnSettings { bits, max_bits, ..run.settings().clone() };
            LearnOptions::of(run.reading().clone(), settings).tokenizer(Scheme::ALL[scheme])
        },
    )
}

fn check(run: &LearnOptions, files: &[Vec<u8>], cuts: &[usize], picks: &[usize]) {
    let whole = one_pass(run, files);
    let expected = everything(&whole);
    let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (files.len() + 1)).collect();
    bounds.extend([0, files.len()]);
    bounds.sort_unstable();
    let shards = || bounds.windows(2).map(|pair| &files[pair[0]..pair[1]]);
    let parts = shards().map(|shard| count(run, shard, None)).collect();
    let in_order = merged(parts, picks, false);
    if in_order.is_inexact() {
        return; // the inputs before a shard would have changed how it is read; this is told
    }
    let one = count(run, files, None);
    let same = |left: &Counts, right: &Counts| {
        let plain = |counts: &Counts| {
            let mut counts = counts.clone();
            for shard in &mut counts.shards {
                shard.ending = Ending::default();
            }
            written(&counts)
        };
        plain(left) == plain(right)
    };
    assert!(same(&in_order, &one), "merged counts are those of one pass");
    assert!(everything(&replayed(run, &in_order, Order::Appearance)) == expected, "in order");
    let from_file = |counts| everything(&streamed(run, &written(counts)).unwrap());
    assert!(from_file(&in_order) == expected, "in order, from a file");
    let parts = (0u32..).zip(shards()).map(|(k, shard)| count(run, shard, Some(3 * k + 1)));
    let placed = merged(parts.collect(), picks, true);
    let state = replayed(run, &placed, Order::Appearance);
    assert!(everything(&state) == expected, "by place");
    assert!(from_file(&placed) == expected, "by place, from a file");
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
        run in run(false),
        lines in proptest::collection::vec(line(), 1..20),
        cuts in proptest::collection::vec(0..100usize, 0..19),
    ) {
        let run = without(&run, ModelOption::Straddle);
        let whole = one_pass(&run, &[lines.concat().into_bytes()]);
        let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (lines.len() + 1)).collect();
        bounds.extend([0, lines.len()]);
        bounds.sort_unstable();
        let pieces = bounds.windows(2).map(|pair| lines[pair[0]..pair[1]].concat().into_bytes());
        let parts = pieces.map(|piece| count(&run, &[piece], None)).collect();
        let counts = merged(parts, &[0], false);
        let state = replayed(&run, &counts, Order::Appearance);
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
            let parts = files.iter().map(|file| count(&run, std::slice::from_ref(file), None));
            let counts = merged(parts.collect(), &[0], false);
            let inexact = counts.is_inexact();
            (everything(&replayed(&run, &counts, Order::Canonical)), inexact)
        };
        let ((one, a), (other, b)) = (learn(&files), learn(&turned));
        prop_assert!(a || b || one == other);
    }

    #[test]
    fn dumps_become_counts_and_back(
        run in run(false),
        files in proptest::collection::vec(text(), 1..4),
    ) {
        let run = without(&run.table_bits(12), ModelOption::Multinomial);
        let run = without(&run, ModelOption::Entropy);
        let state = one_pass(&run, &files);
        let mut bytes = Vec::new();
        memory_dump::write(&mut bytes, &state, RunFlags::default()).unwrap();
        let read = memory_dump::read(&bytes).unwrap();
        let counts = through_file(&dump::counts(&read, Locale::C).unwrap());
        let mut back = Vec::new();
        let replayed = replayed(&run, &counts, Order::Appearance);
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
        let good = written(&count(&run, &[file], Some(4)));
        let mut bad = good.clone();
        bad[at.index(good.len())] ^= 1 << bit;
        let longer = [good.as_slice(), b"x"].concat();
        for bytes in [bad.as_slice(), &good[..cut.index(good.len())], &longer] {
            prop_assert!(file::read(bytes.to_vec()).is_err());
            prop_assert!(streamed(&run, bytes).is_err());
        }
    }
}

#[test]
fn words_of_any_bytes_can_be_read_again() {
    let bytes: Vec<u8> = (0..=255).flat_map(|byte| [byte, b'a', byte, b' ']).collect();
    for scheme in Scheme::ALL {
        let run = LearnOptions::text().tokenizer(scheme).order(2);
        through_file(&count(&run, std::slice::from_ref(&bytes), None));
    }
}

#[test]
fn a_file_says_which_part_of_it_is_wrong() {
    let run = LearnOptions::text();
    let file = |documents, place: Option<u32>| {
        let settings = CountSettings { documents, ..settings_of(&run) };
        let mut counting = Counting::new(settings, place.is_some());
        counting.start_shard(place.unwrap_or(0));
        FeatureReader::new(run.reading()).read_bytes(b"aa bb aa\n", &mut counting).unwrap();
        counting.end_shard(Ending::default());
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
            let said = file::read(bytes).err().map_or(String::new(), |own| own.to_string());
            assert_eq!(said.trim_start_matches("it is damaged: "), fault, "byte {at} is {byte}");
        }
    }
}

#[test]
fn counts_with_other_settings_are_refused() {
    let run = LearnOptions::text().order(2);
    let counts = |place| count(&run, &[b"one two three\n".to_vec()], place);
    let merge = |mut left: Counts, right: &Counts| {
        left.merge(right).map_or_else(|error| error.to_string(), |()| String::new())
    };
    let settings = || settings_of(&run);
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
        let fault = merge(counts(None), &Counts::new(settings, false));
        assert!(fault.ends_with(&format!(" ({what})")), "{fault}");
    }
    let mixed = "some counts have a place in the sequence (--place) and some have none";
    for (left, right, fault) in [
        (None, Some(1), mixed),
        (Some(1), Some(1), "the shard of place 1 is there already"),
        (Some(2), Some(1), ""),
    ] {
        assert_eq!(merge(counts(left), &counts(right)), fault);
    }
}

#[test]
fn a_word_that_spans_two_files_is_reported_as_inexact() {
    let run = LearnOptions::text().tokenizer(Scheme::Adp);
    let files = [b":<\n".to_vec(), b"Subject: a\n".to_vec()];
    let (first, second) = (count(&run, &files[..1], None), count(&run, &files[1..], None));
    let mut both = first.clone();
    both.merge(&second).expect("counts of one kind");
    let one = one_pass(&run, &files);
    let differs = everything(&replayed(&run, &both, Order::Appearance)) != everything(&one);
    assert_eq!(both.is_inexact(), differs, "the state of the scheme outlives a file");
}

#[test]
fn counts_beyond_a_model_are_refused() {
    let run = LearnOptions::text();
    let mut counting = Counting::new(settings_of(&run), false);
    counting.start_shard(0);
    assert!(counting.spelled([&b"word"[..]].into_iter(), Medium::TEXT, 1 << 31));
    counting.end_shard(Ending::default());
    let mut counts = counting.into_counts().unwrap();
    let mut counter = empty_counter(&run).unwrap();
    assert!(replay(&counts, Order::Appearance, &mut counter).is_ok());
    assert!(matches!(counter.state().tokens, TokenList::Terms(_)), "words are counted as words");
    let same = counts.clone();
    counts.merge(&same).unwrap();
    let fault = replay(&counts, Order::Appearance, &mut empty_counter(&run).unwrap());
    assert!(matches!(fault, Err(ReplayFault::TooMany)));
    assert!(matches!(streamed(&run, &written(&counts)), Err(ReplayFault::TooMany)));
    for _ in 0..31 {
        let same = counts.clone();
        counts.merge(&same).unwrap();
    }
    let same = counts.clone();
    let error = counts.merge(&same).unwrap_err();
    assert_eq!(error.to_string(), "there are too many features or occurrences to count");
}
