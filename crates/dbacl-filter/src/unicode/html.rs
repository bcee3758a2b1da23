// SPDX-License-Identifier: GPL-3.0-or-later
//! HTML to the text that a reader sees, in pieces of any size.
//!
//! Tags are found as browsers find them. Elements that end a line for a reader end one here; other
//! elements and comments do not break words. Text that a style hides is kept apart: open elements
//! stand with their styles on a stack of bounded depth.

use crate::unicode::lines::{Builder, Lines};
use crate::unicode::style::{Colour, Sheet, Style, are_alike, colour};
use dbacl_charset::Charset;
use dbacl_charset::references;
use dbacl_model::medium::Medium;
use dbacl_model::settings::{ModelOption, ModelOptions};

/// Bytes of a tag whose attributes are read; the end of a longer tag is found, too.
const LONGEST_TAG: usize = 1 << 14;
/// Bytes of style sheets that are read.
const LONGEST_SHEET: usize = 1 << 15;
/// The most open elements on the stack.
const MOST_OPEN: usize = 256;

/// The state of the machine between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// Behind a `&`; the characters of the reference are collected.
    Reference,
    /// Behind a `<`; bytes are collected until it is clear what begins.
    Open,
    /// In a tag, outside quotes.
    Tag,
    /// In a tag, behind a `=`.
    Equals,
    /// In a quoted value.
    Quoted(u8),
    /// In a value without quotes.
    Value,
    /// In a comment, behind so many dashes (2 stands for two or more); 3 is `--!`.
    Comment(u8),
    /// Behind `<!`, `<?` or `</`, up to `>`.
    Bogus,
    /// In an element whose text holds no tags.
    Raw,
    /// In such an element, behind a `<` that may begin its end tag.
    RawEnd,
}

/// An element whose text holds no tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RawKind {
    Script,
    Style,
    Other,
}

/// An element's name: up to eight letters; longer names are cut.
type Name = [u8; 8];

const fn name(text: &str) -> Name {
    let mut name = [0; 8];
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && at < name.len() {
        name[at] = bytes[at];
        at += 1;
    }
    name
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct Element {
    name: Name,
    is_gone: bool,
    is_invisible: bool,
    is_tiny: bool,
    colour: Colour,
    background: Colour,
}

/// The page itself: black upon white.
const PAGE: Element = Element {
    name: [0; 8],
    is_gone: false,
    is_invisible: false,
    is_tiny: false,
    colour: Some([0; 3]),
    background: Some([0xFF; 3]),
};

/// The filter.
#[derive(Debug)]
pub struct Html {
    options: ModelOptions,
    state: State,
    /// The beginning of a reference, a tag or a possible end tag.
    held: Vec<u8>,
    raw_name: Vec<u8>,
    raw_kind: RawKind,
    stack: Vec<Element>,
    /// Whether the innermost element's text is hidden.
    is_hidden: bool,
    sheet: Sheet,
    sheet_text: Vec<u8>,
    scratch: Vec<u8>,
    visible: Builder,
    hidden: Option<Builder>,
    aside: Builder,
    has_shown: bool,
}

impl Html {
    /// The filter for parts of mail. Hidden text is left out unless it has a medium.
    pub fn new(options: ModelOptions, hidden: Option<Medium>) -> Self {
        Self {
            options,
            state: State::Text,
            held: Vec::new(),
            raw_name: Vec::new(),
            raw_kind: RawKind::Other,
            stack: vec![PAGE],
            is_hidden: false,
            sheet: Sheet::default(),
            sheet_text: Vec::new(),
            scratch: Vec::new(),
            visible: Builder::new(Medium::TEXT),
            hidden: hidden.map(Builder::new),
            aside: Builder::new(Medium::TEXT),
            has_shown: false,
        }
    }

    /// Begins a page. Its text gets the medium `text`; links and other attributes that options ask
    /// for get `aside`.
    pub fn start(&mut self, text: Medium, aside: Medium) {
        self.state = State::Text;
        self.held.clear();
        self.stack.truncate(1);
        self.is_hidden = false;
        self.sheet.clear();
        self.sheet_text.clear();
        self.visible.medium = text;
        self.aside.medium = aside;
        self.has_shown = false;
    }

    /// Whether a reader has seen something of the page: text or a picture.
    pub fn has_shown(&self) -> bool {
        self.has_shown
    }

    /// Takes the next piece of the page, valid UTF-8.
    pub fn feed(&mut self, mut text: &[u8], output: &mut Lines) {
        while !text.is_empty() {
            let taken = self.step(text, output);
            text = &text[taken..];
        }
    }

    /// Ends the page.
    pub fn finish(&mut self, output: &mut Lines) {
        match self.state {
            State::Reference => self.end_reference(output),
            State::Open => self.show_held(output),
            _ => {}
        }
        self.state = State::Text;
        self.visible.end_line(output);
        self.aside.end_line(output);
        if let Some(hidden) = &mut self.hidden {
            hidden.end_line(output);
        }
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

    /// A byte behind `<`, or behind `<!` and dashes.
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
        match self.raw_kind {
            RawKind::Script if self.options.has(ModelOption::HtmlScripts) => {
                self.aside.lines(text, output);
            }
            RawKind::Style => {
                let room = LONGEST_SHEET.saturating_sub(self.sheet_text.len());
                self.sheet_text.extend_from_slice(&text[..text.len().min(room)]);
                if self.options.has(ModelOption::HtmlStyles) {
                    self.aside.lines(text, output);
                }
            }
            RawKind::Script | RawKind::Other => {}
        }
    }

    /// Takes a byte of the possible end tag of such an element.
    fn raw_end(&mut self, byte: u8, output: &mut Lines) -> usize {
        let at = self.held.len();
        let wanted = match at {
            1 => Some(b'/'),
            _ => self.raw_name.get(at - 2).copied(),
        };
        match wanted {
            Some(wanted) if byte.to_ascii_lowercase() == wanted => {
                self.held.push(byte);
                1
            }
            None if byte == b'>' || byte == b'/' || byte.is_ascii_whitespace() => {
                self.aside.end_line(output);
                if self.raw_kind == RawKind::Style {
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
            if let Some(hidden) = &mut self.hidden {
                hidden.run(text, output);
            }
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

    fn break_line(&mut self, output: &mut Lines) {
        self.visible.end_line(output);
        if let Some(hidden) = &mut self.hidden {
            hidden.end_line(output);
        }
    }

    /// An end tag: closes the innermost element of its name and those within.
    fn close(&mut self, tag: Name, output: &mut Lines) {
        if ends_line(tag) {
            self.break_line(output);
        } else if ends_cell(tag) {
            self.show_blank(output);
        }
        if let Some(at) = self.stack.iter().rposition(|element| element.name == tag)
            && at > 0
        {
            self.truncate(at);
        }
    }

    fn show_blank(&mut self, output: &mut Lines) {
        self.visible.run(b" ", output);
    }

    fn truncate(&mut self, length: usize) {
        self.stack.truncate(length.max(1));
        self.is_hidden = self.stack.last().is_some_and(|element| self.hides(element));
    }

    fn hides(&self, element: &Element) -> bool {
        element.is_gone
            || element.is_invisible
            || element.is_tiny
            || !self.sheet.has_other_colours && are_alike(element.colour, element.background)
    }

    fn start_tag(&mut self, tag: Name, rest: &[u8], output: &mut Lines) {
        if ends_line(tag) {
            self.break_line(output);
            self.close_paragraph();
        } else if ends_cell(tag) {
            self.show_blank(output);
        }
        if let Some(scope) = closed_by_same(tag) {
            self.close_same(tag, scope);
        }
        let attributes = Attributes::read(rest, self.options, &mut self.scratch);
        if tag == name("img") && !self.is_hidden {
            self.has_shown |= attributes.is_picture;
        }
        for found in &attributes.shown {
            let (start, end) = *found;
            if start < end {
                self.aside.lines(&self.scratch[start..end], output);
                self.aside.end_line(output);
            }
        }
        if is_void(tag) {
            return;
        }
        let raw_kind = match &tag {
            b"script\0\0" => Some(RawKind::Script),
            b"style\0\0\0" => Some(RawKind::Style),
            b"title\0\0\0" | b"iframe\0\0" | b"noembed\0" | b"noframes" | b"xmp\0\0\0\0\0" => {
                Some(RawKind::Other)
            }
            _ => None,
        };
        if let Some(kind) = raw_kind {
            self.raw_kind = kind;
            self.raw_name.clear();
            self.raw_name.extend(tag.iter().take_while(|&&byte| byte != 0));
            self.state = State::Raw;
            return;
        }
        self.push(tag, &attributes.style(&self.sheet));
    }

    /// Opens an element. If the stack is full, it has the style of the innermost element there.
    fn push(&mut self, tag: Name, style: &Style) {
        let Some(parent) = self.stack.last().filter(|_| self.stack.len() < MOST_OPEN) else {
            return;
        };
        let never_shown = matches!(
            &tag,
            b"template" | b"datalist" | b"audio\0\0\0" | b"video\0\0\0" | b"canvas\0\0"
        );
        // The colour of links is chosen by the reader's program.
        let own_colour = if tag == name("a") { Some(None) } else { None };
        let element = Element {
            name: tag,
            is_gone: parent.is_gone || style.is_gone || never_shown,
            is_invisible: style.is_invisible.unwrap_or(parent.is_invisible),
            is_tiny: style.is_tiny.unwrap_or(parent.is_tiny),
            colour: style.colour.or(own_colour).unwrap_or(parent.colour),
            background: style.background.unwrap_or(parent.background),
        };
        self.is_hidden = self.hides(&element);
        self.stack.push(element);
    }

    /// Closes a paragraph that is open in the innermost cell or table.
    fn close_paragraph(&mut self) {
        self.close_same(name("p"), &[name("td"), name("th"), name("table"), name("button")]);
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

/// For elements that another of the same name ends: the names of elements within which it does not.
fn closed_by_same(tag: Name) -> Option<&'static [Name]> {
    const LISTS: [Name; 2] = [name("ul"), name("ol")];
    const TABLE: [Name; 1] = [name("table")];
    const DEFINITIONS: [Name; 1] = [name("dl")];
    match &tag {
        b"li\0\0\0\0\0\0" => Some(&LISTS),
        b"tr\0\0\0\0\0\0" | b"td\0\0\0\0\0\0" | b"th\0\0\0\0\0\0" => Some(&TABLE),
        b"dt\0\0\0\0\0\0" | b"dd\0\0\0\0\0\0" => Some(&DEFINITIONS),
        b"option\0\0" => Some(&[]),
        _ => None,
    }
}

/// Whether a tag of this name ends a line of text.
fn ends_line(tag: Name) -> bool {
    const NAMES: [Name; 35] = [
        name("br"),
        name("p"),
        name("div"),
        name("tr"),
        name("table"),
        name("li"),
        name("ul"),
        name("ol"),
        name("dl"),
        name("dt"),
        name("dd"),
        name("h1"),
        name("h2"),
        name("h3"),
        name("h4"),
        name("h5"),
        name("h6"),
        name("hr"),
        name("pre"),
        name("blockquo"),
        name("center"),
        name("form"),
        name("fieldset"),
        name("address"),
        name("article"),
        name("section"),
        name("header"),
        name("footer"),
        name("main"),
        name("nav"),
        name("aside"),
        name("body"),
        name("html"),
        name("head"),
        name("option"),
    ];
    NAMES.contains(&tag)
}

/// Whether a tag of this name stands between words of a line.
fn ends_cell(tag: Name) -> bool {
    matches!(
        &tag,
        b"td\0\0\0\0\0\0"
            | b"th\0\0\0\0\0\0"
            | b"img\0\0\0\0\0"
            | b"input\0\0\0"
            | b"select\0\0"
            | b"textarea"
            | b"button\0\0"
            | b"caption\0"
    )
}

/// Whether an element of this name has no end tag.
fn is_void(tag: Name) -> bool {
    const NAMES: [Name; 18] = [
        name("br"),
        name("hr"),
        name("img"),
        name("input"),
        name("meta"),
        name("link"),
        name("area"),
        name("base"),
        name("basefont"),
        name("bgsound"),
        name("col"),
        name("embed"),
        name("frame"),
        name("param"),
        name("source"),
        name("track"),
        name("wbr"),
        name("keygen"),
    ];
    NAMES.contains(&tag)
}

/// The attributes of a tag, as far as they are used.
struct Attributes<'a> {
    /// The style of the attribute `style`.
    own: Style,
    /// The style of older attributes, such as `color`.
    older: Style,
    classes: &'a str,
    id: &'a str,
    /// Whether it is an image that a reader sees, larger than one pixel.
    is_picture: bool,
    /// Values of attributes that options ask for, as ranges of the scratch memory.
    shown: [(usize, usize); 4],
}

impl<'a> Attributes<'a> {
    fn read(text: &'a [u8], options: ModelOptions, scratch: &mut Vec<u8>) -> Self {
        scratch.clear();
        let mut found = Self {
            own: Style::default(),
            older: Style::default(),
            classes: "",
            id: "",
            is_picture: true,
            shown: [(0, 0); 4],
        };
        let mut count = 0;
        let mut rest = text;
        let mut buffer = [0; 16];
        while let Some((key, value, behind)) = attribute(rest) {
            rest = behind;
            let Some(lower) = buffer.get_mut(..key.len()) else { continue };
            lower.copy_from_slice(key);
            lower.make_ascii_lowercase();
            let text = std::str::from_utf8(value).unwrap_or("");
            match &*lower {
                b"style" => {
                    if memchr::memchr(b'&', value).is_some() {
                        let start = scratch.len();
                        references::decode_all(value, scratch);
                        let text = std::str::from_utf8(&scratch[start..]).unwrap_or("");
                        found.own = Style::read(text);
                        scratch.truncate(start);
                    } else {
                        found.own = Style::read(text);
                    }
                }
                b"class" => found.classes = text,
                b"id" => found.id = text,
                b"hidden" => found.older.is_gone = true,
                b"color" | b"text" => found.older.colour = Some(colour(text)),
                b"bgcolor" => found.older.background = Some(colour(text)),
                b"background" => found.older.background = Some(None),
                b"width" | b"height" => {
                    found.is_picture &= !matches!(text.trim(), "0" | "1" | "0px" | "1px");
                }
                _ => {}
            }
            if let Some(option) = wanted(lower)
                && options.has(option)
                && !text.is_empty()
                && count < found.shown.len()
            {
                let start = scratch.len();
                references::decode_all(value, scratch);
                found.shown[count] = (start, scratch.len());
                count += 1;
            }
        }
        found
    }

    /// The style, with the rules of a sheet for its classes and id.
    fn style(&self, sheet: &Sheet) -> Style {
        let mut style = self.older;
        style.override_by(&sheet.style(self.classes, self.id));
        style.override_by(&self.own);
        style
    }
}

/// The option that asks for the value of an attribute.
fn wanted(name: &[u8]) -> Option<ModelOption> {
    match name {
        b"href" | b"src" => Some(ModelOption::HtmlLinks),
        b"alt" | b"title" => Some(ModelOption::HtmlAlt),
        b"value" | b"action" | b"placeholder" => Some(ModelOption::HtmlForms),
        b"style" | b"class" => Some(ModelOption::HtmlStyles),
        [b'o', b'n', _, ..] => Some(ModelOption::HtmlScripts),
        _ => None,
    }
}

/// Name and value of the first attribute in `text`, and what is behind it.
fn attribute(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'/')?;
    let text = &text[start..];
    let end = text
        .iter()
        .skip(1)
        .position(|byte| byte.is_ascii_whitespace() || matches!(*byte, b'=' | b'/'));
    let end = end.map_or(text.len(), |at| at + 1);
    let (key, rest) = text.split_at(end);
    let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else {
        return Some((key, &[], rest));
    };
    let value = value.trim_ascii_start();
    if let Some((&quote @ (b'"' | b'\''), quoted)) = value.split_first() {
        let end = memchr::memchr(quote, quoted).unwrap_or(quoted.len());
        return Some((key, &quoted[..end], &quoted[(end + 1).min(quoted.len())..]));
    }
    let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
    Some((key, &value[..end], &value[end..]))
}

/// The character set that a page names at its beginning, if it names one.
pub fn declared_charset(sample: &[u8]) -> Option<Charset> {
    let mut rest = sample;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix(b"!--") {
            rest = &comment[memchr::memmem::find(comment, b"-->")?..];
            continue;
        }
        let is_meta = rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
            && rest.get(4).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/');
        if !is_meta {
            continue;
        }
        let end = memchr::memchr(b'>', rest)?;
        let mut attributes = &rest[4..end];
        while let Some((key, value, behind)) = attribute(attributes) {
            attributes = behind;
            let label = if key.eq_ignore_ascii_case(b"charset") {
                Some(value)
            } else if key.eq_ignore_ascii_case(b"content") {
                charset_in(value)
            } else {
                None
            };
            // A page whose tags could be read so far is not in UTF-16.
            if let Some(charset) = label.and_then(Charset::by_label) {
                let is_wide = charset.name().starts_with("UTF-16");
                return Some(if is_wide { Charset::UTF_8 } else { charset });
            }
        }
    }
    None
}

/// The label behind `charset=` in the value of `content`.
fn charset_in(value: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"charset";
    let at = value.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
    let rest = value[at + NAME.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(*byte, b';' | b'"' | b'\'');
    Some(&rest[..rest.iter().position(ends).unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &str, size: usize, options: ModelOptions, hidden: Option<Medium>) -> Vec<String> {
        let mut html = Html::new(options, hidden);
        let mut lines = Lines::default();
        html.start(Medium::new(3), Medium::new(2));
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
        found
    }

    fn check(page: &str, expected: &str) {
        for size in [1, 2, 3, 5, 1000] {
            let found = read(page, size, ModelOptions::default(), None).join("|");
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
            ("<table background=x.gif><td>a<font color=white>x</font>", "3:a x"),
            ("<style>.h{display:none}</style>a<p class='h'>x<p>b", "3:a|3:b"),
            ("<p style='display:none'>x<div>a</div>", "3:a"),
            ("<span style='display:none'>x<br>y<img src=a>z</span>b", "3:b"),
            ("<template>x</template>a", "3:a"),
            ("<a style='color:white'>x</a>a", "3:a"),
        ] {
            let squeezed = expected.replace("3:a x", "3:ax");
            let found = read(page, 1000, ModelOptions::default(), None).join("|");
            assert_eq!(found.replace("3:a x", "3:ax"), squeezed, "{page}");
            check(page, &found);
        }
        let medium = Some(Medium::new(1));
        let found = read("a<i hidden>x y</i>b", 9, ModelOptions::default(), medium).join("|");
        assert_eq!(found, "3:ab|1:x y");
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
                assert_eq!(read(page, size, options, None).join("|"), expected, "{option:?}");
            }
        }
    }

    #[test]
    fn pages_say_their_character_set() {
        for (page, expected) in [
            ("<html><head><meta charset=koi8-r>", "KOI8-R"),
            (
                "<META http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1251\">",
                "windows-1251",
            ),
            ("<meta name=x content=y><meta content='text/html;charset=\"utf-8\"'/>", "UTF-8"),
            ("<!-- <meta charset=koi8-r> --><meta charset=big5>", "Big5"),
            ("<meta charset=utf-16>", "UTF-8"),
            ("<metal charset=koi8-r>", ""),
            ("<meta charset=nonsense>", ""),
            ("<meta charset=koi8-r", ""),
        ] {
            let found = declared_charset(page.as_bytes()).map_or("", Charset::name);
            assert_eq!(found, expected, "{page}");
        }
    }

    #[test]
    fn hostile_pages_take_linear_time_and_bounded_memory() {
        for unit in [
            "<",
            "<a ",
            "<a b=",
            "<a b='",
            "<div>",
            "<p style='",
            "&",
            "&#",
            "&a",
            "<!--",
            "-",
            "<script>",
            "</",
            "<style>.a{",
            "<p><td>",
            "<li>",
            "</div>",
            "<!-",
            "<script></",
            "=",
        ] {
            let page = unit.repeat((1 << 18) / unit.len());
            let mut html = Html::new(ModelOptions::default(), None);
            let mut lines = Lines::default();
            html.start(Medium::new(3), Medium::new(2));
            html.feed(page.as_bytes(), &mut lines);
            html.finish(&mut lines);
            assert!(lines.size() <= page.len() + page.len() / 4, "{unit}");
            assert!(html.stack.len() <= MOST_OPEN && html.held.len() <= LONGEST_TAG, "{unit}");
        }
    }
}
