// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the folders of users' filters by the users' names.

use dbacl::FilterPlace;
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

    /// The folder of the filter that classifies mail for these users. It is their own if there is a
    /// filter in it and all have the same, else the default one, else the first user's.
    pub fn choose(&self, names: &[String]) -> Option<PathBuf> {
        let folder = |name: &String| self.folder(name).filter(|folder| is_filter(folder));
        let first = names.first().and_then(folder);
        let is_alike = || names[1..].iter().all(|name| folder(name) == first);
        if first.is_some() && (names.len() == 1 || self.default.is_none() || is_alike()) {
            return first;
        }
        self.default.clone()
    }

    /// The folder of the filter that learns something for a user. If there is no filter in it yet,
    /// also the folder of the default filter, of which it begins as a copy. `teaches_default` says
    /// whether users without a filter teach the default one.
    pub fn taught(
        &self,
        name: &str,
        teaches_default: bool,
    ) -> Result<(PathBuf, Option<PathBuf>), &'static str> {
        match (self.folder(name), self.default.clone()) {
            (Some(own), _) if is_filter(&own) => Ok((own, None)),
            (_, Some(default)) if teaches_default => Ok((default, None)),
            (Some(own), _) if FilterPlace::of(&own) == FilterPlace::ForeignLink => {
                Err("a link of another user is in place of the filter")
            }
            (Some(own), default @ Some(_)) => Ok((own, default)),
            (Some(_), None) => Err("the user has no filter, and there is no default one"),
            (None, _) => Err("no user is named who can have a filter, and learn-default is off"),
        }
    }

    /// What is at the places of users' filters, by the users' names: in the folders that the
    /// pattern leads to.
    pub fn all(&self) -> Vec<(String, PathBuf, FilterPlace)> {
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
        let name = |[user, domain]: [String; 2]| match (user.is_empty(), domain.is_empty()) {
            (_, true) => user,
            (true, false) => domain,
            (false, false) => format!("{user}@{domain}"),
        };
        found.retain(|(_, folder)| Some(folder) != self.default.as_ref());
        let place = |(names, folder): ([String; 2], PathBuf)| {
            let place = FilterPlace::of(&folder);
            (place != FilterPlace::Empty).then(|| (name(names), folder, place))
        };
        let mut all: Vec<_> = found.into_iter().filter_map(place).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }
}

/// Why the default filter is used for a user at whose place this is; `None` if it is a filter.
pub fn why_none(place: FilterPlace) -> Option<&'static str> {
    match place {
        FilterPlace::Filter => None,
        FilterPlace::Empty => Some("there is no filter"),
        FilterPlace::Unfinished => Some(
            "the filter is unfinished: the default one is used, and the user's next lesson begins \
             it again",
        ),
        FilterPlace::ForeignLink => {
            Some("a link of another user is in place of the filter: the default one is used")
        }
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

fn is_filter(folder: &Path) -> bool {
    FilterPlace::of(folder) == FilterPlace::Filter
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
    fn several_recipients_share_a_filter_or_take_the_default() {
        let room = dbacl_testing::Scratch::new();
        for (file, content) in [("own/order", ""), ("begun/ledger.lock", ""), ("other/mail", "")] {
            std::fs::create_dir(room.path(file).parent().expect("a folder")).expect("a folder");
            room.write(file, content);
        }
        let here = room.path("").display().to_string();
        let users = users(&format!("{here}{{domain}}"), Some("/default"), None);
        let folder = |name: &str| room.path(name);
        let (own, default) = (Some(folder("own")), Some(PathBuf::from("/default")));
        for (names, chosen) in [
            (&["a@own"][..], &own),
            (&["a@own", "b@own"], &own),
            (&["a@own", "c@nowhere"], &default),
            (&["c@nowhere"], &default),
            (&["a@begun"], &default),
            (&["a@other"], &default),
            (&[], &default),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(users.choose(&names), *chosen, "{names:?}");
        }
        let begun = |name: &str| Ok((folder(name), default.clone()));
        assert_eq!(users.taught("a@own", false), Ok((folder("own"), None)));
        assert_eq!(users.taught("c@nowhere", false), begun("nowhere"));
        assert_eq!(users.taught("c@begun", false), begun("begun"));
        for name in ["c@nowhere", ""] {
            assert_eq!(users.taught(name, true), Ok(("/default".into(), None)));
        }
        assert!(users.taught("", false).is_err());
        let places: Vec<_> =
            users.all().into_iter().map(|(name, _, place)| (name, place)).collect();
        let expected = [("begun", FilterPlace::Unfinished), ("own", FilterPlace::Filter)];
        assert_eq!(places, expected.map(|(name, place)| (name.to_owned(), place)));
        let lonely = Users { default: None, ..users };
        assert_eq!(lonely.choose(&["a@own".into(), "c@nowhere".into()]), own);
        assert_eq!(lonely.choose(&["c@nowhere".into()]), None);
    }

    #[test]
    fn a_link_of_somebody_else_is_no_filter() {
        let room = dbacl_testing::Scratch::new();
        let here = room.path("").display().to_string();
        for folder in ["alice/mail", "bob", "carol"] {
            std::fs::create_dir_all(room.path(folder)).expect("a folder");
        }
        room.write("alice/mail/order", "");
        let links =
            [("bob/mail", "../alice/mail"), ("dave", "alice"), ("carol/mail", "../alice/mail")];
        for (link, target) in links {
            std::os::unix::fs::symlink(target, room.path(link)).expect("a link");
        }
        let users = users(&format!("{here}{{user}}/mail"), Some("/default"), None);
        let own = Some(room.path("carol/mail"));
        assert_eq!(users.choose(&["carol".into()]), own, "a link of the server's own is followed");
        for link in ["bob/mail", "dave"] {
            if std::os::unix::fs::lchown(room.path(link), Some(65_534), None).is_err() {
                return; // only the superuser can give links away
            }
        }
        for name in ["bob", "dave"] {
            assert_eq!(users.choose(&[name.into()]), Some("/default".into()), "{name}");
            assert!(users.taught(name, false).is_err_and(|why| why.contains("link")), "{name}");
        }
    }
}
