// SPDX-License-Identifier: GPL-3.0-or-later
//! A hostile server: dialogues with changed bytes end in faults, and teach nothing that nobody has
//! said. `DBACL_IMAP_ROUNDS` is how many are tried (2,000).

use dbacl_imap::connection::Fault;
use dbacl_imap::look::{Wishes, choose, look};
use dbacl_imap::moves::{Flags, Label};
use dbacl_imap::session::{Proof, Session};
use dbacl_imap::state::{Folder, Mail, State};
use dbacl_imap::teach::{Pupil, teach};
use dbacl_imap::transport::Wire;
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::root;
use std::fs;
use std::io::{self, Read, Write};
use std::time::Duration;

/// What a server says, whatever it is told.
struct Monologue<'a>(&'a [u8]);

impl Read for Monologue<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Monologue<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Wire for Monologue<'_> {
    fn patience(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

/// Somebody who learns nothing, and counts.
#[derive(Default)]
struct Counting(usize);

impl Pupil for Counting {
    fn learn(&mut self, _: Label, mails: &[Vec<u8>]) -> Result<usize, Fault> {
        self.0 += mails.len();
        Ok(mails.len())
    }

    fn is_spam(&mut self, mail: &[u8]) -> Result<bool, Fault> {
        Ok(mail.len().is_multiple_of(2))
    }
}

/// A state in which each folder has three mails.
fn known() -> State {
    let mut state = State::new("alice@server:993");
    for (name, first) in [("INBOX", 1), ("Junk", 11), ("Trash", 21)] {
        let mail = |uid| {
            let identity = state.identity(uid % 10, b"Subject: a\r\n\r\n");
            Mail { uid, identity, flags: Flags::default() }
        };
        let mails = (first..first + 3).map(mail).collect();
        state.folders.insert(name.into(), Folder { validity: 7, next: 30, modseq: 5, mails });
    }
    state
}

fn converse(data: &[u8], state: &State, pupil: &mut Counting) -> Result<usize, Fault> {
    let proof = match data.len() % 2 {
        0 => Proof::Password("secret".into()),
        _ => Proof::Token("secret".into()),
    };
    let mut session = Session::begin(Monologue(data), ("server", 993), "alice", &proof)?;
    let listed = session.list()?;
    let folders = ["*".to_owned()];
    let watched = choose(&listed, Wishes { folders: &folders, ..Wishes::default() })?;
    let looked = look(&mut session, &watched, state, true, 100)?;
    for folder in looked.state.folders.values() {
        assert!(folder.mails.is_sorted_by(|one, next| one.uid < next.uid));
    }
    let lessons = looked.lessons.len();
    let taught = teach(&mut session, looked.lessons, pupil)?;
    assert!(taught.ham + taught.spam + taught.known + taught.missed <= lessons);
    session.move_to(&[1, 2, 5], "Junk")?;
    session.idle(Duration::from_secs(1), &mut || {})?;
    Ok(lessons)
}

/// What must hold for any bytes.
fn hear(data: &[u8]) {
    let mut pupil = Counting::default();
    // Of an account that is new nothing is learned.
    if let Ok(lessons) = converse(data, &State::new("alice@server:993"), &mut pupil) {
        assert_eq!(lessons, 0);
    }
    assert_eq!(pupil.0, 0);
    // A fault is as good as an answer.
    let _ = converse(data, &known(), &mut pupil);
    // Each mail says one thing; what the state knows and the server invents is little here.
    assert!(pupil.0 <= data.len() / 8, "{} lessons", pupil.0);
}

/// Changes `data` at one place: a byte, a cut, or a piece of `other`.
fn change(data: &mut Vec<u8>, other: &[u8], random: &mut SplitMix64) {
    let at = random.below(data.len() + 1);
    match random.below(4) {
        0 => data.truncate(at),
        1 => data.insert(at, u8::try_from(random.below(256)).expect("a byte")),
        2 => {
            let end = data.len().min(at + random.below(20));
            data.drain(at..end);
        }
        _ => {
            let from = random.below(other.len() + 1);
            let to = other.len().min(from + random.below(60));
            data.splice(at..at, other[from..to].iter().copied());
        }
    }
}

#[test]
fn hostile_servers_end_in_faults() {
    let mut seeds = Vec::new();
    for entry in fs::read_dir(root().join("testdata/imap")).expect("the dialogues") {
        seeds.push(fs::read(entry.expect("an entry").path()).expect("a dialogue"));
    }
    seeds.sort();
    let mut pupil = Counting::default();
    for seed in &seeds {
        hear(seed);
        // The dialogues mean something: two of them teach.
        let _ = converse(seed, &known(), &mut pupil);
    }
    assert!(pupil.0 >= 2, "{} lessons", pupil.0);
    let rounds = crate::model::number("DBACL_IMAP_ROUNDS", 2000);
    let mut random = SplitMix64::new(1);
    for _ in 0..rounds {
        let mut data = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(6) {
            let other = random.below(seeds.len());
            change(&mut data, &seeds[other], &mut random);
        }
        let start = std::time::Instant::now();
        hear(&data);
        assert!(start.elapsed().as_secs() < 60, "{}", data.escape_ascii());
    }
}
