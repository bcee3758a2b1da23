// SPDX-License-Identifier: GPL-3.0-or-later
//! The manual pages: every option has its entry and no entry is without its option; `man` and
//! `mandoc` find nothing to complain about, neither in these nor in what `packaging/manual` makes.

use dbacl::programs::dbacl::job_options::{CLASSIC, JobOptions, MAIL, spelled};
use dbacl::programs::dbacl::options::{Key, TABLE};
use dbacl_cli::getopt::Value;
use dbacl_testing::{Scratch, command, root, skip};
use std::fmt::Write;
use std::fs;
use std::process::Command;

/// The pages that describe the options of `dbacl`.
const PAGES: [&str; 3] = ["dbacl", "dbacl-mail", "dbacl-count"];

#[test]
fn every_option_has_its_entry() {
    let read = |page: &&str| fs::read_to_string(root().join(format!("docs/man/{page}.1")));
    let pages: Vec<String> = PAGES.iter().map(|page| read(page).expect("a page")).collect();
    let entries: Vec<&str> = pages
        .iter()
        .flat_map(|page| page.lines().zip(page.lines().skip(1)))
        .filter(|(mark, entry)| *mark == ".TP" && entry.starts_with("\\fB\\-"))
        .map(|(_, entry)| entry)
        .collect();
    let mut known = Vec::new();
    for opt in TABLE {
        let letter = opt.letter.map(|letter| format!("\\fB\\-{}\\fR", char::from(letter)));
        let long = format!("\\fB\\-\\-{}\\fR", opt.long.replace('-', "\\-"));
        let long = Some(long).filter(|_| !opt.long.is_empty());
        let names: Vec<String> = letter.into_iter().chain(long).collect();
        let mut entry = names.join(", ");
        if let Value::Required(value) = opt.value {
            write!(entry, " \\fI{value}\\fR").expect("a string");
        }
        if opt.help.is_empty() {
            continue; // accepted for old scripts, without effect
        }
        let number = entries.iter().filter(|known| **known == entry).count();
        assert!(
            number > 0,
            "no manual page has an entry for this option: add to docs/man/dbacl.1 (or a page of \
             its job)\n.TP\n{entry}\n{}.",
            opt.help
        );
        known.push(entry);
    }
    for entry in entries {
        assert!(known.iter().any(|known| known == entry), "there is no option {entry}");
    }
}

#[test]
fn help_begins_as_the_page_does() {
    let scratch = Scratch::new();
    for program in ["chess-adapter", "dbacl-eval", "dbacl-imap", "dbacl-server", "dbacl-text"] {
        let page =
            fs::read_to_string(root().join(format!("docs/man/{program}.1"))).expect("a page");
        let about = page.lines().find_map(|line| line.strip_prefix(&format!("{program} \\- ")));
        let help = scratch.command(program).arg("--help").output().expect("it starts").stdout;
        let first =
            String::from_utf8_lossy(&help).lines().next().unwrap_or_default().to_lowercase();
        assert_eq!(first, about.expect("a name").to_lowercase(), "{program} --help");
    }
}

#[test]
fn pages_have_their_jobs_and_say_what_options_go_with() {
    let plain = |text: &str| {
        let fonts = text.replace("\\fB", "").replace("\\fI", "").replace("\\fR", "");
        fonts.replace("\\-", "-")
    };
    let counting = [Key::Count, Key::Merge, Key::Fit];
    let counting: Vec<_> = CLASSIC.iter().filter(|row| counting.contains(&row.key)).collect();
    for (page, value, jobs) in
        [("dbacl-mail", "DIR", MAIL.iter().collect()), ("dbacl-count", "COUNTS", counting)]
    {
        let page = root().join(format!("docs/man/{page}.1"));
        let page = fs::read_to_string(page).expect("a page");
        let (synopsis, rest) = page.split_once(".SH DESCRIPTION").expect("a synopsis");
        let (synopsis, rest) = (plain(synopsis), plain(rest));
        for JobOptions { key, operands, options, refused } in jobs {
            let job = spelled(*key);
            let line = format!("{job} {value} {operands}");
            let is_there = synopsis.lines().any(|own| own.ends_with(line.trim_end()));
            assert!(is_there, "{line} is not in {synopsis}");
            for option in options.iter().filter(|&&key| key != Key::Verbose && key != Key::Format) {
                let name = spelled(*option);
                let entry = rest.split(".TP\n").find(|entry| entry.starts_with(&name));
                let entry = entry.unwrap_or_else(|| panic!("no entry of {name}"));
                assert!(entry.contains(&format!("With {job}")), "{entry}");
            }
            for option in refused.iter().flat_map(|(options, _)| *options) {
                let name = spelled(*option);
                let refusal = rest.lines().find(|line| line.contains("refused"));
                assert!(refusal.is_some_and(|line| line.contains(&name)), "{name}: {refusal:?}");
            }
        }
    }
}

#[test]
fn readers_of_manual_pages_have_no_complaint() {
    let scratch = Scratch::new();
    let made = command(root().join("packaging/manual")).arg(scratch.path(".")).status();
    assert!(made.expect("sh starts").success(), "packaging/manual");
    let folders = [root().join("docs/man"), scratch.path("man5"), scratch.path("man7")];
    let mut pages: Vec<_> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("manual pages"))
        .map(|entry| entry.expect("readable").path())
        .collect();
    pages.sort();
    assert!(pages.len() > 15, "{pages:?}");
    let programs: [(&str, &[&str]); 2] =
        [("mandoc", &["-T", "lint", "-W", "warning"]), ("man", &["--warnings", "-l", "-Tutf8"])];
    for (program, options) in programs {
        for page in &pages {
            let mut command = Command::new(program);
            command.args(options).arg(page).env("LC_ALL", "C.UTF-8").env("MANROFFSEQ", "t");
            let Ok(output) = command.output() else {
                skip(
                    "readers_of_manual_pages_have_no_complaint",
                    &format!("there is no {program}"),
                );
                break;
            };
            let said = match program {
                "man" => output.stderr,
                _ => output.stdout,
            };
            // Where paper ends within a row of a table is not a fault of the page.
            let is_fault =
                |line: &&str| !line.ends_with("table text block will not fit on one page");
            let said = String::from_utf8_lossy(&said);
            let faults: Vec<&str> = said.lines().filter(is_fault).collect();
            assert!(faults.is_empty(), "{program} of {}: {faults:#?}", page.display());
        }
    }
}
