// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads POSIX expressions, basic and extended, with the GNU C library's additions.
//!
//! The result is a [`Tree`]: nodes in one vector, children before their parents, so that nothing
//! that walks it bottom-up needs recursion.

use crate::charset::{self, Cases, CharSet};
use crate::error::Error;
use crate::locale::Locale;
use crate::subject::{self, STRAY};

/// The two dialects of POSIX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `\(`, `\{`, `\|`, `\+` and `\?` are operators, their bare forms literals.
    Basic,
    /// `(`, `{`, `|`, `+` and `?` are operators.
    Extended,
}

/// Largest count in `{m,n}`.
pub(crate) const MAX_COUNT: u32 = 32767;
/// Deepest nesting of groups and quantifiers. Compilation recurses this deep.
const MAX_DEPTH: u32 = 250;

/// Index of a node in its [`Tree`].
pub(crate) type NodeId = usize;

/// A condition on a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Assertion {
    /// `^`: where the search begins, if that is the beginning of a line.
    LineStart,
    /// `$` and `\'`: the end of the subject.
    End,
    /// `` \` ``: where the search begins.
    Start,
    /// `\<`: between no word character and a word character.
    WordStart,
    /// `\>`: between a word character and none.
    WordEnd,
    /// `\b`: one of the two.
    WordBoundary,
    /// `\B`: none of the two.
    NotWordBoundary,
}

/// A node of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// Matches the empty string.
    Empty,
    /// One character of a set.
    Class(CharSet),
    /// A condition on the position.
    Assert(Assertion),
    /// Group with this number, counted from 1.
    Group(u32, NodeId),
    /// What the group with this number matched.
    Backref(u32),
    /// One after the other.
    Cat(Vec<NodeId>),
    /// One of several, the earlier the better.
    Alt(Vec<NodeId>),
    /// At least `min`, at most `max` times.
    Repeat {
        /// What is repeated.
        node: NodeId,
        /// Least number of times.
        min: u32,
        /// Greatest number of times; `None` for no limit.
        max: Option<u32>,
    },
}

/// A parsed expression.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// All nodes, children before parents. A node has at most one parent.
    pub nodes: Vec<Node>,
    /// The whole expression.
    pub root: NodeId,
    /// Number of groups.
    pub groups: u32,
}

impl Tree {
    /// For each node, whether it can match the empty string.
    pub(crate) fn nullable(&self) -> Vec<bool> {
        let mut nullable: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            nullable.push(match node {
                Node::Empty | Node::Assert(_) | Node::Backref(_) => true,
                Node::Class(_) => false,
                Node::Group(_, inner) => nullable[*inner],
                Node::Cat(parts) => parts.iter().all(|&part| nullable[part]),
                Node::Alt(parts) => parts.iter().any(|&part| nullable[part]),
                Node::Repeat { node, min, .. } => *min == 0 || nullable[*node],
            });
        }
        nullable
    }

    /// Whether any node is `wanted`.
    pub(crate) fn has(&self, wanted: impl FnMut(&Node) -> bool) -> bool {
        self.nodes.iter().any(wanted)
    }
}

/// How to read an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Which characters are operators.
    pub syntax: Syntax,
    /// What a character is.
    pub locale: Locale,
    /// Whether letters stand for both cases.
    pub ignore_case: bool,
}

/// Reads an expression.
///
/// # Errors
/// What the GNU C library refuses is refused, and groups nested more than 250 deep.
pub(crate) fn parse(pattern: &[u8], dialect: Dialect) -> Result<Tree, Error> {
    let mut parser = Parser {
        text: pattern,
        at: 0,
        dialect,
        cases: dialect.ignore_case.then(|| Cases::of(dialect.locale)),
        nodes: Vec::new(),
        opened: 0,
        closed: 0,
        depth: 0,
    };
    let root = parser.alternatives(false)?;
    Ok(Tree { nodes: parser.nodes, root, groups: parser.opened })
}

/// What the next characters mean. Literal text is what no other variant claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Literal(u32),
    Open,
    Close,
    Bar,
    Star,
    Plus,
    Question,
    Brace,
    Dot,
    Bracket,
    Caret,
    Dollar,
    Backref(u32),
    Assert(Assertion),
    Word { negated: bool },
    Space { negated: bool },
    TrailingBackslash,
}

/// Where reading has got to.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    dialect: Dialect,
    /// The letters of both cases, if they stand for each other.
    cases: Option<Cases>,
    nodes: Vec<Node>,
    /// Groups begun so far.
    opened: u32,
    /// Groups 1 to 9 that are complete: bit n for group n.
    closed: u16,
    depth: u32,
}

impl Parser<'_> {
    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The token at `at` and its length in bytes.
    fn token_at(&self, at: usize) -> (Token, usize) {
        let rest = self.text.get(at..).unwrap_or_default();
        let Some((code, length)) = subject::first(rest, self.dialect.locale) else {
            return (Token::End, 0);
        };
        let extended = self.dialect.syntax == Syntax::Extended;
        let token = match u8::try_from(code).unwrap_or(0x80) {
            b'\\' => return self.escape(&rest[1..]),
            b'.' => Token::Dot,
            b'[' => Token::Bracket,
            b'*' => Token::Star,
            b'^' => Token::Caret,
            b'$' => Token::Dollar,
            b'(' if extended => Token::Open,
            b')' if extended => Token::Close,
            b'|' if extended => Token::Bar,
            b'+' if extended => Token::Plus,
            b'?' if extended => Token::Question,
            b'{' if extended => Token::Brace,
            _ => Token::Literal(code),
        };
        (token, length)
    }

    /// The token that begins with a backslash before `rest`, and its length with the backslash.
    fn escape(&self, rest: &[u8]) -> (Token, usize) {
        let Some((code, length)) = subject::first(rest, self.dialect.locale) else {
            return (Token::TrailingBackslash, 1);
        };
        let basic = self.dialect.syntax == Syntax::Basic;
        let token = match u8::try_from(code).unwrap_or(0x80) {
            digit @ b'1'..=b'9' => Token::Backref(u32::from(digit - b'0')),
            b'<' => Token::Assert(Assertion::WordStart),
            b'>' => Token::Assert(Assertion::WordEnd),
            b'b' => Token::Assert(Assertion::WordBoundary),
            b'B' => Token::Assert(Assertion::NotWordBoundary),
            b'`' => Token::Assert(Assertion::Start),
            b'\'' => Token::Assert(Assertion::End),
            b'w' => Token::Word { negated: false },
            b'W' => Token::Word { negated: true },
            b's' => Token::Space { negated: false },
            b'S' => Token::Space { negated: true },
            b'(' if basic => Token::Open,
            b')' if basic => Token::Close,
            b'|' if basic => Token::Bar,
            b'+' if basic => Token::Plus,
            b'?' if basic => Token::Question,
            b'{' if basic => Token::Brace,
            _ => Token::Literal(code),
        };
        (token, length + 1)
    }

    fn peek(&self) -> (Token, usize) {
        self.token_at(self.at)
    }

    /// Branches up to the end or, in a group, to the closing parenthesis, which is left unread.
    fn alternatives(&mut self, in_group: bool) -> Result<NodeId, Error> {
        // Back-references cannot reach into another branch.
        let before = self.closed;
        let mut branches = vec![self.branch(in_group)?];
        let mut closed = self.closed;
        while let (Token::Bar, length) = self.peek() {
            self.at += length;
            self.closed = before;
            branches.push(self.branch(in_group)?);
            closed |= self.closed;
        }
        self.closed = closed;
        // GNU libc tries an empty first branch after the second one.
        if branches.len() > 1 && self.nodes[branches[0]] == Node::Empty {
            branches.swap(0, 1);
        }
        Ok(if branches.len() == 1 { branches[0] } else { self.push(Node::Alt(branches)) })
    }

    /// One branch: expressions up to a bar, the end, or the closing parenthesis of a group.
    fn branch(&mut self, in_group: bool) -> Result<NodeId, Error> {
        let begin = self.at;
        let mut parts = Vec::new();
        loop {
            match self.peek().0 {
                Token::End | Token::Bar => break,
                Token::Close if in_group => break,
                _ => {}
            }
            let here = self.at == begin;
            let part = self.expression(here)?;
            if self.nodes[part] != Node::Empty {
                parts.push(part);
            }
        }
        Ok(match parts.len() {
            0 => self.push(Node::Empty),
            1 => parts[0],
            _ => self.push(Node::Cat(parts)),
        })
    }

    /// One atom with its quantifiers. `first` says that it begins a branch.
    fn expression(&mut self, first: bool) -> Result<NodeId, Error> {
        let (token, length) = self.peek();
        let begin = self.at;
        self.at += length;
        let basic = self.dialect.syntax == Syntax::Basic;
        let atom = match token {
            Token::Literal(code) => self.literal(code),
            Token::Dot => {
                let any = CharSet::any(self.dialect.locale);
                self.push(Node::Class(any))
            }
            Token::Bracket => {
                let set = self.bracket()?;
                self.push(Node::Class(set))
            }
            Token::Word { negated } => {
                let set = charset::word(self.dialect.locale);
                self.class(set, negated)
            }
            Token::Space { negated } => {
                let set = charset::named(b"space", self.dialect.locale).unwrap_or_default();
                self.class(set, negated)
            }
            Token::Backref(number) => {
                if self.closed >> number & 1 == 0 {
                    return Err(Error::BackReference);
                }
                self.push(Node::Backref(number))
            }
            Token::Open => self.group()?,
            // Anchors take no quantifier: what follows begins an expression of its own.
            Token::Assert(assertion) => return Ok(self.push(Node::Assert(assertion))),
            Token::Caret if !basic || first => {
                return Ok(self.push(Node::Assert(Assertion::LineStart)));
            }
            Token::Dollar if !basic || self.ends_branch() => {
                return Ok(self.push(Node::Assert(Assertion::End)));
            }
            Token::Close if basic => return Err(Error::UnopenedGroup),
            Token::Brace => return Err(Error::NothingToRepeat),
            Token::Star | Token::Plus | Token::Question if !basic => {
                return Err(Error::NothingToRepeat);
            }
            Token::TrailingBackslash => return Err(Error::TrailingBackslash),
            // An operator out of place stands for itself.
            _ => {
                let code = self.text[begin + length - 1];
                self.literal(u32::from(code))
            }
        };
        self.quantified(atom)
    }

    /// Whether a `$` that was just read ends its branch, as a basic expression's anchor must.
    fn ends_branch(&self) -> bool {
        matches!(self.peek().0, Token::End | Token::Bar | Token::Close)
    }

    fn literal(&mut self, code: u32) -> NodeId {
        self.class(CharSet::of(code), false)
    }

    fn class(&mut self, mut set: CharSet, negated: bool) -> NodeId {
        if let Some(cases) = &self.cases {
            set.ignore_case(cases);
        }
        let set = if negated { set.negated(self.dialect.locale) } else { set };
        self.push(Node::Class(set))
    }

    /// The rest of a group whose opening parenthesis was read.
    fn group(&mut self) -> Result<NodeId, Error> {
        self.opened += 1;
        let number = self.opened;
        self.deeper()?;
        let inner = self.alternatives(true)?;
        let (Token::Close, length) = self.peek() else {
            return Err(Error::UnclosedGroup);
        };
        self.at += length;
        self.depth -= 1;
        if number <= 9 {
            self.closed |= 1 << number;
        }
        Ok(self.push(Node::Group(number, inner)))
    }

    fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Error::TooDeep) } else { Ok(()) }
    }

    /// The quantifiers after `atom`.
    fn quantified(&mut self, atom: NodeId) -> Result<NodeId, Error> {
        let (mut node, mut stacked) = (atom, 0);
        loop {
            let (token, length) = self.peek();
            let repeatable_twice = matches!(token, Token::Plus | Token::Question);
            let (min, max) = match token {
                Token::Star => (0, None),
                Token::Plus => (1, None),
                Token::Question => (0, Some(1)),
                Token::Brace => (0, Some(0)),
                _ => break,
            };
            if stacked > 0 && self.dialect.syntax == Syntax::Basic && !repeatable_twice {
                return Err(Error::TwoQuantifiers);
            }
            self.at += length;
            let (min, max) = if token == Token::Brace { self.bounds()? } else { (min, max) };
            stacked += 1;
            self.deeper()?;
            node = match (&self.nodes[node], min, max) {
                (_, 0, Some(0)) | (Node::Empty, ..) => self.push(Node::Empty),
                // x** and x?* repeat as x* does.
                (&Node::Repeat { node: inner, min: 0, max: None | Some(1) }, 0, None) => {
                    self.nodes[node] = Node::Repeat { node: inner, min, max };
                    node
                }
                _ => self.push(Node::Repeat { node, min, max }),
            };
        }
        self.depth -= stacked;
        Ok(node)
    }

    /// The bounds after an opening brace, with the closing one.
    fn bounds(&mut self) -> Result<(u32, Option<u32>), Error> {
        let least = self.number();
        let (min, max) = if self.eat(b",") {
            (least.unwrap_or(0), self.number())
        } else {
            let count = least.ok_or(Error::NoCount)?;
            (count, Some(count))
        };
        let closing: &[u8] = if self.dialect.syntax == Syntax::Basic { b"\\}" } else { b"}" };
        if !self.eat(closing) {
            return Err(Error::UnclosedBrace);
        }
        if max.is_some_and(|max| max < min) {
            return Err(Error::BackwardCounts);
        }
        if max.unwrap_or(min) > MAX_COUNT {
            return Err(Error::LargeCount);
        }
        Ok((min, max))
    }

    fn eat(&mut self, wanted: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    /// Decimal digits, if there are any.
    fn number(&mut self) -> Option<u32> {
        let mut value = None;
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            let so_far = value.unwrap_or(0u32).min(MAX_COUNT + 1);
            value = Some(so_far * 10 + u32::from(digit - b'0'));
            self.at += 1;
        }
        value
    }

    /// A bracket expression whose opening bracket was read.
    fn bracket(&mut self) -> Result<CharSet, Error> {
        let locale = self.dialect.locale;
        let negated = self.eat(b"^");
        let mut set = CharSet::default();
        let mut first = true;
        loop {
            if !first && self.eat(b"]") {
                break;
            }
            let rest = self.text.get(self.at..).unwrap_or_default();
            if !first && rest.starts_with(b"-") && !rest.starts_with(b"-]") {
                return Err(Error::RangeWithoutBeginning);
            }
            let low = match self.element()? {
                Element::Set(class) => {
                    set.ranges.extend(class.ranges);
                    first = false;
                    continue;
                }
                Element::One(code) => code,
            };
            first = false;
            let rest = self.text.get(self.at..).unwrap_or_default();
            if !rest.starts_with(b"-") || rest.starts_with(b"-]") {
                set.ranges.push((low, low));
                continue;
            }
            self.at += 1;
            let Element::One(high) = self.element()? else {
                return Err(Error::RangeToClass);
            };
            let (low, high) = (range_end(low, locale)?, range_end(high, locale)?);
            if low > high {
                return Err(Error::BackwardRange);
            }
            set.ranges.push((low, high));
        }
        set.settle();
        if let Some(cases) = &self.cases {
            set.ignore_case(cases);
        }
        if negated {
            set = set.negated(locale);
        }
        // A stray byte in brackets matches nothing.
        set.ranges.retain(|range| range.0 < STRAY);
        Ok(set)
    }

    /// One element of a bracket expression.
    fn element(&mut self) -> Result<Element, Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (code, length) =
            subject::first(rest, self.dialect.locale).ok_or(Error::UnclosedBracket)?;
        if let [b'[', kind @ (b'.' | b'=' | b':'), inside @ ..] = rest {
            let end = inside
                .windows(2)
                .position(|pair| pair == [*kind, b']'])
                .filter(|&end| end < 32)
                .ok_or(Error::UnclosedBracket)?;
            self.at += end + 4;
            let name = &inside[..end];
            return match (kind, name) {
                (b':', _) => self.named_class(name).map(Element::Set),
                (b'=', [one]) => Ok(Element::Set(CharSet::of(u32::from(*one)))),
                (b'.', [one]) => Ok(Element::One(u32::from(*one))),
                _ => Err(Error::CollatingElement),
            };
        }
        self.at += length;
        Ok(Element::One(code))
    }

    fn named_class(&self, name: &[u8]) -> Result<CharSet, Error> {
        let name = match name {
            b"upper" | b"lower" if self.dialect.ignore_case => b"alpha",
            _ => name,
        };
        charset::named(name, self.dialect.locale).ok_or(Error::CharacterClass)
    }
}

/// One element of a bracket expression.
enum Element {
    One(u32),
    Set(CharSet),
}

/// A character as the end of a range. In UTF-8 only ASCII characters have a place in the order of
/// characters, and single bytes, which stand for the code of their value.
fn range_end(code: u32, locale: Locale) -> Result<u32, Error> {
    match code {
        _ if code < 0x80 || locale == Locale::C => Ok(code),
        _ if code & STRAY != 0 => Ok(code & 0xff),
        _ => Err(Error::UnorderedRange),
    }
}
