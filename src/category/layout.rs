// SPDX-License-Identifier: GPL-3.0-or-later
//! Offsets, widths and fixed texts of the category file (spec model 9,
//! `docs/spec/category-format.md`); no I/O.
//!
//! ```text
//! text header, lines ending in '\n', the last one "#\n"
//! 65536 x u16 big endian        digram weights, row by row (row = from, column = to)
//! 2^bits x (u32, u16) big endian   slots: feature id, weight
//! ```

/// How the first line of a category file begins.
pub(crate) const MAGIC: &[u8] = b"# dbacl 1.14.1 dlw portable category";

/// How the first line of a category begins whose text was read as Unicode. dbacl 1.14.1 would cut
/// such text into other words, and refuses the file because of this line. The version also stands
/// for the version of the Unicode tables: if other tables give other words, another line is needed.
pub(crate) const UNICODE_MAGIC: &[u8] = b"# dbacl 1.15 dlw unicode category";

/// How every category file and online dump begins; a target that begins otherwise is not
/// overwritten.
pub(crate) const ANY_MAGIC: &[u8] = b"# dbacl 1.";

/// The last line of the header.
pub(crate) const HEADER_END: &[u8] = b"#\n";

/// Longest piece of a header line that is read at once, bytes.
pub(crate) const LINE_LIMIT: usize = 511;

/// Bytes of a stored weight.
pub(crate) const WEIGHT_BYTES: usize = 2;

/// Bytes of the digram table: 256 x 256 weights.
pub(crate) const DIGRAM_BYTES: usize = 256 * 256 * WEIGHT_BYTES;

/// Bytes of a slot: a feature id of four, a weight of two.
pub(crate) const SLOT_BYTES: usize = 6;
