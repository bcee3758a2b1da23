// SPDX-License-Identifier: GPL-3.0-or-later
//! POSIX regular expressions with exactly the matches of the GNU C library.
//!
//! ```text
//! expression ─ syntax → tree ─ program → steps ─┬ sweep, backtrack → spans of groups
//!                        └──── prefilter ───────┘
//! ```
//!
//! An [`Expression`] finds what `regexec` of the GNU C library 2.36 finds: the leftmost match, of
//! these the longest, and in it the groups that this library reports. Most engines of today prefer
//! the first alternative instead of the longest match. A program that must cut text exactly as one
//! linked with the C library did cannot use them; this crate uses one only to skip text in which
//! there is no match.
//!
//! ```
//! use dbacl_regex::{Expression, Locale, Syntax};
//!
//! let mut expression = Expression::new(b"(a|ab)(c|bcd)", Syntax::Extended, Locale::C)?;
//! assert_eq!(expression.find(b"x abcd", 0, true), Some((2, 6)));
//! # Ok::<(), dbacl_regex::Error>(())
//! ```
//!
//! The subject is any bytes. A search takes time proportional to the subject times the expression;
//! only expressions with back-references can take longer, and these give up after a stated number
//! of steps ([`Expression::abandoned`]).

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod backtrack;
mod charset;
mod error;
mod locale;
mod matcher;
mod prefilter;
mod program;
mod subject;
mod sweep;
mod syntax;

pub use error::Error;
pub use locale::Locale;
pub use matcher::{Expression, Groups, Span};
pub use program::GROUPS;
pub use syntax::{Dialect, Syntax};
