// SPDX-License-Identifier: GPL-3.0-or-later
//! Every option of `dbacl` in all its spellings: separate, attached, bundled, repeated, without its
//! value, and by its long name.

use dbacl::programs::dbacl::options::{Key, TABLE};
use dbacl_cli::getopt::{Opt, Value};
use dbacl_testing::{Done, Scratch, programs, root};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

const TEXT: &str = "The cat sat on the mat, and the Dog sat on the Log.\n\
                    A dog and a cat sat by the fire; the fire sat by nobody!\n\
                    The mat, the log: 42 fires & 1 cat.\n";
const OTHER: &str = "Ships sail the seas, and seas sink the ships that sail.\nSail on, ship.\n";
const MAIL: &str = "From: a@example.org\nSubject: cats\n\nThe cat sat on the mat.\n";

/// What a command line did: output, status, and the files it left, by length and hash.
#[derive(Debug, PartialEq, Eq)]
struct Effect {
    done: Done,
    files: BTreeMap<String, (usize, u64)>,
}

struct Bench {
    scratch: Scratch,
    given: Vec<String>,
}

impl Bench {
    fn new() -> Self {
        let scratch = Scratch::new();
        scratch.write("text", TEXT);
        scratch.write("other", OTHER);
        scratch.write("mail", MAIL);
        scratch.write("zeros", "the cat\0sat on\n");
        let prose = root().join("testdata/demo/learn/melville/chapter-004.txt");
        scratch.write("prose", std::fs::read(prose).expect("a text of the demonstration"));
        let words = (b'a'..b'h').flat_map(|a| (b'a'..b'h').map(move |b| [a, b, b' ']));
        scratch.write("words", words.collect::<Vec<_>>().concat());
        scratch.dbacl("-l one -o counts text").quiet(0);
        scratch.dbacl("-l two other").quiet(0);
        scratch.dbacl("-T email -l mail-one mail").quiet(0);
        let given = scratch.names();
        Self { scratch, given }
    }

    fn run(&self, args: &[&str]) -> Effect {
        let mut done = self.scratch.dbacl_args(args);
        let invoked = programs().join("dbacl");
        done.stderr = done.stderr.replace(&*invoked.to_string_lossy(), "dbacl");
        let new = self.scratch.names().into_iter().filter(|name| !self.given.contains(name));
        let files = new.map(|name| (name.clone(), print(&self.scratch.read(&name)))).collect();
        let effect = Effect { done, files };
        for name in effect.files.keys() {
            std::fs::remove_file(self.scratch.path(name)).expect("a file just made");
        }
        effect
    }
}

/// Length and hash: equal for equal files, and short in messages.
fn print(content: &[u8]) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    (content.len(), hasher.finish())
}

/// A test of an option: the value to give it, the other words of the command line, and whether it
/// changes anything that can be seen there.
struct Row {
    key: Key,
    value: &'static str,
    rest: &'static str,
    visible: bool,
}

const LEARN: &str = "-l new text";
const CLASSIFY: &str = "-c one -c two text";

/// Options, as letters or long names, each with its value, after the other words of their command
/// lines. Those with `?` change nothing that can be seen. Every option of the table is here.
const ROWS: [(&str, &str); 24] = [
    (LEARN, "v X d D e=alnum e=word charset=utf-16le w=2 j S g=([[:alpha:]]+)||1 i h=9 z=1 x=2"),
    (LEARN, "L=uniform r M ?1 ?0 o=more ?m ?threads=2 ?lock-timeout=1"),
    (CLASSIFY, "v n N U f=one a A Y d D ?m ?p explain explain-html strict ?line-buffered"),
    // These are refused here.
    (CLASSIFY, "mail-learn=filter mail-filter=filter mail-correct=filter mail-forget=filter"),
    (CLASSIFY, "mail-verdict=filter mail-ask=filter mail-review=filter mail-help"),
    (CLASSIFY, "protect=ham caution=low window=365 check=one"),
    (CLASSIFY, "general=filter reasons format=json input=lines"),
    ("text", "l=new count=part"),
    ("-n text", "c=one"),
    ("-l new mail", "T=email"),
    ("-v -c one -c two text", "X"),
    ("-n -c mail-one mail", "P"),
    ("-n -c one text", "R"),
    ("-n -c one -c two text other", "F"),
    ("-h 5 -l new words", "H=12"),
    ("-w 2 -l new prose", "q=4"),
    ("-l new other", "O=counts"),
    ("counts", "merge=all"),
    ("-l new", "fit=counts"),
    ("--count part text", "place=3"),
    ("--fit counts -l new", "?canonical"),
    ("-e no-such-scheme -c one -c two text", "quiet"),
    ("-l new zeros", "keep-nul"),
    ("", "V help version"),
];

fn rows() -> impl Iterator<Item = Row> {
    let row = |rest: &'static str, word: &'static str| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let visible = !name.starts_with('?');
        let name = name.trim_start_matches('?');
        let is_called = |opt: &&Opt<Key>| {
            opt.long == name || name.len() == 1 && opt.letter == name.bytes().next()
        };
        Row { key: TABLE.iter().find(is_called).expect(name).key, value, rest, visible }
    };
    ROWS.iter().flat_map(move |(rest, words)| words.split(' ').map(move |word| row(rest, word)))
}

/// Options whose repetition changes the result: `-c` adds a category, `-O` adds counts again.
const ADDS: [Key; 6] =
    [Key::Learn, Key::Category, Key::Random, Key::Online, Key::MergeOnline, Key::Fit];

fn words<'a>(option: &[&'a str], row: &Row) -> Vec<&'a str> {
    option.iter().copied().chain(row.rest.split_whitespace()).collect()
}

fn options_of(row: &Row) -> impl Iterator<Item = &'static Opt<Key>> + use<> {
    let key = row.key;
    TABLE.iter().filter(move |opt| opt.key == key)
}

/// Shortest beginning of a long name that no other long name has.
fn beginning(long: &str) -> &str {
    let unique = |length: &usize| {
        let names = TABLE.iter().filter(|opt| opt.long.starts_with(&long[..*length]));
        names.count() == 1
    };
    (1..=long.len()).find(unique).map_or(long, |length| &long[..length])
}

#[test]
fn every_option_of_the_table_has_a_row() {
    for opt in TABLE {
        let row = rows().find(|row| row.key == opt.key);
        let row = row.unwrap_or_else(|| panic!("no row for {:?}", opt.key));
        assert_eq!(row.value.is_empty(), opt.value == Value::None, "{:?}", opt.key);
    }
}

#[test]
fn all_spellings_of_an_option_do_the_same() {
    let bench = Bench::new();
    for row in rows() {
        for opt in options_of(&row) {
            let mut spellings: Vec<Vec<String>> = Vec::new();
            let value = row.value.to_owned();
            let mut spell = |spelling: &[String]| spellings.push(spelling.to_vec());
            if let Some(letter) = opt.letter.map(char::from) {
                if value.is_empty() {
                    spell(&[format!("-{letter}")]);
                    spell(&[format!("-p{letter}")]);
                    spell(&[format!("-{letter}p")]);
                } else {
                    spell(&[format!("-{letter}"), value.clone()]);
                    spell(&[format!("-{letter}{value}")]);
                    spell(&[format!("-p{letter}{value}")]);
                    spell(&[format!("-p{letter}"), value.clone()]);
                }
            }
            for long in [opt.long, beginning(opt.long)] {
                if !long.is_empty() && value.is_empty() {
                    spell(&[format!("--{long}")]);
                } else if !long.is_empty() {
                    spell(&[format!("--{long}"), value.clone()]);
                    spell(&[format!("--{long}={value}")]);
                }
            }
            let without = bench.run(&words(&[], &row));
            let mut first = None;
            for spelling in &spellings {
                // `-f` names a category that must come before it.
                let option: Vec<&str> = spelling.iter().map(String::as_str).collect();
                let args = if row.key == Key::FilterLines {
                    row.rest.split_whitespace().chain(option).collect()
                } else {
                    words(&option, &row)
                };
                let effect = bench.run(&args);
                assert!(effect.done.status < 128, "{args:?}: {effect:?}");
                assert_eq!(effect != without, row.visible, "{args:?}: {effect:?}");
                let expected = first.get_or_insert_with(|| bench.run(&args));
                assert_eq!(&effect, expected, "{args:?}");
            }
        }
    }
}

#[test]
fn options_work_behind_operands_and_not_behind_two_hyphens() {
    let bench = Bench::new();
    let before = bench.run(&["-c", "one", "-c", "two", "-n", "text"]);
    assert_eq!(bench.run(&["text", "-c", "one", "-c", "two", "-n"]), before);
    let ended = bench.run(&["-c", "one", "-c", "two", "text", "--", "-n"]);
    assert!(ended.done.stderr.contains("couldn't open -n"), "{ended:?}");
    let posix = bench.scratch.sh("POSIXLY_CORRECT=1 dbacl -c one -c two text -n");
    assert!(posix.stderr.contains("couldn't open -n"), "{posix:?}");
}

#[test]
fn a_missing_value_is_complained_about_and_the_option_left_out() {
    let bench = Bench::new();
    for row in rows().filter(|row| !row.value.is_empty()) {
        let without = bench.run(&words(&[], &row));
        for opt in options_of(&row) {
            let letter = opt.letter.map(|letter| {
                let letter = char::from(letter);
                let complaint = format!("dbacl: option requires an argument -- '{letter}'\n");
                (format!("-{letter}"), complaint)
            });
            let long = (!opt.long.is_empty()).then(|| {
                let complaint = format!("dbacl: option '--{}' requires an argument\n", opt.long);
                (format!("--{}", opt.long), complaint)
            });
            for (spelling, complaint) in letter.into_iter().chain(long) {
                let args: Vec<&str> =
                    row.rest.split_whitespace().chain([spelling.as_str()]).collect();
                let mut effect = bench.run(&args);
                let stderr = effect.done.stderr.replacen(&complaint, "", 1);
                assert_ne!(stderr, effect.done.stderr, "{args:?}: {effect:?}");
                effect.done.stderr = stderr;
                assert_eq!(effect, without, "{args:?}");
            }
        }
    }
}

#[test]
fn a_repeated_option_is_as_good_as_one_unless_it_adds() {
    let bench = Bench::new();
    for row in rows().filter(|row| !ADDS.contains(&row.key)) {
        let Some(letter) = options_of(&row).find_map(|opt| opt.letter) else { continue };
        let option = format!("-{}{}", char::from(letter), row.value);
        let mut once = words(&[], &row);
        once.push(&option);
        let mut twice = once.clone();
        twice.push(&option);
        let (once, mut twice) = (bench.run(&once), bench.run(&twice));
        if row.key == Key::Wide {
            continue;
        }
        if row.key == Key::FilterLines {
            // Two `-f` name two categories; a line is printed if one of them lets it pass.
            twice.done.stdout.clone_from(&once.done.stdout);
        }
        assert_eq!(once, twice, "{option}");
    }
}

#[test]
fn of_two_values_the_last_counts_or_the_second_is_refused() {
    let bench = Bench::new();
    for (first, last, rest) in [
        ("-w3", "-w2", LEARN),
        ("-ealnum", "-egraph", LEARN),
        ("-h12", "-h9", LEARN),
        ("-H4", "-H12", "-h 5 -l new words"),
        ("-z2", "-z1", LEARN),
        ("-x3", "-x1", LEARN),
        ("-Lmaxent", "-Luniform", LEARN),
        ("-q4", "-q1", "-w 2 -l new prose"),
        ("-1", "-0", LEARN),
    ] {
        let rest: Vec<&str> = rest.split_whitespace().collect();
        let one = bench.run(&[&[last], rest.as_slice()].concat());
        let two = bench.run(&[&[first, last], rest.as_slice()].concat());
        assert_eq!(one, two, "{first} {last}");
    }
    for (args, complaint) in [
        ("-l a -l b text", "dbacl:error: option -l can only occur once\n"),
        ("-l a -c one text", "dbacl:error: cannot use options -l and -c together\n"),
        ("-l a -R text", "dbacl:error: cannot use options -l and -R together\n"),
        ("text", "dbacl:error: please use either -c or -l option.\n"),
        ("-w 8 -l a text", "dbacl:error: the -w switch needs a number between 1 and 7\n"),
        ("-f three -c one text", "dbacl:error: unrecognized category in -f option [three]\n"),
    ] {
        let effect = bench.run(&args.split_whitespace().collect::<Vec<_>>());
        assert_eq!((effect.done.status, effect.done.stderr.as_str()), (1, complaint), "{args}");
        assert!(effect.files.is_empty(), "{args}");
        let strict = bench.scratch.dbacl(&format!("--strict {args}"));
        assert_eq!((strict.status, strict.stderr.as_str()), (64, complaint), "{args}");
    }
    let two = bench.run(&["-l", "a", "-o", "more", "-o", "less", "text"]);
    let files: Vec<&str> = two.files.keys().map(String::as_str).collect();
    assert_eq!(files, ["a", "more"]);
    assert!(two.done.stderr.contains("multiple -o switches not supported"), "{two:?}");
}

#[test]
fn mistakes_are_complained_about_as_getopt_does() {
    let bench = Bench::new();
    for (args, complaint) in [
        ("-k -c one text", "dbacl: invalid option -- 'k'\n"),
        ("--nothing -c one text", "dbacl: unrecognized option '--nothing'\n"),
        ("--verbose=1 -c one text", "dbacl: option '--verbose' doesn't allow an argument\n"),
        ("--me -c one text", "dbacl: option '--me' is ambiguous; possibilities: "),
    ] {
        let effect = bench.run(&args.split_whitespace().collect::<Vec<_>>());
        assert!(effect.done.stderr.starts_with(complaint), "{args}: {effect:?}");
        assert_eq!(effect.done.status, 1, "{args}");
    }
}

#[test]
fn names_are_looked_up_below_the_path_variable() {
    let bench = Bench::new();
    let folder = bench.scratch.path("folder");
    std::fs::create_dir(&folder).expect("a new folder");
    let run = |path: &str, script: &str| bench.scratch.sh(&format!("DBACL_PATH={path} {script}"));
    run("folder", "dbacl -l inner -o counts text").quiet(0);
    assert!(folder.join("inner").is_file() && folder.join("counts").is_file());
    assert_eq!(run("folder/", "dbacl -v -c inner text").quiet(1), "inner\n");
    assert_eq!(run("folder", "dbacl -v -c ./one text").quiet(1), "one\n");
    run("folder", "dbacl -v -c one text").complaint(1);
    run("", "dbacl -v -c one text").complains(1, "could not load category /one");
}

/// A token that the table of empirical counts has no room for is ignored, in the trace as well.
#[test]
fn the_trace_shows_no_token_that_is_not_scored() {
    let bench = Bench::new();
    let done = bench.scratch.dbacl_args(["-c", "one", "-h", "5", "-X", "-d", "words"]);
    assert!(done.stderr.contains("empirical hash full"), "{}", done.stderr);
    let tokens: Vec<&str> = done.stdout.lines().filter(|line| line.contains("[]")).collect();
    assert_eq!(tokens.len(), 31); // 95 percent of 32, rounded up
    assert!(tokens.iter().all(|line| line.contains('\t')), "{tokens:?}");
}

/// Weights are taken over (`-1`) only from a category with the same expressions.
#[test]
fn weights_are_preloaded_for_the_same_expressions_only() {
    let bench = Bench::new();
    let learn = |pattern: &str| {
        let args = ["-v", "-1", "-L", "uniform", "-l", "new", "-g", pattern, "text"];
        bench.scratch.dbacl_args(args).stdout.contains("preloading")
    };
    // The last one yields no unigrams, which makes the category multinomial.
    let patterns = ["([a-z]+)", "([a-z]+)", "([a-z]+[a-z])", "([a-z]) ([a-z])", "([a-z]) ([a-z])"];
    assert_eq!(patterns.map(learn), [false, true, false, false, true]);
}

/// The digitised reference measure is shown (`-D`) before the fit begins.
#[test]
fn progress_and_debug_texts_come_in_the_order_of_the_work() {
    let done = Bench::new().scratch.dbacl_args(["-v", "-D", "-l", "new", "text"]);
    let at = |line: &str| done.stdout.find(line).expect(line);
    let lines = ["match ", "picked up ", "learner->dig[3][3] = ", "now maximizing", "saving "];
    assert!(lines.map(at).is_sorted(), "{:?}", lines.map(at));
}

#[test]
fn lines_are_not_shown_while_others_are_left_out() {
    let done = Bench::new().scratch.dbacl_args(["-f", "1", "-a", "-l", "new", "text"]);
    assert!(done.stderr.contains("disabling option -a"), "{}", done.stderr);
    assert_eq!(done.stdout, "");
}

/// The reference computes a confidence where it prints it.
#[test]
fn notes_of_underflow_come_between_the_scores_and_their_confidence() {
    let scratch = Scratch::new();
    for (name, word) in [("one", "sea"), ("two", "fire")] {
        scratch.write("mails", format!("From a\nSubject: {word}\n\n{word} {word} and\n"));
        scratch.dbacl(&format!("-T email -X -l {name} mails")).quiet(0);
        let category = scratch.read(name);
        let (old, new) =
            (&b"# alpha 0.000000 beta 0.000000"[..], &b"# alpha 10.00000 beta 0.000100"[..]);
        let at = category.windows(old.len()).position(|text| text == old).expect("a header");
        scratch.write(name, [&category[..at], new, &category[at + old.len()..]].concat());
    }
    scratch.write("mail", "From b\nSubject: sky\n\nquartz jackdaws vex my sphinx\n");
    let note = "\nigamc underflow error\n";
    for (options, before, after) in [
        ("-vnX", " * 7.0", " @   0.0% "),
        ("-vnUX", " )* 7.0", " @   0.0% "),
        ("-NX", "%", " @   0.0% "),
        ("-vX", " )* 7.0    ", "@   0.0% "),
    ] {
        let printed = scratch.dbacl(&format!("{options} -T email -c one -c two mail"));
        let parts: Vec<&str> = printed.stdout.split(note).collect();
        let [one, two, end] = parts[..] else { panic!("{options}: {printed:?}") };
        assert!(one.starts_with("one ") && one.ends_with(before), "{options}: {one:?}");
        let two = two.strip_prefix(after).unwrap_or_else(|| panic!("{options}: {two:?}"));
        assert!(two.starts_with("two ") && two.ends_with(before), "{options}: {two:?}");
        assert_eq!(end, format!("{after}\n"), "{options}");
    }
    // Where no confidence is printed, none is computed.
    for options in ["-X", "-nX", "-vYX", "-YX"] {
        let printed = scratch.dbacl(&format!("{options} -T email -c one -c two mail"));
        assert!(!printed.stdout.contains("underflow"), "{options}: {printed:?}");
    }
}

#[test]
fn text_is_a_program_where_it_is_no_file() {
    let scratch = Scratch::new();
    scratch.write("two.tsv", "sea\tthe whale and the ship\nwar\tthe nation and the war\n");
    let said = scratch.dbacl("text train two.tsv -o two.model").output();
    assert!(said.starts_with("2 documents of 2 labels"), "{said}");
    let mut direct = scratch.program("dbacl-text", ["info", "two.model"]);
    let direct = dbacl_testing::done(&mut direct).quiet(0);
    assert_eq!(scratch.dbacl("text info two.model").quiet(0), direct);
    assert!(scratch.dbacl("text info").complaint(64).contains("<MODEL>"));
    // A file of that name is learned and classified as before.
    scratch.write("text", "the whale and the ship\n");
    scratch.dbacl("text -l sea").output();
    assert!(scratch.path("sea").exists());
    assert_eq!(scratch.dbacl("text -c sea -v").stdout, "sea\n");
    assert!(scratch.dbacl("other").complaint(1).contains("please use either"));
}
