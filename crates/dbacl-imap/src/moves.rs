// SPDX-License-Identifier: GPL-3.0-or-later
//! Concludes from changes in folders what a person has said about messages. This module reads no
//! mail and asks no server.
//!
//! A move is a message that is gone from one folder and new in another. Both halves are mostly seen
//! in one look; a half that is alone waits for the other one. The rules are in `docs/imap.md`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Identifies a message in any folder: a keyed checksum of its size and of some header lines.
pub type Identity = [u8; 8];

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
pub struct Changes {
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
pub const WINDOW: u64 = 60;

#[derive(Debug, Default)]
struct Group {
    gone: Vec<Half>,
    new: Vec<Half>,
    waiting_gone: Vec<Half>,
    waiting_new: Vec<Half>,
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
pub fn understand(
    changes: Changes,
    (halves, own): (Vec<Half>, Vec<OwnMove>),
    is_elsewhere: &dyn Fn(Kind, Identity) -> bool,
    now: u64,
) -> Meaning {
    let mut meaning = Meaning { own, ..Meaning::default() };
    let mut groups: BTreeMap<Identity, Group> = BTreeMap::new();
    let half = |is_gone, mail| Half { is_gone, mail, since: now, looks: 0 };
    for mail in changes.gone {
        groups.entry(mail.identity).or_default().gone.push(half(true, mail));
    }
    for mail in changes.new {
        groups.entry(mail.identity).or_default().new.push(half(false, mail));
    }
    for (mail, old) in changes.flagged {
        groups.entry(mail.identity).or_default().flagged.push((mail, old));
    }
    for mut half in halves {
        half.looks = half.looks.saturating_add(1);
        // If the clock was set back, the half does not wait longer for that.
        half.since = half.since.min(now);
        let group = groups.entry(half.mail.identity).or_default();
        if half.is_gone { &mut group.waiting_gone } else { &mut group.waiting_new }.push(half);
    }
    for (identity, group) in groups {
        group.understand(identity, is_elsewhere, now, &mut meaning);
    }
    meaning
}

impl Group {
    fn understand(
        mut self,
        identity: Identity,
        is_elsewhere: &dyn Fn(Kind, Identity) -> bool,
        now: u64,
        meaning: &mut Meaning,
    ) {
        let gone = &self.gone;
        let is_gone = |new: &Placed| {
            gone.iter().any(|it| it.mail.uid == new.uid && it.mail.folder == new.folder)
        };
        self.waiting_new.retain(|new| !is_gone(&new.mail));
        let mut pairs = pair(&mut self.gone, &mut self.new);
        pairs.extend(pair(&mut self.gone, &mut self.waiting_new));
        pairs.extend(pair(&mut self.waiting_gone, &mut self.new));
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
        for (mail, old) in self.flagged {
            let label = mail.flags.said_after(old, mail.kind);
            lessons.extend(label.map(|label| Lesson { label, mail }));
        }
        let first = lessons.first().map(|lesson| lesson.label);
        if lessons.iter().all(|lesson| Some(lesson.label) == first) {
            meaning.lessons.extend(lessons.pop());
        }
        for new in self.new {
            if is_elsewhere(new.mail.kind, identity) {
                // A copy, or a move of which the other half has not been seen yet.
                meaning.is_restless = true;
                meaning.halves.push(new);
            } else {
                meaning.arrived.push(new.mail);
            }
        }
        meaning.is_restless |= !self.gone.is_empty();
        meaning.halves.append(&mut self.gone);
        let waiting = self.waiting_gone.into_iter().chain(self.waiting_new);
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

    const MAIL: Identity = [7; 8];

    fn at(kind: Kind, folder: &str, uid: u32) -> Placed {
        Placed { kind, folder: folder.into(), uid, identity: MAIL, flags: Flags::default() }
    }

    fn inbox() -> Placed {
        at(Kind::Good, "INBOX", 5)
    }

    fn junk() -> Placed {
        at(Kind::Junk, "Junk", 50)
    }

    fn archive() -> Placed {
        at(Kind::Good, "Archive", 500)
    }

    fn trash() -> Placed {
        at(Kind::Trash, "Trash", 5000)
    }

    /// One mail over several looks. Each has what is gone, what is new, and how many seconds passed
    /// before it; `remains` tells the kinds of folders where the mail is then.
    struct Story {
        halves: Vec<Half>,
        own: Vec<OwnMove>,
        now: u64,
        learned: Vec<Label>,
        arrived: usize,
    }

    impl Story {
        fn new() -> Self {
            let (halves, own, learned) = (Vec::new(), Vec::new(), Vec::new());
            Self { halves, own, now: 1_000_000, learned, arrived: 0 }
        }

        fn look(
            mut self,
            gone: &[&Placed],
            new: &[&Placed],
            remains: &[Kind],
            seconds: u64,
        ) -> Self {
            let owned = |list: &[&Placed]| list.iter().map(|it| (*it).clone()).collect();
            let changes = Changes { gone: owned(gone), new: owned(new), flagged: Vec::new() };
            self.now += seconds;
            let is_elsewhere =
                |kind: Kind, _: Identity| remains.iter().any(|remaining| *remaining != kind);
            let before = (self.halves, self.own);
            let meaning = understand(changes, before, &is_elsewhere, self.now);
            self.learned.extend(meaning.lessons.iter().map(|lesson| lesson.label));
            self.arrived += meaning.arrived.len();
            Self { halves: meaning.halves, own: meaning.own, ..self }
        }

        #[track_caller]
        fn teaches(self, expected: &[Label]) -> Self {
            assert_eq!(self.learned, expected);
            self
        }
    }

    use Kind::{Good, Junk, Topic, Trash, Unsure};
    use Label::{Ham, Spam};

    #[test]
    fn moves_into_junk_and_out_of_it_teach() {
        for (from, to, expected) in [
            (inbox(), junk(), &[Spam][..]),
            (archive(), junk(), &[Spam]),
            (trash(), junk(), &[Spam]),
            (junk(), inbox(), &[Ham]),
            (junk(), archive(), &[Ham]),
            (junk(), trash(), &[]),
            (inbox(), trash(), &[]),
            (inbox(), archive(), &[]),
            (trash(), inbox(), &[]),
        ] {
            let kind = to.kind;
            Story::new().look(&[&from], &[&to], &[kind], 0).teaches(expected);
            // Seen as two halves, in either order.
            let both = [from.kind, to.kind];
            let halves = Story::new().look(&[], &[&to], &both, 0);
            halves.look(&[&from], &[], &[kind], 30).teaches(expected);
            let halves = Story::new().look(&[&from], &[], &[], 0);
            halves.look(&[], &[&to], &[kind], 30).teaches(expected);
            // The other half is seen when the program runs again, a day later.
            let halves = Story::new().look(&[&from], &[], &[], 0);
            halves.look(&[], &[&to], &[kind], 86_400).teaches(expected);
        }
    }

    #[test]
    fn what_is_no_move_teaches_nothing() {
        // A rule on the server has filed it: it was in no other folder.
        let story = Story::new().look(&[], &[&junk()], &[Junk], 0).teaches(&[]);
        assert_eq!(story.arrived, 1);
        // A message is expunged, and long after that a rule files an equal one.
        let story = Story::new().look(&[&inbox()], &[], &[], 0).look(&[], &[], &[], 1);
        story.look(&[], &[], &[], 100).look(&[], &[&junk()], &[Junk], 5).teaches(&[]);
        // A copy, whose original is thrown away or deleted for good later.
        let copy = || Story::new().look(&[], &[&junk()], &[Good, Junk], 0).teaches(&[]);
        let later = copy().look(&[], &[], &[Good, Junk], 30).look(&[], &[], &[Good, Junk], 31);
        later.look(&[&inbox()], &[], &[Junk], 0).teaches(&[]);
        copy().look(&[&inbox()], &[&trash()], &[Junk, Trash], 5).teaches(&[]);
        // A copy that goes away again, and then the original.
        copy().look(&[&junk()], &[], &[Good], 5).look(&[&inbox()], &[], &[], 5).teaches(&[]);
        // The same folder: a client has changed the mail's number only.
        let again = at(Junk, "Junk", 51);
        Story::new().look(&[&junk()], &[&again], &[Junk], 0).teaches(&[]);
    }

    #[test]
    fn a_copy_into_junk_out_of_trash_is_moved_to_the_inbox() {
        let both = Story::new().look(&[&junk(), &trash()], &[&inbox()], &[Good], 0);
        // It came from one of the two, and it is unknown from which.
        both.teaches(&[]);
    }

    #[test]
    fn the_last_of_several_moves_counts() {
        let story = Story::new().look(&[&inbox()], &[&junk()], &[Junk], 0);
        let story = story.look(&[&junk()], &[&inbox()], &[Good], 1).teaches(&[Spam, Ham]);
        story.look(&[&inbox()], &[&junk()], &[Junk], 1).teaches(&[Spam, Ham, Spam]);
        // To and fro between two looks.
        let other = at(Good, "INBOX", 6);
        Story::new().look(&[&inbox()], &[&other], &[Good], 0).teaches(&[]);
        // Two copies of a message that change places say nothing.
        let more = at(Junk, "Junk", 51);
        let swapped = Story::new().look(&[&inbox(), &junk()], &[&other, &more], &[Good, Junk], 0);
        swapped.teaches(&[]);
    }

    #[test]
    fn a_mail_that_is_there_twice_is_learned_once() {
        let (other, more) = (at(Good, "INBOX", 6), at(Junk, "Junk", 51));
        Story::new().look(&[&inbox(), &other], &[&junk(), &more], &[Junk], 0).teaches(&[Spam]);
        Story::new().look(&[&inbox()], &[&junk()], &[Good, Junk], 0).teaches(&[Spam]);
    }

    fn own_move(since: u64) -> OwnMove {
        OwnMove { uid: 5, identity: MAIL, since, to: "Junk".into() }
    }

    #[test]
    fn folders_with_labels_teach_these() {
        let (work, lists) = (at(Topic(0), "Work", 7), at(Topic(1), "Lists", 8));
        let unsure = at(Unsure, "Unsure", 9);
        for (from, to, expected) in [
            (inbox(), &work, &[Label::Topic(0)][..]),
            (archive(), &work, &[Label::Topic(0)]),
            (work.clone(), &lists, &[Label::Topic(1)]),
            (junk(), &lists, &[Label::Topic(1)]),
            (unsure.clone(), &lists, &[Label::Topic(1)]),
            (work.clone(), &junk(), &[Spam]),
            (unsure.clone(), &junk(), &[Spam]),
            (work.clone(), &inbox(), &[Ham]),
            (unsure.clone(), &inbox(), &[Ham]),
            (unsure.clone(), &archive(), &[Ham]),
            (work.clone(), &archive(), &[]),
            (work.clone(), &trash(), &[]),
            (trash(), &work, &[]),
            (inbox(), &unsure, &[]),
            (junk(), &unsure, &[]),
            (unsure.clone(), &trash(), &[]),
            (work.clone(), &at(Topic(0), "Work", 70), &[]),
        ] {
            let shown = format!("{} {}", from.folder, to.folder);
            let story = Story::new().look(&[&from], &[to], &[to.kind], 0);
            assert_eq!(story.learned, expected, "{shown}");
            let both = [from.kind, to.kind];
            let halves = Story::new().look(&[], &[to], &both, 0);
            let halves = halves.look(&[&from], &[], &[to.kind], 30);
            assert_eq!(halves.learned, expected, "{shown}");
        }
        // A copy in another folder with a label is no move.
        Story::new().look(&[], &[&work], &[Good, Topic(0)], 0).teaches(&[]);
    }

    #[test]
    fn own_moves_teach_nothing_and_what_follows_does() {
        let mut story = Story::new();
        story.own.push(own_move(story.now));
        let story = story.look(&[&inbox()], &[&junk()], &[Junk], 1).teaches(&[]);
        assert_eq!(story.own, []);
        story.look(&[&junk()], &[&inbox()], &[Good], 1).teaches(&[Ham]);
        // Before the next look, somebody has moved the mail on to another folder.
        let mut further = Story::new();
        further.own.push(own_move(further.now));
        let work = at(Topic(0), "Work", 7);
        further.look(&[&inbox()], &[&work], &[Topic(0)], 1).teaches(&[Label::Topic(0)]);
        let mut halves = Story::new();
        halves.own.push(own_move(halves.now));
        let halves = halves.look(&[], &[&junk()], &[Good, Junk], 1);
        halves.look(&[&inbox()], &[], &[Junk], 1).teaches(&[]);
    }

    fn flagged(placed: Placed, old: Flags, new: Flags) -> Vec<Label> {
        let changes =
            Changes { flagged: vec![(Placed { flags: new, ..placed }, old)], ..Changes::default() };
        let meaning = understand(changes, Default::default(), &|_, _| false, 0);
        meaning.lessons.into_iter().map(|lesson| lesson.label).collect()
    }

    #[test]
    fn flags_that_somebody_sets_teach() {
        let (none, both) = (Flags::default(), Flags::JUNK.with(Flags::NOT_JUNK));
        assert_eq!(flagged(inbox(), none, Flags::JUNK), [Spam]);
        assert_eq!(flagged(junk(), none, Flags::NOT_JUNK), [Ham]);
        assert_eq!(flagged(junk(), Flags::JUNK, Flags::NOT_JUNK), [Ham]);
        assert_eq!(flagged(inbox(), Flags::JUNK, none), []);
        assert_eq!(flagged(inbox(), none, both), []);
        assert_eq!(flagged(inbox(), both, Flags::JUNK), []);
        assert_eq!(flagged(trash(), none, Flags::JUNK), []);
        let work = || at(Topic(3), "Work", 7);
        assert_eq!(flagged(work(), none, Flags::JUNK), [Spam]);
        assert_eq!(flagged(work(), none, Flags::NOT_JUNK), [Label::Topic(3)]);
    }

    #[test]
    fn a_flag_and_a_move_that_contradict_each_other_say_nothing() {
        let marked = |placed: Placed, flags| Placed { flags, ..placed };
        let spam = marked(junk(), Flags::JUNK);
        Story::new().look(&[&inbox()], &[&spam], &[Junk], 0).teaches(&[Spam]);
        let ham = marked(junk(), Flags::NOT_JUNK);
        Story::new().look(&[&inbox()], &[&ham], &[Junk], 0).teaches(&[]);
        // Flags that it had before say nothing of the move.
        let (from, to) = (marked(junk(), Flags::JUNK), marked(inbox(), Flags::JUNK));
        Story::new().look(&[&from], &[&to], &[Good], 0).teaches(&[Ham]);
        let archived = marked(archive(), Flags::JUNK);
        Story::new().look(&[&inbox()], &[&archived], &[Good], 0).teaches(&[Spam]);
        // A message that comes with a flag was marked by a rule.
        let story = Story::new().look(&[], &[&marked(inbox(), Flags::JUNK)], &[Good], 0);
        story.teaches(&[]);
    }
}
