// SPDX-License-Identifier: GPL-3.0-or-later
//! The attributes of HTML's tags.

use crate::filter::unicode::colours::of_attribute;
use crate::filter::unicode::sheet::Sheet;
use crate::filter::unicode::style::Style;
use crate::model::settings::{ModelOption, ModelOptions};
use dbacl_words::charset::references;

/// The attributes of a tag, as far as they are used.
pub(super) struct Attributes<'a> {
    /// The style of the attribute `style`.
    own: Style,
    /// The style of older attributes, such as `color`.
    older: Style,
    classes: &'a str,
    id: &'a str,
    /// Whether it is an image that a reader sees, larger than one pixel.
    pub is_picture: bool,
    /// Values of attributes that options ask for, as ranges of the scratch memory.
    pub shown: [(usize, usize, ModelOption); 4],
}

impl<'a> Attributes<'a> {
    /// Reads the attributes after a tag's name. `scratch` takes the values that are shown.
    pub(super) fn read(text: &'a [u8], options: ModelOptions, scratch: &mut Vec<u8>) -> Self {
        scratch.clear();
        let mut found = Self {
            own: Style::default(),
            older: Style::default(),
            classes: "",
            id: "",
            is_picture: true,
            shown: [(0, 0, ModelOption::HtmlLinks); 4],
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
                b"hidden" => found.older.override_by(&Style::hidden()),
                b"color" | b"text" => found.older.set_colour(of_attribute(text)),
                b"bgcolor" => found.older.set_background(of_attribute(text)),
                b"background" => found.older.set_background(None),
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
                found.shown[count] = (start, scratch.len(), option);
                count += 1;
            }
        }
        found
    }

    /// The style of an element of this name, with the rules of a sheet for it, its classes and id.
    pub(super) fn style(&self, element: &str, sheet: &Sheet) -> Style {
        let mut style = self.older;
        style.override_by(&sheet.style(element, self.classes, self.id));
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

/// Name and value of the first attribute in `text`, and what is after it.
pub(super) fn attribute(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
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
