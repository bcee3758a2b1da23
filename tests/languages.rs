// SPDX-License-Identifier: GPL-3.0-or-later
//! Text of any language in any character set, by the real programs (`-e word`, `-e glyph`).

use crate::charsets::encode;
use crate::counts::body;
use dbacl_testing::Scratch;

const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n\
                       Привет, мир! Как у вас дела сегодня?\nСтрана моя огромна и широка.\n";
const GERMAN: &str = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.\n\
                      Guten Tag, Welt! Wie geht es heute?\nDie Straße ist lang und breit.\n";

#[test]
fn a_text_in_any_character_set_makes_the_same_category() {
    let rows = [
        (RUSSIAN, "koi8-r koi8-u windows-1251 iso-8859-5 ibm866 utf-16le utf-16be"),
        (GERMAN, "windows-1252 iso-8859-1 iso-8859-15 windows-1250 iso-8859-2 iso-8859-9"),
        ("Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.\n", "windows-1253 iso-8859-7"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.\n", "windows-1250 iso-8859-2"),
        ("Pijamalı hasta yağız şoföre çabucak güvendi.\n", "iso-8859-9 windows-1254"),
        ("דג סקרן שט בים מאוכזב\n", "windows-1255"),
        ("نص حكيم له سر قاطع وذو شأن عظيم\n", "windows-1256"),
        ("我们在北京大学学习\n", "gb2312 gb18030"),
        ("我們在北京大學學習\n", "big5"),
        ("東京は日本の首都です\n", "shift_jis euc-jp"),
        ("서울은 대한민국의 수도이다\n", "euc-kr"),
    ];
    for (text, charsets) in rows {
        let scratch = Scratch::new();
        scratch.write("plain", text);
        let learn = |args: &str| scratch.dbacl(&format!("--quiet {args}")).quiet(0);
        learn("-e word -l ./plain.word plain");
        learn("-e glyph -w 3 -l ./plain.glyph plain");
        for charset in charsets.split(' ') {
            scratch.write("other", encode(charset, text));
            for (scheme, kind) in [("word", "plain.word"), ("glyph -w 3", "plain.glyph")] {
                learn(&format!("-e {scheme} --charset {charset} -l ./found other"));
                assert!(body(&scratch, "found") == body(&scratch, kind), "{charset} {scheme}");
            }
        }
    }
}

#[test]
fn marks_of_utf_16_need_no_option() {
    let scratch = Scratch::new();
    scratch.write("plain", RUSSIAN);
    scratch.dbacl("--quiet -e word -l ./expected plain").quiet(0);
    for charset in ["utf-16le", "utf-16be", "utf-8"] {
        scratch.write("other", encode(charset, &format!("\u{feff}{RUSSIAN}")));
        for threads in ["1", "2"] {
            let learn = format!("--quiet -e word --threads {threads} -l ./found other");
            scratch.dbacl(&learn).quiet(0);
            assert!(body(&scratch, "found") == body(&scratch, "expected"));
        }
    }
}

/// A folder with the categories `ru` and `de`.
fn learned(options: &str) -> Scratch {
    let scratch = Scratch::new();
    for (name, text) in [("ru", RUSSIAN), ("de", GERMAN)] {
        scratch.write(&format!("{name}.txt"), text);
        let learn = format!("--quiet -e word {options} -l ./{name} {name}.txt");
        scratch.dbacl(&learn).quiet(0);
    }
    scratch
}

#[test]
fn text_in_an_old_character_set_is_recognised() {
    let scratch = learned("");
    for (text, charset, verdict) in
        [(RUSSIAN, "koi8-r", "ru"), (RUSSIAN, "windows-1251", "ru"), (GERMAN, "windows-1252", "de")]
    {
        for line in text.lines() {
            scratch.write("line", encode(charset, line));
            let done = scratch.dbacl("-v -c ./ru -c ./de --strict line");
            assert_eq!(done.quiet(0), format!("{verdict}\n"), "{charset} {line}");
        }
    }
}

#[test]
fn dbacl_1_14_1_refuses_categories_of_characters_by_their_first_line() {
    let scratch = Scratch::new();
    scratch.write("text", GERMAN);
    for (options, line) in [
        ("-e word", "# dbacl 1.15 dlw unicode category ./cat \n"),
        ("-e glyph -w 2", "# dbacl 1.15 dlw unicode category ./cat \n"),
        ("-e alnum", "# dbacl 1.14.1 dlw portable category ./cat \n"),
    ] {
        scratch.dbacl(&format!("--quiet {options} -o online -l ./cat text")).quiet(0);
        assert!(scratch.read("cat").starts_with(line.as_bytes()), "{options}");
        let online = scratch.read("online");
        let is_old = online.starts_with(b"# dbacl 1.14.1 dlw portable online memory dump\n");
        assert_eq!(is_old, options == "-e alnum");
        // Programs that know the line cut text as it was cut when the category was learned.
        scratch.dbacl("-v -c ./cat -R text").quiet(1);
        scratch.dbacl(&format!("--quiet {options} -o online -l ./cat text")).quiet(0);
        std::fs::remove_file(scratch.path("online")).expect("just written");
    }
    scratch.dbacl("--quiet -e word -l ./other text").quiet(0);
    let complaint = scratch.dbacl("-c ./cat -c ./other text").complaint(1);
    assert!(complaint.contains("incompatible token set"), "{complaint}");
}

#[test]
fn parts_threads_and_counts_are_one_pass() {
    let scratch = Scratch::new();
    let line = "Привет мир 我们在北京 대한민국 Pаypal café v2.0 \u{1f44d}\n";
    let text: String = (0..900).map(|at| format!("{at} {}", &line.repeat(1 + at % 3))).collect();
    scratch.write("one", &text);
    scratch.write("two", [b"\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2!\n", text.as_bytes()].concat());
    for options in ["-e word", "-e word -w 2", "-e glyph -w 3"] {
        let learn = |args: &str| {
            scratch.dbacl(&format!("--quiet {options} -H 16 {args}")).quiet(0);
        };
        learn("--threads 1 -l ./whole one two");
        learn("--threads 3 -l ./parallel one two");
        for (place, file) in [(0, "one"), (1, "two")] {
            let count = format!("--quiet {options} --place {place} --count {file}.counts {file}");
            scratch.dbacl(&count).quiet(0);
        }
        scratch.dbacl("--merge all.counts one.counts two.counts").quiet(0);
        scratch.dbacl("--quiet -H 16 --fit all.counts -l ./merged").quiet(0);
        learn("-o online -l ./first one");
        learn("-o online -l ./online two");
        for other in ["parallel", "merged", "online"] {
            assert!(body(&scratch, other) == body(&scratch, "whole"), "{options} {other}");
        }
        std::fs::remove_file(scratch.path("online")).expect("just written");
    }
}

#[test]
fn reports_show_words_that_can_be_read() {
    let scratch = learned("-w 2");
    scratch.write("text", "ПРИВЕТ, Мир! Как дела?\n");
    let trace = scratch.dbacl("-d -c ./ru -c ./de text").stdout;
    assert!(trace.contains("[]привет[]мир[]"), "{trace}");
    let explained = scratch.dbacl("--explain -c ./ru -c ./de text").stdout;
    assert!(explained.contains("привет мир") || explained.contains("привет"), "{explained}");
    let page = scratch.dbacl("--explain-html -c ./ru -c ./de text").stdout;
    assert!(page.contains(">привет</"), "{page}");
    let json = scratch.dbacl("--format json -c ./ru -c ./de --explain text").complaint(1);
    assert!(json.contains("--explain"), "{json}");
    let learned = scratch.dbacl("--quiet -D -e word -l ./new ru.txt").stdout;
    assert!(learned.contains("[]французских[](1)"), "{learned}");
}

#[test]
fn a_character_set_must_be_known_and_goes_with_text() {
    let scratch = Scratch::new();
    scratch.write("text", "a b\n");
    let complaint = scratch.dbacl("--charset klingon-1 -l ./cat text").complaint(1);
    assert!(complaint.contains("no character set is called klingon-1"), "{complaint}");
    let complaint = scratch.dbacl("--charset koi8-r -T email -l ./cat text").complaint(1);
    assert!(complaint.contains("--charset cannot be used with -T email"), "{complaint}");
    // Tokenizers of bytes get the text converted to UTF-8.
    scratch.write("other", encode("utf-16le", "größe"));
    scratch.write("utf-8", "größe");
    scratch.dbacl("--quiet -e adp --charset utf-16le -l ./one other").quiet(0);
    scratch.dbacl("--quiet -e adp -l ./two utf-8").quiet(0);
    assert!(body(&scratch, "one") == body(&scratch, "two"));
}
