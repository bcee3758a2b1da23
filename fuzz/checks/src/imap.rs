// SPDX-License-Identifier: GPL-3.0-or-later
//! A hostile IMAP server, and files that are not a state: faults, and no lessons that nobody has
//! given.

use dbacl_imap::{Config, Credentials, Fault, Flags, Folder, Mail, Session, State, Wire};
use dbacl_imap::{choose, from_imap, look, teach, to_imap};
use std::io::{self, Cursor, Read, Write};
use std::time::Duration;

/// What a server says, whatever it is told.
struct Monologue(Cursor<Vec<u8>>);

impl Read for Monologue {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Monologue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Wire for Monologue {
    fn patience(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

/// A state in which each folder has three messages.
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

/// Counts in `learned` the messages that are given to be learned; returns the number of lessons.
fn converse(data: &[u8], state: &State, learned: &mut usize) -> Result<usize, Fault> {
    let credentials = match data.len() % 2 {
        0 => Credentials::Password("secret".into()),
        _ => Credentials::Token("secret".into()),
    };
    let server = Box::new(Monologue(Cursor::new(data.to_vec())));
    let mut session = Session::begin(server, ("server", 993), "alice", &credentials)?;
    let listed = session.list()?;
    let labels = vec!["Work".to_owned(), "Lists".to_owned()];
    let asked = Config { folders: vec!["*".into()], sort: labels.clone(), ..Config::default() };
    let watched = choose(&listed, &asked, &labels)?.watched;
    let looked = look(&mut session, &watched, state, true, 100)?;
    for folder in looked.state.folders.values() {
        assert!(folder.mails.is_sorted_by(|one, next| one.uid < next.uid));
    }
    let lessons = looked.meaning.lessons.len();
    let taught = teach(&mut session, looked.meaning.lessons, &mut |_, mails| {
        *learned += mails.len();
        Ok(mails.len())
    })?;
    let sum: usize = taught.learned.values().sum();
    assert!(sum + taught.known + taught.missed <= lessons);
    session.move_to(&[1, 2, 5], "Junk")?;
    session.idle(Duration::from_secs(1), &mut || {})?;
    Ok(lessons)
}

/// How many messages a server that says this gives somebody to learn whose folders are known.
pub fn imap_lessons(data: &[u8]) -> usize {
    let mut learned = 0;
    // Whether the conversation ends well or with a fault does not matter here.
    let _ = converse(data, &known(), &mut learned);
    learned
}

/// Any bytes from a server.
pub fn imap_server(data: &[u8]) {
    let mut learned = 0;
    // When an account is seen for the first time, nothing of it is learned.
    if let Ok(lessons) = converse(data, &State::new("alice@server:993"), &mut learned) {
        assert_eq!(lessons, 0);
    }
    assert_eq!(learned, 0);
    // Each mail is learned at most once, and a server needs more than eight bytes to tell of one.
    let lessons = imap_lessons(data);
    assert!(lessons <= data.len() / 8, "{lessons} lessons");
}

/// Files that may be a state, also with a checksum that is right; and names of folders.
pub(crate) fn imap_state(data: &[u8]) {
    let _ = State::parse(data);
    let checksum = crc32fast::hash(data).to_le_bytes();
    let sealed = [&b"dbacl-imap state 3\n"[..], &checksum, data].concat();
    let _ = State::parse(&sealed);
    let name = String::from_utf8_lossy(data);
    assert_eq!(from_imap(&to_imap(&name)), name);
    let _ = from_imap(&name);
}
