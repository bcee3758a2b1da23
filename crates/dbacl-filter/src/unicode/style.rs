// SPDX-License-Identifier: GPL-3.0-or-later
//! Styles of HTML elements, as far as they decide whether a reader sees the text.

/// A colour, red, green and blue; `None` if it cannot be told.
pub type Colour = Option<[u8; 3]>;

/// The properties that a list of declarations sets; others are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// Nothing within the element is shown.
    pub is_gone: bool,
    /// Its text is not shown, unless an element within says otherwise.
    pub is_invisible: Option<bool>,
    /// Its text is too small to be read, unless an element within says otherwise.
    pub is_tiny: Option<bool>,
    /// Colour of text.
    pub colour: Option<Colour>,
    /// Colour behind text.
    pub background: Option<Colour>,
}

/// A length in pixels or points, if it is one; relative lengths are none unless they are 0.
fn length(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')));
    let (number, unit) = value.split_at(end.unwrap_or(value.len()));
    let number: f32 = number.parse().ok()?;
    match unit.trim() {
        "" | "px" | "pt" => Some(number),
        _ if number == 0.0 => Some(0.0),
        _ => None,
    }
}

impl Style {
    /// Reads declarations: `name: value; name: value`.
    pub fn read(text: &str) -> Self {
        let mut style = Self::default();
        let mut overflows_hidden = false;
        let mut has_no_size = false;
        let mut is_placed = false;
        let mut is_outside = false;
        let mut lower = [0; 64];
        for declaration in text.split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let value = value.split('!').next().unwrap_or(value).trim();
            let Some(name) = lowered(name.trim(), &mut lower) else { continue };
            let is = |wanted: &str| value.eq_ignore_ascii_case(wanted);
            let size = || length(value);
            match name {
                "display" => style.is_gone = is("none"),
                "visibility" => style.is_invisible = Some(is("hidden") || is("collapse")),
                "opacity" => style.is_gone |= size().is_some_and(|opacity| opacity < 0.1),
                "font-size" => style.is_tiny = Some(size().is_some_and(|size| size < 3.0)),
                "overflow" => overflows_hidden = is("hidden"),
                "height" | "max-height" | "width" | "max-width" => {
                    has_no_size |= size().is_some_and(|size| size < 2.0);
                }
                "position" => is_placed = is("absolute") || is("fixed"),
                "left" | "top" | "right" | "bottom" | "margin-left" | "margin-top" => {
                    is_outside |= size().is_some_and(|place| place < -999.0);
                }
                "text-indent" => style.is_gone |= size().is_some_and(|size| size < -999.0),
                "color" => {
                    if is("transparent") {
                        style.is_invisible = Some(true);
                    }
                    style.colour = Some(colour(value));
                }
                "background-color" => style.background = Some(colour(value)),
                "background" => style.background = Some(background(value)),
                "background-image" if !is("none") => style.background = Some(None),
                _ => {}
            }
        }
        style.is_gone |= overflows_hidden && has_no_size || is_placed && is_outside;
        style
    }

    /// Takes over the properties that `other` sets.
    pub fn override_by(&mut self, other: &Self) {
        self.is_gone |= other.is_gone;
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

const NAMED: [(&str, u32); 22] = [
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
    if is_hex && digits.len() == 6 {
        return u32::from_str_radix(digits, 16).ok().map(rgb);
    }
    if is_hex && digits.len() == 3 && value.starts_with('#') {
        let short = u32::from_str_radix(digits, 16).ok()?;
        let (red, green, blue) = (short >> 8, short >> 4 & 15, short & 15);
        return Some(rgb((red << 16 | green << 8 | blue) * 0x11));
    }
    let inner = value.get(..4).filter(|head| head.eq_ignore_ascii_case("rgb("));
    let inner = inner.and_then(|_| value[4..].strip_suffix(')'))?;
    let mut parts = inner.split([',', ' ']).filter(|part| !part.is_empty());
    let mut part = || parts.next()?.parse::<u8>().ok();
    Some([part()?, part()?, part()?])
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selector {
    Class(u64),
    Id(u64),
}

/// Rules of a page for classes and single elements; rules for anything else are passed over.
#[derive(Debug, Default)]
pub struct Sheet {
    rules: Vec<(Selector, Style)>,
    /// Whether a rule that was ignored sets colours, so that the colour behind text is unknown.
    pub has_other_colours: bool,
}

/// The most rules that are kept.
const MOST_RULES: usize = 200;

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
    let at = text.find(['.', '#'])?;
    let (element, name) = text.split_at(at);
    let is_name =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !is_name(element) || name.len() < 2 || !is_name(&name[1..]) {
        return None;
    }
    let hash = fingerprint(&name[1..]);
    Some(if name.starts_with('.') { Selector::Class(hash) } else { Selector::Id(hash) })
}

impl Sheet {
    /// Forgets all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
        self.has_other_colours = false;
    }

    /// Reads the text of a `style` element. Rules for some kinds of screens (`@media`) are passed
    /// over: they hide what others show.
    pub fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (head, behind) = (&rest[..open], &rest[open + 1..]);
            let head = head.rsplit("*/").next().unwrap_or(head);
            let head = head.rsplit("<!--").next().unwrap_or(head);
            if head.trim_start().starts_with('@') {
                // To the brace that closes this one.
                let mut depth = 1_usize;
                let end = behind.bytes().position(|byte| {
                    depth = match byte {
                        b'{' => depth + 1,
                        b'}' => depth - 1,
                        _ => depth,
                    };
                    depth == 0
                });
                rest = end.map_or("", |end| &behind[end + 1..]);
                continue;
            }
            let end = behind.find('}').unwrap_or(behind.len());
            self.rule(head, &behind[..end]);
            rest = behind.get(end + 1..).unwrap_or("");
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
                    self.rules.push((selector, style));
                }
                _ => self.has_other_colours |= style.colour.is_some() || style.background.is_some(),
            }
        }
    }

    /// The style that the rules give an element with these classes and this id.
    pub fn style(&self, classes: &str, id: &str) -> Style {
        let mut style = Style::default();
        if self.rules.is_empty() {
            return style;
        }
        // Each name is read once, however many rules there are.
        let mut names = [None; 1 + MOST_CLASSES];
        let classes = classes.split_ascii_whitespace().take(MOST_CLASSES);
        let classes = classes.map(|class| Selector::Class(fingerprint(class)));
        let id = (!id.is_empty()).then(|| Selector::Id(fingerprint(id)));
        for (place, name) in names.iter_mut().zip(id.into_iter().chain(classes)) {
            *place = Some(name);
        }
        for &(selector, ref rule) in &self.rules {
            if names.contains(&Some(selector)) {
                style.override_by(rule);
            }
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
        sheet.style(&classes, "id");
        assert!(READ.get() - before <= classes.len() + 2);
    }

    #[test]
    fn hiding_declarations_are_known() {
        for (text, is_gone, is_invisible, is_tiny) in [
            ("display:none", true, None, None),
            (" DISPLAY : None !important ; color:red", true, None, None),
            ("display:block", false, None, None),
            ("visibility:hidden", false, Some(true), None),
            ("visibility:visible", false, Some(false), None),
            ("font-size:0", false, None, Some(true)),
            ("font-size:1px;line-height:1px", false, None, Some(true)),
            ("font-size:0%", false, None, Some(true)),
            ("font-size:14px", false, None, Some(false)),
            ("font-size:0.9em", false, None, Some(false)),
            ("max-height:0;overflow:hidden", true, None, None),
            ("max-height:0", false, None, None),
            ("opacity:0", true, None, None),
            ("position:absolute; left:-9999px", true, None, None),
            ("text-indent:-9999px", true, None, None),
            ("color:transparent", false, Some(true), None),
            ("nonsense", false, None, None),
        ] {
            let style = Style::read(text);
            let found = (style.is_gone, style.is_invisible, style.is_tiny);
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
    fn rules_of_classes_and_ids_are_found() {
        let mut sheet = Sheet::default();
        sheet.read(
            "/* a */ .h, td.x { display:none } @media screen { .m { display:none } } \
             #i{font-size:1px} td .y {display:none} p {color:red} .open { visibility: hidden",
        );
        assert!(sheet.style("a h b", "").is_gone);
        assert!(sheet.style("x", "").is_gone);
        assert!(!sheet.style("m", "").is_gone);
        assert!(!sheet.style("y", "").is_gone);
        assert_eq!(sheet.style("", "i").is_tiny, Some(true));
        assert_eq!(sheet.style("open", "").is_invisible, Some(true));
        assert!(sheet.has_other_colours);
    }
}
