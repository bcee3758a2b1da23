// SPDX-License-Identifier: GPL-3.0-or-later
//! Damaged files: good ones cut and with bits flipped, at every offset of the header and all
//! through the tables. The outcome is an error or some answer, in bounded time, and never a panic.

use dbacl::{Category, Fault, FeatureId};
use dbacl_testing::{PATIENCE, Scratch, root};
use std::time::Instant;

/// A small category with all kinds of header lines, and its counts.
fn good() -> (Scratch, Vec<u8>, Vec<u8>) {
    let scratch = Scratch::new();
    let text = root().join("testdata/demo/unseen/lincoln-gettysburg.txt");
    scratch.write("text", std::fs::read(text).expect("a text of the demonstration"));
    scratch.dbacl("-h 6 -w 2 -l cat -o counts text").complaint(0);
    scratch.dbacl_args(["-h", "6", "-g", "([a-z]+) ([a-z]+)||12", "-l", "pattern", "text"]);
    let (category, counts) = (scratch.read("cat"), scratch.read("counts"));
    (scratch, category, counts)
}

fn header_length(category: &[u8]) -> usize {
    category.windows(3).position(|bytes| bytes == b"\n#\n").expect("an end mark") + 3
}

/// Offsets to damage: all up to `dense`, then some all through.
fn offsets(length: usize, dense: usize) -> impl Iterator<Item = usize> {
    (0..dense).chain((dense..length).step_by(1009)).chain([length - 1])
}

/// Calls `check` with the bytes after each single flip of a bit at [`offsets`].
fn flipped(good: &[u8], dense: usize, mut check: impl FnMut(&[u8])) {
    let mut bad = good.to_vec();
    for at in offsets(good.len(), dense) {
        for bit in 0..8 {
            bad[at] = good[at] ^ 1 << bit;
            check(&bad);
        }
        bad[at] = good[at];
    }
}

/// Uses a category as scoring does.
fn use_it(category: &Category<&[u8]>) {
    for id in [0, 1, 0x123f_0012, u32::MAX] {
        category.find(FeatureId(id));
    }
    for body in [b"\x03tom\x03".as_slice(), b"", b"\x03", &[0xff; 300], b"\x03\r\n\x01\x02\x03"] {
        let weight = category.log_reference(body);
        assert!(weight <= 0.0, "{weight} for {body:?}");
    }
    assert_eq!(category.digrams().count(), 1 << 16);
    assert!(category.size() <= 1 << 30);
}

#[test]
fn a_cut_category_is_refused_wherever_it_is_cut() {
    let (_, good, _) = good();
    let header = header_length(&good);
    for length in offsets(good.len(), header) {
        match Category::new(&good[..length]) {
            Err(Fault::Slots) => assert!(length >= header + (1 << 17), "{length}"),
            // Without its end mark the header goes on into the tables.
            Err(Fault::Digrams) => assert!(length < header + (1 << 17), "{length}"),
            Err(Fault::Foreign | Fault::Line(_)) => assert!(length <= header, "{length}"),
            Ok(_) => panic!("cut at {length}"),
        }
    }
    assert!(Category::new(good.as_slice()).is_ok());
}

#[test]
fn a_category_with_a_flipped_bit_is_refused_or_used_without_harm() {
    let (scratch, good, _) = good();
    for good in [good, scratch.read("pattern")] {
        flipped(&good, header_length(&good), |bad| {
            if let Ok(category) = Category::new(bad) {
                use_it(&category);
            }
        });
    }
}

/// Runs the program; it must not crash nor take long.
#[track_caller]
fn run(scratch: &Scratch, args: &str, what: &str) {
    let started = Instant::now();
    let done = scratch.dbacl(args);
    assert!(done.status < 128 && !done.stderr.contains("panicked"), "{what}: {done:?}");
    assert!(started.elapsed() < PATIENCE, "{what}");
}

#[test]
fn the_program_survives_damaged_categories() {
    let (scratch, good, _) = good();
    for good in [good, scratch.read("pattern")] {
        let header = header_length(&good);
        let mut bad = good.clone();
        for at in (0..header).step_by(5).chain((header..good.len()).step_by(20_011)) {
            bad[at] = good[at] ^ 1 << (at % 8);
            scratch.write("bad", &bad);
            bad[at] = good[at];
            run(&scratch, "-n -v -X -c bad text", &format!("byte {at}"));
        }
    }
}

#[test]
fn the_program_survives_damaged_counts() {
    let (scratch, _, good) = good();
    let record = good.iter().position(|&byte| byte == b'\n').expect("a first line") + 1;
    let tables = record + 263_760;
    let mut bad = good.clone();
    let fields = (40..56).chain(88..192).chain(384..440).chain((440..2000).step_by(97));
    let sums = (263_104..263_160).step_by(3);
    let record_offsets = fields.chain(sums).map(|at| record + at);
    let slots = (tables..tables + 64 * 19).step_by(7);
    let list = (tables + 64 * 19..good.len()).step_by(101).take(20);
    for (number, at) in record_offsets.chain(slots).chain(list).enumerate() {
        bad[at] = good[at] ^ 1 << (7 - number % 8);
        scratch.write("bad", &bad);
        bad[at] = good[at];
        let option = if number % 2 == 0 { "-O bad" } else { "-o bad" };
        run(&scratch, &format!("-w 2 -l new {option} text"), &format!("byte {at}, {option}"));
    }
}
