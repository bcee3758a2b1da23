// SPDX-License-Identifier: GPL-3.0-or-later
//! Text in pages.

/// Text that cannot become markup, as contents or as the value of an attribute. Control characters
/// other than tabs and line ends become U+FFFD: they have no place in a page, even as references.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\t' | '\n' => html.push(c),
            c if c.is_control() => html.push('\u{fffd}'),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escape("<a href=\"x\">'&\u{1}\t"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{fffd}\t"
        );
    }
}
