// SPDX-License-Identifier: GPL-3.0-or-later
//! Begins a filter as a copy of another one.

use super::error::MailFilterError;
use super::filter_folder::{FilterPlace, make_in};
use super::mail_filter::MailFilter;
use super::open_filter::OpenFilter;
use super::options::MailFilterOptions;
use crate::store::FilterFolder;
use std::path::Path;

impl MailFilter {
    /// Begins a filter in the folder `to` as a copy of the one in `from`, as a user's filter on a
    /// server begins. The two share files until they are changed, and each learns for itself. There
    /// is no filter in `to` before all of it is there ([`FilterPlace`]); then it is on the disk.
    /// What an interrupted copy has left there is replaced, and a filter stays as it is.
    ///
    /// # Errors
    /// [`MailFilterError::Open`] if there is no sound filter in `from`,
    /// [`MailFilterError::Folder`], [`MailFilterError::Files`]; nothing new is in `to` then.
    pub fn copy(
        from: &Path,
        to: &Path,
        options: &MailFilterOptions,
    ) -> Result<(), MailFilterError> {
        let from = FilterFolder::new(from);
        OpenFilter::now(&from)?;
        make_in(to, || {
            let mut changing = options.change(to)?;
            if FilterPlace::of(to) == FilterPlace::Filter {
                return Ok(());
            }
            Ok(changing.copy_from(&from)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::{MailFilter, MailFolder, MailLearnOptions, Outcome};
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn a_copy_shares_files_and_learns_for_itself() {
        let room = tempfile::tempdir().unwrap();
        let path = |name: &str| room.path().join(name);
        let folders = ["ham", "spam"].map(|label| {
            fs::create_dir(path(label)).unwrap();
            for number in 0..60 {
                let mail = format!("Subject: {label} {number}\n\nwords about {label}\n");
                fs::write(path(label).join(number.to_string()), mail).unwrap();
            }
            MailFolder::new(label, path(label))
        });
        MailFilter::learn_folders(&path("one"), &folders, &MailLearnOptions::default()).unwrap();
        let options = MailFilterOptions::default();
        MailFilter::copy(&path("one"), &path("other"), &options).unwrap();
        let inode = |filter: &str| fs::metadata(path(filter).join("table")).unwrap().ino();
        assert_eq!(inode("one"), inode("other"));
        let documents = || {
            ["one", "other"]
                .map(|name| MailFilter::open(&path(name), &options).unwrap().documents())
        };
        for (learns, expected) in [("other", [120, 121]), ("one", [121, 121]), ("one", [122, 121])]
        {
            let mail = format!("Subject: {expected:?}\n\nnews for {learns}\n");
            let report = MailFilter::open(&path(learns), &options).unwrap().correct("spam", mail);
            assert_eq!(report.unwrap().documents[0].outcome, Outcome::Learned);
            assert_eq!(documents(), expected);
            let findings =
                ["one", "other"].map(|name| crate::sets::check::examine(&path(name)).unwrap());
            assert_eq!(findings, [[], []]);
        }
        assert_eq!(inode("one"), inode("other"), "lessons are in journals");
        // What is there already stays.
        MailFilter::copy(&path("one"), &path("other"), &options).unwrap();
        assert_eq!(documents(), [122, 121]);
        // Folds and fits change one of them alone.
        let large = |number: usize| {
            let words: String = (0..700).map(|word| format!("w{number}x{word} ")).collect();
            format!("Subject: large\n\n{words}\n")
        };
        for number in 0..40 {
            let report = MailFilter::open(&path("other"), &options).unwrap();
            let mut report = report;
            report.correct("ham", large(number)).unwrap();
        }
        assert_eq!(documents(), [122, 161]);
        assert_ne!(inode("one"), inode("other"));
        let findings =
            ["one", "other"].map(|name| crate::sets::check::examine(&path(name)).unwrap());
        assert_eq!(findings, [[], []]);
        let refused = MailFilter::copy(&path("ham"), &path("third"), &options);
        assert!(matches!(refused, Err(MailFilterError::Open(_))) && !path("third").exists());
    }
}
