// SPDX-License-Identifier: GPL-3.0-or-later
//! Option sets: what to compare.

use clap::ValueEnum;
use dbacl::programs::dbacl::method;
use dbacl::programs::dbacl::method::Method;
use std::ffi::OsString;

/// A named set of options of `dbacl`.
#[derive(Debug, Clone)]
pub struct OptionSet {
    /// Its name in reports.
    pub name: String,
    /// The options as given.
    pub options: String,
    /// What they mean.
    pub method: Method,
}

/// What is measured where nothing else is asked for: words of any language.
pub(crate) const DEFAULT: &str = "default: -H 20 -e word";

/// Candidates for mail, from single words to the options that did best at the TREC spam track.
const MAIL: &[&str] = &[
    "body words: -T email -T email:noheaders -H 20 -e alpha",
    "default: -T email -H 20",
    "alnum: -T email -T email:headers -T html:links -T html:alt -H 20 -e alnum",
    "graph: -T email -T email:headers -T html:links -T html:alt -H 20 -e graph",
    "adp: -T email -T email:headers -T email:theaders -T html:links -T html:alt -H 20 -e adp",
    "cef, case: -T email -T email:headers -T email:theaders -T html:links -T html:alt -H 20 -e \
     cef -j",
    "cef2, X-headers: -T email -T email:headers -T email:theaders -T email:xheaders -T html:links \
     -T html:alt -H 20 -e cef2",
    "adp pairs: -T email -T email:headers -T email:theaders -T html:links -T html:alt -H 22 -e \
     adp -w 2",
    "any language: -T email:unicode -T email:headers -T email:theaders -T html:links -T html:alt \
     -H 20 -e word",
    "any language, tags: -T email:tags -T html:links -T html:alt -H 20 -e gram",
];

/// Candidates for texts.
const TEXT: &[&str] = &[
    "words: -H 20 -e alpha",
    "words, case: -H 20 -e alpha -j",
    "alnum: -H 20 -e alnum",
    "graph: -H 20 -e graph",
    "cef: -H 20 -e cef",
    "adp: -H 20 -e adp",
    "adp, uniform: -H 20 -e adp -L uniform",
    "words, uniform: -H 20 -e alpha -L uniform",
    "word pairs: -H 22 -e alpha -w 2",
    "characters: -H 20 -e char -w 4",
    "words of any language: -H 20 -e word",
    "characters of any language: -H 20 -e glyph -w 4",
];

/// Candidates that are built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // the names say it
pub enum Candidates {
    Mail,
    Text,
}

/// The built-in candidates of a list.
pub(crate) fn candidates(list: Candidates) -> Result<Vec<OptionSet>, String> {
    let sets = match list {
        Candidates::Mail => MAIL,
        Candidates::Text => TEXT,
    };
    sets.iter().map(|set| parse(set)).collect()
}

/// Reads `NAME: OPTIONS`, or options alone, which then are the name.
pub(crate) fn parse(text: &str) -> Result<OptionSet, String> {
    let (name, options) = match text.split_once(':') {
        // a colon of an option, as in -T email:headers, is not an end of a name
        Some((name, options)) if !text.trim_start().starts_with('-') => (name, options),
        _ => (text, text),
    };
    let (name, options) = (name.trim().to_owned(), options.trim().to_owned());
    let words = words(&options).map_err(|what| format!("option set \"{name}\": {what}"))?;
    let method = method::parse(words).map_err(|what| format!("option set \"{name}\": {what}"))?;
    let name = if name.is_empty() { "default".to_owned() } else { name };
    Ok(OptionSet { name, options, method })
}

/// Cuts options into words; quotes and backslashes work as in a shell.
fn words(text: &str) -> Result<Vec<OsString>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                word.get_or_insert_default().extend(characters.next());
            }
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err("a quotation mark is not closed".to_owned());
    }
    words.extend(word);
    Ok(words.into_iter().map(OsString::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_a_shell_does() {
        for (text, expected) in [
            ("", "[]"),
            (" -T  email ", "[\"-T\", \"email\"]"),
            (r#"-g '(a b)' "c'd" e\ f ''"#, r#"["-g", "(a b)", "c'd", "e f", ""]"#),
        ] {
            assert_eq!(format!("{:?}", words(text).expect("words")), expected);
        }
        assert!(words("'a").is_err());
    }

    #[test]
    fn sets_have_names() {
        for (text, name, options) in [
            ("mine: -T email -e cef", "mine", "-T email -e cef"),
            ("-T email:headers", "-T email:headers", "-T email:headers"),
            ("plain:", "plain", ""),
            ("", "default", ""),
        ] {
            let set = parse(text).expect(text);
            assert_eq!((set.name.as_str(), set.options.as_str()), (name, options));
        }
        assert!(parse("bad: -w 99").expect_err("impossible").contains("\"bad\""));
    }

    #[test]
    fn candidates_can_be_learned() {
        assert_eq!(parse(DEFAULT).expect("the default").name, "default");
        assert!(candidates(Candidates::Mail).expect("mail").len() > 5);
        assert!(candidates(Candidates::Text).expect("text").len() > 5);
    }
}
