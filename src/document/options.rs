// SPDX-License-Identifier: GPL-3.0-or-later
//! How documents are read: kind of text, tokenizer, n-grams, expressions, character set.

use crate::model::settings::{Locale, ModelOption, ModelOptions, Scheme};
use crate::token::pattern::PatternList;
use dbacl_words::charset::Charset;

/// How documents are read: everything that decides which features a document has.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The kind of text and which parts of it count (`-T`), and how words are formed (`-j`, `-S`):
    /// the option word of a category.
    pub options: ModelOptions,
    /// How text is cut into words (`-e`).
    pub scheme: Scheme,
    /// Longest n-gram (`-w`), 1 to 7 words.
    pub order: u8,
    /// Regular expressions whose captures are features (`-g`); empty for words.
    pub patterns: PatternList,
    /// The character set of regular expressions.
    pub locale: Locale,
    /// Whether a zero byte is a blank; else it hides the rest of its line, as in dbacl 1.14.1.
    pub keep_nul: bool,
    /// The character set of sources, which are decoded to UTF-8 (`--charset`). Without it bytes are
    /// not decoded; `word` and `glyph` read UTF-8, UTF-16 after a byte order mark, and other lines
    /// in the character set that is detected.
    pub charset: Option<Charset>,
}

impl ReadOptions {
    /// Plain text, cut into single words of letters (`-T text -e alpha`).
    pub fn text() -> Self {
        let options = ModelOptions::default().with(ModelOption::Text);
        Self {
            options: options.with(ModelOption::StandardTokenizer),
            scheme: Scheme::Alpha,
            order: 1,
            patterns: PatternList::new(Locale::C),
            locale: Locale::C,
            keep_nul: false,
            charset: None,
        }
    }

    /// Mail with its markup removed, cut into runs of letters, digits and punctuation
    /// (`-T email -e adp`).
    pub fn mail() -> Self {
        let options = ModelOptions::default().with(ModelOption::Mail).with(ModelOption::Html);
        let options = options.with(ModelOption::Entropy).with(ModelOption::StandardTokenizer);
        Self { options, scheme: Scheme::Adp, ..Self::text() }
    }

    /// The character set of text that the filters write: UTF-8 for the schemes of Unicode, wherever
    /// the program runs.
    pub(crate) const fn text_locale(&self) -> Locale {
        if self.scheme.is_unicode() { Locale::Utf8 } else { self.locale }
    }

    /// Whether the text is mail.
    pub(crate) const fn reads_mail(&self) -> bool {
        self.options.has(ModelOption::Mail)
    }

    /// Whether `option` is chosen.
    pub(crate) const fn has(&self, option: ModelOption) -> bool {
        self.options.has(option)
    }
}
