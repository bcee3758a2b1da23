// SPDX-License-Identifier: GPL-3.0-or-later
//! Features from regular expressions: to come.
