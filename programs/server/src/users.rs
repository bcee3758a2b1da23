// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the folders of users' filters by the users' names.

use dbacl::FilterPlace;
use dbacl_cli::terminal::is_hidden;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest name of a user, in bytes. A longer name has no folder.
const LONGEST: usize = 200;

/// What makes two names one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Naming {
    /// The whole address.
    #[default]
    Address,
    /// The part before the `@`, as where users of the system have mail.
    Local,
}

/// The most aliases that lead from one to the next.
const ALIASES: usize = 8;

/// The rule that gives the folder of a user's filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Users {
    /// What makes two names one person.
    pub naming: Naming,
    /// Users by their other names, in small letters.
    pub aliases: Arc<HashMap<String, String>>,
    /// A path with `{user}`, `{local}` or `{domain}` in it; none when all share the default.
    pub pattern: Option<String>,
    /// The folder for users who have none.
    pub default: Option<PathBuf>,
    /// The character that begins the part of a local name that is left out, as in
    /// `name+list@domain`.
    pub delimiter: Option<char>,
}

impl Users {
    /// The local part and the domain of a user's name, in small letters, by the rule.
    fn parts(&self, name: &str) -> (String, Option<String>) {
        let mut name = name.trim().trim_start_matches('<').trim_end_matches('>').to_lowercase();
        for _ in 0..ALIASES {
            let (local, domain) = self.split(&name);
            let is_local = domain.is_none() || self.naming == Naming::Local;
            let whole = domain.map(|domain| format!("{local}@{domain}"));
            let known = whole.and_then(|whole| self.aliases.get(&whole));
            let known = known.or_else(|| self.aliases.get(local).filter(|_| is_local));
            let Some(next) = known else { break };
            name.clone_from(next);
        }
        let (local, domain) = self.split(&name);
        let domain = domain.filter(|_| self.naming == Naming::Address);
        (local.to_owned(), domain.map(str::to_owned))
    }

    /// The local part of an address without what the delimiter begins, and the domain.
    fn split<'a>(&self, name: &'a str) -> (&'a str, Option<&'a str>) {
        let (local, domain) = match name.rsplit_once('@') {
            Some((local, domain)) => (local, Some(domain)),
            None => (name, None),
        };
        let end = self.delimiter.and_then(|delimiter| local.find(delimiter)).filter(|&at| at > 0);
        (&local[..end.unwrap_or(local.len())], domain)
    }

    /// The part of a user's name before the `@`, in small letters, after aliases and without what
    /// follows the delimiter.
    pub(crate) fn local(&self, name: &str) -> String {
        self.parts(name).0
    }

    /// The folder of a user by the rule; `None` if the name could lead out of the pattern's folder,
    /// or could do harm where somebody lists the folders. Names are turned to small letters.
    /// Whether the folder exists is not checked.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        let pattern = self.pattern.as_deref()?;
        let (local, domain) = self.parts(name);
        let (local, domain) = (&local[..], domain.as_deref());
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
    pub(crate) fn choose(&self, names: &[String]) -> Option<PathBuf> {
        let folder = |name: &String| self.folder(name).filter(|folder| is_filter(folder));
        let first = names.first().and_then(folder);
        let is_alike = || names[1..].iter().all(|name| folder(name) == first);
        if first.is_some() && (names.len() == 1 || self.default.is_none() || is_alike()) {
            return first;
        }
        self.default.clone()
    }

    /// The folder of the filter that learns a user's lessons. If it holds no filter yet, also the
    /// folder of the default filter, which is copied into it first. `teaches_default` says whether
    /// users without a filter teach the default one.
    pub(crate) fn taught(
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
    pub(crate) fn all(&self) -> Vec<(String, PathBuf, FilterPlace)> {
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
pub(crate) fn why_none(place: FilterPlace) -> Option<&'static str> {
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

/// The bytes of the files in a filter's folder and in the folders in it. A file of two names is
/// counted once.
pub(crate) fn size(folder: &Path) -> u64 {
    let (mut bytes, mut seen) = (0, HashSet::new());
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

/// Signs of ASCII that names may have beside letters and digits.
const SIGNS: &str = "._-+=@,'&#%!^~";

/// Whether a part of a name can be the name of a file in a folder, and is harmless where shells and
/// terminals read it.
fn is_plain(part: &str) -> bool {
    let is_right = |letter: char| match letter {
        '\0'..='\x7f' => letter.is_ascii_alphanumeric() || SIGNS.contains(letter),
        _ => !letter.is_control() && !letter.is_whitespace() && !is_hidden(letter),
    };
    !part.is_empty() && !part.starts_with(['.', '-', '~']) && part.chars().all(is_right)
}

/// The names in a file of aliases, as of Postfix and sendmail, that stand for one user: lines
/// `NAME: USER`, or `NAME USER` as in tables of virtual addresses.
pub(crate) fn aliases_in(text: &str) -> HashMap<String, String> {
    let pair = |line: &str| {
        let (name, user) = line.split_once([':', ' ', '\t'])?;
        let [name, user] = [name, user].map(|it| it.trim_matches([':', ' ', '\t', '"']));
        let is_user = !name.is_empty() && is_plain(user) && !user.contains(',');
        is_user.then(|| (name.to_lowercase(), user.to_lowercase()))
    };
    // A line that begins with a blank goes on with the one before, which has several users then.
    let mut pairs = HashMap::new();
    let mut last = None;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if line.starts_with([' ', '\t']) {
            last.take().map(|name: String| pairs.remove(&name));
        } else if let Some((name, user)) = pair(line) {
            pairs.insert(name.clone(), user);
            last = Some(name);
        } else {
            last = None;
        }
    }
    pairs
}

/// Whether a pattern gives different users different folders.
pub(crate) fn tells_users_apart(pattern: &Path) -> bool {
    mark_of(&pattern.to_string_lossy()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(pattern: &str, default: Option<&str>, delimiter: Option<char>) -> Users {
        let (pattern, default) = (Some(pattern.to_owned()), default.map(PathBuf::from));
        Users { pattern, default, delimiter, ..Users::default() }
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
            ("/m/{local}", "{domain}@x", None),
            ("/m/{user}", "{user}", None),
            ("/m/{user}", "-rf", None),
            ("/m/{user}", "$(id)", None),
            ("/m/{user}", "a b", None),
            ("/m/{user}", "a*", None),
            ("/m/{user}", "cod\u{202e}exe", None),
            ("/m/{user}", "a\u{200b}", None),
            ("/m/{user}", "o'brien@example.org", Some("/m/o'brien@example.org")),
            ("/m/{user}", "Jörg_हिन्दी", Some("/m/jörg_हिन्दी")),
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
    fn one_person_has_one_filter_by_every_name() {
        let aliases = "# comment\npostmaster: root\nroot:\tAlice\ninfo@example.org bob\n\
                       team: alice, bob\nlong: alice,\n carol\nwide: alice\n  bob\n\
                       pipe: \"|/usr/bin/vacation\"\nfile: /dev/null\nloop: loop\n\
                       list: :include:/etc/list\nfar: alice@example.net\n";
        let aliases = Arc::new(aliases_in(aliases));
        for (naming, name, expected) in [
            (Naming::Local, "alice", "alice"),
            (Naming::Local, "Alice+shop@example.org", "alice"),
            (Naming::Local, "postmaster@example.org", "alice"),
            (Naming::Local, "info@example.org", "bob"),
            (Naming::Local, "info@example.net", "info"),
            (Naming::Local, "team@example.org", "team"),
            (Naming::Local, "long", "long"),
            (Naming::Local, "wide", "wide"),
            (Naming::Local, "pipe", "pipe"),
            (Naming::Local, "file", "file"),
            (Naming::Local, "list", "list"),
            (Naming::Local, "loop", "loop"),
            (Naming::Local, "far", "alice"),
            (Naming::Address, "far", "alice@example.net"),
            (Naming::Address, "alice@example.org", "alice@example.org"),
            (Naming::Address, "postmaster@example.org", "postmaster@example.org"),
            (Naming::Address, "info+x@Example.org", "bob"),
        ] {
            let aliases = Arc::clone(&aliases);
            let users = Users { naming, aliases, ..users("/m/{user}", None, Some('+')) };
            let folder = Some(PathBuf::from(format!("/m/{expected}")));
            assert_eq!(users.folder(name), folder, "{naming:?} {name}");
        }
    }

    #[test]
    fn several_recipients_share_a_filter_or_take_the_default() {
        let room = dbacl_testing::Scratch::new();
        for (file, content) in [("own/table", ""), ("begun/lock", ""), ("other/mail", "")] {
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
        room.write("alice/mail/table", "");
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
