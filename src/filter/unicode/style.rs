// SPDX-License-Identifier: GPL-3.0-or-later
//! Styles of HTML elements, as far as they decide whether a reader sees the text.
//!
//! As in browsers a declaration whose value is not valid is none, one with `!important` is not
//! taken back by one without, and of others the last one counts.

use super::colours::{Colour, Paint};
use super::values::{LETTERS, Length, Value, inside, parts, split_outside, words};
use std::borrow::Cow;

/// The value of a property; `None` if nothing sets it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Property<T> {
    value: Option<T>,
    is_important: bool,
}

impl<T> Default for Property<T> {
    fn default() -> Self {
        Self { value: None, is_important: false }
    }
}

impl<T: Copy> Property<T> {
    /// A later declaration. An unreadable value is none.
    fn set(&mut self, value: Option<T>, is_important: bool) {
        if value.is_some() && (is_important || !self.is_important) {
            *self = Self { value, is_important };
        }
    }

    fn override_by(&mut self, other: Self) {
        self.set(other.value, other.is_important);
    }
}

/// How an element is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Display {
    /// It is not.
    Gone,
    /// In a line of text: its size and place cannot be set.
    Inline,
    /// As a cell, row or table, which grows with its text.
    Cell,
    Block,
    /// As its name says.
    OfName,
}

/// A value, or that of the element around.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Inherited<T> {
    Own(T),
    Parent,
}

/// Where an element is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Static,
    Relative,
    Placed,
}

/// The properties that declarations set.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Style {
    display: Property<Display>,
    floats: Property<bool>,
    is_invisible: Property<Inherited<bool>>,
    /// `content-visibility`.
    is_skipped: Property<bool>,
    opacity: Property<f32>,
    filter: Property<bool>,
    font_size: Property<Length>,
    clips_x: Property<bool>,
    clips_y: Property<bool>,
    /// Whether a size is so small that nothing is seen of text.
    width: Property<bool>,
    max_width: Property<bool>,
    min_width: Property<bool>,
    height: Property<bool>,
    max_height: Property<bool>,
    min_height: Property<bool>,
    position: Property<Position>,
    left: Property<f32>,
    top: Property<f32>,
    right: Property<f32>,
    bottom: Property<f32>,
    margin_left: Property<f32>,
    margin_top: Property<f32>,
    /// Whether nothing is left to be seen.
    clip: Property<bool>,
    clip_path: Property<bool>,
    transform: Property<bool>,
    scale: Property<bool>,
    translate: Property<bool>,
    indent: Property<f32>,
    colour: Property<Inherited<Paint>>,
    background_colour: Property<Paint>,
    has_picture: Property<bool>,
}

/// What an element and those around it make of its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Nothing within it is shown.
    pub is_gone: bool,
    is_invisible: bool,
    /// The size of its letters, pixels.
    font_size: f32,
    /// That size was set in units of the screen, on this element or one around it.
    is_absolute: bool,
    opacity: f32,
    colour: Paint,
    background: Colour,
}

impl Look {
    /// That of a page: black upon white.
    pub(super) const PAGE: Self = Self {
        is_gone: false,
        is_invisible: false,
        font_size: LETTERS,
        is_absolute: false,
        opacity: 1.0,
        colour: Paint::solid(Some([0; 3])),
        background: Some([0xFF; 3]),
    };

    /// Whether its text is not seen; its colour counts if `knows_colours`.
    pub(super) fn hides(&self, knows_colours: bool) -> bool {
        let seen = self.colour.upon(self.background);
        self.is_gone
            || self.is_invisible
            || self.font_size < SMALLEST
            || self.colour.opacity < FAINTEST
            || knows_colours && super::colours::are_alike(seen, self.background)
    }
}

/// Pixels of letters that can be read.
const SMALLEST: f32 = 3.0;
/// Browsers do not show letters below this height, in pixels, if their size is relative to others.
const LEAST_RELATIVE: f32 = 6.0;
/// The share of colour that can be seen.
const FAINTEST: f32 = 0.1;
/// A box of fewer pixels shows no text.
const LEAST: f32 = 2.0;
/// Pixels beyond which a reader sees nothing.
const OUTSIDE: f32 = -999.0;
/// Pixels from the right or the bottom beyond which a reader sees nothing.
const FAR: f32 = 1999.0;

/// Text without comments and escapes, as CSS has them.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
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

/// The declarations of a list: name, value, and whether it is important.
fn declarations(list: &str) -> impl Iterator<Item = (&str, &str, bool)> {
    let mut rest = list;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let (declaration, behind) = split_outside(rest, |c| c == ';');
            rest = behind.strip_prefix(';').unwrap_or(behind);
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let (value, is_important) = match value.rsplit_once('!') {
                Some((value, word)) if word.trim().eq_ignore_ascii_case("important") => {
                    (value, true)
                }
                // Any other use of the sign spoils the declaration.
                Some((_, word)) if !word.contains(['"', '\'', ')']) => continue,
                _ => (value, false),
            };
            return Some((name.trim(), value.trim(), is_important));
        }
    })
}

/// A word that sets a property whatever its values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wide {
    Inherit,
    Initial,
    /// As the parent has it where that is usual, else as at the beginning.
    Unset,
    Revert,
}

fn wide(value: &str) -> Option<Wide> {
    let is = |wanted: &str| value.eq_ignore_ascii_case(wanted);
    match () {
        () if is("inherit") => Some(Wide::Inherit),
        () if is("initial") => Some(Wide::Initial),
        () if is("unset") => Some(Wide::Unset),
        () if is("revert") || is("revert-layer") => Some(Wide::Revert),
        () => None,
    }
}

fn is_one_of(value: &str, words: &str) -> bool {
    words.split(' ').any(|word| word.eq_ignore_ascii_case(value))
}

fn display(value: &str) -> Option<Display> {
    if is_one_of(value, "none") {
        return Some(Display::Gone);
    }
    match wide(value) {
        Some(Wide::Initial | Wide::Unset) => return Some(Display::Inline),
        Some(Wide::Inherit | Wide::Revert) => return Some(Display::OfName),
        None => {}
    }
    let mut found = None;
    for word in words(value) {
        found = if is_one_of(word, "inline contents ruby ruby-text") {
            found.or(Some(Display::Inline))
        } else if is_one_of(
            word,
            "table table-cell table-row table-row-group table-header-group table-footer-group \
             table-column table-column-group table-caption",
        ) {
            Some(Display::Cell)
        } else if is_one_of(
            word,
            "block inline-block flow flow-root flex inline-flex grid inline-grid inline-table \
             list-item run-in math -webkit-box -webkit-inline-box -webkit-flex \
             -webkit-inline-flex",
        ) {
            Some(if word.eq_ignore_ascii_case("flow") {
                found.unwrap_or(Display::Block)
            } else {
                Display::Block
            })
        } else {
            return None;
        };
    }
    found
}

/// Whether text of an element of this name stands in a line, in a cell or in a block, unless its
/// style says otherwise.
fn of_name(name: &str) -> Display {
    const BLOCKS: &str = "address article aside blockquo body center dd details dialog dir div dl \
        dt fieldset figcapti figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html \
        legend li listing main menu nav ol optgroup option p plaintex pre search section summary \
        ul xmp button input select textarea img";
    if is_one_of(name, BLOCKS) {
        Display::Block
    } else if is_one_of(name, "table tbody thead tfoot tr td th caption col colgroup") {
        Display::Cell
    } else {
        Display::Inline
    }
}

/// The size of a font as a word.
fn font_word(value: &str) -> Option<Length> {
    const WORDS: [(&str, &str); 15] = [
        ("xx-small", "9px"),
        ("x-small", "10px"),
        ("small", "13px"),
        ("medium", "16px"),
        ("large", "18px"),
        ("x-large", "24px"),
        ("xx-large", "32px"),
        ("xxx-large", "48px"),
        ("larger", "1.2em"),
        ("smaller", "0.83em"),
        ("inherit", "1em"),
        ("unset", "1em"),
        ("revert", "1em"),
        ("revert-layer", "1em"),
        ("initial", "16px"),
    ];
    let found = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(value));
    found.and_then(|(_, size)| Length::read(size))
}

fn font_size(value: &str) -> Option<Length> {
    let is_valid = |size: &Length| size.pixels >= 0.0 && size.ems >= 0.0 && size.percent >= 0.0;
    font_word(value).or_else(|| {
        let is_calculated = value.contains('(');
        Length::read(value).filter(|size| is_calculated || is_valid(size))
    })
}

/// The size in the short form `font`, which needs a family as well.
fn font(value: &str) -> Option<Length> {
    const BEFORE: &str = "normal italic oblique small-caps bold bolder lighter condensed \
        semi-condensed extra-condensed ultra-condensed semi-expanded expanded extra-expanded \
        ultra-expanded";
    if wide(value).is_some() {
        return font_word(value);
    }
    if is_one_of(value, "caption icon menu message-box small-caption status-bar") {
        return font_word("small");
    }
    let is_weight = |word: &str| word.parse().is_ok_and(|it: f32| (1.0..=1000.0).contains(&it));
    let mut words = words(value).skip_while(|word| is_one_of(word, BEFORE) || is_weight(word));
    let size = font_size(words.next()?)?;
    let mut family = words.next()?;
    if family == "/" {
        let height = words.next()?;
        let is_valid = is_one_of(height, "normal") || Value::read(height).is_some();
        family = words.next().filter(|_| is_valid)?;
    }
    (!family.starts_with(|c: char| c.is_ascii_digit())).then_some(size)
}

/// A place, in pixels; `auto` and what words say is 0.
fn place(value: &str) -> Option<f32> {
    if is_one_of(value, "auto") || wide(value).is_some() {
        return Some(0.0);
    }
    Length::read(value).map(Length::on_page)
}

/// Whether a size is too small to show text. Heights in per cent are those of boxes without a
/// height of their own, which do not count.
fn is_small(value: &str, is_height: bool, is_least: bool) -> Option<bool> {
    const WORDS: &str = "auto none min-content max-content fit-content stretch inherit initial \
        unset revert revert-layer -webkit-fill-available -moz-available";
    if is_one_of(value, WORDS) {
        // Without a least size there is none.
        return Some(is_least);
    }
    if inside(value, "fit-content").is_some() {
        return Some(false);
    }
    let size = Length::read(value)?;
    let is_negative = size.on_page() < 0.0 && !value.contains('(');
    let is_unknown = is_height && (size.percent != 0.0 || value.ends_with('%'));
    (!is_negative).then_some(if is_unknown { is_least } else { size.on_page() < LEAST })
}

fn overflow(value: &str) -> Option<bool> {
    match wide(value) {
        Some(_) => Some(false),
        None if is_one_of(value, "visible") => Some(false),
        None => is_one_of(value, "hidden clip scroll auto overlay").then_some(true),
    }
}

/// Whether the older `clip` shows nothing.
fn clip(value: &str) -> Option<bool> {
    if is_one_of(value, "auto") || wide(value).is_some() {
        return Some(false);
    }
    let places: Option<Vec<f32>> = parts(inside(value, "rect")?).map(place).collect();
    match places?.as_slice() {
        &[top, right, bottom, left] => {
            let has_auto = value.to_ascii_lowercase().contains("auto");
            Some(!has_auto && (bottom - top < LEAST || right - left < LEAST))
        }
        _ => None,
    }
}

/// Whether `clip-path` shows nothing.
fn clip_path(value: &str) -> Option<bool> {
    if is_one_of(value, "none") || wide(value).is_some() {
        return Some(false);
    }
    let lengths = |list: &str| -> Vec<Option<Length>> { parts(list).map(Length::read).collect() };
    let before = |list: &'_ str, word: &str| list.split(word).next().unwrap_or("").to_owned();
    if let Some(list) = inside(value, "circle").or_else(|| inside(value, "ellipse")) {
        let radii = lengths(&before(list, "at"));
        let is_small = |it: &Option<Length>| it.is_some_and(|it| it.on_page() < LEAST);
        return Some(radii.iter().any(is_small));
    }
    if let Some(list) = inside(value, "inset") {
        let sides = lengths(&before(list, "round"));
        let share = |at: usize| sides.get(at).copied().flatten().map_or(0.0, |it| it.percent);
        let (top, right) = (share(0), if sides.len() > 1 { share(1) } else { share(0) });
        let bottom = if sides.len() > 2 { share(2) } else { top };
        let left = if sides.len() > 3 { share(3) } else { right };
        return (!sides.is_empty()).then_some(top + bottom >= 100.0 || left + right >= 100.0);
    }
    if let Some(list) = inside(value, "polygon") {
        let places: Vec<f32> = lengths(list).iter().flatten().map(|it| it.on_page()).collect();
        return Some(!places.is_empty() && places.iter().all(|&it| (0.0..LEAST).contains(&it)));
    }
    let is_known = ["path", "shape", "rect", "xywh", "url"];
    is_known.iter().any(|name| inside(value, name).is_some()).then_some(false)
}

/// Whether `transform` leaves nothing to be seen.
fn transform(value: &str) -> Option<bool> {
    if is_one_of(value, "none") || wide(value).is_some() {
        return Some(false);
    }
    let mut is_away = false;
    for function in words(value) {
        let (name, list) = function.split_once('(')?;
        let list = list.strip_suffix(')').unwrap_or(list);
        let name = name.to_ascii_lowercase();
        let values: Option<Vec<Value>> = match &*name {
            "rotate" | "rotatex" | "rotatey" | "rotatez" | "rotate3d" | "skew" | "skewx"
            | "skewy" | "perspective" => continue,
            _ => list.split(',').map(Value::read).collect(),
        };
        let values = values?;
        let share = |value: &Value| match *value {
            Value::Number(number) => Some(number),
            Value::Length(length) => Some(length.percent / 100.0),
        };
        let on_page = |value: &Value| match *value {
            Value::Number(number) => (number == 0.0).then_some(0.0),
            Value::Length(length) => Some(length.on_page()),
        };
        let is_flat = |it: Option<f32>| it.map(|it| it.abs() < FAINTEST);
        is_away |= match (&*name, values.as_slice()) {
            ("scale" | "scalex" | "scaley", [one]) => is_flat(share(one))?,
            ("scale" | "scale3d", [one, two, ..]) => is_flat(share(one))? || is_flat(share(two))?,
            ("translate" | "translatex" | "translatey", [one]) => on_page(one)? < OUTSIDE,
            ("translate" | "translate3d", [one, two, ..]) => {
                on_page(one)? < OUTSIDE || on_page(two)? < OUTSIDE
            }
            ("matrix", [a, b, c, d, x, y]) => {
                let size = share(a)? * share(d)? - share(b)? * share(c)?;
                size.abs() < FAINTEST * FAINTEST || share(x)? < OUTSIDE || share(y)? < OUTSIDE
            }
            ("translatez" | "scalez" | "matrix3d", _) => false,
            _ => return None,
        };
    }
    Some(is_away)
}

/// Whether the property `scale` or `translate` leaves nothing to be seen.
fn each(value: &str, is_away: fn(&str) -> Option<bool>) -> Option<bool> {
    if is_one_of(value, "none") || wide(value).is_some() {
        return Some(false);
    }
    words(value).try_fold(false, |found, word| Some(found | is_away(word)?))
}

/// What the short form `background` sets: colour, and whether there is a picture.
fn background(value: &str) -> Option<(Paint, bool)> {
    const WORDS: &str = "none repeat no-repeat repeat-x repeat-y space round scroll fixed local \
        left right top bottom center cover contain auto border-box padding-box content-box text /";
    if wide(value).is_some() {
        return Some((Paint::CLEAR, false));
    }
    let (mut paint, mut has_picture) = (None, false);
    for word in words(value) {
        let word = word.trim_end_matches(',');
        if let Some(found) = Paint::read(word) {
            if paint.replace(found).is_some() {
                return None;
            }
        } else if is_picture(word) {
            has_picture = true;
        } else if !(is_one_of(word, WORDS) || Length::read(word).is_some()) {
            return None;
        }
    }
    Some((paint.unwrap_or(Paint::CLEAR), has_picture))
}

fn is_picture(word: &str) -> bool {
    let name = word.split('(').next().unwrap_or_default().to_ascii_lowercase();
    word.contains('(')
        && (matches!(&*name, "url" | "image" | "image-set" | "cross-fade" | "element")
            || name.ends_with("gradient")
            || name.ends_with("image-set"))
}

/// Replaces what refers to a property of the page's author by what stands in its place, or by
/// nothing set.
fn without_references(value: &str) -> Cow<'_, str> {
    let Some(at) = value.to_ascii_lowercase().find("var(") else { return Cow::Borrowed(value) };
    let Some(list) = inside(&value[at..], "var") else { return Cow::Borrowed("unset") };
    let Some((_, instead)) = list.split_once(',') else { return Cow::Borrowed("unset") };
    if value[at..].matches('(').count() > 1 {
        return Cow::Borrowed("unset");
    }
    let behind = value[at..].find(')').map_or("", |end| &value[at + end + 1..]);
    Cow::Owned(format!("{}{}{behind}", &value[..at], instead.trim()))
}

impl Style {
    /// Reads declarations: `name: value; name: value`.
    pub(super) fn read(text: &str) -> Self {
        let mut style = Self::default();
        let mut lower = [0; 64];
        let text = plain(text);
        for (name, value, is_important) in declarations(&text) {
            if let Some(name) = lowered(name, &mut lower) {
                style.declare(name, &without_references(value), is_important);
            }
        }
        style
    }

    /// What the attribute `hidden` says.
    pub(super) fn hidden() -> Self {
        let mut style = Self::default();
        style.display.set(Some(Display::Gone), false);
        style
    }

    /// What an attribute such as `color` says, if it names a colour or something like it.
    pub(super) fn set_colour(&mut self, colour: Colour) {
        self.colour.set(Some(Inherited::Own(Paint::solid(colour))), false);
    }

    /// The same of `bgcolor`, or of `background`, which names a picture.
    pub(super) fn set_background(&mut self, colour: Colour) {
        self.background_colour.set(Some(Paint::solid(colour)), false);
    }

    /// Whether it sets colours.
    pub(super) const fn sets_colours(&self) -> bool {
        self.colour.value.is_some()
            || self.background_colour.value.is_some()
            || self.has_picture.value.is_some()
    }

    fn declare(&mut self, name: &str, value: &str, is_important: bool) {
        let is = |wanted: &str| value.eq_ignore_ascii_case(wanted);
        let wide = wide(value);
        let as_parent = matches!(wide, Some(Wide::Inherit | Wide::Unset | Wide::Revert));
        match name {
            "display" => self.display.set(display(value), is_important),
            "float" => {
                let floats = is_one_of(value, "left right inline-start inline-end");
                let is_valid = floats || is("none") || wide.is_some();
                self.floats.set(is_valid.then_some(floats), is_important);
            }
            "visibility" => {
                let is_invisible = match () {
                    () if as_parent => Some(Inherited::Parent),
                    () if is("hidden") || is("collapse") => Some(Inherited::Own(true)),
                    () if is("visible") || wide.is_some() => Some(Inherited::Own(false)),
                    () => None,
                };
                self.is_invisible.set(is_invisible, is_important);
            }
            "content-visibility" => {
                let is_valid = is_one_of(value, "visible auto hidden") || wide.is_some();
                self.is_skipped.set(is_valid.then_some(is("hidden")), is_important);
            }
            "opacity" => {
                let opacity = if wide.is_some() { Some(1.0) } else { Value::share(value) };
                self.opacity.set(opacity.map(|it| it.clamp(0.0, 1.0)), is_important);
            }
            "filter" | "-webkit-filter" => {
                let opacity = words(value).find_map(|word| Value::share(inside(word, "opacity")?));
                self.filter.set(Some(opacity.is_some_and(|it| it < FAINTEST)), is_important);
            }
            "font-size" => self.font_size.set(font_size(value), is_important),
            "font" => self.font_size.set(font(value), is_important),
            "overflow" => {
                let mut axes = words(value).map(overflow);
                if let Some(Some(first)) = axes.next() {
                    let second = axes.next().unwrap_or(Some(first));
                    if second.is_some() && axes.next().is_none() {
                        self.clips_x.set(Some(first), is_important);
                        self.clips_y.set(second, is_important);
                    }
                }
            }
            "overflow-x" => self.clips_x.set(overflow(value), is_important),
            "overflow-y" => self.clips_y.set(overflow(value), is_important),
            "width" | "inline-size" => self.width.set(is_small(value, false, false), is_important),
            "max-width" => self.max_width.set(is_small(value, false, false), is_important),
            "min-width" => self.min_width.set(is_small(value, false, true), is_important),
            "height" | "block-size" => self.height.set(is_small(value, true, false), is_important),
            "max-height" => self.max_height.set(is_small(value, true, false), is_important),
            "min-height" => self.min_height.set(is_small(value, true, true), is_important),
            "position" => {
                let position = match () {
                    () if is_one_of(value, "absolute fixed") => Some(Position::Placed),
                    () if is_one_of(value, "relative sticky -webkit-sticky") => {
                        Some(Position::Relative)
                    }
                    () if is("static") || wide.is_some() => Some(Position::Static),
                    () => None,
                };
                self.position.set(position, is_important);
            }
            "left" => self.left.set(place(value), is_important),
            "top" => self.top.set(place(value), is_important),
            "right" => self.right.set(place(value), is_important),
            "bottom" => self.bottom.set(place(value), is_important),
            "margin-left" => self.margin_left.set(place(value), is_important),
            "margin-top" => self.margin_top.set(place(value), is_important),
            "margin" => {
                let sides: Option<Vec<f32>> = words(value).map(place).collect();
                if let Some(sides @ [top, ..]) = sides.as_deref().filter(|it| it.len() <= 4) {
                    let left = sides.get(3).or(sides.get(1)).unwrap_or(top);
                    self.margin_top.set(Some(*top), is_important);
                    self.margin_left.set(Some(*left), is_important);
                }
            }
            "clip" => self.clip.set(clip(value), is_important),
            "clip-path" | "-webkit-clip-path" => {
                self.clip_path.set(clip_path(value), is_important);
            }
            "transform" | "-webkit-transform" => {
                self.transform.set(transform(value), is_important);
            }
            "scale" => {
                let is_flat = |word: &str| Value::share(word).map(|it| it.abs() < FAINTEST);
                self.scale.set(each(value, is_flat), is_important);
            }
            "translate" => {
                let is_away = |word: &str| place(word).map(|it| it < OUTSIDE);
                self.translate.set(each(value, is_away), is_important);
            }
            "text-indent" => {
                let indent = if wide.is_some() { Some(0.0) } else { place(value) };
                self.indent.set(indent.filter(|_| !is("auto")), is_important);
            }
            "color" => {
                let colour = match () {
                    () if as_parent || is("currentcolor") => Some(Inherited::Parent),
                    () if wide.is_some() => Some(Inherited::Own(Look::PAGE.colour)),
                    () => Paint::read(value).map(Inherited::Own),
                };
                self.colour.set(colour, is_important);
            }
            "background-color" => {
                let paint = match () {
                    () if wide.is_some() => Some(Paint::CLEAR),
                    () if is("currentcolor") => Some(Paint::solid(None)),
                    () => Paint::read(value),
                };
                self.background_colour.set(paint, is_important);
            }
            "background" => {
                if let Some((paint, has_picture)) = background(value) {
                    self.background_colour.set(Some(paint), is_important);
                    self.has_picture.set(Some(has_picture), is_important);
                }
            }
            "background-image" => {
                let has_picture = words(value).any(is_picture);
                let is_valid = has_picture || is("none") || wide.is_some();
                self.has_picture.set(is_valid.then_some(has_picture), is_important);
            }
            _ => {}
        }
    }

    /// Takes over the properties that a later or a nearer `other` sets.
    pub(super) fn override_by(&mut self, other: &Self) {
        macro_rules! each_property {
            ($($name:ident)*) => { $(self.$name.override_by(other.$name);)* };
        }
        each_property!(
            display floats is_invisible is_skipped opacity filter font_size clips_x clips_y width
            max_width min_width height max_height min_height position left top right bottom
            margin_left margin_top clip clip_path transform scale translate indent colour
            background_colour has_picture
        );
    }

    /// What an element of this name, within others, makes of its text.
    pub(super) fn look(&self, name: &str, parent: &Look) -> Look {
        let position = self.position.value.unwrap_or(Position::Static);
        let is_placed = position == Position::Placed;
        let display = match self.display.value {
            None | Some(Display::OfName) => of_name(name),
            Some(display) => display,
        };
        let is_box = is_placed || self.floats.value == Some(true) || display == Display::Block;
        let opacity = parent.opacity * self.opacity.value.unwrap_or(1.0);
        let has = |property: Property<bool>| property.value == Some(true);
        let is_narrow =
            (has(self.width) || has(self.max_width)) && self.min_width.value != Some(false);
        let is_flat =
            (has(self.height) || has(self.max_height)) && self.min_height.value != Some(false);
        let clips = has(self.clips_x) || has(self.clips_y);
        let is_clipped = is_box && clips && (is_narrow || is_flat);
        let below = |property: Property<f32>| property.value.is_some_and(|it| it < OUTSIDE);
        let beyond = |property: Property<f32>| property.value.is_some_and(|it| it > FAR);
        let is_moved = match position {
            Position::Static => false,
            Position::Relative => {
                below(self.left) || below(self.top) || beyond(self.right) || beyond(self.bottom)
            }
            Position::Placed => {
                [self.left, self.top, self.right, self.bottom, self.margin_top]
                    .map(below)
                    .contains(&true)
                    || self.left.value.is_none() && beyond(self.right)
                    || self.top.value.is_none() && beyond(self.bottom)
                    || has(self.clip)
            }
        };
        let is_transformed = has(self.transform) || has(self.scale) || has(self.translate);
        let is_away = is_moved
            || below(self.margin_left) && display != Display::Cell
            || is_transformed && (is_box || display == Display::Cell)
            || below(self.indent) && display != Display::Inline;
        let is_gone = display == Display::Gone
            || opacity < FAINTEST
            || is_clipped
            || is_away
            || [self.is_skipped, self.filter, self.clip_path].map(has).contains(&true);
        let colour = match self.colour.value {
            Some(Inherited::Own(colour)) => colour,
            // The colour of links is chosen by the reader's program.
            None if name == "a" => Paint::solid(None),
            Some(Inherited::Parent) | None => parent.colour,
        };
        let background = self.background_colour.value.unwrap_or(Paint::CLEAR);
        let is_invisible = match self.is_invisible.value {
            Some(Inherited::Own(is_invisible)) => is_invisible,
            Some(Inherited::Parent) | None => parent.is_invisible,
        };
        let (mut font_size, mut is_absolute) = (parent.font_size, parent.is_absolute);
        if let Some(size) = self.font_size.value {
            font_size = size.of_font(parent.font_size);
            is_absolute |= size.ems == 0.0 && size.percent == 0.0;
            // Browsers do not make letters smaller that are as small as this by their surroundings.
            if !is_absolute && font_size > 0.0 {
                font_size = font_size.max(LEAST_RELATIVE);
            }
        }
        Look {
            is_gone: parent.is_gone || is_gone,
            is_invisible,
            font_size,
            is_absolute,
            opacity,
            colour,
            background: if has(self.has_picture) {
                None
            } else {
                background.upon(parent.background)
            },
        }
    }
}

fn lowered<'a>(name: &str, buffer: &'a mut [u8; 64]) -> Option<&'a str> {
    let buffer = buffer.get_mut(..name.len())?;
    buffer.copy_from_slice(name.as_bytes());
    buffer.make_ascii_lowercase();
    std::str::from_utf8(buffer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Whether an element with this style shows its text.
    fn is_seen(style: &str, name: &str) -> bool {
        !Style::read(style).look(name, &Look::PAGE).hides(true)
    }

    #[test]
    fn styles_hide_and_show_as_in_a_browser() {
        let path = dbacl_testing::root().join("testdata/styles.tsv");
        let table = fs::read_to_string(path).expect("the table");
        let rows = table.lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
        let mut count = 0;
        for row in rows {
            let mut columns = row.split('\t');
            let (seen, name) = (columns.next().expect("whether"), columns.next().expect("a name"));
            let mut look = Look::PAGE;
            for style in columns {
                look = Style::read(style).look(name, &look);
            }
            assert_eq!(!look.hides(true), seen == "seen", "{row}");
            count += 1;
        }
        assert!(count >= 60, "{count} styles");
    }

    #[test]
    fn a_browser_agrees_with_the_table() {
        let test = "a_browser_agrees_with_the_table";
        if !dbacl_testing::is_installed("chromium", test) {
            return;
        }
        let read = |name: &str| {
            let path = dbacl_testing::root().join("testdata").join(name);
            fs::read_to_string(path).expect("a file of the tests")
        };
        let (mut page, mut expected) = ("<!doctype html><body>".to_owned(), Vec::new());
        let table = read("styles.tsv");
        for row in table.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let mut columns = row.split('\t');
            let id = format!(" id=t{}", expected.len());
            expected.push(columns.next().expect("whether"));
            // A paragraph within a paragraph would end it.
            let name =
                columns.next().expect("a name").replace('p', "div").replace("sdivan", "span");
            let styles: Vec<&str> = columns.collect();
            for (at, style) in styles.iter().enumerate() {
                let id = if at + 1 == styles.len() { &*id } else { "" };
                page += &format!("<{name}{id} style=\"{style}\">");
            }
            page += &format!("text{}", format!("</{name}>").repeat(styles.len()));
        }
        page += &format!("<script>{}</script>", read("styles.js"));
        let room = tempfile::tempdir().expect("a folder");
        let path = room.path().join("page.html");
        fs::write(&path, page).expect("the page");
        let said = dbacl_testing::command("chromium")
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--window-size=1000,800", "--dump-dom"])
            .arg(format!("--user-data-dir={}", room.path().join("user").display()))
            .arg(format!("file://{}", path.display()))
            .output();
        let said = String::from_utf8_lossy(&said.expect("chromium runs").stdout).into_owned();
        let said = said.split_once("SAID ").and_then(|(_, said)| said.split_once(" END"));
        let Some((said, _)) = said else {
            return dbacl_testing::skip(test, "chromium gave no page");
        };
        assert_eq!(said.split(' ').collect::<Vec<_>>(), expected);
    }

    #[test]
    fn comments_escapes_and_odd_declarations_are_read() {
        for (text, expected) in [
            ("d\\69splay:n\\00006f ne", false),
            ("/* display:none */ color:red", true),
            ("display:/* x */none", false),
            ("background:url(data:image/png;base64,x;display:none)", true),
            ("content:\"!;display:none\"", true),
            ("nonsense", true),
            (";;:;display:none", false),
            ("display:none;display", false),
            ("DISPLAY : None !IMPORTANT ; display: block", false),
            ("display:none! important;display:block", false),
            ("display:none!importan;", true),
        ] {
            assert_eq!(is_seen(text, "div"), expected, "{text}");
        }
    }

    #[test]
    fn the_nearer_style_counts_unless_the_other_is_important() {
        let with = |first: &str, second: &str| {
            let mut style = Style::read(first);
            style.override_by(&Style::read(second));
            !style.look("p", &Look::PAGE).hides(true)
        };
        for (first, second, expected) in [
            ("display:none", "display:block", true),
            ("display:none !important", "display:block", false),
            ("display:none !important", "display:block !important", true),
            ("display:none", "display:nosuch", false),
            ("display:none", "color:red", false),
            ("color:white", "background:black", true),
            ("font-size:0", "font:12px a", true),
            ("font-size:0", "font:12px", false),
        ] {
            assert_eq!(with(first, second), expected, "{first} and {second}");
        }
    }
}
