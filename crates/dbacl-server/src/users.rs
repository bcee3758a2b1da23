// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the folders of users' filters by the users' names.

use std::path::{Path, PathBuf};

/// The longest name of a user, in bytes. A longer name has no folder.
const LONGEST: usize = 200;

/// The rule that gives the folder of a user's filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Users {
    /// A path with `{user}`, `{local}` or `{domain}` in it; none when all share the default.
    pub pattern: Option<String>,
    /// The folder for users who have none.
    pub default: Option<PathBuf>,
    /// The character that begins the part of a local name that is left out, as in
    /// `name+list@domain`.
    pub delimiter: Option<char>,
}

impl Users {
    /// The folder of a user by the rule; `None` if the name could lead out of the pattern's folder.
    /// Names are turned to small letters. Whether the folder exists is not checked.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        let pattern = self.pattern.as_deref()?;
        let name = name.trim().trim_start_matches('<').trim_end_matches('>').to_lowercase();
        let (local, domain) = match name.rsplit_once('@') {
            Some((local, domain)) => (local, Some(domain)),
            None => (&name[..], None),
        };
        let end = self.delimiter.and_then(|delimiter| local.find(delimiter)).filter(|&at| at > 0);
        let local = &local[..end.unwrap_or(local.len())];
        let user = domain.map_or_else(|| local.to_owned(), |domain| format!("{local}@{domain}"));
        if !is_plain(local) || !domain.is_none_or(is_plain) || user.len() > LONGEST {
            return None;
        }
        if domain.is_none() && pattern.contains("{domain}") {
            return None;
        }
        // One pass, so that a name is never taken for a part of the pattern.
        let mut path = String::new();
        let mut rest = pattern;
        while let Some(at) = rest.find('{') {
            path.push_str(&rest[..at]);
            rest = &rest[at..];
            let known =
                [("{user}", &user[..]), ("{local}", local), ("{domain}", domain.unwrap_or(""))];
            if let Some((mark, value)) = known.into_iter().find(|(mark, _)| rest.starts_with(mark))
            {
                path.push_str(value);
                rest = &rest[mark.len()..];
            } else {
                path.push('{');
                rest = &rest[1..];
            }
        }
        path.push_str(rest);
        Some(PathBuf::from(path))
    }

    /// The folder of the filter that judges mail for these users. It is their own if it exists and
    /// all have the same, else the default one, else the first user's.
    pub fn choose(&self, names: &[String]) -> Option<PathBuf> {
        let folder = |name: &String| self.folder(name).filter(|folder| folder.is_dir());
        let first = names.first().and_then(folder);
        let is_alike = || names[1..].iter().all(|name| folder(name) == first);
        if first.is_some() && (names.len() == 1 || self.default.is_none() || is_alike()) {
            return first;
        }
        self.default.clone()
    }

    /// The folder in which something is learned for a user: the user's own, or the default one for
    /// a user who has none.
    pub fn own(&self, name: &str) -> Option<PathBuf> {
        self.folder(name).filter(|folder| folder.is_dir()).or_else(|| self.default.clone())
    }
}

/// Whether a part of a name can be the name of a file in a folder.
fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('.')
        && !part.contains(|letter: char| letter == '/' || letter.is_control())
}

/// Whether a pattern gives different users different folders.
pub fn tells_users_apart(pattern: &Path) -> bool {
    let pattern = pattern.to_string_lossy();
    ["{user}", "{local}", "{domain}"].iter().any(|mark| pattern.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_folders_and_never_out_of_them() {
        for (pattern, name, expected) in [
            ("/m/{user}", "alice", Some("/m/alice")),
            ("/m/{user}", "Alice@Example.ORG", Some("/m/alice@example.org")),
            ("/m/{user}", "<alice@example.org>", Some("/m/alice@example.org")),
            ("/m/{domain}/{local}/f", "a+list@b.c", Some("/m/b.c/a/f")),
            ("/m/{user}", "a+list@b.c", Some("/m/a@b.c")),
            ("/m/{user}", "+list", Some("/m/+list")),
            ("/m/{domain}/{local}", "alice", None),
            ("/m/{user}", "../root", None),
            ("/m/{user}", "a/b", None),
            ("/m/{user}", ".", None),
            ("/m/{user}", "", None),
            ("/m/{domain}/{local}", "a@..", None),
            ("/m/{domain}/{local}", "a@b/../..", None),
            ("/m/{user}", "a\0b", None),
            ("/m/{local}", "{domain}@x", Some("/m/{domain}")),
            ("/m/{other}/{user}", "a", Some("/m/{other}/a")),
        ] {
            let users =
                Users { pattern: Some(pattern.into()), default: None, delimiter: Some('+') };
            assert_eq!(users.folder(name), expected.map(PathBuf::from), "{pattern} {name}");
        }
        let long = "a".repeat(LONGEST + 1);
        let users = Users { pattern: Some("/m/{user}".into()), ..Users::default() };
        assert_eq!(users.folder(&long), None);
    }

    #[test]
    fn several_recipients_share_a_folder_or_take_the_default() {
        let room = std::env::temp_dir();
        let here = room.to_string_lossy().into_owned();
        let users = Users {
            pattern: Some(format!("{here}/../{{domain}}")),
            default: Some("/default".into()),
            delimiter: None,
        };
        let there = room.file_name().expect("a name").to_string_lossy().into_owned();
        let one = format!("a@{there}");
        let (same, other) = (format!("b@{there}"), "c@no-such-folder".to_owned());
        let own = Some(PathBuf::from(format!("{here}/../{there}")));
        assert_eq!(users.choose(std::slice::from_ref(&one)), own);
        assert_eq!(users.choose(&[one.clone(), same]), own);
        assert_eq!(users.choose(&[one.clone(), other.clone()]), Some("/default".into()));
        assert_eq!(users.choose(std::slice::from_ref(&other)), Some("/default".into()));
        assert_eq!(users.choose(&[]), Some("/default".into()));
        let lonely = Users { default: None, ..users };
        assert_eq!(lonely.choose(&[one, other.clone()]), own);
        assert_eq!(lonely.choose(&[other]), None);
    }
}
