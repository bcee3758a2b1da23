// SPDX-License-Identifier: GPL-3.0-or-later
//! What the schemes do with each byte of a line (spec text 4).

use crate::scheme::Scheme;

/// What a scheme does with a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteAction {
    /// Append it to the word.
    Take,
    /// Append it, then end the word.
    TakeEnd,
    /// End the word; the byte is lost.
    Cut,
    /// Ignore the byte.
    Skip,
}

use ByteAction::{Cut, Skip, Take, TakeEnd};

/// State of `cef`, `adp` and `cef2`: one for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Between words, or within a word for which nothing needs to be remembered.
    #[default]
    Start,
    /// So many bytes of a multi-byte letter follow.
    MultiByte(u8),
    /// `cef`: a letter, then digits.
    LetterDigits,
    /// `cef`: a digit, then letters.
    DigitLetters,
    /// `cef`: letters with inner punctuation.
    Compound,
    /// `cef`: an amount of money.
    Money,
    /// `cef`: between angle brackets.
    Address,
    /// `cef`: a run of one punctuation byte, of which so many are still kept (3 to 1).
    Repeat(u8),
    /// `adp`: a run that began before punctuation.
    Punctuation,
    /// `adp`: a run of digits.
    Digits,
    /// `adp`: a run of letters.
    Letters,
    /// `adp`: a run of punctuation.
    Symbols,
    /// `cef2`: an atom.
    Plain,
    /// `cef2`: atoms joined by dots.
    Dotted,
    /// `cef2`: atoms joined by colons.
    Colon,
}

/// The byte `k` places on; 0 after the line's end, because schemes look ahead.
fn byte(ahead: &[u8], k: usize) -> u8 {
    ahead.get(k).copied().unwrap_or(0)
}

/// What `scheme` does with the byte `c`, whose case is folded. `ahead` has this byte and those that
/// follow without folding. `c` = 0 stands for the end of a line, which always ends the word and
/// does not change the state.
pub fn action(scheme: Scheme, state: &mut State, c: u8, ahead: &[u8]) -> ByteAction {
    if c == 0 {
        return Cut;
    }
    let take_if = |take: bool| if take { Take } else { Cut };
    match scheme {
        Scheme::Alpha => take_if(c.is_ascii_alphabetic()),
        // `word` and `glyph` have a tokenizer of their own ([`crate::unicode`]).
        Scheme::Alnum | Scheme::Word | Scheme::Glyph | Scheme::Gram => {
            take_if(c.is_ascii_alphanumeric())
        }
        Scheme::Graph => take_if(c.is_ascii_graphic()),
        Scheme::Char => {
            if c.is_ascii_graphic() {
                TakeEnd
            } else {
                Cut
            }
        }
        Scheme::Cef | Scheme::Adp | Scheme::Cef2 => {
            if let State::MultiByte(left) = *state {
                *state = if left > 1 { State::MultiByte(left - 1) } else { State::Start };
                return if left > 1 { Take } else { TakeEnd };
            }
            let (action, next) = match (scheme, *state) {
                (_, State::Start) if c >= 0x80 => multi_byte(c, ahead),
                (Scheme::Cef, state) => cef(state, c, ahead),
                (Scheme::Adp, state) => adp(state, c, ahead),
                (_, state) => cef2(state, c, ahead),
            };
            *state = next;
            action
        }
    }
}

/// A byte from 80 up in the start state: UTF-8 by shape, then the double-byte Asian sets.
fn multi_byte(c: u8, ahead: &[u8]) -> (ByteAction, State) {
    let (n, m) = (byte(ahead, 1), byte(ahead, 2));
    let following = match c {
        0xc0..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf7 => 3,
        0xf8..=0xfb => 4,
        0xfc..=0xfd => 5,
        _ => 0,
    };
    let continues = |k: u8| matches!(byte(ahead, usize::from(k)), 0x80..=0xbf);
    if following > 0 && (1..=following).all(continues) {
        (Take, State::MultiByte(following))
    } else if c == 0x8f && matches!(n, 0xfd | 0xfe) && matches!(m, 0xa1..=0xfe) {
        (Take, State::MultiByte(2))
    } else if (matches!(c, 0x81..=0xfe) && matches!(n, 0x40..=0x7e | 0x80..=0xfe))
        || (matches!(c, 0xd8..=0xde | 0xe0..=0xf9) && matches!(n, 0x31..=0x3f))
    {
        (Take, State::MultiByte(1))
    } else {
        (Cut, State::Start)
    }
}

fn cef(state: State, c: u8, ahead: &[u8]) -> (ByteAction, State) {
    let (n, m) = (byte(ahead, 1), byte(ahead, 2));
    let joins = |n: u8, m: u8| matches!(n, b'\'' | b'-' | b'.') && m.is_ascii_alphabetic();
    match state {
        State::LetterDigits => match (c.is_ascii_digit(), n.is_ascii_digit()) {
            (true, true) => (Take, state),
            (true, false) => (TakeEnd, State::Start),
            (false, _) => (Cut, State::Start),
        },
        State::DigitLetters => match (c.is_ascii_alphabetic(), n.is_ascii_alphabetic()) {
            (true, true) => (Take, state),
            (true, false) => (TakeEnd, State::Start),
            (false, _) => (Cut, State::Start),
        },
        State::Compound if n.is_ascii_alphabetic() || joins(n, m) => (Take, state),
        State::Money if n.is_ascii_digit() || (matches!(n, b',' | b'.') && m.is_ascii_digit()) => {
            (Take, state)
        }
        State::Compound | State::Money => (TakeEnd, State::Start),
        State::Address => match c {
            b'@' => (Cut, state),
            b'>' => (Cut, State::Start),
            _ => (Take, state),
        },
        State::Repeat(1) => {
            let next = if n == c { state } else { State::Start };
            (Cut, next)
        }
        State::Repeat(left) => (Take, State::Repeat(left - 1)),
        _ if c.is_ascii_alphabetic() => match () {
            () if n.is_ascii_digit() => (Take, State::LetterDigits),
            () if joins(n, m) => (Take, State::Compound),
            () => (Take, State::Start),
        },
        _ if c.is_ascii_punctuation() => match () {
            () if n == c && m == c => (Take, State::Repeat(3)),
            () if n == c => (Take, State::Repeat(2)),
            () if c == b'$'
                && n.is_ascii_digit()
                && !(2..5).all(|k| byte(ahead, k).is_ascii_digit()) =>
            {
                (Take, State::Money)
            }
            () if c == b'<' && closes(ahead) => (Cut, State::Address),
            () => (Cut, State::Start),
        },
        _ if c.is_ascii_digit() && n.is_ascii_alphabetic() => (Take, State::DigitLetters),
        _ => (Cut, State::Start),
    }
}

/// Whether the visible bytes after `<`, as far as they are not `>`, are followed by `>`.
fn closes(ahead: &[u8]) -> bool {
    ahead.iter().skip(1).find(|&&byte| byte == b'>' || !byte.is_ascii_graphic()) == Some(&b'>')
}

/// Bytes A1 to FE.
const fn is_high(byte: u8) -> bool {
    matches!(byte, 0xa1..=0xfe)
}

fn adp(state: State, c: u8, ahead: &[u8]) -> (ByteAction, State) {
    let (n, m) = (byte(ahead, 1), byte(ahead, 2));
    let repeated = n == c && m == c;
    match state {
        State::Punctuation => match () {
            () if !n.is_ascii_punctuation() => (TakeEnd, State::Start),
            () if repeated => (Skip, state),
            () => (Take, state),
        },
        State::Digits => match () {
            () if n.is_ascii_punctuation() => (Take, State::Punctuation),
            () if n.is_ascii_alphabetic() || is_high(n) => (Take, State::Letters),
            () if !n.is_ascii_digit() => (TakeEnd, State::Start),
            () => (Take, state),
        },
        State::Letters => match () {
            () if n.is_ascii_digit() => (Take, State::Digits),
            () if n.is_ascii_punctuation() => (Take, State::Punctuation),
            () if !n.is_ascii_alphabetic() && !is_high(n) => (TakeEnd, State::Start),
            () if repeated => (Skip, state),
            () => (Take, state),
        },
        State::Symbols => match () {
            () if !c.is_ascii_punctuation() => (Cut, State::Start),
            () if n.is_ascii_punctuation() || n == 0 => (if repeated { Skip } else { Take }, state),
            () => (TakeEnd, State::Start),
        },
        _ if c.is_ascii_alphabetic() => match () {
            () if n.is_ascii_digit() => (Take, State::Digits),
            () if n.is_ascii_punctuation() => (Take, State::Punctuation),
            () if n.is_ascii_alphabetic() => (Take, State::Letters),
            () => (TakeEnd, State::Start),
        },
        _ if c.is_ascii_digit() => match () {
            () if n.is_ascii_punctuation() => (Take, State::Punctuation),
            () if n.is_ascii_digit() => (Take, State::Digits),
            () => (TakeEnd, State::Start),
        },
        _ if c.is_ascii_punctuation() => {
            if n.is_ascii_punctuation() || n == 0 {
                (Take, State::Symbols)
            } else {
                (TakeEnd, State::Start)
            }
        }
        _ => (Cut, State::Start),
    }
}

/// Bytes of a message atom, without the apostrophe and the slash.
pub const fn is_atom(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'&' | b'*' | b'+' | b'-' | b'=' | b'?' | b'^'..=b'`')
        || matches!(byte, b'{'..=b'~')
}

fn cef2(state: State, c: u8, ahead: &[u8]) -> (ByteAction, State) {
    let n = byte(ahead, 1);
    match state {
        State::Start if is_atom(c) => (Take, State::Plain),
        State::Plain | State::Dotted | State::Colon if is_atom(c) => (Take, state),
        State::Plain | State::Dotted if c == b'.' && is_atom(n) => (Take, State::Dotted),
        State::Plain | State::Colon if c == b':' && is_atom(n) => (Take, State::Colon),
        _ => (Cut, State::Start),
    }
}
