// SPDX-License-Identifier: GPL-3.0-or-later
//! What a character is: a byte, or a UTF-8 sequence.

/// What a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locale {
    /// Bytes are characters.
    C,
    /// Well-formed UTF-8 sequences are characters; stray bytes are not.
    Utf8,
}

impl Locale {
    /// The locale named by the first non-empty of `LC_ALL`, `LC_CTYPE`, `LANG`, looked up by
    /// `variable`: a codeset part `UTF-8` or `utf8` means UTF-8, all else is C.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let name = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(variable)
            .find(|value| !value.is_empty())
            .unwrap_or_default();
        let codeset = name.split_once('.').map_or("", |(_, rest)| rest);
        let codeset = codeset.split('@').next().unwrap_or_default();
        if codeset.eq_ignore_ascii_case("utf-8") || codeset.eq_ignore_ascii_case("utf8") {
            Self::Utf8
        } else {
            Self::C
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locale_follows_the_first_variable_that_is_set() {
        for (all, ctype, lang, expected) in [
            ("", "", "", Locale::C),
            ("C", "", "en_US.UTF-8", Locale::C),
            ("", "C.UTF-8", "C", Locale::Utf8),
            ("", "", "de_DE.utf8@euro", Locale::Utf8),
            ("", "", "de_DE.ISO-8859-1", Locale::C),
        ] {
            let found = Locale::from_environment(|name| {
                let value = match name {
                    "LC_ALL" => all,
                    "LC_CTYPE" => ctype,
                    _ => lang,
                };
                Some(value.to_owned())
            });
            assert_eq!(found, expected, "{all} {ctype} {lang}");
        }
    }
}
