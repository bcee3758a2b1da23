// SPDX-License-Identifier: GPL-3.0-or-later
//! Style sheets of pages, as far as their rules are for one name, class or id.

use super::style::{Style, plain};
use super::values::{Length, WINDOW};

/// A selector of one kind of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Selector {
    Element(u64),
    Class(u64),
    Id(u64),
}

/// A rule with its number in the order of reading.
type Rule = (Selector, usize, Style);

/// Rules of a page for names of elements, classes and single elements; rules for anything else are
/// passed over.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// One for each selector, in their order.
    rules: Vec<Rule>,
    /// Rules that were read.
    read: usize,
    /// Whether a rule that was ignored sets colours, so that the colour after text is unknown.
    pub has_other_colours: bool,
}

/// The most rules that are kept.
const MOST_RULES: usize = 2000;

/// The deepest rules that are read: `@media` in `@supports` in ...
const DEEPEST: usize = 8;

/// The most classes of an element that are looked at.
const MOST_CLASSES: usize = 8;

/// A name as a number; two names with one number are one, which is harmless here.
fn fingerprint(name: &str) -> u64 {
    #[cfg(test)]
    tests::READ.with(|read| read.set(read.get() + name.len()));
    // FNV-1a.
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

fn selector(text: &str) -> Option<Selector> {
    let text = text.trim();
    // Names of elements are cut in tags, too.
    let element_named = |text: &str| Selector::Element(fingerprint(&text[..text.len().min(8)]));
    let is_name = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    let Some(at) = text.find(['.', '#']) else {
        return is_name(text).then(|| element_named(text));
    };
    let (element, name) = text.split_at(at);
    if !(element.is_empty() || is_name(element)) || !is_name(&name[1..]) {
        return None;
    }
    let hash = fingerprint(&name[1..]);
    Some(if name.starts_with('.') { Selector::Class(hash) } else { Selector::Id(hash) })
}

/// Whether the rules of `@media` and the like hold for a reader at a screen.
fn holds(condition: &str) -> bool {
    let mut words = condition.split(|c: char| c.is_ascii_whitespace() || c == '(');
    let kind = words.next().unwrap_or_default();
    let is = |name: &str| kind.eq_ignore_ascii_case(name);
    if is("@layer") {
        return true;
    }
    let has =
        |word: &str| condition.split_ascii_whitespace().any(|own| own.eq_ignore_ascii_case(word));
    if !(is("@media") || is("@supports")) || has("not") {
        return false;
    }
    condition[kind.len()..].split(',').any(|query| {
        query.split("and").all(|part| {
            let part = part.trim();
            let Some((name, value)) = part.strip_prefix('(').and_then(|it| it.split_once(':'))
            else {
                return ["", "all", "screen", "only screen"]
                    .iter()
                    .any(|name| part.eq_ignore_ascii_case(name));
            };
            let width = Length::read(value.trim_end_matches(')')).map(Length::on_page);
            match name.trim() {
                _ if is("@supports") => true,
                "min-width" => width.is_some_and(|width| width <= WINDOW),
                "max-width" => width.is_some_and(|width| width >= WINDOW),
                _ => false,
            }
        })
    })
}

impl Sheet {
    /// Reads the text of a `style` element. Of rules for some kinds of screens (`@media`) those
    /// for wide ones are read; others hide what these show.
    pub(super) fn read(&mut self, text: &str) {
        self.rules_of(&plain(text), 0);
    }

    fn rules_of(&mut self, text: &str, depth: usize) {
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (head, after) = (&rest[..open], &rest[open + 1..]);
            // `@import ...;` has no braces.
            let head = head.rsplit([';', '}']).next().unwrap_or(head);
            let head = head.rsplit("<!--").next().unwrap_or(head).trim_start();
            if head.starts_with('@') {
                // To the brace that closes this one.
                let mut open = 1_usize;
                let end = after.bytes().position(|byte| {
                    open = match byte {
                        b'{' => open + 1,
                        b'}' => open - 1,
                        _ => open,
                    };
                    open == 0
                });
                let end = end.unwrap_or(after.len());
                if depth < DEEPEST && holds(head) {
                    self.rules_of(&after[..end], depth + 1);
                }
                rest = after.get(end + 1..).unwrap_or("");
                continue;
            }
            let end = after.find('}').unwrap_or(after.len());
            self.rule(head, &after[..end]);
            rest = after.get(end + 1..).unwrap_or("");
        }
    }

    fn rule(&mut self, head: &str, declarations: &str) {
        let style = Style::read(declarations);
        if style == Style::default() {
            return;
        }
        for text in head.split(',') {
            match selector(text) {
                Some(selector) if self.rules.len() < MOST_RULES => {
                    self.read += 1;
                    match self.place(selector) {
                        // Rules for one selector are one, in the place of the last.
                        Ok(at) => {
                            let (_, number, sum) = &mut self.rules[at];
                            sum.override_by(&style);
                            *number = self.read;
                        }
                        Err(at) => self.rules.insert(at, (selector, self.read, style)),
                    }
                }
                _ => self.has_other_colours |= style.sets_colours(),
            }
        }
    }

    /// The place of the rule for a selector, or, as an error, the one where it would be inserted.
    fn place(&self, name: Selector) -> Result<usize, usize> {
        self.rules.binary_search_by_key(&name, |&(selector, ..)| selector)
    }

    /// The style that the rules give an element with this name, these classes and this id.
    pub(super) fn style(&self, element: &str, classes: &str, id: &str) -> Style {
        let mut style = Style::default();
        if self.rules.is_empty() {
            return style;
        }
        let own = |name: Selector| self.place(name).ok().map(|at| &self.rules[at]);
        // Of classes the rule that comes last counts, in whatever order they are named.
        let mut found = [None::<&Rule>; MOST_CLASSES];
        let classes = classes.split_ascii_whitespace();
        for (place, class) in found.iter_mut().zip(classes) {
            *place = own(Selector::Class(fingerprint(class)));
        }
        found.sort_unstable_by_key(|rule| rule.map(|(_, number, _)| *number));
        let element = own(Selector::Element(fingerprint(element)));
        let id = own(Selector::Id(fingerprint(id))).filter(|_| !id.is_empty());
        for (_, _, rule) in [element].into_iter().chain(found).chain([id]).flatten() {
            style.override_by(rule);
        }
        style
    }
}

#[cfg(test)]
mod tests {
    use super::super::style::Look;
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Bytes of names that became numbers.
        pub(crate) static READ: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn names_are_read_once_however_many_rules_there_are() {
        let mut sheet = Sheet::default();
        let rules = (0..MOST_RULES).map(|rule| format!(".c{rule} {{ color: red }} "));
        sheet.read(&rules.collect::<String>());
        let classes = vec!["x".repeat(2000); MOST_CLASSES].join(" ");
        let before = READ.get();
        sheet.style("p", &classes, "id");
        assert!(READ.get() - before <= classes.len() + 3);
    }

    #[test]
    fn rules_of_names_classes_and_ids_are_found() {
        let mut sheet = Sheet::default();
        sheet.read(
            "@import url(x); .first{display:none} /* .no{display:none} */ .h, td.x {display:none} \
             #i{font-size:1px} td .y {display:none} em {color:white} p > b {color:red} \
             .back{display:none} .back{display:block} \
             .firm{display:none!important} .firm{display:block} .open { visibility: hidden",
        );
        let hides = |element: &str, class: &str, id: &str| {
            sheet.style(element, class, id).look("p", &Look::PAGE).hides(true)
        };
        for (class, expected) in [
            ("a h b", true),
            ("x", true),
            ("first", true),
            ("no", false),
            ("y", false),
            ("back", false),
            ("firm", true),
            ("firm back", true),
            ("h back", false),
            ("back h", false),
        ] {
            assert_eq!(hides("b", class, ""), expected, "{class}");
        }
        assert!(hides("", "", "i") && hides("", "open", "") && !hides("", "", ""));
        assert!(hides("em", "", ""));
        assert!(sheet.has_other_colours);
    }

    #[test]
    fn rules_for_a_wide_screen_hold() {
        for (condition, expected) in [
            ("@media all", true),
            ("@media screen", true),
            ("@media only screen and (min-width: 1px)", true),
            ("@media (max-width:600px)", false),
            ("@media screen and (max-width:600px), all", true),
            ("@media print", false),
            ("@media not print", false),
            ("@supports (display:block)", true),
            ("@font-face", false),
        ] {
            let mut sheet = Sheet::default();
            sheet.read(&format!("{condition} {{ .a{{color:red}} .m {{ display:none }} }} .b{{}}"));
            let found = sheet.style("p", "m", "").look("p", &Look::PAGE).is_gone;
            assert_eq!(found, expected, "{condition}");
        }
        let mut sheet = Sheet::default();
        sheet.read(&"@media all{".repeat(100_000));
        sheet.read(".late{display:none}");
        assert!(sheet.style("p", "late", "").look("p", &Look::PAGE).is_gone);
    }
}
