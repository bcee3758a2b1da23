// SPDX-License-Identifier: GPL-3.0-or-later
//! Styles of HTML elements, as far as they decide whether a reader sees the text.

use std::borrow::Cow;

/// A colour, red, green and blue; `None` if it cannot be told.
pub type Colour = Option<[u8; 3]>;

/// The properties that a list of declarations sets; others are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// Nothing within the element is shown.
    pub is_gone: bool,
    /// The same by `display`, which a later declaration may take back.
    pub is_removed: Option<bool>,
    /// Its text is not shown, unless an element within says otherwise.
    pub is_invisible: Option<bool>,
    /// Its text is too small to be read, unless an element within says otherwise.
    pub is_tiny: Option<bool>,
    /// Colour of text.
    pub colour: Option<Colour>,
    /// Colour behind text.
    pub background: Option<Colour>,
}

/// Text without comments and escapes, as CSS has them.
fn plain(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() && !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '/']) {
        let (before, after) = rest.split_at(at);
        found.push_str(before);
        if let Some(comment) = after.strip_prefix("/*") {
            found.push(' ');
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(escaped) = after.strip_prefix('\\') {
            let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
            let digits = escaped.bytes().take(6).take_while(is_digit).count();
            let number = u32::from_str_radix(&escaped[..digits], 16).ok();
            let character = match number {
                Some(number) => char::from_u32(number),
                None => escaped.chars().next(),
            };
            let length = if digits > 0 { digits } else { character.map_or(0, char::len_utf8) };
            // What would end a name is not one character of it.
            let is_name = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
            found.push(character.filter(is_name).unwrap_or('_'));
            rest = &escaped[length..];
            let blank = rest.strip_prefix(|c: char| c.is_ascii_whitespace());
            rest = blank.filter(|_| digits > 0).unwrap_or(rest);
        } else {
            found.push('/');
            rest = &after[1..];
        }
    }
    found.push_str(rest);
    Cow::Owned(found)
}

/// A length in pixels, nearly: letters are taken as 16 high and the window as 1,000 wide; `percent`
/// is what one per cent is.
fn length(value: &str, percent: f32) -> Option<f32> {
    let value = inside(value, "calc").unwrap_or(value).trim();
    let bytes = value.as_bytes();
    let is_number = |at: usize| match bytes[at] {
        b'0'..=b'9' | b'.' | b'-' | b'+' => true,
        b'e' | b'E' => bytes.get(at + 1).is_some_and(|b| matches!(b, b'0'..=b'9' | b'-' | b'+')),
        _ => false,
    };
    let end = (0..bytes.len()).find(|&at| !is_number(at)).unwrap_or(bytes.len());
    let (number, unit) = value.split_at(end);
    let number: f32 = number.parse().ok()?;
    let known = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    match known {
        Some((_, pixels)) => Some(number * pixels),
        None if unit.trim() == "%" => Some(number * percent),
        None => (number == 0.0).then_some(0.0),
    }
}

/// Units of length, in pixels.
const UNITS: [(&str, f32); 14] = [
    ("", 1.0),
    ("px", 1.0),
    ("pt", 1.0),
    ("em", 16.0),
    ("rem", 16.0),
    ("ex", 8.0),
    ("ch", 8.0),
    ("vw", 10.0),
    ("vh", 10.0),
    ("vmin", 10.0),
    ("vmax", 10.0),
    ("in", 96.0),
    ("cm", 38.0),
    ("mm", 3.8),
];

/// What stands between the brackets of a function, if the value is one of this name.
fn inside<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let head = value.get(..name.len())?;
    let rest = value[name.len()..].strip_prefix('(')?;
    head.eq_ignore_ascii_case(name).then(|| rest.split(')').next().unwrap_or(rest))
}

/// The parts of a list in brackets.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ', '/']).filter(|part| !part.is_empty())
}

/// Whether `clip-path` or the older `clip` shows nothing.
fn clips_all(value: &str) -> bool {
    let small = |list: &str| parts(list).all(|part| length(part, 10.0).is_some_and(|it| it < 2.0));
    let half = |list: &str| {
        parts(list).next().and_then(|part| part.strip_suffix('%')?.parse().ok()) >= Some(50.0_f32)
    };
    inside(value, "rect").or_else(|| inside(value, "circle")).is_some_and(small)
        || inside(value, "inset").is_some_and(half)
}

/// Whether `transform` leaves nothing to be seen.
fn moves_away(value: &str) -> bool {
    value.split_inclusive(')').map(str::trim).any(|function| {
        let first = |name| parts(inside(function, name)?).next().and_then(|it| length(it, 10.0));
        first("scale").is_some_and(|scale| scale.abs() < 0.1)
            || ["translate", "translatex", "translatey"]
                .iter()
                .any(|name| first(name).is_some_and(|place| place < OUTSIDE))
    })
}

/// Pixels beyond which a reader sees nothing.
const OUTSIDE: f32 = -999.0;

impl Style {
    /// Reads declarations: `name: value; name: value`.
    pub fn read(text: &str) -> Self {
        let mut style = Self::default();
        let mut overflows_hidden = false;
        let mut has_no_size = false;
        let mut is_placed = false;
        let (mut is_outside, mut is_clipped) = (false, false);
        let mut lower = [0; 64];
        for declaration in plain(text).split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let value = value.split('!').next().unwrap_or(value).trim();
            let Some(name) = lowered(name.trim(), &mut lower) else { continue };
            let is = |wanted: &str| value.eq_ignore_ascii_case(wanted);
            let size = || length(value, 10.0);
            match name {
                "display" => style.is_removed = Some(is("none")),
                "visibility" => style.is_invisible = Some(is("hidden") || is("collapse")),
                "content-visibility" => style.is_gone |= is("hidden"),
                "opacity" => {
                    style.is_gone |= length(value, 0.01).is_some_and(|opacity| opacity < 0.1);
                }
                "font-size" => {
                    style.is_tiny = Some(length(value, 0.16).is_some_and(|size| size < 3.0));
                }
                "font" => {
                    let words = value.split_ascii_whitespace();
                    let sizes = words.filter_map(|word| length(word.split('/').next()?, 0.16));
                    style.is_tiny = Some(sizes.reduce(f32::min).is_some_and(|size| size < 3.0));
                }
                "overflow" => overflows_hidden = is("hidden"),
                "height" | "max-height" | "width" | "max-width" => {
                    has_no_size |= size().is_some_and(|size| size < 2.0);
                }
                "position" => is_placed = is("absolute") || is("fixed"),
                "left" | "top" | "right" | "bottom" | "margin-left" | "margin-top" => {
                    is_outside |= size().is_some_and(|place| place < OUTSIDE);
                }
                "clip" => is_clipped |= clips_all(value),
                "clip-path" => style.is_gone |= clips_all(value),
                "transform" => style.is_gone |= moves_away(value),
                "text-indent" => style.is_gone |= size().is_some_and(|size| size < OUTSIDE),
                "color" => {
                    if is_clear(value) {
                        style.is_invisible = Some(true);
                    }
                    style.colour = Some(colour(value));
                }
                "background-color" | "background" if is_clear(value) => {}
                "background-color" => style.background = Some(colour(value)),
                "background" => style.background = Some(background(value)),
                "background-image" if !is("none") => style.background = Some(None),
                _ => {}
            }
        }
        style.is_gone |= overflows_hidden && has_no_size || is_placed && (is_outside || is_clipped);
        style
    }

    /// Takes over the properties that `other` sets.
    pub fn override_by(&mut self, other: &Self) {
        self.is_gone |= other.is_gone;
        self.is_removed = other.is_removed.or(self.is_removed);
        self.is_invisible = other.is_invisible.or(self.is_invisible);
        self.is_tiny = other.is_tiny.or(self.is_tiny);
        self.colour = other.colour.or(self.colour);
        self.background = other.background.or(self.background);
    }
}

fn lowered<'a>(name: &str, buffer: &'a mut [u8; 64]) -> Option<&'a str> {
    let buffer = buffer.get_mut(..name.len())?;
    buffer.copy_from_slice(name.as_bytes());
    buffer.make_ascii_lowercase();
    std::str::from_utf8(buffer).ok()
}

const NAMED: [(&str, u32); 23] = [
    ("white", 0xFF_FFFF),
    ("black", 0),
    ("red", 0xFF_0000),
    ("lime", 0x00_FF00),
    ("blue", 0x00_00FF),
    ("yellow", 0xFF_FF00),
    ("aqua", 0x00_FFFF),
    ("cyan", 0x00_FFFF),
    ("fuchsia", 0xFF_00FF),
    ("magenta", 0xFF_00FF),
    ("gray", 0x80_8080),
    ("grey", 0x80_8080),
    ("silver", 0xC0_C0C0),
    ("maroon", 0x80_0000),
    ("green", 0x00_8000),
    ("navy", 0x00_0080),
    ("olive", 0x80_8000),
    ("purple", 0x80_0080),
    ("teal", 0x00_8080),
    ("orange", 0xFF_A500),
    ("whitesmoke", 0xF5_F5F5),
    ("snow", 0xFF_FAFA),
    ("ghostwhite", 0xF8_F8FF),
];

fn rgb(value: u32) -> [u8; 3] {
    let [_, channels @ ..] = value.to_be_bytes();
    channels
}

/// Reads a colour of an attribute or a declaration.
pub fn colour(value: &str) -> Colour {
    let value = value.trim();
    if let Some((_, value)) = NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(value)) {
        return Some(rgb(*value));
    }
    let digits = value.strip_prefix('#').unwrap_or(value);
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex && matches!(digits.len(), 6 | 8) {
        return u32::from_str_radix(&digits[..6], 16).ok().map(rgb);
    }
    if is_hex && matches!(digits.len(), 3 | 4) && value.starts_with('#') {
        let short = u32::from_str_radix(&digits[..3], 16).ok()?;
        let (red, green, blue) = (short >> 8, short >> 4 & 15, short & 15);
        return Some(rgb((red << 16 | green << 8 | blue) * 0x11));
    }
    if let Some(list) = inside(value, "hsl").or_else(|| inside(value, "hsla")) {
        return of_hue(list);
    }
    let list = inside(value, "rgb").or_else(|| inside(value, "rgba"))?;
    let mut parts = parts(list);
    let mut part = || Some(channel(length(parts.next()?, 2.55)?));
    Some([part()?, part()?, part()?])
}

/// A channel of a colour from 0 to 255.
fn channel(value: f32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    let channel = value.clamp(0.0, 255.0).round() as u8;
    channel
}

/// The colour of hue (degrees), saturation and lightness (per cent).
fn of_hue(list: &str) -> Colour {
    let mut parts = parts(list);
    let hue = parts.next()?.trim_end_matches("deg").parse::<f32>().ok()?.rem_euclid(360.0);
    let saturation = length(parts.next()?, 0.01)?.clamp(0.0, 1.0);
    let lightness = length(parts.next()?, 0.01)?.clamp(0.0, 1.0);
    let spread = saturation * lightness.min(1.0 - lightness);
    Some([0.0, 8.0, 4.0].map(|turn| {
        let place = (turn + hue / 30.0) % 12.0;
        channel(255.0 * (lightness - spread * (place - 3.0).min(9.0 - place).clamp(-1.0, 1.0)))
    }))
}

/// Whether a colour can be seen through.
fn is_clear(value: &str) -> bool {
    let short = match value.strip_prefix('#') {
        Some(digits) if matches!(digits.len(), 4 | 8) => {
            let alpha = digits.get(digits.len() / 4 * 3..).unwrap_or("f");
            return alpha.starts_with('0') || alpha == "10";
        }
        _ => ["rgb", "rgba", "hsl", "hsla"].iter().find_map(|name| inside(value, name)),
    };
    let alpha = short.and_then(|list| length(parts(list).nth(3)?, 0.01));
    value.eq_ignore_ascii_case("transparent") || alpha.is_some_and(|alpha| alpha < 0.1)
}

/// The colour in the short form `background`; unknown if it also sets a picture.
fn background(value: &str) -> Colour {
    let has_picture = ["url(", "gradient("].iter().any(|word| value.contains(word));
    if has_picture {
        return None;
    }
    colour(value).or_else(|| value.split_ascii_whitespace().find_map(colour))
}

/// Whether two colours can hardly be distinguished.
pub fn are_alike(one: Colour, other: Colour) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.iter().zip(other).all(|(a, b)| a.abs_diff(b) <= 8),
        _ => false,
    }
}

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
pub struct Sheet {
    /// One for each selector, in their order.
    rules: Vec<Rule>,
    /// Rules that were read.
    read: usize,
    /// Whether a rule that was ignored sets colours, so that the colour behind text is unknown.
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

/// Points that a window is taken to be wide, for rules of windows.
const WINDOW: f32 = 1000.0;

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
            let width = length(value.trim_end_matches(')'), 10.0);
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
    pub fn read(&mut self, text: &str) {
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
                _ => self.has_other_colours |= style.colour.is_some() || style.background.is_some(),
            }
        }
    }

    /// The place of the rule for a selector, or, as an error, the one where it would be inserted.
    fn place(&self, name: Selector) -> Result<usize, usize> {
        self.rules.binary_search_by_key(&name, |&(selector, ..)| selector)
    }

    /// The style that the rules give an element with this name, these classes and this id.
    pub fn style(&self, element: &str, classes: &str, id: &str) -> Style {
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
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Bytes of names that became numbers.
        pub static READ: Cell<usize> = const { Cell::new(0) };
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
    fn hiding_declarations_are_known() {
        for (text, is_gone, is_invisible, is_tiny) in [
            ("display:none", true, None, None),
            (" DISPLAY : None !important ; color:red", true, None, None),
            ("display:block", false, None, None),
            ("display:none;display:block", false, None, None),
            ("d\\69splay:n\\00006f ne", true, None, None),
            ("/* display:none */ color:red", false, None, None),
            ("display:/* x */none", true, None, None),
            ("visibility:hidden", false, Some(true), None),
            ("visibility:visible", false, Some(false), None),
            ("font-size:0", false, None, Some(true)),
            ("font-size:1px;line-height:1px", false, None, Some(true)),
            ("font-size:0%", false, None, Some(true)),
            ("font-size:.01em", false, None, Some(true)),
            ("font-size:14px", false, None, Some(false)),
            ("font-size:0.9em", false, None, Some(false)),
            ("font-size:90%", false, None, Some(false)),
            ("font:0/0 a", false, None, Some(true)),
            ("font:bold 700 12px/1 Arial", false, None, Some(false)),
            ("max-height:0;overflow:hidden", true, None, None),
            ("max-height:0", false, None, None),
            ("opacity:0", true, None, None),
            ("opacity:1%", true, None, None),
            ("opacity:100%", false, None, None),
            ("position:absolute; left:-9999px", true, None, None),
            ("position:absolute;left:-100vw", true, None, None),
            ("position:absolute;left:calc(-1e4px)", true, None, None),
            ("position:absolute;left:-10%", false, None, None),
            ("position:absolute;clip:rect(0,0,0,0)", true, None, None),
            ("position:absolute;clip:rect(1px 1px 1px 1px)", true, None, None),
            ("clip:rect(0,0,0,0)", false, None, None),
            ("clip-path:inset(50%)", true, None, None),
            ("clip-path:inset(5%)", false, None, None),
            ("transform:scale(0)", true, None, None),
            ("transform:rotate(3deg) translateX(-9999px)", true, None, None),
            ("transform:scale(2)", false, None, None),
            ("text-indent:-9999px", true, None, None),
            ("color:transparent", false, Some(true), None),
            ("color:rgba(0,0,0,0)", false, Some(true), None),
            ("color:rgb(0 0 0 / 5%)", false, Some(true), None),
            ("color:#00000000", false, Some(true), None),
            ("color:#000000ff", false, None, None),
            ("color:rgba(0,0,0,.9)", false, None, None),
            ("nonsense", false, None, None),
        ] {
            let style = Style::read(text);
            let is_gone_at_all = style.is_gone || style.is_removed == Some(true);
            let found = (is_gone_at_all, style.is_invisible, style.is_tiny);
            assert_eq!(found, (is_gone, is_invisible, is_tiny), "{text}");
        }
    }

    #[test]
    fn colours_are_read_in_their_forms() {
        for (text, expected) in [
            ("#fff", Some([255, 255, 255])),
            ("#FFfefd", Some([255, 254, 253])),
            ("White", Some([255, 255, 255])),
            ("rgb(1, 2,3)", Some([1, 2, 3])),
            ("rgb(100%, 0%, 1 / 0.5)", Some([255, 0, 1])),
            ("rgba(9,9,9,.5)", Some([9, 9, 9])),
            ("hsl(0, 0%, 100%)", Some([255, 255, 255])),
            ("hsl(120deg 100% 25%)", Some([0, 128, 0])),
            ("#ffff", Some([255, 255, 255])),
            ("ffffff", Some([255, 255, 255])),
            ("fade", None),
            ("#\u{e9}", None),
            ("inherit", None),
        ] {
            assert_eq!(colour(text), expected, "{text}");
        }
        assert!(are_alike(colour("white"), colour("#fffffa")));
        assert!(!are_alike(colour("white"), colour("#eeeeee")));
        assert!(!are_alike(None, None));
        assert_eq!(Style::read("background: #000 url(a.png)").background, Some(None));
        assert_eq!(Style::read("background: black no-repeat").background, Some(Some([0; 3])));
    }

    #[test]
    fn rules_of_names_classes_and_ids_are_found() {
        let mut sheet = Sheet::default();
        sheet.read(
            "@import url(x); .first{display:none} /* .no{display:none} */ .h, td.x {display:none} \
             #i{font-size:1px} td .y {display:none} em {color:red} p > b {color:red} \
             .back{display:none} .back{display:block} .open { visibility: hidden",
        );
        let is_gone = |class: &str| {
            let style = sheet.style("b", class, "");
            style.is_gone || style.is_removed == Some(true)
        };
        for (class, expected) in [
            ("a h b", true),
            ("x", true),
            ("first", true),
            ("no", false),
            ("y", false),
            ("back", false),
            ("h back", false),
            ("back h", false),
        ] {
            assert_eq!(is_gone(class), expected, "{class}");
        }
        assert_eq!(sheet.style("", "", "i").is_tiny, Some(true));
        assert_eq!(sheet.style("", "open", "").is_invisible, Some(true));
        assert_eq!(sheet.style("em", "", "").colour, Some(Some([255, 0, 0])));
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
            let found = sheet.style("p", "m", "").is_removed == Some(true);
            assert_eq!(found, expected, "{condition}");
        }
        let mut sheet = Sheet::default();
        sheet.read(&"@media all{".repeat(100_000));
        sheet.read(".late{display:none}");
        assert_eq!(sheet.style("p", "late", "").is_removed, Some(true));
    }
}
