// SPDX-License-Identifier: GPL-3.0-or-later
//! Claims that hold for any input, tried on many.

use crate::filter::Filter;
use crate::input::lines::{LineReader, Stream};
use crate::model::medium::Medium;
use crate::model::settings::{Locale, ModelOptions, Scheme};
use crate::token::ngram::Window;
use crate::token::tokenizer::Tokenizer;
use dbacl_numeric::quantize::QuantWeight;
use dbacl_testing::Scratch;
use proptest::prelude::*;

/// Text of few different words, so that texts share some.
fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-e]{1,3}|[A-E][a-z]{0,2}|[.!?]|\n", 1..120)
        .prop_map(|words| words.join(" ") + "\n")
}

/// Lines of any bytes, line ends and zeros more often than not.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => any::<u8>(), 2 => b'a'..b'e', 1 => Just(b'\n'), 1 => Just(0), 1 => Just(b'<')
    ];
    proptest::collection::vec(byte, 0..6000)
}

fn quick(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(quick(2000))]

    #[test]
    fn a_stored_weight_is_stored_again_as_itself(weight in 0f32..2047.9) {
        let stored = QuantWeight::from_weight(weight);
        prop_assert_eq!(QuantWeight::from_weight(stored.weight()), stored);
        prop_assert!(stored.weight() <= weight && weight - stored.weight() < 1.0 / 32.0);
    }
}

proptest! {
    #![proptest_config(quick(150))]

    #[test]
    fn any_bytes_are_read_filtered_and_cut(
        input in bytes(), option_bits in any::<u32>(), keep_case in any::<bool>(),
        straddle in any::<bool>(), order in 1u8..8,
    ) {
        for scheme in Scheme::ALL {
            let options = ModelOptions::from_bits(option_bits);
            let locale = if option_bits & 1 == 0 { Locale::C } else { Locale::Utf8 };
            let mut filter = Filter::new(options, locale);
            let mut tokenizer = Tokenizer::new(scheme, keep_case, straddle, order);
            let mut window = Window::new(order);
            let mut reader = LineReader::default();
            let mut stream = Stream::new(Box::new(input.as_slice()));
            let (mut line, mut kept, mut blank) = (Vec::new(), 0, 0);
            filter.start_file();
            loop {
                let last = reader.next_line(&mut stream, &mut line);
                kept += line.len();
                if !line.is_empty() {
                    filter.line(&mut line);
                    let mut sink = |feature: crate::token::Feature<'_>| {
                        assert!(feature.order <= order);
                        blank += usize::from(feature.is_blank());
                    };
                    tokenizer.line(&mut line, &mut window.feeding(Medium::TEXT, &mut sink));
                }
                if last { break }
            }
            prop_assert!(kept <= input.len());
        }
    }
}

proptest! {
    #![proptest_config(quick(12))]

    #[test]
    fn learning_twice_with_counts_is_learning_once(one in text(), two in text(), order in 1u8..4) {
        let scratch = Scratch::new();
        scratch.write("one", &one);
        scratch.write("two", &two);
        let learn = |args: &str| {
            let done = scratch.dbacl(&format!("--quiet -w {order} -H 18 -l {args}"));
            assert_eq!(done.status, 0, "{done:?}");
        };
        learn("cat -o counts one");
        learn("cat -o counts two");
        let parts = scratch.path("cat").exists().then(|| scratch.read("cat"));
        if parts.is_some() {
            std::fs::remove_file(scratch.path("cat")).expect("just learned");
        }
        learn("cat -o all one two");
        let whole = scratch.path("cat").exists().then(|| scratch.read("cat"));
        prop_assert!(parts == whole);
        if whole.is_some() {
            prop_assert!(scratch.read("counts") == scratch.read("all"));
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_the_status_names_the_lowest_score(
        one in text(), two in text(), asked in text(),
    ) {
        let scratch = Scratch::new();
        scratch.write("one", format!("word {one}"));
        scratch.write("two", format!("word {two}"));
        scratch.dbacl("-l 1 one");
        scratch.dbacl("-l 2 two");
        let shares = scratch.dbacl_reading("-N -c 1 -c 2 -R", &asked);
        let percent = |word: &&str| word.strip_suffix('%')?.parse::<f64>().ok();
        let words = shares.stdout.split_whitespace().collect::<Vec<_>>();
        let sum: f64 = words.iter().filter_map(percent).sum();
        prop_assert!((sum - 100.0).abs() < 0.02, "{}", shares.stdout);
        let scores = scratch.dbacl_reading("-n -c 1 -c 2 -R", &asked);
        let numbers: Vec<f64> =
            scores.stdout.split_whitespace().skip(1).step_by(2)
                .filter_map(|number| number.parse().ok()).collect();
        prop_assert_eq!(numbers.len(), 3, "{}", scores.stdout);
        let best = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let chosen = numbers[usize::try_from(scores.status - 1).expect("a verdict")];
        prop_assert!(chosen <= best + 0.01, "{:?}", scores);
    }
}
