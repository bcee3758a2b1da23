// SPDX-License-Identifier: GPL-3.0-or-later
//! Values of CSS: lengths, and what is calculated of them.

/// A length: pixels, sizes of the font, and per cents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Length {
    pub pixels: f32,
    pub ems: f32,
    pub percent: f32,
}

/// Pixels of the letters of a page.
pub(super) const LETTERS: f32 = 16.0;
/// Pixels that a window is taken to be wide.
pub(super) const WINDOW: f32 = 1000.0;
/// The deepest brackets within brackets.
const DEEPEST: usize = 8;

/// Units of length, in pixels.
const UNITS: [(&str, f32); 15] = [
    ("px", 1.0),
    ("pt", 4.0 / 3.0),
    ("pc", 16.0),
    ("rem", LETTERS),
    ("vw", WINDOW / 100.0),
    ("vh", WINDOW / 100.0),
    ("vmin", WINDOW / 100.0),
    ("vmax", WINDOW / 100.0),
    ("vi", WINDOW / 100.0),
    ("vb", WINDOW / 100.0),
    ("in", 96.0),
    ("cm", 37.8),
    ("mm", 3.78),
    ("q", 0.945),
    ("rlh", 1.2 * LETTERS),
];

/// Units of length, in sizes of the font.
const FONT_UNITS: [(&str, f32); 6] =
    [("em", 1.0), ("ex", 0.5), ("ch", 0.5), ("cap", 0.7), ("ic", 1.0), ("lh", 1.2)];

impl Length {
    const fn pixels(pixels: f32) -> Self {
        Self { pixels, ems: 0.0, percent: 0.0 }
    }

    /// Reads a length or a percentage; a number without a unit is one only if it is 0.
    pub(super) fn read(text: &str) -> Option<Self> {
        match Value::read(text)? {
            Value::Length(length) => Some(length),
            Value::Number(number) => (number == 0.0).then_some(Self::pixels(0.0)),
        }
    }

    /// In pixels, in letters of the page and per cents of its window.
    pub(super) fn on_page(self) -> f32 {
        self.pixels + self.ems * LETTERS + self.percent * WINDOW / 100.0
    }

    /// In pixels, as the size of a font within one of this size.
    pub(super) fn of_font(self, parent: f32) -> f32 {
        self.pixels + parent * (self.ems + self.percent / 100.0)
    }

    fn times(self, factor: f32) -> Self {
        let Self { pixels, ems, percent } = self;
        Self { pixels: pixels * factor, ems: ems * factor, percent: percent * factor }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            pixels: self.pixels + other.pixels,
            ems: self.ems + other.ems,
            percent: self.percent + other.percent,
        }
    }
}

/// A number or a length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Number(f32),
    Length(Length),
}

impl Value {
    /// Reads a value that may be calculated.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let value = factor(&mut rest, 0)?;
        rest.trim().is_empty().then_some(value)
    }

    /// A number, or per cents of 1.
    pub(super) fn share(text: &str) -> Option<f32> {
        match Self::read(text)? {
            Self::Number(number) => Some(number),
            Self::Length(Length { pixels: 0.0, ems: 0.0, percent }) => Some(percent / 100.0),
            Self::Length(_) => None,
        }
    }

    fn on_page(self) -> f32 {
        match self {
            Self::Number(number) => number,
            Self::Length(length) => length.on_page(),
        }
    }
}

/// Takes a number with its unit, a group in brackets, or a function.
fn factor(rest: &mut &str, depth: usize) -> Option<Value> {
    *rest = rest.trim_start();
    if depth > DEEPEST {
        return None;
    }
    if let Some(inner) = rest.strip_prefix('(') {
        *rest = inner;
        return group(rest, depth);
    }
    if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-' && is_function(rest)) {
        return function(rest, depth);
    }
    let end = number_end(rest.as_bytes());
    let (number, behind) = rest.split_at(end);
    let number: f32 = number.parse().ok().filter(|number: &f32| number.is_finite())?;
    let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
    let (unit, behind) = behind.split_at(end);
    if let Some(behind) = behind.strip_prefix('%').filter(|_| unit.is_empty()) {
        *rest = behind;
        return Some(Value::Length(Length { percent: number, ..Length::pixels(0.0) }));
    }
    *rest = behind;
    if unit.is_empty() {
        return Some(Value::Number(number));
    }
    let of = |units: &[(&str, f32)]| {
        let found = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        found.map(|(_, size)| number * size)
    };
    if let Some(ems) = of(&FONT_UNITS) {
        return Some(Value::Length(Length { ems, ..Length::pixels(0.0) }));
    }
    of(&UNITS).map(|pixels| Value::Length(Length::pixels(pixels)))
}

fn is_function(text: &str) -> bool {
    text[1..].starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Where a number ends.
fn number_end(bytes: &[u8]) -> usize {
    let is_sign = |at: usize| at == 0 || matches!(bytes[at - 1], b'e' | b'E');
    let is_number = |at: usize| match bytes[at] {
        b'0'..=b'9' | b'.' => true,
        b'-' | b'+' => is_sign(at),
        b'e' | b'E' => match bytes.get(at + 1) {
            Some(b'0'..=b'9') => true,
            Some(b'-' | b'+') => bytes.get(at + 2).is_some_and(u8::is_ascii_digit),
            _ => false,
        },
        _ => false,
    };
    (0..bytes.len()).find(|&at| !is_number(at)).unwrap_or(bytes.len())
}

/// Takes a sum up to the bracket that closes it.
fn group(rest: &mut &str, depth: usize) -> Option<Value> {
    let value = sum(rest, depth + 1)?;
    *rest = rest.trim_start();
    // At the end of a text open brackets are closed.
    *rest = rest.strip_prefix(')').or_else(|| rest.is_empty().then_some(""))?;
    Some(value)
}

fn function(rest: &mut &str, depth: usize) -> Option<Value> {
    let open = rest.find('(')?;
    let (name, inner) = (&rest[..open], &rest[open + 1..]);
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
    *rest = inner;
    if is("calc") || is("-webkit-calc") || is("-moz-calc") {
        return group(rest, depth);
    }
    let (is_min, is_max, is_clamp) = (is("min"), is("max"), is("clamp"));
    if !(is_min || is_max || is_clamp) {
        return None;
    }
    let mut values = vec![sum(rest, depth + 1)?];
    loop {
        *rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(behind) => {
                *rest = behind;
                values.push(sum(rest, depth + 1)?);
            }
            None => break,
        }
    }
    *rest = rest.strip_prefix(')').or_else(|| rest.is_empty().then_some(""))?;
    let smaller = |a: Value, b: Value| if b.on_page() < a.on_page() { b } else { a };
    let larger = |a: Value, b: Value| if b.on_page() > a.on_page() { b } else { a };
    match (values.as_slice(), is_clamp) {
        (&[lowest, value, highest], true) => Some(larger(lowest, smaller(value, highest))),
        (_, true) => None,
        _ => values.into_iter().reduce(if is_min { smaller } else { larger }),
    }
}

fn sum(rest: &mut &str, depth: usize) -> Option<Value> {
    let mut total = product(rest, depth)?;
    loop {
        *rest = rest.trim_start();
        let sign = match rest.as_bytes().first() {
            Some(b'+') => 1.0,
            Some(b'-') => -1.0,
            _ => return Some(total),
        };
        *rest = &rest[1..];
        total = match (total, product(rest, depth)?) {
            (Value::Number(a), Value::Number(b)) => Value::Number(a + sign * b),
            (Value::Length(a), Value::Length(b)) => Value::Length(a.plus(b.times(sign))),
            _ => return None,
        };
    }
}

fn product(rest: &mut &str, depth: usize) -> Option<Value> {
    let mut total = factor(rest, depth)?;
    loop {
        *rest = rest.trim_start();
        let divides = match rest.as_bytes().first() {
            Some(b'*') => false,
            Some(b'/') => true,
            _ => return Some(total),
        };
        *rest = &rest[1..];
        total = match (total, factor(rest, depth)?, divides) {
            (_, Value::Number(0.0), true) => return None,
            (Value::Number(a), Value::Number(b), _) => {
                Value::Number(if divides { a / b } else { a * b })
            }
            (Value::Length(a), Value::Number(b), _) => {
                Value::Length(a.times(if divides { 1.0 / b } else { b }))
            }
            (Value::Number(a), Value::Length(b), false) => Value::Length(b.times(a)),
            _ => return None,
        };
    }
}

/// What stands between the brackets of a function, if the value is one of this name.
pub(super) fn inside<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let head = value.get(..name.len())?;
    let rest = value[name.len()..].strip_prefix('(')?;
    head.eq_ignore_ascii_case(name).then(|| rest.split(')').next().unwrap_or(rest))
}

/// The parts of a list in brackets.
pub(super) fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ', '/']).filter(|part| !part.is_empty())
}

/// The text up to the first letter outside brackets and quotes that `ends` it, and the rest, which
/// begins with that letter.
pub(super) fn split_outside(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    let (mut depth, mut quote) = (0_u32, None);
    let end = text.find(|c: char| {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) => return depth == 0 && ends(c),
        }
        false
    });
    text.split_at(end.unwrap_or(text.len()))
}

/// The words of a value: what stands between blanks outside brackets and quotes. A `/` is a word of
/// its own.
pub(super) fn words(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix('/') {
            rest = behind;
            return Some("/");
        }
        let (word, behind) = split_outside(rest, |c| c.is_ascii_whitespace() || c == '/');
        rest = behind;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_calculated() {
        for (text, page, font) in [
            ("0", Some(0.0), Some(0.0)),
            ("12", None, None),
            ("12px", Some(12.0), Some(12.0)),
            ("-1.5E1PX", Some(-15.0), Some(-15.0)),
            ("1em", Some(16.0), Some(20.0)),
            ("1rem", Some(16.0), Some(16.0)),
            ("50%", Some(500.0), Some(10.0)),
            ("calc(0px + 1rem)", Some(16.0), Some(16.0)),
            ("calc(1em * 0)", Some(0.0), Some(0.0)),
            ("calc((1px + 2px) * 3 - 50%/2)", Some(-241.0), Some(4.0)),
            ("calc(1px + 1)", None, None),
            ("min(0px, 1em)", Some(0.0), Some(0.0)),
            ("clamp(0px, 1em, 20px)", Some(16.0), Some(20.0)),
            ("max(1px, 2px", Some(2.0), Some(2.0)),
            ("12foo", None, None),
            ("px", None, None),
            ("1px 2px", None, None),
            ("", None, None),
            ("calc(1px / 0)", None, None),
        ] {
            let found = Length::read(text);
            assert_eq!(found.map(Length::on_page), page, "{text}");
            assert_eq!(found.map(|it| it.of_font(20.0)), font, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(Length::read(&format!("calc{deep}1px")), None);
        assert_eq!(Value::share("1%"), Some(0.01));
        assert_eq!(Value::share(".5"), Some(0.5));
        assert_eq!(Value::share("1px"), None);
    }

    #[test]
    fn words_of_values_are_whole() {
        let text = "12px/1.5 'a b', rgb(1, 2, 3) x";
        let found: Vec<&str> = words(text).collect();
        assert_eq!(found, ["12px", "/", "1.5", "'a b',", "rgb(1, 2, 3)", "x"]);
    }
}
