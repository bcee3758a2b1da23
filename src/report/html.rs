// SPDX-License-Identifier: GPL-3.0-or-later
//! HTML pages of reports: the frame that all pages share, and the escaping of texts.

use std::fmt::Write;

/// Colours, fonts and headings, which all pages have.
const STYLE: &str = include_str!("page.css");

/// A complete HTML page, which loads no other file and runs no script. `body` is markup; `style` is
/// CSS that is added to the style of all pages.
pub fn page(title: &str, style: &str, body: &str) -> String {
    let mut page = String::with_capacity(STYLE.len() + style.len() + body.len() + 1024);
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(title)
    );
    page
}

/// Escapes `text` for use as contents or as the value of an attribute. Control characters other
/// than tabs and line ends become U+FFFD: HTML does not allow them, even as character references.
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
    fn a_page_holds_its_parts_once() {
        let page = page("a < b", ".x{top:0}\n", "<p>text</p>\n");
        for part in ["<title>a &lt; b</title>", ".x{top:0}", "<main>\n<p>text</p>\n</main>"] {
            assert_eq!(page.matches(part).count(), 1, "{part}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escape("<a href=\"x\">'&\u{1}\t"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{fffd}\t"
        );
    }
}
