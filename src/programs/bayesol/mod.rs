// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `bayesol`: scores, priors and losses → the category with the smallest expected loss
//! (spec tools 1).
//!
//! The exit status is the answer: the category's number, from 1. Fatal errors end with 1 as well,
//! and other errors with 0, as scripts have come to know it.

mod options;
mod print;
mod session;

pub use options::OPTIONS;

use crate::model::settings::Locale;
use dbacl_cli::terminal::Shown;
use dbacl_cli::{getopt, last_resort};
use print::NAME;
use session::{FATAL, Session, Stop};
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// Runs the program on its name as invoked and its arguments; returns its exit status. The streams
/// are standard input, which is read when there are no files, standard output and standard error;
/// `is_terminal` says whether a person reads the last one.
fn run(
    args: &mut dyn Iterator<Item = OsString>,
    posixly_correct: bool,
    locale: Locale,
    (stdin, stdout, stderr): (&mut dyn BufRead, &mut dyn Write, &mut dyn Write),
    is_terminal: bool,
) -> u8 {
    let program = args.next().unwrap_or_default();
    let events = getopt::parse(&program, args, OPTIONS, posixly_correct);
    let mut session = Session { stdout, stderr, is_terminal, out: Vec::new(), has_failed: false };
    let status = session.options(events).and_then(|config| session.decide(&config, stdin, locale));
    session.flush();
    status.unwrap_or_else(|Stop(status)| status)
}

/// Runs the program with the arguments, environment and streams of the process.
pub fn main() -> ExitCode {
    // A crash must not look like a verdict: it ends as a fatal error does.
    let status = std::panic::catch_unwind(|| {
        last_resort::install(NAME, ":error: ");
        let posixly_correct = std::env::var_os("POSIXLY_CORRECT").is_some();
        let locale = Locale::from_environment(|name| std::env::var(name).ok());
        let mut stdin = io::stdin().lock();
        let mut stdout = Shown::new(io::stdout().lock());
        let mut stderr = Shown::new(io::stderr().lock());
        let is_terminal = stderr.is_terminal();
        let streams = (&mut stdin as &mut dyn BufRead, &mut stdout as _, &mut stderr as _);
        run(&mut std::env::args_os(), posixly_correct, locale, streams, is_terminal)
    });
    ExitCode::from(status.unwrap_or(FATAL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::learner::Learner;
    use crate::learn::options::LearnOptions;
    use crate::sets::classify::CategorySet;
    use dbacl_numeric::elementary::LN_2;

    const SPECIFICATION: &str = "categories { ham, spam }\nprior { 1, 1 }\nloss_matrix {\n\
                                 \"gift of ([0-9]+)\" ham [ 0, $1 ]\n\"\" ham [ 0, 1 ]\n\
                                 \"\" spam [ 1, 0 ]\n}\n";
    const SCORES: &str = "# scores ham 5.20 * 412.0 spam 5.31 * 412.0 \n";

    struct Result {
        status: u8,
        out: String,
        err: String,
    }

    /// Runs the program on a specification in a file; `SPEC` in the words of `args` stands for its
    /// path.
    fn bayesol(specification: &str, args: &str, input: &str) -> Result {
        let place = tempfile::tempdir().expect("a temporary folder");
        let path = place.path().join("r.risk");
        std::fs::write(&path, specification).expect("written");
        let path = path.to_str().expect("a plain path");
        let args = [NAME].into_iter().chain(args.split_whitespace());
        let mut args = args.map(|arg| OsString::from(arg.replace("SPEC", path)));
        let (mut stdin, mut stdout, mut stderr) = (input.as_bytes(), Vec::new(), Vec::new());
        let streams = (&mut stdin as &mut dyn BufRead, &mut stdout as _, &mut stderr as _);
        let status = run(&mut args, false, Locale::C, streams, false);
        let text = |bytes| String::from_utf8(bytes).expect("text").replace(path, "SPEC");
        Result { status, out: text(stdout), err: text(stderr) }
    }

    #[test]
    fn the_manual_page_lists_the_options() {
        dbacl_testing::manual::check("bayesol", OPTIONS);
    }

    #[test]
    fn every_option_has_its_effect_in_every_spelling() {
        let risks = "ham   -2187.72 spam   -2142.40 \n";
        let ranking = "ham   -2142.40 spam   -2187.72 \n";
        for (args, out) in [
            ("-c SPEC", ""),
            ("-cSPEC -v|-vcSPEC|-v --risk=SPEC|--verbose --risk SPEC|-iv -c SPEC", "ham\n"),
            ("-n -c SPEC|-vn -c SPEC|--risks -c SPEC", risks),
            ("-N -c SPEC|-c SPEC --ranking|-nN -c SPEC", ranking),
        ] {
            for args in args.split('|') {
                let found = bayesol(SPECIFICATION, args, SCORES);
                assert_eq!((found.status, found.out.as_str()), (1, out), "{args}: {}", found.err);
            }
        }
        for (option, status) in [("-V", 1), ("--version", 0)] {
            let found = bayesol("", option, "");
            assert_eq!((found.status, found.out.lines().count()), (status, 5), "{option}");
        }
        let found = bayesol(SPECIFICATION, "-cSPEC -D", "gift of 7 pounds\n");
        assert_eq!(found.out, "taking input from stdin\nmatch \"gift of ([0-9]+)\" 7.000000\n");
    }

    #[test]
    fn messages_and_statuses_are_the_reference_s() {
        let says = |specification: &str, args: &str, input: &str, status: u8, err: &str| {
            let found = bayesol(specification, args, input);
            assert!(found.err.starts_with(err), "{args}: {}", found.err);
            assert_eq!(found.status, status, "{args}: {}", found.err);
        };
        for (args, input, status, err) in [
            ("", "", 0, "error: please use -c option\n"),
            ("-c /nowhere/x", "", 1, "error: could not read /nowhere/x, program aborted\n"),
            ("--risk=", "", 1, "error: could not read , program aborted\n"),
            ("-c SPEC -cSPEC", "", 1, "error: option -c can only occur once\n"),
            ("-cSPEC -x", SCORES, 1, " invalid option -- 'x'\n"),
            ("-cSPEC /nowhere/y", "", 0, "error: couldn't open /nowhere/y\n"),
            ("-cSPEC /", "", 0, "error: couldn't open /\n"),
            ("-cSPEC", "# scores ham nan * 2\n", 1, "warning: \n"),
        ] {
            says(SPECIFICATION, args, input, status, &format!("bayesol:{err}"));
        }
        let changed = |from: &str, to: &str| SPECIFICATION.replace(from, to);
        let alone = "categories { a } prior { 1 } loss_matrix { \"\" a [ 1 ] }".to_owned();
        for (specification, input, status, err) in [
            ("1".to_owned(), "", 1, "bayesol:error: you need at least one category\n"),
            (changed("gift of", "(gift of"), SCORES, 1, {
                "bayesol:warning: couldn't compile regex '(gift of ([0-9]+)', ignoring\n"
            }),
            (changed("[ 1, 0 ]", "[ 1, \n * ]"), SCORES, 1, {
                "parse error at line 2 before '*'\n\
                 bayesol:error: couldn't parse spec for (spam, \"\")\n"
            }),
            (alone, "# scores a 1 * 2\n", 1, {
                "bayesol:warning: only one category specified, this is trivial!\n"
            }),
        ] {
            says(&specification, "-cSPEC", input, status, err);
        }
    }

    #[test]
    fn mistakes_are_explained_on_request() {
        let crooked = SPECIFICATION.replace("spam", "not-spam");
        assert_eq!(bayesol(&crooked, "-c SPEC", "").err, "parse error at line 1 before '-'\n");
        let found = bayesol(&crooked, "--explain -c SPEC", "");
        assert!(found.err.contains("bayesol:note: SPEC:1:22: a category's name"), "{}", found.err);
        let dead = SPECIFICATION.replace("\"\" ham [ 0, 1 ]", "\"\" ham [ 0, 1 ]\n\"x\" ham [ 0 ]");
        let found = bayesol(&dead, "-c SPEC --explain -v", SCORES);
        assert_eq!(found.out, "ham\n");
        assert!(found.err.contains("SPEC:6:1: this row is never used"), "{}", found.err);
    }

    #[test]
    fn relaxed_specifications_take_more_numbers_comments_and_names() {
        let loose = "categories { ham, not-ham } # two\r\nprior { 1e0, .5 }\nloss_matrix {\r\n\
                     \"\" ham [ 0, 1e2 # much\n ]\n\"\" not-ham [ 1-.5, 0 ]\n} # end";
        let scores = "# scores ham 5.20 * 412.0 not-ham 5.21 * 412.0 \n";
        let found = bayesol(loose, "-v -c SPEC", scores);
        assert_eq!((found.status, found.out.as_str()), (0, ""), "{}", found.err);
        // The option counts wherever it stands.
        for args in ["--relaxed -vc SPEC", "-vc SPEC --relaxed"] {
            let found = bayesol(loose, args, scores);
            assert_eq!((found.out.as_str(), found.err.as_str()), ("ham\n", ""));
        }
        // 412 * 0.01 = 4.12 for ham, log 100 + ... against it in the second round
        let found = bayesol(loose, "--relaxed -nc SPEC", scores);
        assert_eq!(found.out, "ham   -2147.91 not-ham   -2137.79 \n");
    }

    #[test]
    fn categories_score_the_text_at_full_precision() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = place.path().to_str().expect("a plain path");
        for (name, words) in [("ham", "red"), ("spam", "blue")] {
            let mut learner = Learner::new(&LearnOptions::mail()).expect("no expressions");
            learner.learn(format!("Subject: colours\n\n{words} {words} and more\n").as_bytes());
            let category = learner.finish().expect("some words").category;
            category.save(&place.path().join(name)).expect("a temporary file");
        }
        let (ham, spam) = (format!("--category={folder}/ham"), format!("--category={folder}/spam"));
        let text = "X: y\n\nred red blue\n# scores ham 9 * 9\n";
        let specification = SPECIFICATION.replace("gift of ([0-9]+)", "^ red.*blue\n$");
        let specification = specification.replace("$1", "7");
        let ham_only = CategorySet::open(&[place.path().join("ham")]).expect("a category");
        let verdict = ham_only.classify(text.as_bytes());
        let complexity = format!("\"complexity\":{:?}", verdict.complexities()[0]);
        let nats = -verdict.means().next().expect("a category");
        for (more, expected) in [("-v", nats / LN_2), ("--nats -v", nats)] {
            let args = format!("-c SPEC --json {spam} {ham} {more}");
            let found = bayesol(&specification, &args, text);
            assert_eq!((found.status, found.err.as_str()), (1, ""), "{}", found.out);
            let shown = found.out.split("\"cross_entropy\":").nth(1).expect("a score");
            let cross_entropy: f64 =
                shown.split(',').next().and_then(|text| text.parse().ok()).expect("a number");
            assert!((cross_entropy - expected).abs() < 1e-12, "{cross_entropy} {expected}");
            assert!(found.out.contains(&complexity), "{complexity} in {}", found.out);
            // The row with the condition applies: its second loss is 7.
            assert!(found.out.contains("1.945910149055313"), "{}", found.out);
        }
        for (args, err) in [
            (ham.clone(), "category spam has no scores: use --category"),
            (format!("{ham} {spam} --category /nowhere/eggs"), {
                "could not load category /nowhere/eggs"
            }),
        ] {
            let found = bayesol(SPECIFICATION, &format!("-c SPEC {args}"), text);
            assert_eq!((found.status, found.err), (1, format!("bayesol:error: {err}\n")));
        }
    }

    #[test]
    fn json_holds_what_the_decision_rests_on() {
        let found = bayesol(SPECIFICATION, "--json -N -c SPEC", SCORES);
        assert_eq!(found.status, 1);
        for part in [
            "{\"program\":\"bayesol\",\"schema\":1,\"decision\":\"ham\",\"status\":1,",
            "{\"name\":\"spam\",\"cross_entropy\":5.31,\"complexity\":412.0,\"log_prior\":0.0,",
            "\"ranking\":[\"ham\",\"spam\"]}\n",
        ] {
            assert!(found.out.contains(part), "{part} in {}", found.out);
        }
    }

    #[test]
    fn any_bytes_make_a_specification_or_an_error() {
        let mut state = 1_u32;
        let words =
            ["{", "}", "[", "]", "\"", "#", "$1", "1.e", "inf", ",", "\n", "a", "log", "(", "\\"];
        for _ in 0..300 {
            let mut text = String::from("categories { a } prior { 1 } loss_matrix { \"\" a [1] ");
            text.truncate((state % 60) as usize % (text.len() + 1));
            for _ in 0..20 {
                state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                text.push_str(words[(state >> 16) as usize % words.len()]);
            }
            let found = bayesol(&text, "-c SPEC --explain", SCORES);
            assert!(found.status <= 1);
        }
    }
}
