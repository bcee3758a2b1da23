// SPDX-License-Identifier: GPL-3.0-or-later
//! Texts and tables of the page.

use dbacl::html;
use maud::{Markup, PreEscaped};

/// Text of documents, names and options, without the control characters that HTML does not allow.
pub(super) fn t(text: &str) -> Markup {
    PreEscaped(html::escape(text))
}

/// A picture with its title above and a sentence below.
pub(super) fn figure(title: &str, picture: &Markup, caption: &str) -> Markup {
    maud::html! { figure { h3 { (t(title)) } (picture) figcaption { (t(caption)) } } }
}

/// A table whose first columns, `left` of them, are texts.
pub(super) fn table(
    left: usize,
    heads: &[&str],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    maud::html! {
        div.scroll { table {
            tr { @for (at, head) in heads.iter().enumerate() {
                th.left[at < left] { (t(head)) }
            } }
            @for row in rows {
                tr { @for (at, cell) in row.iter().enumerate() {
                    td.left[at < left] { (cell) }
                } }
            }
        } }
    }
}
