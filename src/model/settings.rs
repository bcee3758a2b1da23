// SPDX-License-Identifier: GPL-3.0-or-later
//! The settings that a model is learned under and that its file stores: option bits and the
//! tokenizing scheme (spec text 10.2, model 9.1).

pub(crate) use dbacl_regex::Locale;
pub(crate) use dbacl_words::Scheme;

/// One option of a model; the value is its bit number in the stored word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // each is one line of the table in spec text 10.2
pub enum ModelOption {
    ReferenceOnly = 1,
    Text = 2,
    Mail = 3,
    Xml = 4,
    Wide = 5,
    KeepCase = 6,
    Entropy = 7,
    Multinomial = 8,
    MailTags = 12,
    MailHeaders = 13,
    MailPlain = 14,
    MailNoPlain = 15,
    HtmlLinks = 16,
    HtmlAlt = 17,
    Html = 18,
    MailXHeaders = 19,
    MailWhole = 20,
    HtmlScripts = 21,
    HtmlComments = 22,
    StandardTokenizer = 23,
    MailAttachments = 24,
    Overflow = 25,
    HtmlStyles = 26,
    MailUnicode = 27,
    HtmlForms = 28,
    MailNoHeaders = 29,
    Straddle = 30,
    MailTHeaders = 31,
}

/// Name and order in which a category file lists its options for people.
const PRINTED: [(ModelOption, &str); 25] = [
    (ModelOption::ReferenceOnly, "REFMODEL"),
    (ModelOption::Text, "TEXT_FORMAT"),
    (ModelOption::Mail, "MBOX_FORMAT"),
    (ModelOption::Xml, "XML"),
    (ModelOption::Wide, "I18N"),
    (ModelOption::KeepCase, "CASEN"),
    (ModelOption::Entropy, "CALCENTROPY"),
    (ModelOption::Multinomial, "MULTINOMIAL"),
    (ModelOption::MailHeaders, "HEADERS"),
    (ModelOption::MailPlain, "PLAIN"),
    (ModelOption::MailNoPlain, "NOPLAIN"),
    (ModelOption::HtmlLinks, "SHOW_LINKS"),
    (ModelOption::HtmlAlt, "SHOW_ALT"),
    (ModelOption::Html, "HTML"),
    (ModelOption::MailXHeaders, "XHEADERS"),
    (ModelOption::MailTHeaders, "THEADERS"),
    (ModelOption::HtmlScripts, "SHOW_SCRIPT"),
    (ModelOption::HtmlStyles, "SHOW_STYLE"),
    (ModelOption::HtmlComments, "SHOW_HTML_COMMENTS"),
    (ModelOption::StandardTokenizer, "USE_STDTOK"),
    (ModelOption::MailAttachments, "ATTACHMENTS"),
    (ModelOption::Overflow, "WARNING_BAD"),
    (ModelOption::Straddle, "NGRAM_STRADDLE_NL"),
    (ModelOption::MailUnicode, "MAIL_UNICODE"),
    (ModelOption::MailTags, "MAIL_TAGS"),
];

/// The option word of a model: a set of [`ModelOption`], stored as a signed 32-bit decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelOptions(u32);

impl ModelOptions {
    /// The set with these bits; unknown bits are kept, as files may carry them.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The stored word.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether `option` is in the set.
    pub const fn has(self, option: ModelOption) -> bool {
        self.0 >> option as u8 & 1 == 1
    }

    /// Whether any of `options` is in the set.
    pub(crate) fn has_any(self, options: &[ModelOption]) -> bool {
        options.iter().any(|&option| self.has(option))
    }

    /// Adds `option`.
    pub const fn insert(&mut self, option: ModelOption) {
        self.0 |= 1 << option as u8;
    }

    /// Takes `option` out.
    pub(crate) const fn remove(&mut self, option: ModelOption) {
        self.0 &= !(1 << option as u8);
    }

    /// The set with `option` added.
    #[must_use]
    pub(crate) const fn with(mut self, option: ModelOption) -> Self {
        self.insert(option);
        self
    }

    /// Whether text is read as Unicode, by the scheme or from mail, which dbacl 1.14.1 does not
    /// know: files of such models begin with a line that it refuses.
    pub(crate) const fn read_unicode(self, scheme: Scheme) -> bool {
        scheme.is_unicode() || self.has(ModelOption::MailUnicode)
    }

    /// The names as written after the numbers of a file's option line, for people.
    pub(crate) fn names(self, scheme: Scheme) -> String {
        let mut text = format!("CP_{}", scheme.name().to_ascii_uppercase());
        for (option, name) in PRINTED {
            if self.has(option) {
                text.push_str("|M_OPTION_");
                text.push_str(name);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_text_options_print_as_documented() {
        let options =
            ModelOptions::default().with(ModelOption::Text).with(ModelOption::StandardTokenizer);
        assert_eq!(options.bits(), 8388612);
        assert_eq!(
            options.names(Scheme::Alpha),
            "CP_ALPHA|M_OPTION_TEXT_FORMAT|M_OPTION_USE_STDTOK"
        );
    }
}
