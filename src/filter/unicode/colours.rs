// SPDX-License-Identifier: GPL-3.0-or-later
//! Colours of CSS and of older attributes.

use super::values::{Length, Value, inside, parts};

/// A colour, red, green and blue; `None` if it cannot be told.
pub(super) type Colour = Option<[u8; 3]>;

/// A colour that may be seen through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Paint {
    pub colour: Colour,
    /// From 0, which is nothing, to 1.
    pub opacity: f32,
}

impl Paint {
    pub(super) const CLEAR: Self = Self { colour: None, opacity: 0.0 };

    pub(super) const fn solid(colour: Colour) -> Self {
        Self { colour, opacity: 1.0 }
    }

    /// Reads a colour that is valid in CSS; `None` if it is not.
    pub(super) fn read(value: &str) -> Option<Self> {
        let value = value.trim();
        if value.eq_ignore_ascii_case("transparent") {
            return Some(Self::CLEAR);
        }
        if let Some(colour) = named(value) {
            return Some(Self::solid(Some(colour)));
        }
        if let Some(digits) = value.strip_prefix('#') {
            return of_digits(digits);
        }
        if let Some(list) = function(value, &["rgb", "rgba"]) {
            let mut parts = parts(list);
            let mut part = || Some(channel(channel_value(parts.next()?)?));
            let colour = [part()?, part()?, part()?];
            return Some(Self { colour: Some(colour), opacity: opacity(parts.next())? });
        }
        if let Some(list) = function(value, &["hsl", "hsla"]) {
            let mut list = parts(list);
            let colour = of_hue([list.next()?, list.next()?, list.next()?])?;
            return Some(Self { colour: Some(colour), opacity: opacity(list.next())? });
        }
        // Valid, but not to be told.
        let name = value.split('(').next().unwrap_or(value).to_ascii_lowercase();
        let is_other = match value.contains('(') {
            true => OTHER_FUNCTIONS.contains(&&*name),
            false => SYSTEM.split(' ').any(|own| own == name),
        };
        is_other.then_some(Self::solid(None))
    }

    /// The colour that a reader sees where this one is upon another.
    pub(super) fn upon(self, below: Colour) -> Colour {
        if self.opacity <= 0.0 {
            return below;
        }
        if self.opacity >= 1.0 {
            return self.colour;
        }
        let (own, below) = (self.colour?, below?);
        let mix = |own: u8, below: u8| {
            channel(f32::from(own) * self.opacity + f32::from(below) * (1.0 - self.opacity))
        };
        let [red, green, blue] = own;
        Some([mix(red, below[0]), mix(green, below[1]), mix(blue, below[2])])
    }
}

/// Functions that give colours which are not calculated here.
const OTHER_FUNCTIONS: [&str; 9] =
    ["lab", "lch", "oklab", "oklch", "hwb", "color", "color-mix", "light-dark", "device-cmyk"];

/// Colours of the reader's system.
const SYSTEM: &str = "canvas canvastext linktext visitedtext activetext buttonface buttontext \
    buttonborder field fieldtext highlight highlighttext selecteditem selecteditemtext mark \
    marktext graytext accentcolor accentcolortext window windowtext background menu menutext \
    infobackground infotext captiontext activecaption inactivecaption threedface";

fn function<'a>(value: &'a str, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| inside(value, name))
}

/// A colour of 3, 4, 6 or 8 hexadecimal digits.
fn of_digits(digits: &str) -> Option<Paint> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    let [red, green, blue, alpha] = match digits.len() {
        3 | 4 => {
            let number = if digits.len() == 3 { number << 4 | 15 } else { number };
            let [high, low] = [number >> 8, number & 0xFF];
            let wide = |pair: u32| (pair >> 4) << 8 | pair & 15;
            ((wide(high) << 16 | wide(low)) * 0x11).to_be_bytes()
        }
        6 => (number << 8 | 255).to_be_bytes(),
        8 => number.to_be_bytes(),
        _ => return None,
    };
    Some(Paint { colour: Some([red, green, blue]), opacity: f32::from(alpha) / 255.0 })
}

fn opacity(part: Option<&str>) -> Option<f32> {
    part.map_or(Some(1.0), |part| Value::share(part).map(|it| it.clamp(0.0, 1.0)))
}

/// The value of a channel: a number up to 255, or per cents.
fn channel_value(part: &str) -> Option<f32> {
    match Value::read(part)? {
        Value::Number(number) => Some(number),
        Value::Length(Length { pixels: 0.0, ems: 0.0, percent }) => Some(percent * 2.55),
        Value::Length(_) => None,
    }
}

/// A channel of a colour from 0 to 255.
fn channel(value: f32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    let channel = value.clamp(0.0, 255.0).round() as u8;
    channel
}

/// The colour of hue (degrees), saturation and lightness (per cent).
fn of_hue(parts: [&str; 3]) -> Option<[u8; 3]> {
    let [hue, saturation, lightness] = parts;
    let hue = hue.trim_end_matches("deg").parse::<f32>().ok()?.rem_euclid(360.0);
    let [saturation, lightness] = [saturation, lightness].map(Value::share);
    let (saturation, lightness) = (saturation?.clamp(0.0, 1.0), lightness?.clamp(0.0, 1.0));
    let spread = saturation * lightness.min(1.0 - lightness);
    Some([0.0, 8.0, 4.0].map(|turn| {
        let place = (turn + hue / 30.0) % 12.0;
        channel(255.0 * (lightness - spread * (place - 3.0).min(9.0 - place).clamp(-1.0, 1.0)))
    }))
}

/// The colour of an attribute such as `bgcolor`; also digits without `#` are one.
pub(super) fn of_attribute(value: &str) -> Colour {
    let value = value.trim();
    let paint = Paint::read(value).or_else(|| of_digits(value));
    paint.and_then(|paint| paint.colour)
}

/// Whether two colours can hardly be distinguished.
pub(super) fn are_alike(one: Colour, other: Colour) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.iter().zip(other).all(|(a, b)| a.abs_diff(b) <= 8),
        _ => false,
    }
}

fn named(name: &str) -> Option<[u8; 3]> {
    let mut words = NAMED.split(' ');
    while let (Some(own), Some(digits)) = (words.next(), words.next()) {
        if own.eq_ignore_ascii_case(name) {
            return of_digits(digits).and_then(|paint| paint.colour);
        }
    }
    None
}

/// The named colours of CSS, each before its digits.
const NAMED: &str = "aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 \
    azure f0ffff \
    beige f5f5dc bisque ffe4c4 black 000000 blanchedalmond ffebcd blue 0000ff \
    blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00 \
    chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c \
    cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 \
    darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f \
    darkorange ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f \
    darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f darkturquoise 00ced1 \
    darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969 \
    dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff \
    gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray 808080 green 008000 \
    greenyellow adff2f grey 808080 honeydew f0fff0 hotpink ff69b4 indianred cd5c5c \
    indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa lavenderblush fff0f5 \
    lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff \
    lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 \
    lightpink ffb6c1 lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa \
    lightslategray 778899 lightslategrey 778899 lightsteelblue b0c4de lightyellow ffffe0 \
    lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000 \
    mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db \
    mediumseagreen 3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a \
    mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970 mintcream f5fffa \
    mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 \
    olive 808000 olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 \
    palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee palevioletred db7093 \
    papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 \
    purple 800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1 \
    saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee \
    sienna a0522d silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090 \
    slategrey 708090 snow fffafa springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 \
    thistle d8bfd8 tomato ff6347 turquoise 40e0d0 violet ee82ee wheat f5deb3 white ffffff \
    whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_their_forms() {
        let clear = Some((None, 0.0));
        for (text, expected) in [
            ("#fff", Some((Some([255, 255, 255]), 1.0))),
            ("#FFfefd", Some((Some([255, 254, 253]), 1.0))),
            ("White", Some((Some([255, 255, 255]), 1.0))),
            ("rebeccapurple", Some((Some([102, 51, 153]), 1.0))),
            ("rgb(1, 2,3)", Some((Some([1, 2, 3]), 1.0))),
            ("rgb(100%, 0%, 1 / 0.5)", Some((Some([255, 0, 1]), 0.5))),
            ("rgba(9,9,9,50%)", Some((Some([9, 9, 9]), 0.5))),
            ("hsl(0, 0%, 100%)", Some((Some([255, 255, 255]), 1.0))),
            ("hsl(120deg 100% 25%)", Some((Some([0, 128, 0]), 1.0))),
            ("#ffff", Some((Some([255, 255, 255]), 1.0))),
            ("#00000000", Some((Some([0, 0, 0]), 0.0))),
            ("transparent", clear),
            ("CanvasText", Some((None, 1.0))),
            ("oklch(1 0 0)", Some((None, 1.0))),
            ("ffffff", None),
            ("fade", None),
            ("#\u{e9}", None),
            ("#ff", None),
            ("nosuch", None),
            ("rgb(1,2)", None),
        ] {
            let found = Paint::read(text).map(|paint| (paint.colour, paint.opacity));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(of_attribute("ffffff"), Some([255; 3]));
        assert_eq!(of_attribute("nosuch"), None);
        assert!(are_alike(of_attribute("white"), of_attribute("#fffffa")));
        assert!(!are_alike(of_attribute("white"), of_attribute("#eeeeee")));
        assert!(!are_alike(None, None));
    }

    #[test]
    fn what_is_seen_through_is_mixed() {
        let white = Some([255; 3]);
        let black = |opacity| Paint { colour: Some([0; 3]), opacity };
        assert_eq!(black(0.05).upon(white), Some([242; 3]));
        assert_eq!(black(1.0).upon(white), Some([0; 3]));
        assert_eq!(Paint::CLEAR.upon(white), white);
        assert_eq!(black(0.5).upon(None), None);
    }
}
