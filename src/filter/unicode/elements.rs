// SPDX-License-Identifier: GPL-3.0-or-later
//! What the names of HTML's elements mean for the text that a reader sees.

/// An element's name: up to eight letters; longer names are cut.
pub(super) type Name = [u8; 8];

/// The elements of these names, which stand with one blank between them.
pub(super) const fn names<const N: usize>(text: &str) -> [Name; N] {
    let bytes = text.as_bytes();
    let mut names = [[0; 8]; N];
    let (mut at, mut name, mut letter) = (0, 0, 0);
    while at < bytes.len() {
        if bytes[at] == b' ' {
            (name, letter) = (name + 1, 0);
        } else {
            names[name][letter] = bytes[at];
            letter += 1;
        }
        at += 1;
    }
    assert!(name + 1 == N, "N is not the number of names");
    names
}

/// The element of this name.
pub(super) const fn name(text: &str) -> Name {
    names::<1>(text)[0]
}

/// For elements that another of the same name ends: the names of elements within which it does not.
pub(super) fn closed_by_same(tag: Name) -> Option<&'static [Name]> {
    const LISTS: [Name; 2] = names("ul ol");
    const TABLE: [Name; 1] = names("table");
    const DEFINITIONS: [Name; 1] = names("dl");
    match &tag {
        b"li\0\0\0\0\0\0" => Some(&LISTS),
        b"tr\0\0\0\0\0\0" | b"td\0\0\0\0\0\0" | b"th\0\0\0\0\0\0" => Some(&TABLE),
        b"dt\0\0\0\0\0\0" | b"dd\0\0\0\0\0\0" => Some(&DEFINITIONS),
        b"option\0\0" => Some(&[]),
        _ => None,
    }
}

/// Whether a tag of this name ends a line of text.
pub(super) fn ends_line(tag: Name) -> bool {
    const NAMES: [Name; 35] = names(
        "br p div tr table li ul ol dl dt dd h1 h2 h3 h4 h5 h6 hr pre blockquo center form \
         fieldset address article section header footer main nav aside body html head option",
    );
    NAMES.contains(&tag)
}

/// Whether a tag of this name stands between words of a line.
pub(super) fn ends_cell(tag: Name) -> bool {
    const NAMES: [Name; 8] = names("td th img input select textarea button caption");
    NAMES.contains(&tag)
}

/// Whether an element of this name has no end tag.
pub(super) fn is_void(tag: Name) -> bool {
    const NAMES: [Name; 18] = names(
        "br hr img input meta link area base basefont bgsound col embed frame param source track \
         wbr keygen",
    );
    NAMES.contains(&tag)
}

/// Whether the text of an element of this name holds no tags.
pub(super) fn is_raw(tag: Name) -> bool {
    const NAMES: [Name; 7] = names("script style title iframe noembed noframes xmp");
    NAMES.contains(&tag)
}

/// Whether the text of an element of this name is never shown.
pub(super) fn is_never_shown(tag: Name) -> bool {
    const NAMES: [Name; 5] = names("template datalist audio video canvas");
    NAMES.contains(&tag)
}
