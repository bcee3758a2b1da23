// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores of a text at full precision, from the classifier itself.

use super::messages::MESSAGES;
use crate::dbacl::load;
use dbacl_cli::names::{base_name, resolve};
use dbacl_model::settings::Locale;
use dbacl_numeric::elementary::bits;
use dbacl_sets::classify::{CategorySet, Classifier};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Categories, and what they make of a text.
pub struct Judges {
    classifier: Classifier,
    names: Arc<[String]>,
}

impl Judges {
    /// Loads `categories`, which the classifier could compare with each other.
    pub fn load(categories: &[OsString]) -> Result<Self, Vec<String>> {
        let folder = std::env::var_os("DBACL_PATH");
        let open = |name: &OsString| {
            if name.is_empty() {
                return Err(vec!["category needs a name".to_owned()]);
            }
            let path = resolve(folder.as_deref(), name.as_bytes());
            let category = load(&path).map_err(|failure| failure.lines)?;
            Ok((String::from_utf8_lossy(&base_name(&path)).into_owned(), category))
        };
        let categories: Result<Vec<_>, Vec<String>> = categories.iter().map(open).collect();
        let locale = Locale::from_environment(|name| std::env::var_os(name)?.into_string().ok());
        let set = CategorySet::shared(categories?, locale);
        let set = set.map_err(|incomparable| vec![incomparable.to_string()])?;
        for warning in set.warnings() {
            MESSAGES.warning(&warning.0);
        }
        Ok(Self { classifier: set.classifier(), names: set.names().into() })
    }

    /// Takes in a text; several make up one document.
    pub fn read(&mut self, text: &[u8]) {
        self.classifier.add(text);
        for warning in self.classifier.warnings() {
            MESSAGES.warning(&warning.0);
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(String::as_bytes)
    }

    /// Each category's name, cross-entropy in bits per token, and complexity. The document ends.
    pub fn scores(&mut self) -> Vec<(Vec<u8>, f64, f64)> {
        let verdict = self.classifier.finish();
        let numbers = verdict.means().zip(verdict.complexities());
        let numbers = numbers.map(|(mean, &complexity)| {
            (if complexity > 0.0 { bits(-mean) } else { 0.0 }, complexity)
        });
        let names = verdict.names().iter().map(|name| name.clone().into_bytes());
        names
            .zip(numbers)
            .map(|(name, (entropy, complexity))| (name, entropy, complexity))
            .collect()
    }
}
