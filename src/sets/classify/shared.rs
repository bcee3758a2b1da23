// SPDX-License-Identifier: GPL-3.0-or-later
//! How a text is read so that several categories can score it: the one place that says which
//! categories can be compared (spec text 10.2).

use crate::category::header::Header;
use crate::document::ReadOptions;
use crate::error::{Error, Warning, WarningSink};
use crate::model::settings::{Locale, ModelOption, ModelOptions, Scheme};
use crate::score::model::{Model, PatternSet};
use crate::token::pattern::PatternList;

/// Options that are used for all categories as soon as one of them was learned with them.
const UNITED: [ModelOption; 20] = [
    ModelOption::ReferenceOnly,
    ModelOption::Wide,
    ModelOption::KeepCase,
    ModelOption::Entropy,
    ModelOption::Multinomial,
    ModelOption::MailHeaders,
    ModelOption::HtmlLinks,
    ModelOption::HtmlAlt,
    ModelOption::MailXHeaders,
    ModelOption::HtmlScripts,
    ModelOption::HtmlComments,
    ModelOption::MailAttachments,
    ModelOption::Overflow,
    ModelOption::HtmlStyles,
    ModelOption::HtmlForms,
    ModelOption::MailNoHeaders,
    ModelOption::Straddle,
    ModelOption::MailTHeaders,
    ModelOption::MailUnicode,
    ModelOption::MailTags,
];

/// Why categories cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Incomparable {
    /// The category was learned with another tokenizer than those before it.
    #[error("category {name} was learned with another tokenizer, or reads mail in another way")]
    Tokenizer {
        /// The category's name.
        name: String,
    },
    /// Some were learned from text and some from mail.
    #[error("some categories were learned from text and some from mail")]
    TextAndMail,
    /// Some were learned from XML and some from HTML.
    #[error("some categories were learned from XML and some from HTML")]
    XmlAndHtml,
    /// An expression of a category cannot be used.
    #[error(transparent)]
    Pattern(#[from] Error),
    /// There is no category.
    #[error("there are no categories to compare")]
    Empty,
}

impl From<Incomparable> for crate::error::Error {
    fn from(error: Incomparable) -> Self {
        Self::Other(Box::new(error))
    }
}

/// The reading that suits all categories so far.
#[derive(Debug, Clone)]
pub(crate) struct SharedReading {
    /// Options of the categories together.
    pub options: ModelOptions,
    /// The tokenizer, once it is chosen.
    pub scheme: Option<Scheme>,
    /// Longest n-gram of any category.
    pub order: u8,
    /// Expressions of all categories.
    pub patterns: PatternList,
}

impl SharedReading {
    /// The reading of no category.
    pub(crate) fn new(locale: Locale) -> Self {
        let patterns = PatternList::new(locale);
        Self { options: ModelOptions::default(), scheme: None, order: 1, patterns }
    }

    /// Adds a category with this header and these stored expressions. Returns which of the regular
    /// expressions are its own.
    ///
    /// # Errors
    /// [`Incomparable::Tokenizer`], [`Incomparable::Pattern`].
    pub(crate) fn add(
        &mut self,
        name: &[u8],
        header: &Header,
        stored: &[Vec<u8>],
        warnings: WarningSink<'_>,
    ) -> Result<PatternSet, Incomparable> {
        use ModelOption::{Html, Mail, MailNoPlain, MailPlain, MailUnicode, Text, Xml};
        let mut patterns = PatternSet::default();
        for text in stored {
            patterns.insert(self.patterns.add(text, warnings)?);
        }
        let name = String::from_utf8_lossy(name);
        let theirs = header.options;
        let scheme = header.scheme.unwrap_or(default_scheme(theirs));
        let mail = self.options.has(Mail) && theirs.has(Mail);
        let is_read_otherwise = |scheme_of_all| {
            scheme_of_all != scheme
                || mail && self.options.has(MailUnicode) != theirs.has(MailUnicode)
        };
        if self.scheme.is_some_and(is_read_otherwise) {
            return Err(Incomparable::Tokenizer { name: name.into_owned() });
        }
        self.scheme = Some(scheme);
        let ours = &mut self.options;
        for option in UNITED {
            if theirs.has(option) {
                ours.insert(option);
            }
        }
        if theirs.has(ModelOption::StandardTokenizer) || stored.is_empty() {
            ours.insert(ModelOption::StandardTokenizer);
        }
        // Of each pair the first that is chosen wins.
        let pairs = [
            (Text, "text", Mail, "email"),
            (Xml, "xml", Html, "html"),
            (MailPlain, "email:plain", MailNoPlain, "email:noplain"),
        ];
        for (one, one_name, other, other_name) in pairs {
            let mut forced = |learned: &str, kept: &str| {
                warnings(Warning::new(format!(
                    "category {name} was learned with -T {learned}, forcing -T {kept}"
                )));
            };
            match (ours.has(one), ours.has(other)) {
                (true, _) if theirs.has(other) => forced(other_name, one_name),
                (false, true) if theirs.has(one) => forced(one_name, other_name),
                (false, false) => {
                    for option in [one, other] {
                        if theirs.has(option) {
                            ours.insert(option);
                        }
                    }
                }
                _ => {}
            }
        }
        self.order = self.order.max(header.max_order);
        Ok(patterns)
    }

    /// The reading for a comparison of `models`.
    ///
    /// # Errors
    /// [`Incomparable::TextAndMail`], [`Incomparable::XmlAndHtml`].
    pub(crate) fn finish<D: AsRef<[u8]>>(
        mut self,
        models: &[Model<D>],
        locale: Locale,
    ) -> Result<ReadOptions, Incomparable> {
        complete_kind(&mut self.options)?;
        settle_multinomial(&mut self.options, models);
        let scheme = self.scheme.unwrap_or(default_scheme(self.options));
        let Self { options, order, patterns, .. } = self;
        Ok(ReadOptions { options, scheme, order, patterns, locale, ..ReadOptions::text() })
    }
}

/// The tokenizer where none is chosen: `adp` for mail, `alpha` for other text.
pub(crate) const fn default_scheme(options: ModelOptions) -> Scheme {
    if options.has(ModelOption::Mail) { Scheme::Adp } else { Scheme::Alpha }
}

/// Completes the kind of text: plain text unless another is chosen, and markup in mail.
///
/// # Errors
/// Kinds that exclude each other.
pub(crate) fn complete_kind(options: &mut ModelOptions) -> Result<(), Incomparable> {
    use ModelOption::{Html, Mail, Text, Xml};
    if !options.has_any(&[Mail, Html, Xml]) {
        options.insert(Text);
    }
    if options.has(Text) && options.has(Mail) {
        return Err(Incomparable::TextAndMail);
    }
    if options.has(Xml) && options.has(Html) {
        return Err(Incomparable::XmlAndHtml);
    }
    if options.has(Mail) && !options.has(Xml) {
        options.insert(Html);
    }
    Ok(())
}

/// Multinomial scores need counts of a document's tokens, which must suit all categories. If they
/// do not, the option is removed. Returns whether it was removed.
pub(crate) fn settle_multinomial<D: AsRef<[u8]>>(
    options: &mut ModelOptions,
    models: &[Model<D>],
) -> bool {
    if options.has(ModelOption::Multinomial) && agree_on_multinomial(models) {
        options.insert(ModelOption::Entropy);
    }
    let in_vain = options.has(ModelOption::Multinomial) && !options.has(ModelOption::Entropy);
    if in_vain {
        options.remove(ModelOption::Multinomial);
    }
    in_vain
}

fn agree_on_multinomial<D: AsRef<[u8]>>(models: &[Model<D>]) -> bool {
    match models {
        [only] => only.multinomial,
        [_, ..] => models
            .windows(2)
            .all(|pair| pair[1].multinomial && pair[0].patterns == pair[1].patterns),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(options: &[ModelOption], scheme: Scheme) -> Header {
        let mut all = ModelOptions::default();
        for &option in options {
            all.insert(option);
        }
        Header { max_order: 1, bits: 4, options: all, scheme: Some(scheme), ..Header::default() }
    }

    #[test]
    fn categories_that_read_text_otherwise_are_not_compared() {
        use ModelOption::{Html, Mail, MailHeaders, MailUnicode, Text, Xml};
        let mail = header(&[Mail], Scheme::Adp);
        for (first, second, expected) in [
            (&mail, header(&[Mail, MailHeaders], Scheme::Adp), Ok(0)),
            (&mail, header(&[Mail, MailUnicode], Scheme::Adp), Err(())),
            (&header(&[Mail, MailUnicode], Scheme::Word), header(&[Mail], Scheme::Word), Err(())),
            (&mail, header(&[Mail], Scheme::Alpha), Err(())),
            // Of two kinds the first one is forced, with a warning.
            (&header(&[Text], Scheme::Alpha), header(&[Mail], Scheme::Alpha), Ok(1)),
            (&header(&[Html], Scheme::Alpha), header(&[Xml], Scheme::Alpha), Ok(1)),
        ] {
            let mut warnings = 0;
            let mut shared = SharedReading::new(Locale::C);
            shared.add(b"one", first, &[], &mut |_| {}).expect("it is the first");
            let added = shared.add(b"two", &second, &[], &mut |_| warnings += 1);
            let found = match added {
                Ok(_) => Ok(warnings),
                Err(Incomparable::Tokenizer { name }) if name == "two" => Err(()),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(found, expected, "{first:?} {second:?}");
        }
    }
}
