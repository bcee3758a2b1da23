// SPDX-License-Identifier: GPL-3.0-or-later
//! Concludes from changes in folders what a person has said about messages. This module reads no
//! mail and asks no server.
//!
//! A move is a message that is gone from one folder and new in another. Both halves are mostly seen
//! in one look; a half that is alone waits for the other one. The rules are in `docs/imap.md`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Identifies a message in any folder: a keyed checksum of its size and of some header lines.
pub(crate) type Identity = [u8; 8];

/// What a folder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// The inbox, or another folder of mail that somebody wants.
    Good,
    /// The folder for spam.
    Junk,
    /// A folder for what is thrown away. A move into it teaches nothing.
    Trash,
    /// A folder with a label of its own in the filter: the number of that label.
    Topic(u8),
    /// The folder into which this program moves what the filter is unsure of.
    Unsure,
}

/// What a message is learned as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// What the filter is there to find.
    Spam,
    /// Mail that must not be lost.
    Ham,
    /// Mail of a folder with a label of its own.
    Topic(u8),
}

/// The flags of a message that this program uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Flags(u8);

impl Flags {
    /// `$Junk`
    pub(crate) const JUNK: Self = Self(1);
    /// `$NotJunk`
    pub(crate) const NOT_JUNK: Self = Self(2);
    /// `\Deleted`: the mail is as good as gone.
    pub(crate) const DELETED: Self = Self(4);
    /// `\Seen`
    pub(crate) const SEEN: Self = Self(8);

    /// The union of both.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags of `self` that are not in `other`.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `self` has all flags of `other`.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The label that somebody has given by changing the flags from `old` to these, of a message in
    /// a folder of this kind.
    fn said_after(self, old: Self, kind: Kind) -> Option<Label> {
        match (self.has(Self::JUNK), self.has(Self::NOT_JUNK)) {
            _ if kind == Kind::Trash => None,
            (true, false) if !old.has(Self::JUNK) => Some(Label::Spam),
            (false, true) if !old.has(Self::NOT_JUNK) => match kind {
                Kind::Topic(number) => Some(Label::Topic(number)),
                _ => Some(Label::Ham),
            },
            _ => None,
        }
    }
}

/// A message in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// The folder's kind.
    pub kind: Kind,
    /// The folder's name, as IMAP writes it.
    pub folder: String,
    /// The mail's unique identifier in that folder (RFC 3501, 2.3.1.1).
    pub uid: u32,
    /// By what the mail is known again in another folder.
    pub identity: Identity,
    pub flags: Flags,
}

/// What one look has found.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Messages that are gone, as they were.
    pub gone: Vec<Placed>,
    pub new: Vec<Placed>,
    /// Messages with other flags, and what their flags were.
    pub flagged: Vec<(Placed, Flags)>,
}

/// Half of what may be a move: a message that is gone from a folder, or new in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Half {
    /// Whether the mail is gone; otherwise it is new.
    is_gone: bool,
    /// The mail where it was seen.
    pub mail: Placed,
    /// Second at which it was seen.
    since: u64,
    /// Number of looks during which it has waited.
    looks: u8,
}

/// A message of the inbox that this program moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnMove {
    /// Its number in the inbox.
    pub uid: u32,
    /// By what the mail is known again in another folder.
    pub identity: Identity,
    /// Second at which it is moved.
    pub since: u64,
    /// The folder to which it is moved, as IMAP writes it.
    pub to: String,
    /// Whether the server has said that it is moved. If not, the program may have been killed
    /// before.
    pub is_done: bool,
}

/// Something to learn: a message where it is now, and the label that it is to be learned with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    pub label: Label,
    pub mail: Placed,
}

/// What is concluded from a look.
#[derive(Debug, Default)]
pub struct Meaning {
    /// What is to be learned, each message once.
    pub lessons: Vec<Lesson>,
    /// Messages that have come from outside, not from another watched folder.
    pub arrived: Vec<Placed>,
    /// What waits for its other half.
    pub halves: Vec<Half>,
    /// Moves of this program that have not been seen yet.
    pub own: Vec<OwnMove>,
    /// Whether there is a half that has begun to wait in this look.
    pub is_restless: bool,
}

/// Seconds that half of a move waits for the other one. Clients without MOVE copy a message and
/// delete it then, which takes moments; a copy whose original is deleted later is a copy.
pub(crate) const WINDOW: u64 = 60;

/// What is known of a message.
#[derive(Debug, Default)]
struct Group {
    /// Halves of this look, and those that wait.
    gone: [Vec<Half>; 2],
    new: [Vec<Half>; 2],
    flagged: Vec<(Placed, Flags)>,
}

/// What a move teaches.
fn said(from: &Placed, to: &Placed) -> Option<Label> {
    match (from.kind, to.kind) {
        (one, other) if one == other || (one == Kind::Trash && other != Kind::Junk) => None,
        (_, Kind::Trash | Kind::Unsure) => None,
        (_, Kind::Junk) => Some(Label::Spam),
        (_, Kind::Topic(number)) => Some(Label::Topic(number)),
        // Whoever takes a message out of a folder for something has not said what it is, unless it
        // goes back to where it came from.
        (Kind::Topic(_), Kind::Good) => (to.folder == "INBOX").then_some(Label::Ham),
        (_, Kind::Good) => Some(Label::Ham),
    }
}

/// Which pairs of halves may be one move. Pairs that teach nothing come first: a change that can be
/// explained without a lesson teaches nothing.
const RULES: [fn(&Placed, &Placed) -> bool; 4] = [
    |from, to| from.kind == to.kind,
    |from, to| said(from, to).is_none(),
    |from, to| said(from, to) == Some(Label::Spam),
    |_, _| true,
];

/// Concludes from `changes` what is to be learned, and from what former looks have left: the halves
/// that wait, and moves of this program that have not been seen yet. `is_elsewhere` says whether a
/// message is in a folder of another kind now; `now` is the present second.
pub(crate) fn understand(
    changes: Changes,
    (halves, own): (Vec<Half>, Vec<OwnMove>),
    is_elsewhere: &dyn Fn(Kind, Identity) -> bool,
    now: u64,
) -> Meaning {
    let mut meaning = Meaning { own, ..Meaning::default() };
    let mut groups: BTreeMap<Identity, Group> = BTreeMap::new();
    let half = |is_gone, mail| Half { is_gone, mail, since: now, looks: 0 };
    let gone = changes.gone.into_iter().map(|mail| half(true, mail));
    let new = changes.new.into_iter().map(|mail| half(false, mail));
    let waiting = halves.into_iter().map(|half| {
        // If the clock was set back, the half does not wait longer for that.
        Half { looks: half.looks.saturating_add(1), since: half.since.min(now), ..half }
    });
    for half in gone.chain(new).chain(waiting) {
        let group = groups.entry(half.mail.identity).or_default();
        let side = if half.is_gone { &mut group.gone } else { &mut group.new };
        side[usize::from(half.looks > 0)].push(half);
    }
    for (mail, old) in changes.flagged {
        groups.entry(mail.identity).or_default().flagged.push((mail, old));
    }
    for (identity, group) in groups {
        group.understand(identity, is_elsewhere, now, &mut meaning);
    }
    meaning
}

impl Group {
    fn understand(
        self,
        identity: Identity,
        is_elsewhere: &dyn Fn(Kind, Identity) -> bool,
        now: u64,
        meaning: &mut Meaning,
    ) {
        let Self { gone: [mut gone, mut waiting_gone], new: [mut new, mut waiting_new], flagged } =
            self;
        waiting_new.retain(|new| {
            gone.iter().all(|it| it.mail.uid != new.mail.uid || it.mail.folder != new.mail.folder)
        });
        let mut pairs = pair(&mut gone, &mut new);
        pairs.extend(pair(&mut gone, &mut waiting_new));
        pairs.extend(pair(&mut waiting_gone, &mut new));
        let mut lessons: Vec<Lesson> = Vec::new();
        for (from, to) in pairs {
            if from.kind == Kind::Good && take(&mut meaning.own, &to) {
                continue;
            }
            let moved = said(&from, &to);
            let flagged = to.flags.said_after(from.flags, to.kind);
            match (moved, flagged) {
                // The mail was moved and marked as the opposite, and it is unknown which came last.
                (Some(moved), Some(flagged)) if moved != flagged => {}
                (Some(label), _) | (None, Some(label)) => {
                    lessons.push(Lesson { label, mail: to });
                }
                (None, None) => {}
            }
        }
        for (mail, old) in flagged {
            let label = mail.flags.said_after(old, mail.kind);
            lessons.extend(label.map(|label| Lesson { label, mail }));
        }
        let first = lessons.first().map(|lesson| lesson.label);
        if lessons.iter().all(|lesson| Some(lesson.label) == first) {
            meaning.lessons.extend(lessons.pop());
        }
        for new in new {
            if is_elsewhere(new.mail.kind, identity) {
                // A copy, or a move of which the other half has not been seen yet.
                meaning.is_restless = true;
                meaning.halves.push(new);
            } else {
                meaning.arrived.push(new.mail);
            }
        }
        meaning.is_restless |= !gone.is_empty();
        meaning.halves.append(&mut gone);
        let waiting = waiting_gone.into_iter().chain(waiting_new);
        let waits = |half: &Half| half.looks < 2 || now.saturating_sub(half.since) < WINDOW;
        meaning.halves.extend(waiting.filter(waits));
    }
}

/// Takes pairs out of both lists. Any mail that is gone and any that is new form a pair by one of
/// the rules.
fn pair(gone: &mut Vec<Half>, new: &mut Vec<Half>) -> Vec<(Placed, Placed)> {
    let mut pairs = Vec::new();
    for belongs in RULES {
        while let Some((from, to)) = gone.iter().enumerate().find_map(|(from, left)| {
            let to = new.iter().position(|it| belongs(&left.mail, &it.mail))?;
            Some((from, to))
        }) {
            pairs.push((gone.remove(from).mail, new.remove(to).mail));
        }
    }
    pairs
}

/// Takes a move of this program out of the list, if it has led to `to`.
fn take(own: &mut Vec<OwnMove>, to: &Placed) -> bool {
    let at = own.iter().position(|it| it.identity == to.identity && it.to == to.folder);
    at.map(|at| own.remove(at)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Good, Junk, Topic, Trash, Unsure};

    const MAIL: Identity = [7; 8];

    /// The message in a folder: `NAME` or `NAME.UID`, either followed by `!` for `$Junk` or `?` for
    /// `$NotJunk`.
    fn at(text: &str) -> Placed {
        let place = text.trim_end_matches(['!', '?']);
        let (name, uid) = place.split_once('.').unwrap_or((place, "5"));
        let kind = match name {
            "Junk" => Junk,
            "Trash" => Trash,
            "Unsure" => Unsure,
            "Work" => Topic(0),
            "Lists" => Topic(1),
            "INBOX" | "Archive" | "" => Good,
            other => panic!("no folder {other}"),
        };
        let mut flags = Flags::default();
        for letter in text[place.len()..].chars() {
            flags = flags.with(if letter == '!' { Flags::JUNK } else { Flags::NOT_JUNK });
        }
        let uid = uid.parse().expect("a number");
        Placed { kind, folder: name.into(), uid, identity: MAIL, flags }
    }

    /// What is learned in several looks, and how often the message has arrived. The looks have
    /// bars between them. Each has the seconds that pass before it, if any, `<` and those by which
    /// the clock is set back, `-` and a place from which the message is gone, `+` and one where it
    /// is new, `=` and one where it stays, and `~` and one where its flags have changed; the old
    /// ones follow `<`. `own` is where the program moves it first.
    fn story(looks: &str, own: Option<&str>) -> (String, usize) {
        let mut now = 1_000_000;
        let to = |to: &str| OwnMove {
            uid: 5,
            identity: MAIL,
            since: now,
            to: to.to_owned(),
            is_done: true,
        };
        let mut before = (Vec::new(), own.map(to).into_iter().collect());
        let (mut learned, mut arrived) = (Vec::new(), 0);
        for look in looks.split('|') {
            let mut changes = Changes::default();
            let mut remains = Vec::new();
            for word in look.split_whitespace() {
                match word.split_at(1) {
                    ("-", place) => changes.gone.push(at(place)),
                    ("+", place) => {
                        remains.push(at(place).kind);
                        changes.new.push(at(place));
                    }
                    ("=", place) => remains.push(at(place).kind),
                    ("<", seconds) => now -= seconds.parse::<u64>().expect("seconds"),
                    ("~", both) => {
                        let (place, old) = both.split_once('<').expect("flags");
                        changes.flagged.push((at(place), at(old).flags));
                    }
                    _ => now += word.parse::<u64>().expect("seconds"),
                }
            }
            let is_elsewhere = |kind: Kind, _: Identity| remains.iter().any(|it| *it != kind);
            let meaning = understand(changes, before, &is_elsewhere, now);
            learned.extend(meaning.lessons.iter().map(|lesson| format!("{:?}", lesson.label)));
            arrived += meaning.arrived.len();
            before = (meaning.halves, meaning.own);
        }
        (learned.join(" "), arrived)
    }

    #[track_caller]
    fn teaches(looks: &str, expected: &str) {
        assert_eq!(story(looks, None).0, expected, "{looks}");
    }

    #[test]
    fn moves_teach_what_the_folder_is_for() {
        for (moves, expected) in [
            ("INBOX>Junk Archive>Junk Trash>Junk Work>Junk Unsure>Junk", "Spam"),
            ("Junk>INBOX Junk>Archive Work>INBOX Unsure>INBOX Unsure>Archive", "Ham"),
            ("INBOX>Work Archive>Work", "Topic(0)"),
            ("Work>Lists Junk>Lists Unsure>Lists", "Topic(1)"),
            ("Junk>Trash INBOX>Trash INBOX>Archive Trash>INBOX Work>Archive Work>Trash", ""),
            ("Trash>Work INBOX>Unsure Junk>Unsure Unsure>Trash Work>Work.6 Junk>Junk.6", ""),
        ] {
            for (from, to) in moves.split(' ').filter_map(|it| it.split_once('>')) {
                teaches(&format!("-{from} +{to}"), expected);
                // Seen as two halves, in either order.
                teaches(&format!("+{to} ={from} | 30 -{from} ={to}"), expected);
                teaches(&format!("-{from} | 30 +{to}"), expected);
                // The other half is seen when the program runs again, a day later.
                teaches(&format!("-{from} | 86400 +{to}"), expected);
            }
        }
    }

    #[test]
    fn what_is_no_move_teaches_nothing() {
        // A rule on the server has filed it: it was in no other folder.
        assert_eq!(story("+Junk", None), (String::new(), 1));
        for looks in [
            // A message is expunged, and long after that a rule files an equal one.
            "-INBOX | 1 | 100 | 5 +Junk",
            // Even if the clock is set back meanwhile.
            "-INBOX | <86400 | 1 | 100 | 5 +Junk",
            // However long the program did not run, two looks are enough.
            "-INBOX | 86400 | 1 | 1 +Junk",
            // A copy, whose original is thrown away or deleted for good later.
            "+Junk =INBOX | 30 =INBOX =Junk | 31 =INBOX =Junk | -INBOX =Junk",
            "+Junk =INBOX | 5 -INBOX +Trash =Junk",
            // A copy that goes away again, and then the original.
            "+Junk =INBOX | 5 -Junk =INBOX | 5 -INBOX",
            // A copy in another folder with a label.
            "+Work =INBOX",
            // It came from one of the two, and it is unknown from which.
            "-Junk -Trash +INBOX",
            // To and fro between two looks.
            "-INBOX +INBOX.6",
            // Two copies of a message that change places.
            "-INBOX -Junk +INBOX.6 +Junk.6",
        ] {
            teaches(looks, "");
        }
    }

    #[test]
    fn each_move_teaches_and_copies_teach_once() {
        teaches("-INBOX +Junk | 1 -Junk +INBOX", "Spam Ham");
        teaches("-INBOX +Junk | 1 -Junk +INBOX | 1 -INBOX +Junk", "Spam Ham Spam");
        teaches("-INBOX -INBOX.6 +Junk +Junk.6", "Spam");
        teaches("-INBOX +Junk =INBOX", "Spam");
        // After a long pause the next look may still bring the other half.
        teaches("-INBOX | 86400 | 1 +Junk", "Spam");
    }

    #[test]
    fn own_moves_teach_nothing_and_what_follows_does() {
        for (looks, expected) in [
            ("1 -INBOX +Junk", ""),
            ("1 -INBOX +Junk | 1 -Junk +INBOX", "Ham"),
            // A second move is somebody's.
            ("1 -INBOX +Junk | 1 -Junk +INBOX | 1 -INBOX +Junk", "Ham Spam"),
            // Before the next look, somebody has moved the mail on to another folder.
            ("1 -INBOX +Work", "Topic(0)"),
            ("1 +Junk =INBOX | 1 -INBOX =Junk", ""),
            // It was not in the inbox any more.
            ("1 -Trash +Junk", "Spam"),
        ] {
            assert_eq!(story(looks, Some("Junk")).0, expected, "{looks}");
        }
        // A move of another message.
        let own = OwnMove { uid: 6, identity: [8; 8], since: 0, to: "Junk".into(), is_done: true };
        let changes =
            Changes { gone: vec![at("INBOX")], new: vec![at("Junk")], ..Changes::default() };
        let meaning = understand(changes, (Vec::new(), vec![own.clone()]), &|_, _| false, 1);
        assert_eq!((meaning.lessons.len(), meaning.own), (1, vec![own]));
    }

    #[test]
    fn flags_that_somebody_sets_teach() {
        for (looks, expected) in [
            ("~INBOX!<", "Spam"),
            ("~Junk?<", "Ham"),
            ("~Junk?<!", "Ham"),
            ("~INBOX<!", ""),
            ("~INBOX!?<", ""),
            ("~INBOX!<!?", ""),
            ("~Trash!<", ""),
            ("~Work!<", "Spam"),
            ("~Work?<", "Topic(0)"),
            // A flag and a move that contradict each other say nothing.
            ("-INBOX +Junk!", "Spam"),
            ("-INBOX +Junk?", ""),
            // Flags that it had before say nothing of the move.
            ("-Junk! +INBOX!", "Ham"),
            ("-INBOX +Archive!", "Spam"),
            // A message that comes with a flag was marked by a rule.
            ("+INBOX!", ""),
        ] {
            teaches(looks, expected);
        }
    }
}
