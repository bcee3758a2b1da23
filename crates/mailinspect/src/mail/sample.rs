// SPDX-License-Identifier: GPL-3.0-or-later
//! Judges by small mail categories, for tests.

use super::judge::{Fidelity, Judge};
use dbacl::category::mapped;
use dbacl::model::settings::Locale;

/// A judge by a category of [`dbacl_testing::category`].
pub(crate) fn judge(words: &[(&str, u8, f32)], fidelity: Fidelity) -> Judge {
    let place = tempfile::tempdir().expect("a temporary folder");
    let path = place.path().join("sample");
    dbacl_testing::category(&path, words);
    let category = mapped::open(&path).expect("a category");
    Judge::new(category, b"sample".to_vec(), false, fidelity, Locale::C, &mut |_| {})
        .expect("no expressions")
}
