// SPDX-License-Identifier: GPL-3.0-or-later
//! Offsets, widths and fixed texts of the category file (spec model 9); no I/O.

/// Version and build name of the format, as in every file's first line.
pub const FORMAT: &str = "1.14.1 dlw portable";
