// SPDX-License-Identifier: GPL-3.0-or-later
//! A message as those see it who do not read its text: where it begins in a mailbox, the fields of
//! its header, its day, its subject, and the verdict that a mail filter adds to it.
//!
//! ```
//! use dbacl::mail::day::day_of;
//! use dbacl::mail::header_fields::header_fields;
//! use dbacl::mail::mailbox::begins_message;
//! use dbacl::mail::subject::{sender, subject};
//!
//! let mail = b"From a@b Mon Jan  1 10:00:00 2024\nTo: d,\n e\nSubject: =?utf8?q?caf=C3=A9?=\n\n";
//! assert!(begins_message(mail) && !begins_message(b"From the beginning\n"));
//! let fields: Vec<(&[u8], Vec<u8>)> = header_fields(mail).collect();
//! assert_eq!(fields[1], (&b"To"[..], b" d, e".to_vec())); // unfolded
//! assert_eq!(subject(mail).as_deref(), Some("caf\u{e9}")); // decoded, for people
//! assert_eq!(sender(mail), None);
//! assert_eq!(day_of(mail), Some(19_723)); // days since the beginning of 1970
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`scanner`] | says where messages begin in files of every form |
//! | [`reader`] | reads such files as mailboxes of one form |
//! | [`mailbox`] | knows that form, and the rule of the original programs |
//! | [`from_line`] | says how much a line looks like one before a message |
//! | [`contents`] | distinguishes mailboxes, messages and other files |
//! | [`header_fields`] | lists the fields of a header |
//! | [`day`] | finds the day on which a message arrived or was sent |
//! | [`subject`] | finds the subject and the sender, as people are shown them |
//! | [`verdict_header`] | adds the header `X-DBACL` and takes out those that a message brings |
//!
//! All functions take bytes as they came, with either line end. They hold no more of a message than
//! they are given, and none of them fails: where a message is not mail there is nothing to find.

pub mod contents;
pub mod day;
pub mod from_line;
pub mod header_fields;
pub mod mailbox;
pub mod reader;
pub mod scanner;
pub mod subject;
pub mod verdict_header;
