// SPDX-License-Identifier: GPL-3.0-or-later
//! Where messages begin in a file of mail, in whatever form a program wrote it: the one place that
//! knows.
//!
//! | form | messages | written by |
//! |---|---|---|
//! | mbox | after lines `From `, by their looks and what follows them | most programs |
//! | MMDF | between lines of four bytes 01 | Unix of SCO |
//! | Babyl | after lines that begin with byte 1F | old Emacs |
//! | emlx | after a line with their length, before a list of properties | Apple Mail |
//! | one message | the whole file | |
//!
//! Thunderbird writes lines `From ` without sender and date. Passed over are byte order marks,
//! empty lines at the beginning, Outlook's line `Microsoft Mail Internet Headers ...`, what stands
//! between messages, the message in which a mail server keeps its own data, and messages that
//! Thunderbird has marked as deleted. Lines may end in LF, CR LF, CR CR LF, or in CR alone. A
//! `Content-Length` counts where a message or nothing follows the text.

use crate::mail::day::{day_in, day_of};
use crate::mail::from_line::{FROM, FromLine};
use crate::mail::header_fields::{Field, header_fields, is_folded};
use dbacl_files::format::UTF8_MARK;

/// A longer line comes in pieces.
const LONGEST_PIECE: usize = 1 << 16;
/// Bytes of a header that are looked at.
const HEADER: usize = 1 << 16;
/// The longest text whose `Content-Length` is compared with what follows it.
const LONGEST_TEXT: u64 = 32 << 20;

const BANNER: &[u8] = b"Microsoft Mail Internet Headers Version 2.0";
const MMDF: &[u8] = b"\x01\x01\x01\x01";
const BABYL: &[u8] = b"BABYL OPTIONS";
const BABYL_END: u8 = 0x1F;
const BABYL_SECOND_HEADER: &[u8] = b"*** EOOH ***";
const LIST: &[u8] = b"<?xml";

/// What a source may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// One message, whatever it looks like.
    One,
    /// One message, or a mailbox.
    Mailbox,
}

/// The form of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One message.
    Message,
    /// Messages after lines `From `.
    Mbox,
    /// Messages between lines of four bytes 01.
    Mmdf,
    /// Messages after lines that begin with byte 1F.
    Babyl,
    /// A message of so many bytes, and a list of properties.
    Emlx(u64),
}

impl Form {
    /// Whether there may be several messages.
    pub(crate) const fn is_mailbox(self) -> bool {
        matches!(self, Self::Mbox | Self::Mmdf | Self::Babyl)
    }
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It stands before a message.
    From,
    /// It is the first line of a message that no line `From ` stands before.
    First,
    /// It belongs to the message.
    Inside,
    /// The same, and it only looks as if a message began.
    Misleading,
    /// It belongs to no message.
    Apart,
}

/// A line, or a piece of a long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// What it is.
    pub kind: Kind,
    /// Its bytes with its end, as they are in the source.
    pub length: usize,
    /// Where its text begins in these bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The line end that readers of mail expect.
    pub line_end: &'static [u8],
    /// Of a line `From ` without a date in the form of `ctime`: the day of its message, if that is
    /// known.
    pub day: Option<i64>,
}

/// Where in a message the next line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before a message.
    Outside,
    /// At its first line.
    Start,
    Header,
    Body,
    /// In the second header of Babyl, which repeats the first one for the screen.
    SecondHeader,
}

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// In LF, perhaps after one CR or several.
    Lf,
    /// In CR, or CR LF.
    Cr,
}

/// Takes a source line by line.
#[derive(Debug, Clone)]
pub(crate) struct Scanner {
    holds: Holds,
    form: Option<Form>,
    ends: Option<Ends>,
    place: Place,
    /// Bytes passed.
    offset: u64,
    is_after_empty: bool,
    /// The last line goes on.
    is_within: bool,
    /// Whether the list after a message of Apple Mail has begun.
    is_in_list: bool,
    /// This message is none for readers of mail.
    is_apart: bool,
    /// Whether a message has begun.
    has_begun: bool,
    /// Whether this one has a line `From `.
    has_from_line: bool,
    /// The line with the labels of a message of Babyl comes next.
    awaits_labels: bool,
    /// The second header of a message of Babyl has not come yet.
    awaits_header: bool,
    /// What its header says about the length of its text.
    content_length: Option<u64>,
    /// Where that text ends, and whether this fits what follows.
    text_end: Option<(u64, Option<bool>)>,
}

/// More of the source is needed to say what the next line is.
struct More;

type Scan<T> = Result<T, More>;

impl Scanner {
    /// For the beginning of a source.
    pub(crate) const fn new(holds: Holds) -> Self {
        Self {
            holds,
            form: None,
            ends: None,
            place: Place::Outside,
            offset: 0,
            is_after_empty: true,
            is_within: false,
            is_in_list: false,
            is_apart: false,
            has_begun: false,
            has_from_line: false,
            awaits_labels: false,
            awaits_header: false,
            content_length: None,
            text_end: None,
        }
    }

    /// The form of the source; `None` until its first line that is not empty.
    pub(crate) const fn form(&self) -> Option<Form> {
        self.form
    }

    /// The next line of a source that goes on with the bytes of `window`, of which there is at
    /// least one; they are its last if `is_whole`. `None` if more bytes are needed to say.
    pub(crate) fn step(&mut self, window: &[u8], is_whole: bool) -> Option<Step> {
        let rest = Rest { window, start: 0, is_whole };
        let before = self.clone();
        if let Ok(step) = self.scan(rest) {
            self.offset += step.length as u64;
            return Some(step);
        }
        *self = before;
        None
    }

    fn scan(&mut self, rest: Rest<'_>) -> Scan<Step> {
        if self.offset == 0 && rest.begins_with(UTF8_MARK)? {
            return Ok(apart(UTF8_MARK.len()));
        }
        let ends = match self.ends {
            Some(ends) => ends,
            None => *self.ends.insert(rest.ends()?),
        };
        if let Some(Form::Emlx(end)) = self.form
            && (self.is_in_list || self.is_at_list(rest, end, ends)?)
        {
            // The rest of the source is the list, of which this may be a piece.
            self.is_in_list = true;
            return Ok(apart(rest.window.len()));
        }
        let mut line = rest.line(ends)?;
        if let Some(Form::Emlx(end)) = self.form
            && let Ok(left @ 1..) = usize::try_from(end.saturating_sub(self.offset))
            && left < line.length
            && rest.from(left).begins_with(LIST)?
        {
            line = Line { length: left, text: left, end: b"" };
        }
        let after = rest.from(line.length);
        let text = &rest.window[..line.text];
        let was_within = std::mem::replace(&mut self.is_within, line.end.is_empty());
        if was_within {
            self.is_after_empty = false;
            let kind = if self.is_apart { Kind::Apart } else { Kind::Inside };
            return Ok(step(kind, line, 0));
        }
        let is_empty = text.is_empty();
        let form = match self.form {
            Some(form) => form,
            None if is_empty => return Ok(step(Kind::Apart, line, 0)),
            None => {
                let (form, is_head) = self.form_of(text, after, ends)?;
                self.form = Some(form);
                if is_head {
                    return Ok(step(Kind::Apart, line, 0));
                }
                form
            }
        };
        let step = match form {
            Form::Message | Form::Emlx(_) => self.alone(line, text),
            Form::Mbox => self.mbox(line, text, after, ends)?,
            Form::Mmdf => self.mmdf(line, text, after, ends)?,
            Form::Babyl => self.babyl(line, text),
        };
        self.is_after_empty = is_empty;
        Ok(step)
    }

    /// The form of a source with this first line, and whether the line only says which it is.
    fn form_of(&self, text: &[u8], after: Rest<'_>, ends: Ends) -> Scan<(Form, bool)> {
        if self.holds == Holds::Mailbox {
            if text.starts_with(FROM) {
                return Ok((Form::Mbox, false));
            }
            if text == MMDF {
                return Ok((Form::Mmdf, false));
            }
            if text.get(..BABYL.len()).is_some_and(|head| head.eq_ignore_ascii_case(BABYL)) {
                return Ok((Form::Babyl, false));
            }
        }
        let number = text.trim_ascii();
        let is_number = (1..=12).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
        if is_number && after.begins_with_field(ends)? {
            let length: u64 = String::from_utf8_lossy(number).parse().unwrap_or(0);
            let head = self.offset + (after.start as u64);
            return Ok((Form::Emlx(head.saturating_add(length)), true));
        }
        Ok((Form::Message, false))
    }

    /// Whether the list of properties begins here: where the message ends by its length, or else
    /// by its own first lines.
    fn is_at_list(&self, rest: Rest<'_>, end: u64, ends: Ends) -> Scan<bool> {
        if self.is_within && self.offset != end || !rest.begins_with(LIST)? {
            return Ok(false);
        }
        if self.offset == end {
            return Ok(true);
        }
        let line = rest.line(ends)?;
        let after = rest.from(line.length);
        Ok(after.begins_with(b"<!DOCTYPE plist")? || after.begins_with(b"<plist")?)
    }

    fn alone(&mut self, line: Line, text: &[u8]) -> Step {
        if self.place == Place::Outside {
            self.begin();
            if text.starts_with(FROM) {
                self.has_from_line = true;
                return step(Kind::From, line, 0);
            }
        }
        self.inside(line, text)
    }

    fn mbox(&mut self, line: Line, text: &[u8], after: Rest<'_>, ends: Ends) -> Scan<Step> {
        if let Some(looks) = FromLine::of(text)
            && (!self.has_begun || self.begins(looks, after, ends)?)
        {
            return self.begin_at(line, looks, text, after, ends);
        }
        Ok(self.inside(line, text))
    }

    fn mmdf(&mut self, line: Line, text: &[u8], after: Rest<'_>, ends: Ends) -> Scan<Step> {
        if text == MMDF {
            self.place = Place::Outside;
            return Ok(step(Kind::Apart, line, 0));
        }
        if self.place != Place::Outside {
            return Ok(self.inside(line, text));
        }
        if text.is_empty() {
            return Ok(step(Kind::Apart, line, 0));
        }
        if let Some(looks) = FromLine::of(text) {
            return self.begin_at(line, looks, text, after, ends);
        }
        self.begin();
        Ok(self.inside(line, text))
    }

    fn babyl(&mut self, line: Line, text: &[u8]) -> Step {
        let apart = step(Kind::Apart, line, 0);
        if text.first() == Some(&BABYL_END) {
            (self.place, self.awaits_labels) = (Place::Outside, true);
            return apart;
        }
        let begins_second = self.awaits_header && text == BABYL_SECOND_HEADER;
        match self.place {
            Place::Outside => {
                if self.awaits_labels && matches!(text, [b'0' | b'1', b',', ..]) {
                    self.begin();
                    (self.awaits_labels, self.awaits_header) = (false, true);
                }
                apart
            }
            // There is no first header.
            Place::Start if begins_second => {
                self.awaits_header = false;
                apart
            }
            Place::Header | Place::Body if begins_second => {
                self.awaits_header = false;
                self.place = Place::SecondHeader;
                apart
            }
            Place::SecondHeader => {
                if text.is_empty() {
                    self.place = Place::Body;
                }
                apart
            }
            _ => self.inside(line, text),
        }
    }

    /// Whether a line that looks so begins a message, followed by these bytes.
    fn begins(&mut self, looks: FromLine, after: Rest<'_>, ends: Ends) -> Scan<bool> {
        if self.is_inside_text(after, ends)? {
            return Ok(false);
        }
        Ok(match looks {
            FromLine::Exact if self.is_after_empty => true,
            FromLine::Exact | FromLine::DateOrNothing => after.begins_with_field(ends)?,
            FromLine::Address => after.begins_with_header(ends)?,
            FromLine::Word | FromLine::Text => {
                self.is_after_empty && after.begins_with_header(ends)?
            }
        })
    }

    /// Whether the text of the message goes on here by its `Content-Length`, and a message or
    /// nothing follows it.
    fn is_inside_text(&mut self, after: Rest<'_>, ends: Ends) -> Scan<bool> {
        let Some((end, fits)) = self.text_end else { return Ok(false) };
        let here = self.offset + after.start as u64;
        let Some(left) = end.checked_sub(here) else { return Ok(false) };
        if let Some(fits) = fits {
            return Ok(fits);
        }
        let fits = match usize::try_from(left) {
            Ok(left) if left as u64 <= LONGEST_TEXT => after.fits_at(left, ends)?,
            _ => false,
        };
        self.text_end = Some((end, Some(fits)));
        Ok(fits)
    }

    fn begin(&mut self) {
        self.place = Place::Start;
        self.is_apart = false;
        self.has_begun = true;
        self.has_from_line = false;
        (self.content_length, self.text_end) = (None, None);
    }

    /// A line `From ` before a message.
    fn begin_at(
        &mut self,
        line: Line,
        looks: FromLine,
        text: &[u8],
        after: Rest<'_>,
        ends: Ends,
    ) -> Scan<Step> {
        let is_first = !self.has_begun;
        let header = after.header(ends)?;
        self.begin();
        self.has_from_line = true;
        self.content_length = content_length(&header);
        self.is_apart = is_first && is_own_data(&header) || is_deleted(&header);
        let day = match looks {
            FromLine::Exact => None,
            _ => day_in(text).or_else(|| day_of(&header)),
        };
        let kind = if self.is_apart { Kind::Apart } else { Kind::From };
        Ok(Step { day, ..step(kind, line, 0) })
    }

    /// A line of a message.
    fn inside(&mut self, line: Line, text: &[u8]) -> Step {
        let is_start = self.place == Place::Start;
        let is_header = is_start || self.place == Place::Header;
        if is_start && text == BANNER {
            return step(Kind::Apart, line, 0);
        }
        if is_header {
            self.place = if text.is_empty() { Place::Body } else { Place::Header };
            if text.is_empty() {
                let start = self.offset + line.length as u64;
                self.text_end = self.content_length.map(|length| (start + length, None));
            }
        }
        let mark = if is_header && text.starts_with(UTF8_MARK) { UTF8_MARK.len() } else { 0 };
        let kind = if self.is_apart {
            Kind::Apart
        } else if is_start && !self.has_from_line {
            Kind::First
        } else if self.is_after_empty && text.starts_with(FROM) {
            Kind::Misleading
        } else {
            Kind::Inside
        };
        step(kind, line, mark)
    }
}

fn apart(length: usize) -> Step {
    step(Kind::Apart, Line { length, text: length, end: b"" }, 0)
}

const fn step(kind: Kind, line: Line, start: usize) -> Step {
    Step { kind, length: line.length, start, end: line.text, line_end: line.end, day: None }
}

/// A line: its bytes, those of its text, and the line end that stands for its own.
#[derive(Debug, Clone, Copy)]
struct Line {
    length: usize,
    text: usize,
    end: &'static [u8],
}

/// What is known of the rest of a source.
#[derive(Debug, Clone, Copy)]
struct Rest<'a> {
    window: &'a [u8],
    /// Where in the window the rest begins.
    start: usize,
    /// Nothing follows the window.
    is_whole: bool,
}

impl<'a> Rest<'a> {
    fn bytes(self) -> &'a [u8] {
        &self.window[self.start..]
    }

    fn from(self, length: usize) -> Self {
        Self { start: self.start + length, ..self }
    }

    fn begins_with(self, wanted: &[u8]) -> Scan<bool> {
        let bytes = self.bytes();
        if bytes.len() < wanted.len() && wanted.starts_with(bytes) && !self.is_whole {
            return Err(More);
        }
        Ok(bytes.starts_with(wanted))
    }

    /// How the lines of the source end: in CR if there are more of them alone than of LF.
    fn ends(self) -> Scan<Ends> {
        let bytes = self.bytes();
        let end = memchr::memchr(b'\n', bytes);
        let mut line = &bytes[..end.unwrap_or(bytes.len())];
        while let (Some(_), Some(before)) = (end, line.strip_suffix(b"\r")) {
            line = before;
        }
        if end.is_some() && memchr::memchr(b'\r', line).is_none() {
            return Ok(Ends::Lf);
        }
        if bytes.len() < HEADER && !self.is_whole {
            return Err(More);
        }
        let head = &bytes[..bytes.len().min(HEADER)];
        let is_alone = |&at: &usize| !matches!(head.get(at + 1), Some(b'\r' | b'\n'));
        let alone = memchr::memchr_iter(b'\r', head).filter(is_alone).count();
        let others = memchr::memchr_iter(b'\n', head).count();
        Ok(if alone > others { Ends::Cr } else { Ends::Lf })
    }

    fn line(self, ends: Ends) -> Scan<Line> {
        let bytes = self.bytes();
        let piece = &bytes[..bytes.len().min(LONGEST_PIECE)];
        let found = match ends {
            Ends::Lf => memchr::memchr(b'\n', piece),
            Ends::Cr => memchr::memchr2(b'\r', b'\n', piece),
        };
        let Some(at) = found else {
            if piece.len() < LONGEST_PIECE && !self.is_whole {
                return Err(More);
            }
            return Ok(Line { length: piece.len(), text: piece.len(), end: b"" });
        };
        if ends == Ends::Cr {
            let is_pair = piece[at] == b'\r' && self.from(at + 1).begins_with(b"\n")?;
            return Ok(Line { length: at + 1 + usize::from(is_pair), text: at, end: b"\n" });
        }
        let returns = piece[..at].iter().rev().take_while(|&&byte| byte == b'\r').count();
        let end: &[u8] = if returns > 0 { b"\r\n" } else { b"\n" };
        Ok(Line { length: at + 1, text: at - returns, end })
    }

    /// The lines up to the first one that does not satisfy `goes_on`, from the first on.
    fn lines(self, ends: Ends, mut goes_on: impl FnMut(&'a [u8]) -> bool) -> Scan<()> {
        let mut rest = self;
        while !rest.bytes().is_empty() || !rest.is_whole {
            let line = rest.line(ends)?;
            if !goes_on(&rest.bytes()[..line.text]) || line.length == 0 {
                break;
            }
            rest = rest.from(line.length);
        }
        Ok(())
    }

    /// Whether the first line is a header field.
    fn begins_with_field(self, ends: Ends) -> Scan<bool> {
        let mut found = false;
        self.lines(ends, |line| {
            let line = line.strip_prefix(UTF8_MARK).unwrap_or(line);
            found = begins_field(line);
            line == BANNER || line.starts_with(b">From ")
        })?;
        Ok(found)
    }

    /// Whether a header follows, by its first two lines: fields, the first of a name that mail is
    /// known by, or such a field alone.
    fn begins_with_header(self, ends: Ends) -> Scan<bool> {
        let (mut fields, mut is_other) = (0, false);
        self.lines(ends, |line| {
            if is_folded(line) && fields > 0 || line == BANNER {
                return true;
            }
            let is_known = Field::of(line).is_some_and(|field| field.is_known(true));
            let is_field = if fields == 0 { is_known } else { begins_field(line) };
            fields += u32::from(is_field);
            is_other = !is_field && !line.is_empty();
            is_field && fields < 2
        })?;
        Ok(fields > 0 && !is_other)
    }

    /// The lines of a header, up to a line that may begin the next message.
    fn header(self, ends: Ends) -> Scan<Vec<u8>> {
        let mut header = Vec::new();
        self.lines(ends, |line| {
            header.extend_from_slice(line);
            header.push(b'\n');
            !line.is_empty() && !line.starts_with(FROM) && header.len() < HEADER
        })?;
        Ok(header)
    }

    /// Whether a text may end after so many bytes: a message or nothing follows.
    fn fits_at(self, length: usize, ends: Ends) -> Scan<bool> {
        let Some(rest) = self.bytes().get(length..) else {
            return if self.is_whole { Ok(false) } else { Err(More) };
        };
        let before = self.from(length).start.checked_sub(1).map(|at| self.window[at]);
        let is_at_end = matches!(before, None | Some(b'\n' | b'\r'));
        let mut rest = Rest { window: rest, start: 0, is_whole: self.is_whole };
        for _ in 0..3 {
            if rest.bytes().is_empty() && self.is_whole {
                return Ok(true);
            }
            let line = rest.line(ends)?;
            let text = &rest.bytes()[..line.text];
            let after = rest.from(line.length);
            match FromLine::of(text) {
                Some(_) if !is_at_end && rest.start == 0 => return Ok(false),
                Some(FromLine::Exact) => return Ok(true),
                Some(FromLine::DateOrNothing) => return after.begins_with_field(ends),
                None if text.is_empty() => rest = after,
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}

/// Whether a line begins a field: a name and a colon, then a blank or nothing, unless the name is
/// one of mail.
fn begins_field(line: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    Field::of(line).is_some_and(|field| {
        let is_separate = field.value.first().is_none_or(u8::is_ascii_whitespace);
        field.is_known(true) || is_separate && field.name.iter().all(is_of_name)
    })
}

/// The values of the fields of this name.
fn values<'a>(header: &'a [u8], name: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
    let is_it = move |(own, _): &(&[u8], Vec<u8>)| own.eq_ignore_ascii_case(name);
    header_fields(header).filter(is_it).map(|(_, value)| value)
}

/// The length that a header says its text has.
fn content_length(header: &[u8]) -> Option<u64> {
    let value = values(header, b"Content-Length").next()?;
    std::str::from_utf8(value.trim_ascii()).ok()?.parse().ok().filter(|&it| it <= u64::MAX >> 1)
}

/// Whether a message holds the data of a mail server: that of UW-IMAP and Alpine.
fn is_own_data(header: &[u8]) -> bool {
    let holds = |name, text: &[u8]| {
        values(header, name).any(|value| memchr::memmem::find(&value, text).is_some())
    };
    holds(b"Subject", b"FOLDER INTERNAL DATA")
        && (holds(b"From", b"Mail System Internal Data") || holds(b"X-IMAP", b""))
}

/// Whether Thunderbird has marked a message as deleted; it leaves the file with the next clean-up.
fn is_deleted(header: &[u8]) -> bool {
    const EXPUNGED: u32 = 8;
    values(header, b"X-Mozilla-Status").any(|value| {
        let text = String::from_utf8_lossy(value.trim_ascii()).into_owned();
        u32::from_str_radix(&text, 16).is_ok_and(|flags| flags & EXPUNGED != 0)
    })
}

/// Whether the lines of a message that begins so end in CR alone.
pub(crate) fn ends_in_cr(beginning: &[u8]) -> bool {
    let rest = Rest { window: beginning, start: 0, is_whole: true };
    matches!(rest.ends(), Ok(Ends::Cr))
}

/// The form of a source that begins so.
pub(crate) fn form_of(beginning: &[u8]) -> Form {
    let mut scanner = Scanner::new(Holds::Mailbox);
    let mut rest = beginning;
    while let Some(step) = (!rest.is_empty()).then(|| scanner.step(rest, true)).flatten() {
        if let Some(form) = scanner.form() {
            return form;
        }
        rest = &rest[step.length..];
    }
    Form::Message
}

/// Whether a source that begins so is a mailbox, and not only looks so by its first word.
pub fn is_mailbox(beginning: &[u8]) -> bool {
    let mut scanner = Scanner::new(Holds::Mailbox);
    let mut rest = Rest { window: beginning, start: 0, is_whole: true };
    while !rest.bytes().is_empty() {
        let Some(step) = scanner.step(rest.bytes(), true) else { return false };
        let after = rest.from(step.length);
        match scanner.form() {
            None => rest = after,
            Some(Form::Mbox) => {
                let looks = FromLine::of(&rest.bytes()[step.start..step.end]);
                let ends = scanner.ends.unwrap_or(Ends::Lf);
                let is_followed = after.begins_with_field(ends).unwrap_or(false);
                return looks == Some(FromLine::Exact) || is_followed;
            }
            Some(form) => return matches!(form, Form::Mmdf | Form::Babyl),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a source, each after a letter for its kind.
    fn lines(holds: Holds, source: &str) -> String {
        let mut scanner = Scanner::new(holds);
        let mut found = String::new();
        let mut rest = source.as_bytes();
        while !rest.is_empty() {
            let step = scanner.step(rest, true).expect("all of it is there");
            found.push(match step.kind {
                Kind::From => 'F',
                Kind::First => '1',
                Kind::Inside => 'i',
                Kind::Misleading => 'm',
                Kind::Apart => '-',
            });
            rest = &rest[step.length..];
        }
        found
    }

    #[test]
    fn messages_of_mailboxes_are_found() {
        let exact = "From a@b.c Mon Jan  1 00:00:00 2024";
        for (source, expected) in [
            (format!("{exact}\nSubject: s\n\nx\n\n{exact}\n\ny\n"), "FiiiiFii"),
            // No empty line before, no date, dates of other languages and orders.
            (format!("{exact}\nA: b\n\nx\n{exact}\nA: b\n"), "FiiiFi"),
            ("From \nA: b\n\nx\nFrom \nA: b\n\nFrom -\nA: b\n".into(), "FiiiFiiFi"),
            (
                "From - Sat Apr 12 2025 15:59:28\nA: b\nFrom x Mo Jan 1 10:00 2025\nA: b\n".into(),
                "FiFi",
            ),
            ("From a@b.c\nTo: b\n\n\nFrom a@b.c\nTo: b\nCc: d\n".into(), "FiiiFii"),
            // Text that looks alike.
            (format!("{exact}\n\nFrom here on\n\nFrom me\nNote: x\n\n"), "Fimimii"),
            ("From \nTo: b\n\nFrom \nno field\n".into(), "Fiimi"),
            ("From \nTo: b\n\nFrom 10:00 on 1 Jan\nhttp://x\n".into(), "Fiimi"),
            ("From \nTo: b\n\nFrom the mail:\nTo: all who come\nwe meet\n".into(), "Fiimii"),
            ("From \nTo: b\n\nFrom Ann Lee\nTo: all\nCc: b\n\nx\n".into(), "FiiFiiii"),
            // Beginnings.
            (format!("\n\r\n{exact}\nA: b\n"), "--Fi"),
            (format!("\u{feff}{exact}\n\u{feff}A: b\n"), "-Fi"),
            (format!("{exact}\nMicrosoft Mail Internet Headers Version 2.0\nA: b\n"), "F-i"),
            (
                format!("{exact}\n>From x remote from y\nA: b\n\nx\nFrom \n>From z\nA: b\n"),
                "FiiiiFii",
            ),
            // A source that begins otherwise is one message.
            (format!("Subject: s\n\n{exact}\nA: b\n"), "1imi"),
            ("From the beginning\n".into(), "F"),
            // Length of the text.
            (format!("{exact}\nContent-Length: 43\n\n{exact}\nA: b\n\nx\n"), "Fiimiii"),
            (format!("{exact}\nContent-Length: 42\n\n{exact}\nA: b\n\nx\n"), "FiiFiii"),
            (format!("{exact}\nContent-Length: 99\n\n{exact}\nA: b\n\nx\n"), "FiiFiii"),
            // Other forms.
            (
                "----\nA: b\n\nFrom \nC: d\n----\n----\nFrom x\nA: b\n\n----\n"
                    .replace('-', "\x01"),
                "-1imi--Fii-",
            ),
            (
                "BABYL OPTIONS:\nVersion: 5\n\x1f\x0c\n1,,\nA: b\n\n*** EOOH ***\nA: b\n\nx\n\
                 \x1f\x0c\n0,,\n*** EOOH ***\nA: b\n\n*** EOOH ***\n\x1f"
                    .into(),
                "----1i---i---1ii-",
            ),
            // Messages that are none.
            (
                format!(
                    "{exact}\nX-Mozilla-Status: 0009\n\nx\n\n\
                     {exact}\nX-Mozilla-Status: 0001\n\nx\n"
                ),
                "-----Fiii",
            ),
            (
                format!(
                    "{exact}\nFrom: Mail System Internal Data <x>\n\
                     Subject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA\n\nx\n\n\
                     {exact}\nA: b\n"
                ),
                "------Fi",
            ),
        ] {
            assert_eq!(lines(Holds::Mailbox, &source), expected, "{source}");
            let crlf = source.replace("\r\n", "\n").replace('\n', "\r\n");
            if !source.contains("Content-Length") {
                assert_eq!(lines(Holds::Mailbox, &crlf), expected, "{crlf}");
                let cr = crlf.replace('\n', "");
                assert_eq!(lines(Holds::Mailbox, &cr), expected, "{cr}");
            }
        }
    }

    #[test]
    fn a_single_message_is_one() {
        let exact = "From a@b.c Mon Jan  1 00:00:00 2024";
        for (source, expected) in [
            (format!("{exact}\nA: b\n\nx\n\n{exact}\nA: b\n"), "Fiiiimi"),
            ("\nA: b\n\nx\n".into(), "-1ii"),
            ("\x01\x01\x01\x01\nA: b\n".into(), "1i"),
            ("8  \nA: b\n\nx\n<?xml version=\"1.0\"?>\n<plist>".into(), "-1ii-"),
            ("7\nA: b\n\nx<?xml version=\"1.0\"?>\n".into(), "-1ii-"),
            ("99\nA: b\n\n<?xml?>\n<?xml?>\n<!DOCTYPE plist>\nx".into(), "-1ii-"),
            ("99\nno field\n".into(), "1i"),
        ] {
            assert_eq!(lines(Holds::One, &source), expected, "{source}");
        }
    }

    #[test]
    fn mailboxes_are_recognised() {
        for (beginning, expected) in [
            ("From a@b.c Mon Jan  1 00:00:00 2024\n", true),
            ("\u{feff}\n\r\nFrom - Sat Sep 28 12:00:00 2002\r\n", true),
            ("From \r\nX-Mozilla-Status: 0001\r\n", true),
            ("From \rX-Mozilla-Status: 0001\r", true),
            ("From the beginning\n", false),
            ("From here\nto there\n", false),
            ("\x01\x01\x01\x01\nA: b\n", true),
            ("BABYL OPTIONS: -*- rmail -*-\n", true),
            ("Subject: x\n", false),
            ("\n", false),
            ("", false),
        ] {
            assert_eq!(is_mailbox(beginning.as_bytes()), expected, "{beginning:?}");
        }
    }
}
