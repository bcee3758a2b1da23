// SPDX-License-Identifier: GPL-3.0-or-later
//! The markup filter: HTML and XML to text (spec text 7, email 12).
//!
//! A byte machine over lines. It carries its state from line to line, rewrites each line in place
//! and only ever shortens it. It is not an HTML parser: it knows tags, quotes, comments, some
//! sections, and the attributes whose values may be asked for.

use crate::filter::bytes::{starts_with_ci, strip_prefix_ci};
use crate::filter::decode::percent;
use crate::filter::entity::decode_entity;
use crate::filter::rewrite::Rewrite;
use crate::model::settings::{Locale, ModelOption, ModelOptions};
use dbacl_words::class::{is_print, is_space};

/// What the filter is to do with a part of a message (spec email 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkupChoice {
    /// Lines pass unchanged.
    Disabled,
    /// Text is shown once the input looks like text or HTML.
    Smart,
    /// Tags are removed, all else is shown.
    Dumb,
}

/// Whether text outside tags is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Not yet: no tag of an HTML page was seen.
    Waiting,
    /// Within an HTML page.
    Html,
    /// Always: the input is XML, or text to be freed of tags.
    Dumb,
}

/// Where the machine is between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The filter is off.
    Disabled,
    Text,
    /// In a tag whose attributes are of no interest.
    Tag,
    TagEquals,
    TagQuoted(u8),
    /// In a tag whose attributes may be shown.
    Mined,
    MinedEquals,
    MinedQuoted(u8),
    Comment,
}

/// The kind of element that the text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Visible,
    Title,
    Script,
    Style,
    Comment,
    NoFrames,
    NoLayer,
    NoScript,
    NoEmbed,
}

impl Section {
    /// The section that an element of this name begins, if its text is hidden by default.
    fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"script" => Self::Script,
            b"style" => Self::Style,
            b"noframes" => Self::NoFrames,
            b"noscript" => Self::NoScript,
            b"nolayer" => Self::NoLayer,
            b"noembed" => Self::NoEmbed,
            _ => return None,
        })
    }
}

/// The attribute whose value is read, and how far a URL has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    /// At program start. Nothing but decoded entities is written.
    Unset,
    Off,
    Alt,
    Url,
    UrlPrefix,
    Host,
    Path,
    Tail,
    Script,
    Style,
}

/// Names of event handlers, after `on`.
const HANDLERS: &str = "mousedown mousemove mouseout mouseover mouseup click dblclick focus \
    keydown keypress keyup dataavailable datasetchanged datasetcomplete abort load unload move \
    resize submit";

/// Length of the event handler's name that `text` begins with, if a space, `=` or the end follows.
fn handler_length(text: &[u8]) -> Option<usize> {
    let name = strip_prefix_ci(text, b"on")?;
    let mut handlers = HANDLERS.split(' ');
    let handler = handlers.find(|handler| {
        strip_prefix_ci(name, handler.as_bytes())
            .is_some_and(|rest| rest.first().is_none_or(|&next| next == b'=' || is_space(next)))
    })?;
    Some(2 + handler.len())
}

/// Names of attributes, the options that ask for their values, and how these are shown.
const ATTRIBUTES: [(&[u8], ModelOption, Attribute); 10] = [
    (b"alt", ModelOption::HtmlAlt, Attribute::Alt),
    (b"action", ModelOption::HtmlForms, Attribute::Url),
    (b"class", ModelOption::HtmlStyles, Attribute::Style),
    (b"data", ModelOption::HtmlLinks, Attribute::Url),
    (b"href", ModelOption::HtmlLinks, Attribute::Url),
    (b"src", ModelOption::HtmlLinks, Attribute::Url),
    (b"style", ModelOption::HtmlStyles, Attribute::Style),
    (b"title", ModelOption::HtmlAlt, Attribute::Alt),
    (b"urn", ModelOption::HtmlLinks, Attribute::Url),
    (b"value", ModelOption::HtmlForms, Attribute::Url),
];

/// The longest tag names that have an effect, such as `noframes`, have eight bytes.
const LONGEST_NAME: usize = 8;

/// The tag name that `text` begins with, in lower case, if it is short enough to mean something.
/// It ends before a space byte or `>`, or at the end of the line.
fn tag_name<'a>(text: &[u8], buffer: &'a mut [u8; LONGEST_NAME]) -> &'a [u8] {
    let end = text.iter().take(LONGEST_NAME + 1).position(|&byte| is_space(byte) || byte == b'>');
    let length = end.unwrap_or(text.len());
    if length > LONGEST_NAME {
        return &[];
    }
    let name = &mut buffer[..length];
    name.copy_from_slice(&text[..length]);
    name.make_ascii_lowercase();
    name
}

/// Whether a line of mail looks like text: printable ASCII and white space, not white space alone.
fn looks_like_text(line: &[u8]) -> bool {
    let mut has_visible = false;
    for &byte in line {
        if !is_space(byte) {
            if !is_print(byte) {
                return false;
            }
            has_visible = true;
        }
    }
    has_visible
}

/// Bytes of a mined tag that mean something outside a value: its end, and first letters of names.
const fn is_mined_stop(byte: u8) -> bool {
    matches!(
        byte.to_ascii_lowercase(),
        b'>' | b'=' | b'a' | b'c' | b'd' | b'h' | b's' | b't' | b'u' | b'v' | b'o'
    )
}

/// The markup filter.
#[derive(Debug)]
pub(crate) struct Markup {
    mode: Mode,
    state: State,
    section: Section,
    attribute: Attribute,
    options: ModelOptions,
    /// The rows of [`ATTRIBUTES`] that options ask for.
    attributes: Vec<(&'static [u8], ModelOption, Attribute)>,
    locale: Locale,
}

impl Markup {
    /// The filter for the types and kinds in `options`.
    pub(crate) fn new(options: ModelOptions, locale: Locale) -> Self {
        let mut markup = Self {
            mode: Mode::Waiting,
            state: State::Text,
            section: Section::Visible,
            attribute: Attribute::Unset,
            options,
            attributes: ATTRIBUTES.into_iter().filter(|row| options.has(row.1)).collect(),
            locale,
        };
        markup.start_file();
        markup
    }

    /// Resets what does not outlive a file (spec text 7.2). The attribute does.
    pub(crate) fn start_file(&mut self) {
        self.restart(if self.options.has(ModelOption::Xml) { Mode::Dumb } else { Mode::Waiting });
    }

    fn restart(&mut self, mode: Mode) {
        self.mode = mode;
        self.state = State::Text;
        self.section = Section::Visible;
    }

    /// Sets the filter for a line of a message; the state runs on if the choice is still the same.
    pub(crate) fn choose(&mut self, choice: MarkupChoice) {
        let is_disabled = self.state == State::Disabled;
        match choice {
            MarkupChoice::Disabled => self.state = State::Disabled,
            MarkupChoice::Smart if is_disabled || self.mode == Mode::Dumb => {
                self.restart(Mode::Waiting);
            }
            MarkupChoice::Dumb if is_disabled || self.mode != Mode::Dumb => {
                self.restart(Mode::Dumb);
            }
            MarkupChoice::Smart | MarkupChoice::Dumb => {}
        }
    }

    #[cfg(test)]
    fn line(&mut self, line: &mut Vec<u8>) {
        self.line_before_nul(line, &[]);
    }

    /// Filters one line in place, which a NUL and then `hidden` followed. It ends at the first NUL
    /// that an entity left in it.
    pub(crate) fn line_before_nul(&mut self, line: &mut Vec<u8>, hidden: &[u8]) {
        if self.state == State::Disabled {
            return;
        }
        if self.options.has(ModelOption::Mail)
            && self.mode == Mode::Waiting
            && looks_like_text(line)
        {
            self.mode = Mode::Html;
        }
        let mut text = Rewrite::before_nul(line, hidden);
        while !text.is_at_end() {
            match self.state {
                State::Disabled => break,
                State::Text => self.text(&mut text),
                State::Tag => self.tag(&mut text),
                State::TagEquals => self.equals(&mut text, State::Tag, State::TagQuoted),
                State::TagQuoted(quote) => self.tag_quoted(&mut text, quote),
                State::Mined => self.mined(&mut text),
                State::MinedEquals => self.equals(&mut text, State::Mined, State::MinedQuoted),
                State::MinedQuoted(quote) => self.mined_quoted(&mut text, quote),
                State::Comment => self.comment(&mut text),
            }
        }
        text.finish();
    }

    fn shows_section(&self) -> bool {
        match self.section {
            Section::Visible | Section::Title => true,
            Section::Script => self.options.has(ModelOption::HtmlScripts),
            Section::Style => self.options.has(ModelOption::HtmlStyles),
            _ => false,
        }
    }

    /// Text outside tags (spec text 7.3): passes a run, then what ends it.
    fn text(&mut self, text: &mut Rewrite) {
        let is_shown = self.mode != Mode::Waiting && self.shows_section();
        let run = if is_shown {
            memchr::memchr2(b'<', b'&', text.rest())
        } else {
            memchr::memchr(b'<', text.rest())
        };
        text.pass(run.unwrap_or(text.rest().len()), is_shown);
        match text.byte() {
            b'<' => self.open(text),
            b'&' if !decode_entity(text, self.locale) => text.skip(1),
            _ => {}
        }
    }

    /// A `<` in text.
    fn open(&mut self, text: &mut Rewrite) {
        match text.peek(1) {
            next if next.is_ascii_alphabetic() => self.open_tag(text),
            b'/' => self.close_tag(text),
            b'!' if text.peek(2) == b'-' && text.peek(3) == b'-' => {
                if text.peek(4) == b'>' {
                    text.skip(5);
                } else {
                    self.state = State::Comment;
                    text.skip(4);
                }
            }
            b'<' if self.mode == Mode::Dumb => text.skip(2),
            b'<' => text.pass(1, self.shows_section()),
            _ => {
                self.state = State::Tag;
                if text.rest().len() == 1 {
                    // The byte after `<` is passed without a look, even if it is a NUL.
                    text.reveal();
                }
                text.skip(2);
            }
        }
    }

    /// The `<` of an opening tag.
    fn open_tag(&mut self, text: &mut Rewrite) {
        self.attribute = Attribute::Off;
        self.state = State::Tag;
        let mut buffer = [0; LONGEST_NAME];
        let rest = &text.rest()[1..];
        let name = tag_name(rest, &mut buffer);
        let mut length = name.len();
        match name {
            b"a" if rest.get(1) != Some(&b'>') => self.state = State::Mined,
            b"area" | b"applet" | b"base" | b"bgsound" | b"div" | b"embed" | b"frame" | b"form"
            | b"img" | b"iframe" | b"ilayer" | b"input" | b"layer" | b"link" | b"object"
            | b"span" => self.state = State::Mined,
            b"body" => {
                self.start_page();
                self.state = State::Mined;
            }
            b"html" | b"head" => self.start_page(),
            b"br" | b"hr" => text.put(b'\n'),
            b"comment" if self.mode == Mode::Html => self.section = Section::Comment,
            // Text that only browsers without a feature show.
            b"noframes" | b"nolayer" | b"noscript" | b"noembed"
                if self.mode == Mode::Html && self.options.has(ModelOption::HtmlAlt) =>
            {
                self.section = Section::Visible;
            }
            b"title" => self.section = Section::Title,
            _ => match Section::of(name) {
                Some(section) => self.section = section,
                None => length = 1,
            },
        }
        text.skip(1 + length);
    }

    fn start_page(&mut self) {
        self.section = Section::Visible;
        if self.mode == Mode::Waiting {
            self.mode = Mode::Html;
        }
    }

    /// The `<` of a closing tag.
    fn close_tag(&mut self, text: &mut Rewrite) {
        self.attribute = Attribute::Off;
        self.state = State::Tag;
        let mut buffer = [0; LONGEST_NAME];
        let ended = match tag_name(&text.rest()[2..], &mut buffer) {
            b"body" | b"html" | b"head" => {
                if self.mode == Mode::Html {
                    self.mode = Mode::Waiting;
                }
                self.section
            }
            b"title" => self.section,
            name => Section::of(name).unwrap_or(Section::Visible),
        };
        if self.section == ended {
            self.section = Section::Visible;
        }
        // The rest of the name means nothing within a tag.
        text.skip(2);
    }

    /// Within a tag of no interest (spec text 7.4).
    fn tag(&mut self, text: &mut Rewrite) {
        let run = memchr::memchr2(b'>', b'=', text.rest()).unwrap_or(text.rest().len());
        text.skip(run);
        match text.byte() {
            b'>' => self.state = State::Text,
            b'=' => self.state = State::TagEquals,
            _ => {}
        }
        text.skip(1);
    }

    /// Behind the `=` of a tag, whose other states are `inside` and `quoted`.
    fn equals(&mut self, text: &mut Rewrite, inside: State, quoted: fn(u8) -> State) {
        match text.byte() {
            quote @ (b'\'' | b'"') => {
                self.state = quoted(quote);
                text.skip(1);
            }
            byte if is_space(byte) => text.skip(1),
            _ => {
                self.state = inside;
                self.value(text);
            }
        }
    }

    /// Within a quoted value of no interest.
    fn tag_quoted(&mut self, text: &mut Rewrite, quote: u8) {
        let run = memchr::memchr2(quote, b'\\', text.rest()).unwrap_or(text.rest().len());
        text.skip(run);
        if text.byte() == quote {
            self.state = State::Tag;
            text.skip(1);
        } else {
            text.skip(if text.peek(1) == quote { 2 } else { 1 });
        }
    }

    /// Within a comment: passes a run without `-`, then one `-` or the end.
    fn comment(&mut self, text: &mut Rewrite) {
        let is_shown = self.options.has(ModelOption::HtmlComments)
            || self.section == Section::Script && self.options.has(ModelOption::HtmlScripts)
            || self.section == Section::Style && self.options.has(ModelOption::HtmlStyles);
        let run = memchr::memchr(b'-', text.rest()).unwrap_or(text.rest().len());
        text.pass(run, is_shown);
        if text.peek(1) == b'-' {
            self.state = State::Tag;
            text.skip(1);
        } else {
            text.pass(1, is_shown);
        }
    }

    /// Within a tag whose attributes may be shown (spec text 7.5).
    fn mined(&mut self, text: &mut Rewrite) {
        if self.mode == Mode::Waiting {
            self.mode = Mode::Html;
        }
        if self.attribute == Attribute::Off {
            let run = text.rest().iter().position(|&byte| is_mined_stop(byte));
            text.skip(run.unwrap_or(text.rest().len()));
            if text.is_at_end() {
                return;
            }
        }
        let byte = text.byte();
        if self.attribute != Attribute::Off
            && is_space(byte)
            && byte != b'\n'
            && !(byte == b'\r' && text.peek(1) == b'\n')
        {
            self.end_value(text);
            text.skip(1);
        } else if byte == b'>' {
            self.state = State::Text;
            self.end_value(text);
            text.skip(1);
        } else if byte == b'=' {
            self.state = State::MinedEquals;
            text.skip(1);
        } else {
            self.mined_byte(text);
        }
    }

    /// A byte of a value without quotes, or the first letter of an attribute's name.
    fn mined_byte(&mut self, text: &mut Rewrite) {
        let start = text.position();
        self.value(text);
        // The value writer has kept or dropped one letter, so the text after it is unchanged.
        let name = &text.line()[start..];
        if let Some((attribute, length)) = self.attribute_name(name) {
            self.end_value(text);
            self.attribute = attribute;
            text.put(b'\n');
            text.jump(start + length);
        }
    }

    /// The attribute whose name stands at the start of `text`, if options ask for its value, and
    /// the name's length. Nothing around the name is looked at, but for event handlers, which are
    /// always found.
    fn attribute_name(&self, text: &[u8]) -> Option<(Attribute, usize)> {
        let initial = text.first()?.to_ascii_lowercase();
        let is_named = |name: &[u8]| name[0] == initial && starts_with_ci(text, name);
        match self.attributes.iter().find(|(name, ..)| is_named(name)) {
            Some(&(name, _, attribute)) => Some((attribute, name.len())),
            None => handler_length(text).map(|length| (Attribute::Script, length)),
        }
    }

    /// Ends a value that is shown by a newline.
    fn end_value(&mut self, text: &mut Rewrite) {
        if self.attribute != Attribute::Off {
            self.attribute = Attribute::Off;
            text.put(b'\n');
        }
    }

    /// Within a quoted value that may be shown.
    fn mined_quoted(&mut self, text: &mut Rewrite, quote: u8) {
        if self.attribute == Attribute::Off {
            let run = memchr::memchr2(quote, b'\\', text.rest());
            text.skip(run.unwrap_or(text.rest().len()));
        }
        if text.byte() == quote {
            self.state = State::Mined;
            // The quote is read first: the newline may take its place.
            text.skip(1);
            self.end_value(text);
        } else if self.value(text) == Some(b'\\') && text.byte() == quote {
            self.value(text);
        }
    }

    /// Passes a byte of a value on, as far as its attribute is shown; returns it, or the one that
    /// stands for it after an entity or a percent sign (spec text 7.5, value writer).
    fn value(&mut self, text: &mut Rewrite) -> Option<u8> {
        if text.is_at_end() {
            return None;
        }
        if self.attribute != Attribute::Off && text.byte() == b'&' {
            decode_entity(text, self.locale);
            if text.is_at_end() {
                return None;
            }
        }
        let byte = text.byte();
        let is_mark = matches!(byte, b'?' | b';' | b'#' | b'&');
        match self.attribute {
            Attribute::Off | Attribute::Unset => text.skip(1),
            Attribute::Alt | Attribute::Tail => text.keep(),
            Attribute::Script => text.pass(1, self.options.has(ModelOption::HtmlScripts)),
            Attribute::Style => text.pass(1, self.options.has(ModelOption::HtmlStyles)),
            Attribute::Url => {
                if byte == b':' {
                    self.attribute = Attribute::UrlPrefix;
                    text.keep();
                } else if starts_with_ci(text.rest(), b"javascript:") {
                    self.attribute = Attribute::Script;
                    text.pass(1, self.options.has(ModelOption::HtmlScripts));
                } else {
                    text.keep();
                }
            }
            Attribute::UrlPrefix if byte == b'/' => text.keep(),
            Attribute::UrlPrefix if is_mark => {
                self.attribute = Attribute::Tail;
                text.keep();
            }
            Attribute::UrlPrefix => {
                self.attribute = Attribute::Host;
                return Some(uri_byte(text));
            }
            Attribute::Host if byte == b'/' => {
                self.attribute = Attribute::Path;
                text.keep();
            }
            Attribute::Host if is_mark => {
                self.attribute = Attribute::Tail;
                text.skip(1);
            }
            Attribute::Path if byte == b'.' => text.keep(),
            Attribute::Path if is_mark => {
                self.attribute = Attribute::Tail;
                text.keep();
            }
            Attribute::Host | Attribute::Path => return Some(uri_byte(text)),
        }
        Some(byte)
    }
}

/// Passes a byte of a URL on, percent signs decoded and spaces dropped; returns the last one read.
fn uri_byte(text: &mut Rewrite) -> u8 {
    let byte = text.byte();
    if is_space(byte) {
        text.skip(1);
    } else if byte == b'%'
        && let Some((decoded, length)) = percent(text.rest())
    {
        let last = text.peek(length - 1);
        text.put(decoded);
        text.skip(length);
        return last;
    } else {
        text.keep();
    }
    byte
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::pieces::pieces_of;
    use proptest::prelude::*;

    fn filtered(options: ModelOptions, lines: &[&str]) -> String {
        let mut markup = Markup::new(options, Locale::C);
        let mut output = Vec::new();
        for line in lines {
            let mut line = line.as_bytes().to_vec();
            markup.line(&mut line);
            output.extend(line);
        }
        String::from_utf8_lossy(&output).replace('\n', "|")
    }

    fn html() -> ModelOptions {
        ModelOptions::default().with(ModelOption::Html)
    }

    #[test]
    fn text_is_shown_from_the_first_tag_of_a_page_on() {
        for (text, expected) in [
            ("before<p>still<body>shown</body>after", "shown"),
            ("x<a href=y>shown", "shown"),
            ("x<a>hidden", ""),
            ("x<html>a<script>b</script>c<style>d</style>e", "ace"),
            ("<html>a<noscript>b</noscript>c<comment>d</comment>e", "ac"),
            ("<html><title>t<b>u</title>v", "tuv"),
            ("<html>a<!-- - -> b -- c > d", "a d"),
            ("<html>a<!-->b", "ab"),
            ("<html>a<!x \"y>z\"", "az\""),
            ("<html>a<!x=\"y>z\">w", "aw"),
            ("<html>a<x y='\\'>'>b", "ab"),
            ("<html>a<x y=>b>c", "ac"),
            ("<html>a<>b>c", "ac"),
            ("<html>a<<b>c", "a<c"),
            ("a<<b>c", "<"),
            ("x<br>y<HR>", "||"),
            ("<html>&lt;&amp;&bogus&", "(&bogus"),
            ("a&amp;b", ""),
            ("<html>a<", "a"),
        ] {
            assert_eq!(filtered(html(), &[text]), expected, "{text}");
        }
    }

    #[test]
    fn xml_shows_all_but_tags() {
        let xml = ModelOptions::default().with(ModelOption::Xml);
        for (text, expected) in [
            ("a<b c='d'>e</b>f", "aef"),
            ("<?xml version=\"1.0\"?>a", "a"),
            ("a<<b>c", "ab>c"),
            ("a<script>b", "a"),
            ("a&#65;b", "aAb"),
            ("a</body>b", "ab"),
        ] {
            assert_eq!(filtered(xml, &[text]), expected, "{text}");
        }
    }

    #[test]
    fn values_of_the_chosen_kinds_are_shown() {
        let rows: [(ModelOption, &str, &str); 14] = [
            (
                ModelOption::HtmlLinks,
                "<a href=\"http://a.b/c%20d?e=f&amp;g\">t</a>",
                "|http://a.b/c d?e=f&g|t",
            ),
            (ModelOption::HtmlLinks, "<a href=http://a.b;x y>t", "|http://a.bx|t"),
            (ModelOption::HtmlLinks, "<img xsrc='q'>", "|q|"),
            (ModelOption::HtmlLinks, "<a href='javascript:f()'>t", "||t"),
            (ModelOption::HtmlScripts, "<a onclick='f()'>t", "|f()|t"),
            (ModelOption::HtmlScripts, "<a onclicks='f()'>t", "t"),
            (ModelOption::HtmlLinks, "<a onclick=f()>t", "||t"),
            (ModelOption::HtmlAlt, "<img alt=\"a 'b'\" title=c>", "|a 'b'||c|"),
            (ModelOption::HtmlAlt, "<img alt=\"x&amp;\">y", "|x&\">y"),
            (ModelOption::HtmlAlt, "<img alt='a\\'b'>y", "|a\\\'b|y"),
            (ModelOption::HtmlForms, "<form action='p' value=q>", "|p||q|"),
            (ModelOption::HtmlStyles, "<div class=a style='b'>c", "|a||b|c"),
            (ModelOption::HtmlComments, "<html><!-- a - b -- c>d", " a - b d"),
            (ModelOption::HtmlAlt, "<html><noscript>a", "a"),
        ];
        for (kind, text, expected) in rows {
            assert_eq!(filtered(html().with(kind), &[text]), expected, "{text}");
        }
    }

    #[test]
    fn a_tag_may_end_on_a_later_line() {
        assert_eq!(filtered(html(), &["<html>a<b\n", "c='\n", ">'\n", ">d\n"]), "ad|");
    }

    #[test]
    fn a_nul_directly_after_an_opening_bracket_is_passed() {
        for (line, hidden, expected) in [
            ("a <", "b>c\n", "a c\n"),
            ("a <", "b> <\0> c<\0d>\n", "a   c\n"),
            ("a <", "\0b>c\n", "a "),
            ("a <b", ">c\n", "a "),
            ("a ", "b\n", "a "),
            ("a &", "amp;b\n", "a "),
        ] {
            let options = ModelOptions::default().with(ModelOption::Xml);
            let mut line = line.as_bytes().to_vec();
            Markup::new(options, Locale::C).line_before_nul(&mut line, hidden.as_bytes());
            assert_eq!(String::from_utf8_lossy(&line), expected, "{hidden:?}");
        }
    }

    #[test]
    fn a_nul_ends_the_line() {
        assert_eq!(filtered(html(), &["<html>a&#-256;b\n", "c"]), "ac");
    }

    #[test]
    fn an_entity_in_a_declaration_shows_until_the_first_tag() {
        assert_eq!(filtered(html(), &["<!x=&amp;yz>", "<p><!x=&amp;yz>"]), "&");
    }

    #[test]
    fn choices_of_mail_keep_or_restart_the_state() {
        let mut markup = Markup::new(html().with(ModelOption::Mail), Locale::C);
        let mut show = |choice, text: &str| {
            let mut line = text.as_bytes().to_vec();
            markup.choose(choice);
            markup.line(&mut line);
            String::from_utf8(line).expect("tests are text")
        };
        for (choice, text, expected) in [
            (MarkupChoice::Disabled, "<b>a", "<b>a"),
            (MarkupChoice::Smart, "\u{e9}<b>a", ""),
            (MarkupChoice::Smart, "<b>a<i", "a"),
            (MarkupChoice::Smart, "x>b", "b"),
            (MarkupChoice::Dumb, "\u{e9}<b>a<i", "\u{e9}a"),
            (MarkupChoice::Smart, "x>b", "x>b"),
            (MarkupChoice::Smart, "<i", ""),
            (MarkupChoice::Disabled, "a>b", "a>b"),
            (MarkupChoice::Smart, "a", "a"),
        ] {
            assert_eq!(show(choice, text), expected, "{text}");
        }
    }

    fn markup_like() -> impl Strategy<Value = Vec<u8>> {
        pieces_of(
            "<|>|=|'|\"|&|;| |\n|\r\n|\\|--|<!--|<a |<body |</body>|<script>|</script>|href|\
             src|alt|title|style|value|onclick|http://|javascript:|%4|1|&amp;|&#|&#-256;|\
             &#x7fffffff;|<br>|/|?|#|:",
            60,
        )
    }

    proptest! {
        #[test]
        fn lines_never_grow(
            lines in proptest::collection::vec(markup_like(), 1..6),
            bits in any::<u32>(),
            is_utf8 in any::<bool>(),
        ) {
            let locale = if is_utf8 { Locale::Utf8 } else { Locale::C };
            let mut markup = Markup::new(ModelOptions::from_bits(bits), locale);
            for line in lines {
                let mut output = line.clone();
                markup.line(&mut output);
                prop_assert!(output.len() <= line.len());
            }
        }
    }
}
