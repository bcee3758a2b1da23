// SPDX-License-Identifier: GPL-3.0-or-later
//! Connections that wait for news, and the connection that looks, learns and moves when there is
//! some.
//!
//! A round begins with logging in and ends with a fault, or when the program is told to stop. The
//! next round begins after a pause, which becomes longer with each fault.

use crate::config::Config;
use crate::connection::Fault;
use crate::folder_names::from_imap;
use crate::letter;
use crate::look::{Looked, Watched, choose, look, unsure_to_make};
use crate::moves::{Kind, Label, Lesson, Meaning, OwnMove, Placed};
use crate::session::{Credentials, Session};
use crate::state::{NoState, State};
use crate::teach::{Filter, Taught, teach};
use crate::transport::Place;
use crate::week::Doubt;
use dbacl::RecentVerdicts;
use dbacl_files::reading::open_regular;
use imap_next::imap_types::response::Capability;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// After so long, waiting for news begins again: routers forget connections that are silent.
const RENEW: Duration = Duration::from_secs(9 * 60);

/// After news, more news is awaited for so long, so that one look serves all of it.
const GATHER: Duration = Duration::from_millis(100);

/// The longest time that news is gathered before a look.
const GATHER_AT_MOST: Duration = Duration::from_millis(500);

/// The most looks that follow each other without news.
const LOOKS: u32 = 4;

/// The longest time between two rounds.
const LONGEST_REST: Duration = Duration::from_secs(300);

/// The time between two rounds after the server did not let the user in: some servers lock out
/// those who try often.
const REST_AFTER_REFUSAL: Duration = Duration::from_secs(60);

/// What happens during a round. `Ok` says that something may have changed in a folder, or that a
/// signal has come; `Err`, that a connection has failed.
pub(crate) type News = Result<(), Fault>;

/// Handles of all connections, by which they are shut down when the program stops, whatever they
/// wait for.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    /// Set once the program is to stop.
    pub stop: Arc<AtomicBool>,
    open: Mutex<Vec<TcpStream>>,
}

impl Handles {
    fn add(&self, stream: TcpStream) -> Result<(), Fault> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        if self.is_stopped() {
            self.cut();
            return Err(Fault::Stopped);
        }
        Ok(())
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends all connections, and lets none begin.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.cut();
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// Everything that rounds share.
pub(crate) struct Watcher<'a> {
    config: &'a Config,
    place: Place,
    path: &'a Path,
    state: Option<State>,
    filter: Filter,
    /// Whether nothing is to be changed.
    is_dry: bool,
    /// Whether a letter is to be written after the next look, before the week is over.
    writes_now: bool,
    handles: Arc<Handles>,
    /// Verdicts on mail that came since the program began.
    recent: RecentVerdicts,
    say: &'a dyn Fn(&str),
    is_greeted: bool,
}

/// Connects and logs in.
pub(crate) fn log_in(
    config: &Config,
    place: &Place,
    credentials: &Credentials,
    handles: &Handles,
) -> Result<Session, Fault> {
    let (stream, handle) = place.connect().map_err(Fault::Transport)?;
    handles.add(handle)?;
    Session::begin(stream, (&place.host, place.port), &config.user, credentials)
}

/// The present second.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl<'a> Watcher<'a> {
    /// Reads the state at `path`. `say` prints lines for the user.
    pub(crate) fn new(
        config: &'a Config,
        place: Place,
        path: &'a Path,
        (is_dry, writes_now): (bool, bool),
        handles: Arc<Handles>,
        say: &'a dyn Fn(&str),
    ) -> Result<Self, Fault> {
        let state = match State::read(path, &config.account()) {
            Ok(state) => Some(state),
            Err(NoState::Unknown) => None,
            Err(NoState::Io(error)) => return Err(Fault::of(path, error)),
            Err(why) => {
                say(&format!("{}: {why}", path.display()));
                None
            }
        };
        let filter = Filter::new(&config.filter, Arc::clone(&handles.stop))?;
        Ok(Self {
            config,
            place,
            path,
            state,
            filter,
            is_dry,
            writes_now,
            handles,
            recent: RecentVerdicts::default(),
            say,
            is_greeted: false,
        })
    }

    /// Logs in and says which folders are watched.
    pub(crate) fn check(&mut self) -> Result<String, Fault> {
        let (session, watched) = self.begin(&self.config.credentials()?)?;
        let text = describe(&watched, &session);
        session.end();
        Ok(text)
    }

    /// Logs in and chooses the folders to watch.
    fn begin(&mut self, credentials: &Credentials) -> Result<(Session, Vec<Watched>), Fault> {
        let mut session = log_in(self.config, &self.place, credentials, &self.handles)?;
        let mut listed = session.list()?;
        let missing = unsure_to_make(&listed, self.config).filter(|_| !self.is_dry);
        if let Some(name) = missing {
            session.make(&name)?;
            (self.say)(&format!("made the folder {}", from_imap(&name)));
            listed = session.list()?;
        }
        self.filter.number_topics(&listed)?;
        let choice = choose(&listed, self.config, self.filter.topics())?;
        // When a connection was lost, this is not said again.
        if !self.is_greeted {
            for name in &choice.unmatched {
                (self.say)(&format!("the account has no folder {name} yet"));
            }
            for folder in &choice.unlabelled {
                (self.say)(&format!(
                    "the filter has no label for {folder}, so nothing is moved there: dbacl-imap \
                     learn makes one"
                ));
            }
        }
        Ok((session, choice.watched))
    }

    /// Looks once.
    pub(crate) fn once(&mut self) -> Result<(), Fault> {
        let (mut session, watched) = self.begin(&self.config.credentials()?)?;
        self.look_until_calm(&mut session, &watched)?;
        if self.writes_now
            && let Some(mut state) = self.state.take()
        {
            self.write(&mut session, &mut state)?;
            self.state = Some(state);
        }
        session.end();
        Ok(())
    }

    /// Makes rounds until the program is to stop.
    pub(crate) fn forever(
        &mut self,
        tell: &Sender<News>,
        news: &Receiver<News>,
    ) -> Result<(), Fault> {
        let mut rest = Duration::from_secs(1);
        let mut is_first = true;
        loop {
            let mut threads = Vec::new();
            let mut has_looked = false;
            let result = self.round(tell, news, &mut threads, &mut has_looked);
            self.handles.cut();
            for thread in threads {
                // The message of a panic was printed when it happened.
                let _ = thread.join();
            }
            let Err(fault) = result else { return Ok(()) };
            if self.handles.is_stopped() {
                return Ok(());
            }
            let is_hopeless = matches!(fault, Fault::Login { .. } | Fault::Local(_));
            if is_first && is_hopeless && !has_looked {
                return Err(fault);
            }
            if has_looked {
                (rest, is_first) = (Duration::from_secs(1), false);
            }
            let least = if is_hopeless { REST_AFTER_REFUSAL } else { Duration::ZERO };
            let pause = rest.max(least);
            let told = fault.at(&self.place.host, self.place.port);
            (self.say)(&format!("{told}; next try in {} s", pause.as_secs()));
            if self.waits_for_stop(news, pause) {
                return Ok(());
            }
            rest = (rest * 2).min(LONGEST_REST);
        }
    }

    fn round(
        &mut self,
        tell: &Sender<News>,
        news: &Receiver<News>,
        threads: &mut Vec<JoinHandle<()>>,
        has_looked: &mut bool,
    ) -> Result<(), Fault> {
        let credentials = self.config.credentials()?;
        let (mut session, watched) = self.begin(&credentials)?;
        if !self.is_greeted {
            self.is_greeted = true;
            (self.say)(&format!("watches {}", describe(&watched, &session)));
        }
        let is_told_news = session.can(&Capability::Idle);
        if is_told_news {
            // Every move that teaches begins or ends in the junk folder. The inbox announces new
            // mail.
            for folder in watched.iter().filter(|it| it.kind == Kind::Junk) {
                threads.push(self.listen(&folder.name, &credentials, tell)?);
            }
            threads.push(self.listen("INBOX", &credentials, tell)?);
        } else {
            self.look_until_calm(&mut session, &watched)?;
            *has_looked = true;
        }
        let poll = self.config.poll(is_told_news);
        loop {
            let Some(mut has_news) = self.next(news, poll)? else { return Ok(()) };
            let end = Instant::now() + GATHER_AT_MOST;
            while has_news && Instant::now() < end {
                let Some(more) = self.next(news, GATHER)? else { return Ok(()) };
                has_news = more;
            }
            self.look_until_calm(&mut session, &watched)?;
            *has_looked = true;
        }
    }

    /// Waits for news; returns whether there is some, or `None` if the program is to stop.
    fn next(&self, news: &Receiver<News>, patience: Duration) -> Result<Option<bool>, Fault> {
        let found = news.recv_timeout(patience).ok().transpose()?;
        Ok((!self.handles.is_stopped()).then_some(found.is_some()))
    }

    /// Waits; returns whether the program is to stop. News that comes meanwhile belongs to a round
    /// that has ended, and is dropped.
    fn waits_for_stop(&self, news: &Receiver<News>, pause: Duration) -> bool {
        let end = Instant::now() + pause;
        let left = || end.saturating_duration_since(Instant::now());
        while !self.handles.is_stopped() && news.recv_timeout(left()).is_ok() {}
        self.handles.is_stopped()
    }

    /// A thread that waits for news of a folder.
    fn listen(
        &self,
        folder: &str,
        credentials: &Credentials,
        tell: &Sender<News>,
    ) -> Result<JoinHandle<()>, Fault> {
        let (config, place) = (self.config.clone(), self.place.clone());
        let (handles, told) = (Arc::clone(&self.handles), tell.clone());
        let (folder, credentials, tell) = (folder.to_owned(), credentials.clone(), tell.clone());
        let wait = move || -> Result<(), Fault> {
            let mut session = log_in(&config, &place, &credentials, &handles)?;
            session.select(&folder, false, None)?;
            loop {
                // If the receiver is gone, the round has ended and shuts this connection down.
                session.idle(RENEW, &mut || drop(tell.send(Ok(()))))?;
            }
        };
        let listen = move || {
            if let Err(fault) = wait() {
                let _ = told.send(Err(fault));
            }
        };
        Ok(std::thread::Builder::new().name("news".into()).spawn(listen)?)
    }

    /// Looks, and looks again while a half of a move waits for the other one.
    fn look_until_calm(&mut self, session: &mut Session, watched: &[Watched]) -> Result<(), Fault> {
        for _ in 0..LOOKS {
            if !self.look(session, watched)? {
                break;
            }
        }
        Ok(())
    }

    /// Looks, learns and moves. Returns whether another look should follow at once.
    fn look(&mut self, session: &mut Session, watched: &[Watched]) -> Result<bool, Fault> {
        let state = self.state.take().unwrap_or_else(|| State::new(&self.config.account()));
        let result = self.look_from(&state, session, watched).and_then(|(new, is_restless)| {
            if new != state {
                self.keep(&new)?;
            } else if let Ok(file) = open_regular(self.path) {
                // The time of the file says when the account was last looked at; only `--status`
                // shows it.
                let _ = file.set_modified(SystemTime::now());
            }
            Ok((new, is_restless))
        });
        // If the look fails, the old state stays.
        let (state, is_restless) = match result {
            Ok((new, is_restless)) => (new, Ok(is_restless)),
            Err(fault) => (state, Err(fault)),
        };
        self.state = Some(state);
        is_restless
    }

    fn keep(&self, state: &State) -> Result<(), Fault> {
        if self.is_dry {
            return Ok(());
        }
        state.write(self.path).map_err(|error| Fault::Local(error.to_string()))
    }

    fn look_from(
        &mut self,
        state: &State,
        session: &mut Session,
        watched: &[Watched],
    ) -> Result<(State, bool), Fault> {
        let heeds_flags = self.config.flags.unwrap_or(true);
        let Looked { state: mut new, meaning, rebuilt, unmoved } =
            look(session, watched, state, heeds_flags, now())?;
        let Meaning { lessons, arrived, mut is_restless, .. } = meaning;
        if !rebuilt.is_empty() {
            (self.say)(&format!("takes stock of {}", stock(&new, &rebuilt)));
        }
        if self.is_dry {
            self.tell_lessons(&lessons)?;
        } else if !lessons.is_empty() {
            let taught =
                teach(session, lessons, &mut |label, mails| self.filter.learn(label, mails))?;
            for (label, count) in &taught.learned {
                let counted = match label {
                    Label::Ham => &mut new.counts.ham,
                    Label::Spam => &mut new.counts.spam,
                    Label::Topic(_) => &mut new.counts.topics,
                };
                *counted += *count as u64;
                new.week.learned += count;
            }
            (self.say)(&in_words(&taught, &self.filter));
        }
        if !unmoved.is_empty() && !self.is_dry {
            is_restless |= self.finish(session, watched, &mut new, unmoved)?;
        }
        let does_sort = self.config.unsure.is_some() || watched.iter().any(|it| it.is_sorted);
        let is_asked = self.config.move_spam || does_sort || self.config.letter;
        if is_asked && !arrived.is_empty() {
            is_restless |= self.sort(session, watched, &mut new, &arrived)?;
        }
        if self.config.letter && !self.is_dry && new.week.is_over(now()) {
            self.write(session, &mut new)?;
        }
        Ok((new, is_restless))
    }

    /// Writes the letter of the week that is over, and begins the next one.
    fn write(&mut self, session: &mut Session, state: &mut State) -> Result<(), Fault> {
        let now = now();
        let Some(week) = state.week.end(now, self.writes_now) else { return Ok(()) };
        let (unsure, all) = (week.unsure, week.came);
        let change = self.filter.expected(unsure, all).map_or_else(String::new, |expected| {
            format!(
                "Mail has changed: the filter was unsure of {unsure} of {all} messages \
                 ({expected} expected). dbacl-imap learn --replace learns the present mail."
            )
        });
        let letter = letter::message(state, &week, &self.config.user, &change, now);
        // The state is written before the letter, so that there is never more than one.
        self.keep(state)?;
        session.append("INBOX", letter)?;
        (self.say)("wrote a letter to the inbox");
        Ok(())
    }

    fn tell_lessons(&mut self, lessons: &[Lesson]) -> Result<(), Fault> {
        for Lesson { label, mail } in lessons {
            let label = self.filter.name(*label)?;
            let (label, uid) = (self.filter.folder(&label), mail.uid);
            let folder = from_imap(&mail.folder);
            (self.say)(&format!("would learn as {label}: message {uid} of {folder}"));
        }
        Ok(())
    }

    /// The folder into which mail is to be moved of whose label the filter is sure.
    fn goal<'w>(&self, watched: &'w [Watched], sure: Option<Label>) -> Option<&'w Watched> {
        let goal = |kind: Kind| watched.iter().find(|it| it.kind == kind && it.is_sorted);
        match sure {
            Some(Label::Spam) if self.config.move_spam => watched.first(),
            Some(Label::Spam) => goal(Kind::Junk),
            Some(Label::Topic(number)) => goal(Kind::Topic(number)),
            Some(Label::Ham) => None,
            None => watched.iter().find(|it| it.kind == Kind::Unsure),
        }
    }

    /// Moves new mail to the folders where it belongs; returns whether there was some.
    fn sort(
        &mut self,
        session: &mut Session,
        watched: &[Watched],
        state: &mut State,
        arrived: &[Placed],
    ) -> Result<bool, Fault> {
        let Some(validity) = state.folders.get("INBOX").map(|inbox| inbox.validity) else {
            return Ok(false);
        };
        let mut uids: Vec<u32> = arrived.iter().map(|it| it.uid).collect();
        uids.sort_unstable();
        let selected = session.select("INBOX", !self.is_dry, None)?;
        if selected.validity != validity {
            return Ok(false);
        }
        let mut goals: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for uids in uids.chunks(20) {
            for (uid, mail) in session.mails(uids)? {
                if letter::is_own(state, &mail) {
                    continue;
                }
                // What is not mail stays where it is.
                let Some(found) = self.filter.classify(&mail)? else { continue };
                if self.config.letter {
                    let doubt = Doubt::new(&found, self.filter.folder(&found.category), &mail);
                    state.week.count(doubt, || self.filter.reasons(&mail));
                }
                if let Some(many) = self.recent.count(found.is_unsure) {
                    (self.say)(&format!("{many}: {}", how_to_answer(watched)));
                }
                let sure = self.filter.sure(&found)?;
                if let Some(goal) = self.goal(watched, sure) {
                    goals.entry(&goal.name).or_default().push(uid);
                }
            }
        }
        let (since, mut moves) = (now(), Vec::new());
        for (goal, mut uids) in goals {
            uids.sort_unstable();
            if self.is_dry {
                for uid in &uids {
                    let goal = from_imap(goal);
                    (self.say)(&format!("would move to {goal}: message {uid} of INBOX"));
                }
                continue;
            }
            let is_unsure = watched.iter().any(|it| it.name == goal && it.kind == Kind::Unsure);
            state.week.moved(from_imap(goal), uids.len(), is_unsure);
            let mine = arrived.iter().filter(|it| uids.binary_search(&it.uid).is_ok());
            moves.extend(mine.map(|it| OwnMove {
                uid: it.uid,
                identity: it.identity,
                since,
                to: goal.to_owned(),
                is_done: false,
            }));
        }
        self.carry_out(session, state, moves)
    }

    /// Moves messages that the program was about to move when it was killed, as far as the settings
    /// still move mail to these folders; returns whether there were some.
    fn finish(
        &self,
        session: &mut Session,
        watched: &[Watched],
        state: &mut State,
        mut moves: Vec<OwnMove>,
    ) -> Result<bool, Fault> {
        let is_goal = |it: &Watched| match it.kind {
            Kind::Unsure => true,
            Kind::Junk => self.config.move_spam || it.is_sorted,
            _ => it.is_sorted,
        };
        moves.retain(|own| watched.iter().any(|it| it.name == own.to && is_goal(it)));
        let selected = session.select("INBOX", true, None)?;
        let validity = state.folders.get("INBOX").map(|inbox| inbox.validity);
        if validity != Some(selected.validity) {
            return Ok(false);
        }
        self.carry_out(session, state, moves)
    }

    /// Moves messages of the inbox, which is selected; returns whether there were some. The state
    /// is written before that. So no move of this program teaches, and none is forgotten, even if
    /// the program is killed in between.
    fn carry_out(
        &self,
        session: &mut Session,
        state: &mut State,
        moves: Vec<OwnMove>,
    ) -> Result<bool, Fault> {
        if moves.is_empty() {
            return Ok(false);
        }
        let mut goals: BTreeMap<String, Vec<(u32, bool)>> = BTreeMap::new();
        for OwnMove { uid, identity, to, .. } in &moves {
            let there = state.folders.get(to).map_or(&[][..], |folder| &folder.mails);
            // Without MOVE, a message is copied, and then removed.
            let is_copied = !session.can(&Capability::Move)
                && there.iter().any(|mail| mail.identity == *identity);
            goals.entry(to.clone()).or_default().push((*uid, is_copied));
        }
        let first = state.own.len();
        state.own.extend(moves);
        self.keep(state)?;
        for (goal, mut mine) in goals {
            mine.sort_unstable();
            let part = |is_copied| -> Vec<u32> {
                mine.iter().filter(|it| it.1 == is_copied).map(|it| it.0).collect()
            };
            session.move_to(&part(false), &goal)?;
            session.remove(&part(true))?;
            let own = state.own[first..].iter_mut().filter(|it| it.to == goal);
            own.for_each(|it| it.is_done = true);
            state.counts.moved += mine.len() as u64;
            (self.say)(&format!("moved {} to {}", mails(mine.len()), from_imap(&goal)));
        }
        Ok(true)
    }
}

fn describe(watched: &[Watched], session: &Session) -> String {
    let mut text = String::new();
    for Watched { name, kind, is_sorted } in watched {
        let kind = match (kind, is_sorted) {
            (Kind::Good, _) => "",
            (Kind::Junk, _) => " (spam)",
            (Kind::Trash, _) => " (thrown away)",
            (Kind::Unsure, _) => " (unsure)",
            (Kind::Topic(_), false) => " (learned)",
            (Kind::Topic(_), true) => " (learned and sorted)",
        };
        let comma = if text.is_empty() { "" } else { ", " };
        // A string can be written.
        let _ = write!(text, "{comma}{}{kind}", from_imap(name));
    }
    let mut known = vec![Capability::Idle, Capability::Move, Capability::QResync];
    if !session.can(&Capability::QResync) {
        known.push(Capability::CondStore);
    }
    known.retain(|ability| session.can(ability));
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    let known = if known.is_empty() { "nothing beyond IMAP4rev1".into() } else { known.join(", ") };
    let _ = write!(text, "; the server knows {known}");
    text
}

/// How a user of these folders answers questions about mail.
fn how_to_answer(watched: &[Watched]) -> String {
    match watched.iter().find(|it| it.kind == Kind::Unsure) {
        Some(own) => format!("move messages from {} to where they belong", from_imap(&own.name)),
        None => "with a folder for them (--unsure) they are the questions".to_owned(),
    }
}

/// How many messages folders have.
fn stock(state: &State, names: &[String]) -> String {
    let count = |name: &String| state.folders.get(name).map_or(0, |folder| folder.mails.len());
    let each = names.iter().map(|name| format!("{} ({})", from_imap(name), mails(count(name))));
    each.collect::<Vec<_>>().join(", ")
}

fn mails(count: usize) -> String {
    if count == 1 { "1 message".into() } else { format!("{count} messages") }
}

fn in_words(taught: &Taught, filter: &Filter) -> String {
    let Taught { learned, known, missed } = taught;
    let count = |label| learned.get(&label).copied().unwrap_or(0);
    let (spam, ham) = (count(Label::Spam), count(Label::Ham));
    let mut text = format!("learned {} as spam, {ham} as ham", mails(spam));
    for (number, topic) in (0..).zip(filter.topics()) {
        let count = count(Label::Topic(number));
        if count > 0 {
            let _ = write!(text, ", {count} as {}", filter.folder(topic));
        }
    }
    if *known > 0 {
        let _ = write!(text, "; knew {known} already");
    }
    if *missed > 0 {
        let _ = write!(text, "; {missed} were gone before they could be read");
    }
    text
}
