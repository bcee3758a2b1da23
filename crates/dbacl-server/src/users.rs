// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the folders of users' filters by the users' names.

use std::os::unix::fs::MetadataExt as _;
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
        let mut parts = pattern.split('{');
        let mut path = parts.next().unwrap_or_default().to_owned();
        let known = [("user}", &user[..]), ("local}", local), ("domain}", domain.unwrap_or(""))];
        for part in parts {
            let filled =
                known.iter().find_map(|(mark, value)| Some([*value, part.strip_prefix(mark)?]));
            path.extend(filled.unwrap_or(["{", part]));
        }
        // Nobody is called as the default filter's folder is.
        Some(PathBuf::from(path)).filter(|path| Some(path) != self.default.as_ref())
    }

    /// The folder of the filter that classifies mail for these users. It is their own if it exists
    /// and all have the same, else the default one, else the first user's.
    pub fn choose(&self, names: &[String]) -> Option<PathBuf> {
        let folder = |name: &String| self.folder(name).filter(|folder| folder.is_dir());
        let first = names.first().and_then(folder);
        let is_alike = || names[1..].iter().all(|name| folder(name) == first);
        if first.is_some() && (names.len() == 1 || self.default.is_none() || is_alike()) {
            return first;
        }
        self.default.clone()
    }

    /// The folder of the filter that learns something for a user. If it does not exist yet, also the
    /// folder of the default filter, with which it begins. `teaches_default` says whether users without a filter teach the
    /// default one.
    pub fn taught(
        &self,
        name: &str,
        teaches_default: bool,
    ) -> Result<(PathBuf, Option<PathBuf>), &'static str> {
        match (self.folder(name), self.default.clone()) {
            (Some(own), _) if own.is_dir() => Ok((own, None)),
            (_, Some(default)) if teaches_default => Ok((default, None)),
            (Some(own), default @ Some(_)) => Ok((own, default)),
            (Some(_), None) => Err("the user has no filter, and there is no default one"),
            (None, _) => Err("no user is named who can have a filter, and learn-default is off"),
        }
    }

    /// The filters of users, by the users' names: the folders that the pattern leads to.
    pub fn all(&self) -> Vec<(String, PathBuf)> {
        let Some(pattern) = self.pattern.as_deref() else { return Vec::new() };
        let mut found = vec![([String::new(), String::new()], PathBuf::from("/"))];
        let pattern = pattern.replace("{local}@{domain}", "{user}");
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let Some((before, mark, after)) = mark_of(part) else {
                for (_, folder) in &mut found {
                    folder.push(part);
                }
                continue;
            };
            let mut next = Vec::new();
            for (names, folder) in found {
                for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                    let file = entry.file_name();
                    let value =
                        file.to_str().and_then(|it| it.strip_prefix(before)?.strip_suffix(after));
                    if let Some(value) = value.filter(|value| is_plain(value)) {
                        let mut names = names.clone();
                        value.clone_into(&mut names[usize::from(mark == "{domain}")]);
                        next.push((names, entry.path()));
                    }
                }
            }
            found = next;
        }
        let is_filter = |folder: &PathBuf| {
            Some(folder) != self.default.as_ref() && folder.join("order").is_file()
        };
        found.retain(|(_, folder)| is_filter(folder));
        let name = |[user, domain]: [String; 2]| match (user.is_empty(), domain.is_empty()) {
            (_, true) => user,
            (true, false) => domain,
            (false, false) => format!("{user}@{domain}"),
        };
        let mut all: Vec<(String, PathBuf)> =
            found.into_iter().map(|(names, folder)| (name(names), folder)).collect();
        all.sort();
        all
    }
}

/// The mark in a part of a pattern, with what stands before and after it.
fn mark_of(part: &str) -> Option<(&str, &str, &str)> {
    let marks = ["{user}", "{local}", "{domain}"].into_iter();
    let (at, mark) = marks.filter_map(|mark| Some((part.find(mark)?, mark))).min()?;
    Some((&part[..at], mark, &part[at + mark.len()..]))
}

/// The bytes of the files in a filter's folder and in the folders in it. Files that belong to two
/// generations are counted once.
pub fn size(folder: &Path) -> u64 {
    let (mut bytes, mut seen) = (0, std::collections::HashSet::new());
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(data) if data.is_dir() => folders.push(entry.path()),
                Ok(data) if data.is_file() && seen.insert((data.dev(), data.ino())) => {
                    bytes += data.len();
                }
                _ => {}
            }
        }
    }
    bytes
}

/// Whether a part of a name can be the name of a file in a folder.
fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('.')
        && !part.contains(|letter: char| letter == '/' || letter.is_control())
}

/// Whether a pattern gives different users different folders.
pub fn tells_users_apart(pattern: &Path) -> bool {
    mark_of(&pattern.to_string_lossy()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(pattern: &str, default: Option<&str>, delimiter: Option<char>) -> Users {
        let (pattern, default) = (Some(pattern.to_owned()), default.map(PathBuf::from));
        Users { pattern, default, delimiter }
    }

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
            let users = users(pattern, None, Some('+'));
            assert_eq!(users.folder(name), expected.map(PathBuf::from), "{pattern} {name}");
        }
        assert_eq!(users("/m/{user}", Some("/m/default"), None).folder("Default"), None);
        let long = "a".repeat(LONGEST + 1);
        let users = users("/m/{user}", None, None);
        assert_eq!(users.folder(&long), None);
    }

    #[test]
    fn several_recipients_share_a_folder_or_take_the_default() {
        let room = std::env::temp_dir();
        let here = room.to_string_lossy().into_owned();
        let users = users(&format!("{here}/../{{domain}}"), Some("/default"), None);
        let there = room.file_name().expect("a name").to_string_lossy().into_owned();
        let one = format!("a@{there}");
        let (same, other) = (format!("b@{there}"), "c@no-such-folder".to_owned());
        let own = Some(PathBuf::from(format!("{here}/../{there}")));
        assert_eq!(users.choose(std::slice::from_ref(&one)), own);
        assert_eq!(users.choose(&[one.clone(), same]), own);
        assert_eq!(users.choose(&[one.clone(), other.clone()]), Some("/default".into()));
        assert_eq!(users.choose(std::slice::from_ref(&other)), Some("/default".into()));
        assert_eq!(users.choose(&[]), Some("/default".into()));
        let taught =
            |folder: &str, general: Option<&str>| Ok((folder.into(), general.map(PathBuf::from)));
        let new = format!("{here}/../no-such-folder");
        assert_eq!(users.taught(&one, false), taught(&format!("{here}/../{there}"), None));
        assert_eq!(users.taught(&other, false), taught(&new, Some("/default")));
        assert_eq!(users.taught(&other, true), taught("/default", None));
        assert_eq!(users.taught("", true), taught("/default", None));
        assert!(users.taught("", false).is_err());
        let lonely = Users { default: None, ..users };
        assert_eq!(lonely.choose(&[one, other.clone()]), own);
        assert_eq!(lonely.choose(&[other]), None);
    }
}
