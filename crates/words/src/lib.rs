// SPDX-License-Identifier: GPL-3.0-or-later
//! Lines of text cut into words: by bytes, exactly as dbacl 1.14.1 cuts them, or by Unicode. Text
//! in other character sets, or encoded for mail or HTML, is decoded first.
//!
//! ```
//! use dbacl_words::{Scheme, Tokenizer, Word, WordSink};
//!
//! #[derive(Default)]
//! struct Words(Vec<String>);
//!
//! impl WordSink for Words {
//!     fn word(&mut self, word: Word<'_>) {
//!         self.0.push(String::from_utf8_lossy(word.bytes()).into_owned());
//!     }
//!     fn end_of_line(&mut self) {}
//! }
//!
//! let mut words = Words::default();
//! let mut tokenizer = Tokenizer::new(Scheme::Word, false, false, 1);
//! tokenizer.line(&mut "L'\u{e9}t\u{e9} \u{c0} Paris\n".as_bytes().to_vec(), &mut words);
//! assert_eq!(words.0, ["l'\u{e9}t\u{e9}", "\u{e0}", "paris"]);
//! ```
//!
//! A [`Scheme`] says what a word is. The schemes of bytes see letters and digits of ASCII only;
//! `word` and `glyph` see all languages, fold case and compatibility forms, and replace characters
//! that only disguise a letter. Words are at most [`MAX_WORD`] bytes long; longer ones are cut. A
//! line's words depend on no other line, except with `cef`, `adp` and `cef2`, whose state goes on
//! as that of dbacl 1.14.1.
//!
//! | module | what it does |
//! |---|---|
//! | [`charset`] | character sets, and the encodings of text in mail and HTML |
//! | [`scheme`] | the ways to cut text, their names and numbers |
//! | [`tokenizer`] | lines to words, with the limits of dbacl 1.14.1 |
//! | [`word`] | a word, and the trait of those who receive words |
//! | [`machine`], [`marks`] | the states of the schemes of bytes, and the same by bit masks |
//! | [`runs`] | bit masks of 64 bytes, and runs of bytes |
//! | [`unicode`] | words and characters of any language |
//! | [`class`] | classes of bytes in the C locale |
//!
//! "spec text 4" and its like name sections of dbacl's `docs/spec`.

pub mod charset;
pub mod class;
pub mod machine;
pub mod marks;
pub mod runs;
pub mod scheme;
pub mod tokenizer;
pub mod unicode;
pub mod word;

pub use scheme::Scheme;
pub use tokenizer::Tokenizer;
pub use word::{MAX_WORD, WORD_WINDOW, Word, WordSink};
