// SPDX-License-Identifier: GPL-3.0-or-later
//! What the names of HTML's elements mean for the text that a reader sees.

/// An element's name: up to eight letters; longer names are cut.
pub type Name = [u8; 8];

/// The element of this name.
pub const fn name(text: &str) -> Name {
    let mut name = [0; 8];
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && at < name.len() {
        name[at] = bytes[at];
        at += 1;
    }
    name
}

/// For elements that another of the same name ends: the names of elements within which it does not.
pub fn closed_by_same(tag: Name) -> Option<&'static [Name]> {
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
pub fn ends_line(tag: Name) -> bool {
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
pub fn ends_cell(tag: Name) -> bool {
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
pub fn is_void(tag: Name) -> bool {
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
