// SPDX-License-Identifier: GPL-3.0-or-later
//! Large categories (`--large`): learned in several ways, scored, and refused where they cannot be
//! used.

use crate::filter::nameless;
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::Scratch;

/// Two texts and a question, of words that look like chance.
fn texts() -> Scratch {
    let place = Scratch::new();
    let mut random = SplitMix64::new(7);
    for (name, words, shift) in [("one", 20_000, 0), ("two", 20_000, 9), ("asked", 300, 4)] {
        let mut text = String::new();
        for number in 1..=words {
            let word = random.below(40) * random.below(30) + shift;
            text.push_str(&dbacl_testing::mails::word(word));
            text.push(if number % 11 == 0 { '\n' } else { ' ' });
        }
        place.write(name, text);
    }
    place
}

#[test]
fn a_large_category_is_one_whatever_way_it_was_learned_and_scores_as_a_classic_one() {
    let place = texts();
    for (how, fit) in [("-w 1", ""), ("-w 3", "-z 1"), ("-e alnum -j", "")] {
        let learn = |name: &str, more: &str| {
            place.dbacl(&format!("-l ./{name} {more} {how} {fit}")).quiet(0);
            nameless(&place.read(name))
        };
        let one = learn("l1", "--large one");
        assert_eq!(learn("again", "--large one"), one);
        assert_eq!(learn("threads", "--large --threads 2 one"), one);
        place.dbacl(&format!("--count counts one {how}")).quiet(0);
        place.dbacl(&format!("-l ./fitted --large --fit counts {fit}")).quiet(0);
        assert_eq!(nameless(&place.read("fitted")), one);
        learn("l2", "--large two");
        for (name, text) in [("c1", "one"), ("c2", "two")] {
            place.dbacl(&format!("-l ./{name} -H 20 {text} {how} {fit}")).quiet(0);
        }
        for form in ["-n", "-N", "-vna", "-vU", "-nP"] {
            let printed = |categories: &str| {
                let done = place.dbacl(&format!("{categories} {form} asked"));
                assert_eq!(done.stderr, "", "{categories} {form}");
                done.stdout.replace("l1", "c1").replace("l2", "c2")
            };
            let classic = printed("-c ./c1 -c ./c2");
            for categories in ["-c ./l1 -c ./l2", "-m -c ./l1 -c ./l2", "-c ./c1 -c ./l2"] {
                assert_eq!(printed(categories), classic, "{categories} {form}");
            }
        }
    }
}

#[test]
fn a_large_category_is_refused_where_only_a_classic_one_can_be_used() {
    let place = texts();
    for (name, text) in [("l1", "one"), ("l2", "two")] {
        place.dbacl(&format!("-l ./{name} --large {text}")).quiet(0);
        assert!(place.read(name).starts_with(b"# dbacl 1.15 dlw large 1 cat"));
    }
    place.dbacl("--check ./l1").quiet(0);
    let refused = |args: &str, wanted: &str| drop(place.dbacl(args).complains(1, wanted));
    for args in ["-o dump", "-O dump", "-g (a)", "-H 20", "-M", "-x 2", "-X -T email"] {
        let option = args.split(' ').next().unwrap_or_default();
        let wanted = format!("--large cannot be used with {option}\n");
        refused(&format!("-l ./new --large one {args}"), &wanted);
        assert!(!place.path("new").exists());
    }
    refused("-c ./l1 --large one", "--large can only be used with -l\n");
    // A category of the other kind is replaced in either direction.
    place.dbacl("-l ./l1 one").quiet(0);
    place.dbacl("-l ./l1 --large one").quiet(0);
    let before = place.read("l1");
    place.write("blank", "\n");
    place.dbacl("-l ./l1 --large blank").complains(0, "no tokens matched");
    assert_eq!(place.read("l1"), before);
    // Only the checksum says that a weight has changed.
    let mut damaged = before;
    let at = damaged.len() - 1000;
    damaged[at] ^= 4;
    place.write("l1", damaged);
    refused("-c ./l1 -n asked", "l1: damaged: the tables do not fit");
}
