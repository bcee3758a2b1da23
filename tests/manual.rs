// SPDX-License-Identifier: GPL-3.0-or-later
//! The manual pages: every option has its entry and no entry is without its option; pages that are
//! made from documents say what these say; `man` and `mandoc` find nothing to complain about.
//!
//! After a change of a document, `BLESS=1 cargo test --test main manual` makes its page anew.

use dbacl::cli::dbacl::options::TABLE;
use dbacl::cli::getopt::Value;
use dbacl_testing::{holds, root, skip};
use std::fmt::Write;
use std::fs;
use std::process::Command;

/// The pages that describe the options of `dbacl`.
const PAGES: [&str; 4] = ["dbacl", "dbacl-refit", "dbacl-mail", "dbacl-count"];

/// A page that is made from documents.
struct Page {
    name: &'static str,
    section: u8,
    manual: &'static str,
    about: &'static str,
    documents: &'static [&'static str],
    see_also: &'static [&'static str],
}

const MADE: [Page; 2] = [
    Page {
        name: "dbacl-format",
        section: 5,
        manual: "File Formats",
        about: "categories, online dumps, counts, ledgers and results of dbacl",
        documents: &["category-format", "counts-format", "ledger-format", "formats"],
        see_also: &["dbacl(1)", "dbacl-count(1)", "dbacl-refit(1)"],
    },
    Page {
        name: "dbacl-tutorial",
        section: 7,
        manual: "Miscellaneous Information",
        about: "from the first category to decisions",
        documents: &["tutorial"],
        see_also: &["dbacl(1)", "dbacl-mail(1)", "dbacl-refit(1)", "bayesol(1)"],
    },
];

/// The date of the version, which packaging/stamp writes into the other pages.
fn release_date() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let section = manifest.split("[workspace.metadata.release]").nth(1).expect("the release");
    section.split('"').nth(1).expect("its date").to_owned()
}

/// Text as roff has it: nothing in it is a command.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            '"' => out.push_str("\\(dq"),
            c if c.is_ascii() => out.push(c),
            c => write!(out, "\\[u{:04X}]", u32::from(c)).expect("a string"),
        }
    }
    out
}

/// A paragraph's text: spans of code and emphasis become fonts, links their text.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 1 {
            write!(out, "\\fB{}\\fR", plain(part)).expect("a string");
            continue;
        }
        let mut part = part.replace("](", "\u{1}");
        while let Some(at) = part.find('\u{1}') {
            let end = part[at..].find(')').map_or(part.len(), |end| at + end + 1);
            part.replace_range(at..end, "");
            if let Some(open) = part[..at].rfind('[') {
                part.remove(open);
            }
        }
        for (number, strong) in part.split("**").enumerate() {
            if number % 2 == 1 {
                write!(out, "\\fB{}\\fR", plain(strong)).expect("a string");
                continue;
            }
            // A lone star is a sign of multiplication, not the beginning of emphasis.
            let is_paired = strong.matches('*').count() % 2 == 0;
            for (number, slanted) in strong.split('*').enumerate() {
                let text = plain(slanted);
                if number > 0 && !is_paired {
                    out.push('*');
                }
                if number % 2 == 1 && is_paired {
                    write!(out, "\\fI{text}\\fR").expect("a string");
                } else {
                    out.push_str(&text);
                }
            }
        }
    }
    out
}

/// Words in lines of at most 78 characters, a new line for each sentence; none begins a command.
fn filled(text: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    let mut finish = |line: &mut String| {
        if line.starts_with(['.', '\'']) {
            line.insert_str(0, "\\&");
        }
        writeln!(out, "{line}").expect("a string");
        line.clear();
    };
    for word in text.split_whitespace() {
        if !line.is_empty() && (line.len() + 1 + word.len() > 78 || line.ends_with('.')) {
            finish(&mut line);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        finish(&mut line);
    }
    out
}

/// The cells of a table's row.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.replace("\\|", "\u{2}").split('|').map(|cell| cell.replace('\u{2}', "|")).collect()
}

/// A table for tbl(1). Columns of long cells, and the last one, are filled.
fn table(rows: &[&str]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1);
    let is_filled = |column: usize| {
        let longest = rows.iter().filter_map(|row| row.get(column)).map(String::len).max();
        column + 1 == columns || longest.is_some_and(|longest| longest > 28)
    };
    let layout: Vec<&str> =
        (0..columns).map(|column| if is_filled(column) { "lx" } else { "l" }).collect();
    let mut out = format!(".TS\n{}.\n", layout.join(" "));
    for (number, row) in rows.iter().enumerate() {
        let is_rule = number == 1 && row.iter().all(|cell| cell.chars().all(|c| c == '-'));
        if is_rule || row.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let cell = |(column, cell): (usize, &String)| {
            let text = filled(&inline(cell.trim()));
            if is_filled(column) && !text.is_empty() {
                format!("T{{\n.na\n.nh\n{text}T}}")
            } else {
                text.trim().replace('\n', " ")
            }
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        out.push_str(&cells.join("\t"));
        out.push('\n');
    }
    out.push_str(".TE\n");
    out
}

/// Whether a paragraph goes on with this line.
fn goes_on(line: &str) -> bool {
    let start = line.trim_start();
    !(start.is_empty() || start.starts_with(['#', '|', '<']) || start.starts_with("```"))
        && item(line).is_none()
}

/// The text of a list's item.
fn item(line: &str) -> Option<&str> {
    let start = line.trim_start();
    let number = start.find(". ").filter(|&at| start[..at].bytes().all(|b| b.is_ascii_digit()));
    start
        .strip_prefix("- ")
        .or_else(|| start.strip_prefix("* "))
        .or_else(|| number.filter(|&at| at > 0).map(|at| &start[at + 2..]))
}

/// A document in Markdown as part of a manual page.
fn roff(document: &str) -> String {
    let lines: Vec<&str> = document.lines().collect();
    let mut out = String::new();
    let mut is_fresh = false;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        let code = |out: &mut String, is_fresh: bool, code: &[&str]| {
            out.push_str(if is_fresh { "" } else { ".PP\n" });
            out.push_str(".in +4n\n.EX\n");
            for line in code {
                let text = plain(line);
                let guard = if text.starts_with(['.', '\'']) { "\\&" } else { "" };
                writeln!(out, "{guard}{text}").expect("a string");
            }
            out.push_str(".EE\n.in\n");
        };
        if line.trim().is_empty() || line.starts_with("<!--") {
            continue;
        }
        if let Some(title) = line.strip_prefix("# ") {
            writeln!(out, ".SH {}", plain(&title.to_uppercase())).expect("a string");
            is_fresh = true;
            continue;
        }
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            writeln!(out, ".SS {}", inline(title)).expect("a string");
            is_fresh = true;
            continue;
        }
        if line.starts_with("```") {
            let end = (at..lines.len()).find(|&end| lines[end].starts_with("```"));
            let end = end.expect("code has an end");
            code(&mut out, is_fresh, &lines[at..end]);
            at = end + 1;
        } else if line.starts_with("    ") {
            let end = (at..lines.len()).find(|&end| !lines[end].starts_with("    "));
            let end = end.unwrap_or(lines.len());
            let block: Vec<&str> = lines[at - 1..end].iter().map(|line| &line[4..]).collect();
            code(&mut out, is_fresh, &block);
            at = end;
        } else if line.starts_with('|') {
            let end = (at..lines.len()).find(|&end| !lines[end].starts_with('|'));
            let end = end.unwrap_or(lines.len());
            out.push_str(if is_fresh { "" } else { ".PP\n" });
            out.push_str(&table(&lines[at - 1..end]));
            at = end;
        } else {
            let end = (at..lines.len()).find(|&end| !goes_on(lines[end])).unwrap_or(lines.len());
            let text = [&[item(line).unwrap_or(line)], &lines[at..end]].concat().join(" ");
            let mark = if item(line).is_some() { ".IP \\(bu 2\n" } else { ".PP\n" };
            out.push_str(if is_fresh && item(line).is_none() { "" } else { mark });
            out.push_str(&filled(&inline(&text)));
            at = end;
        }
        is_fresh = false;
    }
    out
}

/// The page that the documents make.
fn page(page: &Page) -> String {
    let mut out = String::from("'\\\" t\n.\\\" SPDX-License-Identifier: GPL-3.0-or-later\n");
    let Page { name, section, manual, about, .. } = page;
    let date = release_date();
    for document in page.documents {
        writeln!(out, ".\\\" Made from docs/{document}.md by tests/manual.rs.").expect("a string");
    }
    let title = name.to_uppercase();
    writeln!(out, ".TH {title} {section} {date} \"dbacl 2\" \"{manual}\"").expect("a string");
    writeln!(out, ".SH NAME\n{name} \\- {about}").expect("a string");
    for document in page.documents {
        let text = fs::read_to_string(root().join(format!("docs/{document}.md")));
        out.push_str(&roff(&text.expect("a document")));
    }
    let see: Vec<String> = page
        .see_also
        .iter()
        .map(|other| other.replace('(', "\\fR(").replace('-', "\\-"))
        .map(|other| format!("\\fB{other}"))
        .collect();
    writeln!(out, ".SH SEE ALSO\n{}", see.join(",\n")).expect("a string");
    out
}

#[test]
fn pages_say_what_their_documents_say() {
    for made in MADE {
        holds(&format!("docs/man/{}.{}", made.name, made.section), &page(&made));
    }
}

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
fn readers_of_manual_pages_have_no_complaint() {
    let mut pages: Vec<_> = fs::read_dir(root().join("docs/man"))
        .expect("the manual pages")
        .map(|entry| entry.expect("readable").path())
        .collect();
    pages.sort();
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
            // Where paper ends within a row of a table is no fault of the page.
            let is_fault =
                |line: &&str| !line.ends_with("table text block will not fit on one page");
            let said = String::from_utf8_lossy(&said);
            let faults: Vec<&str> = said.lines().filter(is_fault).collect();
            assert!(faults.is_empty(), "{program} of {}: {faults:#?}", page.display());
        }
    }
}
