// SPDX-License-Identifier: GPL-3.0-or-later
//! HTML to the text that a reader sees, in pieces of any size.
//!
//! Tags are found as browsers find them. Elements that end a line for a reader end one here; other
//! elements and comments do not break words. Text that a style hides is kept apart: open elements
//! stand with their styles on a stack of bounded depth.

use crate::filter::unicode::attributes::Attributes;
use crate::filter::unicode::elements::{
    Name, closed_by_same, ends_cell, ends_line, is_never_shown, is_raw, is_void, name, names,
};
use crate::filter::unicode::lines::{Builder, Lines};
use crate::filter::unicode::sheet::Sheet;
use crate::filter::unicode::style::{Look, Style};
use crate::model::medium::Medium;
use crate::model::settings::{ModelOption, ModelOptions};
use dbacl_words::charset::references;

/// The medium of links and other attributes that options ask for.
const ASIDE: Medium = Medium::new(2);
/// Bytes of a tag whose attributes are read; the end of a longer tag is found, too.
const LONGEST_TAG: usize = 1 << 14;
/// Bytes of style sheets that are read.
const LONGEST_SHEET: usize = 1 << 18;
/// The most open elements on the stack.
const MOST_OPEN: usize = 256;

const SCRIPT: Name = name("script");
const STYLE: Name = name("style");

/// The state of the machine between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// After a `&`; the characters of the reference are collected.
    Reference,
    /// After a `<`; bytes are collected until it is clear what begins.
    Open,
    /// In a tag, outside quotes.
    Tag,
    /// In a tag, after a `=`.
    Equals,
    /// In a quoted value.
    Quoted(u8),
    /// In a value without quotes.
    Value,
    /// In a comment, after so many dashes (2 stands for two or more); 3 is `--!`.
    Comment(u8),
    /// After `<!`, `<?` or `</`, up to `>`.
    Bogus,
    /// In an element whose text holds no tags.
    Raw,
    /// In such an element, after a `<` that may begin its end tag.
    RawEnd,
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct Element {
    name: Name,
    look: Look,
}

/// The page itself.
const PAGE: Element = Element { name: [0; 8], look: Look::PAGE };

/// The filter.
#[derive(Debug)]
pub(super) struct Html {
    options: ModelOptions,
    state: State,
    /// The beginning of a reference, a tag or a possible end tag.
    held: Vec<u8>,
    /// The element that is open, if its text holds no tags.
    raw: Name,
    stack: Vec<Element>,
    /// Open elements beyond those of the stack.
    beyond: usize,
    /// Which of these hides what is within; 0 for none.
    hidden_beyond: usize,
    /// Whether the innermost element's text is hidden.
    is_hidden: bool,
    sheet: Sheet,
    sheet_text: Vec<u8>,
    scratch: Vec<u8>,
    visible: Builder,
    aside: Builder,
    has_shown: bool,
}

impl Html {
    /// The filter for a page whose text gets this medium.
    pub(super) fn new(options: ModelOptions, medium: Medium) -> Self {
        Self {
            options,
            state: State::Text,
            held: Vec::new(),
            raw: Name::default(),
            stack: vec![PAGE],
            beyond: 0,
            hidden_beyond: 0,
            is_hidden: false,
            sheet: Sheet::default(),
            sheet_text: Vec::new(),
            scratch: Vec::new(),
            visible: Builder::new(medium),
            aside: Builder::new(ASIDE),
            has_shown: false,
        }
    }

    /// Takes the next piece of the page, valid UTF-8.
    pub(super) fn feed(&mut self, mut text: &[u8], output: &mut Lines) {
        while !text.is_empty() {
            let taken = self.step(text, output);
            text = &text[taken..];
        }
    }

    /// Ends the page. Returns whether a reader has seen something of it: text or a picture.
    pub(super) fn finish(mut self, output: &mut Lines) -> bool {
        match self.state {
            State::Reference => self.end_reference(output),
            State::Open => self.show_held(output),
            _ => {}
        }
        self.visible.end_line(output);
        self.aside.end_line(output);
        self.has_shown
    }

    /// Takes some of `text`, which is not empty; returns how many bytes.
    fn step(&mut self, text: &[u8], output: &mut Lines) -> usize {
        let byte = text[0];
        let until = |found: Option<usize>| found.unwrap_or(text.len());
        match self.state {
            State::Text => {
                let run = until(memchr::memchr2(b'<', b'&', text));
                if run > 0 {
                    self.show(&text[..run], output);
                    return run;
                }
                self.held.clear();
                self.held.push(byte);
                self.state = if byte == b'<' { State::Open } else { State::Reference };
                1
            }
            State::Reference => {
                let is_inside =
                    byte.is_ascii_alphanumeric() || byte == b'#' && self.held.len() == 1;
                if is_inside && self.held.len() < references::LONGEST {
                    self.held.push(byte);
                    return 1;
                }
                if byte == b';' {
                    self.held.push(byte);
                }
                self.end_reference(output);
                self.state = State::Text;
                usize::from(byte == b';')
            }
            State::Open => self.open(byte, output),
            State::Tag => {
                let run = until(memchr::memchr2(b'>', b'=', text));
                self.hold(&text[..run]);
                match text.get(run) {
                    Some(b'>') => self.end_tag(output),
                    Some(_) => {
                        self.hold(b"=");
                        self.state = State::Equals;
                    }
                    None => return run,
                }
                run + 1
            }
            State::Equals => {
                match byte {
                    b'>' => self.end_tag(output),
                    b'"' | b'\'' => {
                        self.hold(&[byte]);
                        self.state = State::Quoted(byte);
                    }
                    _ => {
                        self.hold(&[byte]);
                        if !byte.is_ascii_whitespace() {
                            self.state = State::Value;
                        }
                    }
                }
                1
            }
            State::Value => {
                let end = |byte: &u8| *byte == b'>' || byte.is_ascii_whitespace();
                let run = until(text.iter().position(end));
                self.hold(&text[..run]);
                match text.get(run) {
                    Some(b'>') => self.end_tag(output),
                    Some(_) => {
                        self.hold(b" ");
                        self.state = State::Tag;
                    }
                    None => return run,
                }
                run + 1
            }
            State::Quoted(quote) => {
                let run = until(memchr::memchr(quote, text));
                self.hold(&text[..run]);
                if run == text.len() {
                    return run;
                }
                self.hold(&[quote]);
                self.state = State::Tag;
                run + 1
            }
            State::Comment(dashes) => self.comment(text, dashes, output),
            State::Bogus => {
                let run = until(memchr::memchr(b'>', text));
                if run == text.len() {
                    return run;
                }
                self.state = State::Text;
                run + 1
            }
            State::Raw => {
                let run = until(memchr::memchr(b'<', text));
                self.raw(&text[..run], output);
                if run == text.len() {
                    return run;
                }
                self.held.clear();
                self.held.push(b'<');
                self.state = State::RawEnd;
                run + 1
            }
            State::RawEnd => self.raw_end(byte, output),
        }
    }

    /// Keeps a part of a tag, as far as it is not too long.
    fn hold(&mut self, text: &[u8]) {
        let room = LONGEST_TAG.saturating_sub(self.held.len());
        self.held.extend_from_slice(&text[..text.len().min(room)]);
    }

    /// A byte after `<`, or after `<!` and dashes.
    fn open(&mut self, byte: u8, output: &mut Lines) -> usize {
        match (self.held.as_slice(), byte) {
            (b"<", b'/' | b'!') | (b"<!", b'-') => {
                self.held.push(byte);
                return 1;
            }
            (b"<", b'?') => self.state = State::Bogus,
            (b"<" | b"</", _) if byte.is_ascii_alphabetic() => {
                self.held.push(byte);
                self.state = State::Tag;
            }
            (b"<!-", b'-') => self.state = State::Comment(2),
            // `</>` is nothing; anything else is passed over up to a `>`.
            (b"</", b'>') => self.state = State::Text,
            (b"</" | b"<!" | b"<!-", _) => {
                self.state = State::Bogus;
                return 0;
            }
            _ => {
                self.show_held(output);
                self.state = State::Text;
                return 0;
            }
        }
        1
    }

    fn comment(&mut self, text: &[u8], dashes: u8, output: &mut Lines) -> usize {
        let is_asked = self.options.has(ModelOption::HtmlComments);
        if dashes == 0 {
            let run = memchr::memchr(b'-', text).unwrap_or(text.len());
            if is_asked {
                self.aside.lines(&text[..run], output);
            }
            if run < text.len() {
                self.state = State::Comment(1);
                return run + 1;
            }
            return run;
        }
        self.state = match (text[0], dashes) {
            (b'>', 2 | 3) => {
                if is_asked {
                    self.aside.end_line(output);
                }
                State::Text
            }
            (b'!', 2) => State::Comment(3),
            (b'-', 1 | 2) => State::Comment(2),
            (b'-', _) => State::Comment(1),
            _ => {
                if is_asked && dashes == 1 {
                    self.aside.lines(b"-", output);
                }
                self.state = State::Comment(0);
                return 0;
            }
        };
        1
    }

    /// Text of an element that holds no tags.
    fn raw(&mut self, text: &[u8], output: &mut Lines) {
        let option = match self.raw {
            SCRIPT => ModelOption::HtmlScripts,
            STYLE => ModelOption::HtmlStyles,
            _ => return,
        };
        if self.raw == STYLE {
            let room = LONGEST_SHEET.saturating_sub(self.sheet_text.len());
            self.sheet_text.extend_from_slice(&text[..text.len().min(room)]);
        }
        if self.options.has(option) {
            self.aside.lines(text, output);
        }
    }

    /// Takes a byte of the possible end tag of such an element.
    fn raw_end(&mut self, byte: u8, output: &mut Lines) -> usize {
        let at = self.held.len();
        let wanted = match at {
            1 => Some(b'/'),
            _ => self.raw.get(at - 2).copied().filter(|&letter| letter != 0),
        };
        match wanted {
            Some(wanted) if byte.to_ascii_lowercase() == wanted => {
                self.held.push(byte);
                1
            }
            None if byte == b'>' || byte == b'/' || byte.is_ascii_whitespace() => {
                self.aside.end_line(output);
                if self.raw == STYLE {
                    if let Ok(text) = std::str::from_utf8(&self.sheet_text) {
                        self.sheet.read(text);
                    }
                    self.sheet_text.clear();
                }
                self.state = State::Bogus;
                0
            }
            _ => {
                let held = std::mem::take(&mut self.held);
                self.raw(&held, output);
                self.held = held;
                self.state = State::Raw;
                0
            }
        }
    }

    /// The end of a character reference.
    fn end_reference(&mut self, output: &mut Lines) {
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        let length = references::decode(&self.held, &mut found);
        if length == 0 {
            found.push(b'&');
        }
        found.extend_from_slice(&self.held[length.max(1)..]);
        self.show(&found, output);
        self.scratch = found;
    }

    fn show_held(&mut self, output: &mut Lines) {
        let held = std::mem::take(&mut self.held);
        self.show(&held, output);
        self.held = held;
    }

    /// Text of the page.
    fn show(&mut self, text: &[u8], output: &mut Lines) {
        if self.is_hidden {
            return;
        }
        if !self.has_shown {
            self.has_shown =
                !text.iter().all(u8::is_ascii_whitespace) && text != "\u{a0}".as_bytes();
        }
        self.visible.run(text, output);
    }

    /// The end of a tag that `held` has from its `<` on.
    fn end_tag(&mut self, output: &mut Lines) {
        self.state = State::Text;
        let held = std::mem::take(&mut self.held);
        let (is_end, text) = match held.as_slice() {
            [b'<', b'/', text @ ..] => (true, text),
            [b'<', text @ ..] => (false, text),
            _ => (false, &[][..]),
        };
        let is_inside = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b'/';
        let length = text.iter().position(|byte| !is_inside(byte)).unwrap_or(text.len());
        let mut tag: Name = [0; 8];
        for (slot, byte) in tag.iter_mut().zip(&text[..length]) {
            *slot = byte.to_ascii_lowercase();
        }
        if is_end {
            self.close(tag, output);
        } else {
            self.start_tag(tag, &text[length..], output);
        }
        self.held = held;
    }

    /// An end tag: closes the innermost element of its name and those within.
    fn close(&mut self, tag: Name, output: &mut Lines) {
        if ends_line(tag) {
            self.visible.end_line(output);
        } else if ends_cell(tag) {
            self.visible.run(b" ", output);
        }
        if self.beyond > 0 {
            // One beyond those of the stack.
            self.beyond -= 1;
            if self.beyond < self.hidden_beyond {
                self.hidden_beyond = 0;
                self.is_hidden = self.stack.last().is_some_and(|element| self.hides(element));
            }
        } else if let Some(at) = self.stack.iter().rposition(|element| element.name == tag)
            && at > 0
        {
            self.truncate(at);
        }
    }

    fn truncate(&mut self, length: usize) {
        (self.beyond, self.hidden_beyond) = (0, 0);
        self.stack.truncate(length.max(1));
        self.is_hidden = self.stack.last().is_some_and(|element| self.hides(element));
    }

    fn hides(&self, element: &Element) -> bool {
        element.look.hides(!self.sheet.has_other_colours)
    }

    fn start_tag(&mut self, tag: Name, rest: &[u8], output: &mut Lines) {
        if ends_line(tag) {
            self.visible.end_line(output);
            // A paragraph that is open in the innermost cell or table ends.
            self.close_same(const { name("p") }, &const { names::<4>("td th table button") });
        } else if ends_cell(tag) {
            self.visible.run(b" ", output);
        }
        if let Some(scope) = closed_by_same(tag) {
            self.close_same(tag, scope);
        }
        let attributes = Attributes::read(rest, self.options, &mut self.scratch);
        if tag == const { name("img") } && !self.is_hidden {
            self.has_shown |= attributes.is_picture;
        }
        for found in &attributes.shown {
            let (start, end, option) = *found;
            if start == end {
                continue;
            }
            if option == ModelOption::HtmlAlt && self.options.has(ModelOption::MailTags) {
                // Of tags and text, this is text.
                if !self.is_hidden {
                    self.visible.run(&self.scratch[start..end], output);
                    self.visible.run(b" ", output);
                }
            } else {
                self.aside.lines(&self.scratch[start..end], output);
                self.aside.end_line(output);
            }
        }
        if is_void(tag) {
            return;
        }
        if is_raw(tag) {
            self.raw = tag;
            self.state = State::Raw;
            return;
        }
        let letters = tag.iter().position(|&byte| byte == 0).unwrap_or(tag.len());
        let element = std::str::from_utf8(&tag[..letters]).unwrap_or("");
        self.push(tag, element, &attributes.style(element, &self.sheet));
    }

    /// Opens an element.
    fn push(&mut self, tag: Name, name: &str, style: &Style) {
        let parent = *self.stack.last().unwrap_or(&PAGE);
        let mut look = style.look(name, &parent.look);
        look.is_gone |= is_never_shown(tag);
        let element = Element { name: tag, look };
        if self.stack.len() < MOST_OPEN {
            self.is_hidden = self.hides(&element);
            self.stack.push(element);
            return;
        }
        // Elements beyond are only counted: what one hides is hidden until as many are closed.
        self.beyond += 1;
        if !self.is_hidden && self.hides(&element) {
            self.is_hidden = true;
            self.hidden_beyond = self.beyond;
        }
    }

    /// Closes an open element of this name, unless one of `scope` is open within it.
    fn close_same(&mut self, tag: Name, scope: &[Name]) {
        let found = self
            .stack
            .iter()
            .rposition(|element| element.name == tag || scope.contains(&element.name));
        if let Some(at) = found
            && self.stack[at].name == tag
        {
            self.truncate(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &str, size: usize, options: ModelOptions) -> String {
        let mut html = Html::new(options, Medium::new(3));
        let mut lines = Lines::default();
        let mut rest = page;
        while !rest.is_empty() {
            let cut = (size.min(rest.len())..=rest.len()).find(|&at| rest.is_char_boundary(at));
            let (piece, behind) = rest.split_at(cut.expect("the end is a border"));
            html.feed(piece.as_bytes(), &mut lines);
            rest = behind;
        }
        html.finish(&mut lines);
        let mut found = Vec::new();
        let mut line = Vec::new();
        while let Some((medium, _)) = lines.pop(&mut line) {
            let text = String::from_utf8(line.clone()).expect("valid UTF-8");
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            found.push(format!("{}:{}", medium.number(), words.join(" ")));
        }
        found.join("|")
    }

    fn check(page: &str, expected: &str) {
        for size in [1, 2, 3, 5, 1000] {
            let found = read(page, size, ModelOptions::default());
            assert_eq!(found, expected, "{page} in pieces of {size}");
        }
    }

    #[test]
    fn tags_end_lines_or_nothing() {
        for (page, expected) in [
            ("<p>one two</p><p>three<br>four", "3:one two|3:three|3:four"),
            ("vi<b></b>ag<!-- x -->ra", "3:viagra"),
            ("a\nb\r\nc", "3:a b c"),
            ("<td>a</td><td>b</td>", "3:a b"),
            ("a < b > c <3 <", "3:a < b > c <3 <"),
            ("a<!doctype x>b<?php x ?>c</>d</ x>e<!-->f<!--->g<!-- a--!>h", "3:abcdefgh"),
            ("a<!-- - -- > <p>x --->b", "3:ab"),
            ("<a href='x>y' title=\"<p>\">t</a>", "3:t"),
            ("<a title=x\"y>t\">u", "3:t\">u"),
            ("a<script>if (a<b) '</scrip>' x</script >b", "3:ab"),
            ("<title>t</title><style>p{}</style>x<style>", "3:x"),
            ("caf&eacute;&nbsp;&amp;&#x440; &copy &x &", "3:caf\u{e9}\u{a0}&\u{440} \u{a9} &x &"),
            ("<b", ""),
            ("unclosed <a href=\"x y", "3:unclosed"),
        ] {
            check(page, expected);
        }
    }

    #[test]
    fn hidden_text_is_left_out() {
        for (page, expected) in [
            ("a<div style='display:none'>x<div>y</div>z</div>b", "3:a|3:b"),
            ("a<span hidden>x</span>b", "3:ab"),
            ("a<span style=\"font-size:0\">x<i style='font-size:12px'>y</i></span>b", "3:ayb"),
            ("a<span style='DISPLAY:&#110;one'>x</span>b", "3:ab"),
            ("a<font color=white>x</font>b", "3:ab"),
            ("<td bgcolor=black>a<font color=#ffffff>x</font></td>", "3:x"),
            ("<body bgcolor='#102030' text='#FFFFFF'>a<font color=#102030>x</font>b", "3:ab"),
            ("<table background=x.gif><td>a<font color=white>x</font>", "3:ax"),
            ("<style>.h{display:none}</style>a<p class='h'>x<p>b", "3:a|3:b"),
            ("<style>em{display:none}</style>a<em>x</em>b", "3:ab"),
            ("<span style='background:transparent;color:#fff'>x</span>b", "3:b"),
            ("<p style='display:none'>x<div>a</div>", "3:a"),
            ("<span style='display:none'>x<br>y<img src=a>z</span>b", "3:b"),
            ("<template>x</template>a", "3:a"),
            ("<a style='color:white'>x</a>a", "3:a"),
        ] {
            check(page, expected);
        }
        // Beyond the stack, too.
        let deep = format!("{}a<i hidden>x<b>y</b></i>b", "<span>".repeat(2 * MOST_OPEN));
        check(&deep, "3:ab");
    }

    #[test]
    fn attributes_that_options_ask_for_are_kept_apart() {
        let page = "<a href='http://a.b/?x&amp;y'>t</a><img alt='a picture' src=p.gif>\
            <script>s</script><input value=v><!-- c-d --><style>e{}</style><i onclick=o>";
        for (option, expected) in [
            (ModelOption::HtmlLinks, "2:http://a.b/?x&y|2:p.gif|3:t"),
            (ModelOption::HtmlAlt, "2:a picture|3:t"),
            (ModelOption::HtmlScripts, "2:s|2:o|3:t"),
            (ModelOption::HtmlForms, "2:v|3:t"),
            (ModelOption::HtmlComments, "2:c-d|3:t"),
            (ModelOption::HtmlStyles, "2:e{}|3:t"),
        ] {
            let options = ModelOptions::default().with(option);
            for size in [1, 3, 1000] {
                assert_eq!(read(page, size, options), expected, "{option:?}");
            }
        }
    }

    #[test]
    fn hostile_pages_take_linear_time_and_bounded_memory() {
        let units = "<|<a |<a b=|<a b='|<div>|<p style='|\
            &|&#|&a|<!--|-|<script>|</|<style>.a{|<p><td>|<li>|</div>|<!-|<script></|=";
        for unit in units.split('|') {
            let page = unit.repeat((1 << 18) / unit.len());
            let mut html = Html::new(ModelOptions::default(), Medium::new(3));
            let mut lines = Lines::default();
            html.feed(page.as_bytes(), &mut lines);
            assert!(html.stack.len() <= MOST_OPEN && html.held.len() <= LONGEST_TAG, "{unit}");
            html.finish(&mut lines);
            assert!(lines.size() <= page.len() + page.len() / 4, "{unit}");
        }
    }
}
