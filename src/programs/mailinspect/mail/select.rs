// SPDX-License-Identifier: GPL-3.0-or-later
//! Selects the messages to list by regular expressions on their lines (`-g`, `-G`, spec tools 2.4).

use crate::token::pattern::Expression;

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// The expression that a line must match.
    pub expression: Expression,
    /// Whether messages that match are listed; hidden otherwise.
    pub lists: bool,
}

/// The expressions of a run, in the order of the command line, and their decision on one message.
///
/// The last one that any line matches decides. If none does, a message is listed unless the first
/// of them lists messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    rules: Vec<Rule>,
    last: Option<usize>,
}

impl Selection {
    pub(crate) const fn new(rules: Vec<Rule>) -> Self {
        Self { rules, last: None }
    }

    pub(crate) fn start(&mut self) {
        self.last = None;
    }

    /// Takes in a line of the message, as it stands there.
    pub(crate) fn line(&mut self, line: &[u8]) {
        if self.rules.is_empty() {
            return;
        }
        let line = content(line);
        // Only the expressions after the last one that matched can still change the decision.
        let from = self.last.map_or(0, |last| last + 1);
        for (at, rule) in self.rules.iter_mut().enumerate().skip(from).rev() {
            if rule.expression.is_match(line) {
                self.last = Some(at);
                return;
            }
        }
    }

    pub(crate) fn is_listed(&self) -> bool {
        match self.last {
            Some(last) => self.rules[last].lists,
            None => self.rules.first().is_none_or(|first| !first.lists),
        }
    }
}

/// A line without its end.
pub(crate) fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings::Locale;
    use crate::token::pattern::Syntax;

    #[test]
    fn the_last_expression_that_matches_decides() {
        let message: &[&[u8]] = &[b"Subject: red\r\n", b"\n", b"blue (1)\n"];
        for (rules, expected) in [
            ("", true),
            ("g:red", true),
            ("g:green", false),
            ("G:red", false),
            ("G:green", true),
            ("g:red G:blue", false),
            ("G:blue g:red", true),
            ("g:red G:green", true),
            ("g:green G:gray", false),
            ("G:green g:gray", true),
            ("g:red$", true),
            ("g:(1)$", true), // basic syntax: parentheses stand for themselves
            (r"g:\(red\)", true),
            ("g:RED", false),
        ] {
            let rules = rules.split_whitespace().map(|rule| {
                let (kind, pattern) = rule.split_once(':').expect("KIND:PATTERN");
                let expression = Expression::new(pattern.as_bytes(), Syntax::Basic, Locale::C);
                Rule { expression: expression.expect("valid"), lists: kind == "g" }
            });
            let rules: Vec<Rule> = rules.collect();
            let text: Vec<bool> = rules.iter().map(|rule| rule.lists).collect();
            let mut selection = Selection::new(rules);
            for _ in 0..2 {
                selection.start();
                for line in message {
                    selection.line(line);
                }
                assert_eq!(selection.is_listed(), expected, "{text:?}");
            }
        }
    }
}
