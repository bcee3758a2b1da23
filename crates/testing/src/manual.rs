// SPDX-License-Identifier: GPL-3.0-or-later
//! Manual pages in `docs/man`, whose lists of options are made from the option tables.

use crate::{holds, root};
use dbacl_cli::getopt::{Opt, Value};

/// The options as a manual page has them.
fn options<K>(table: &[Opt<K>]) -> String {
    let mut out = String::new();
    for opt in table {
        let mut names = Vec::new();
        if let Some(letter) = opt.letter {
            names.push(format!("\\fB\\-{}\\fR", char::from(letter)));
        }
        if !opt.long.is_empty() {
            names.push(format!("\\fB\\-\\-{}\\fR", opt.long.replace('-', "\\-")));
        }
        let value = match opt.value {
            Value::None => String::new(),
            Value::Required(name) => format!(" \\fI{name}\\fR"),
        };
        let help = opt.help.replace('\n', " ").replace('-', "\\-").replace('\'', "\\(aq");
        let mut letters = help.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let help: String = first.chain(letters).collect();
        out.extend([".TP\n", &names.join(", "), &value, "\n"]);
        fill(&format!("{help}."), &mut out);
    }
    out
}

/// Words in lines of at most 78 characters, none of which begins like a request to the formatter.
pub(crate) fn fill(text: &str, out: &mut String) {
    let mut length = 0;
    for word in text.split(' ') {
        if length > 0 && length + 1 + word.len() > 78 {
            out.push('\n');
            length = 0;
        }
        if length > 0 {
            out.push(' ');
        } else if word.starts_with('.') {
            out.push_str("\\&");
        }
        out.push_str(word);
        length += 1 + word.len();
    }
    out.push('\n');
}

/// Checks that the page of `program` has the options of `table`, word for word, between its marks.
/// With `BLESS` in the environment the page is written again.
#[track_caller]
pub fn check<K>(program: &str, table: &[Opt<K>]) {
    has_options(program, &options(table));
}

/// The same with options as they are to be there.
#[track_caller]
pub(crate) fn has_options(program: &str, options: &str) {
    let name = format!("docs/man/{program}.1");
    let page = std::fs::read_to_string(root().join(&name)).expect("the manual page");
    let (before, rest) = page.split_once(".\\\" BEGIN OPTIONS").expect("the first mark");
    let (mark, rest) = rest.split_once('\n').expect("its line");
    let (_, after) = rest.split_once(".\\\" END OPTIONS").expect("the second mark");
    holds(&name, &format!("{before}.\\\" BEGIN OPTIONS{mark}\n{options}.\\\" END OPTIONS{after}"));
}
