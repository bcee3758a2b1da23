// SPDX-License-Identifier: GPL-3.0-or-later
//! The state of the screen, and how keys change it. This module neither reads nor draws; it returns
//! an [`Effect`] for work that others do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::areas::{Areas, areas};
use super::commands::KEYS;
use super::prompt::Prompt;
use crate::programs::mailinspect::mail::evidence::WordEvidence;
use crate::programs::mailinspect::mail::index::Entry;
use crate::programs::mailinspect::mail::judge::SCORINGS;
use crate::programs::mailinspect::mail::order;
use ratatui::layout::Rect;
use std::ops::ControlFlow;

/// Work that a key asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// The end.
    Quit,
    /// Show a message in the pager.
    Page(usize),
    /// Give messages, in this order, to a shell command.
    Pipe {
        command: String,
        /// Numbers of entries.
        messages: Vec<usize>,
    },
    /// Find the messages among `among` with a line that matches, or without.
    Search {
        /// An extended regular expression.
        pattern: String,
        /// Whether those that match are wanted.
        wants_matches: bool,
        /// Numbers of entries.
        among: Vec<usize>,
    },
    /// Score all again by another category.
    Load(String),
    /// Append messages to an mbox.
    Save {
        path: String,
        /// Numbers of entries.
        messages: Vec<usize>,
    },
}

/// The purpose of the line that is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A command for the current message.
    Pipe,
    /// A command for all tagged messages.
    PipeTagged,
    /// An expression that messages are to match.
    Match,
    /// An expression that messages are not to match.
    Mismatch,
    /// A category.
    Category,
    /// Where to append the tagged messages.
    Save,
}

impl Purpose {
    /// The prompt before the line.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Pipe => "pipe this message to: ",
            Self::PipeTagged => "pipe each tagged message to: ",
            Self::Match => "list messages that match: ",
            Self::Mismatch => "list messages that do not match: ",
            Self::Category => "category: ",
            Self::Save => "append tagged messages to mbox: ",
        }
    }

    /// The number of its history, which lines of one kind share.
    const fn history(self) -> usize {
        match self {
            Self::Pipe | Self::PipeTagged => 0,
            Self::Match | Self::Mismatch => 1,
            Self::Category => 2,
            Self::Save => 3,
        }
    }
}

#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the screen
pub(super) struct State {
    /// The mailbox's name.
    pub mailbox: String,
    /// The category's name.
    pub category: String,
    /// What the list is sorted by: a place in `SCORINGS`.
    pub scoring: usize,
    /// Whether messages are shown by sender and subject, and not by their `From ` lines.
    pub is_summary: bool,
    /// Whether the farthest come first.
    pub is_reversed: bool,
    /// Whether the terminal takes UTF-8.
    pub is_utf8: bool,
    /// Whether colours may be used.
    pub has_colour: bool,
    /// All messages of the selection, in their order in the mailbox.
    pub entries: Vec<Entry>,
    /// Which of them are tagged.
    pub tags: Vec<bool>,
    /// Numbers of those that are listed, in the order of the list.
    pub list: Vec<usize>,
    /// Place of the highlighted message in the list.
    pub cursor: usize,
    /// Place of the first message shown.
    pub top: usize,
    pub has_preview: bool,
    /// First line of the preview that is shown.
    pub scroll: usize,
    /// What the preview is about, and its content.
    pub evidence: Option<(usize, WordEvidence)>,
    /// The line being typed.
    pub prompt: Option<(Purpose, Prompt)>,
    /// What last happened.
    pub notice: String,
    /// Bytes read and to be read, while the index is made.
    pub progress: Option<(u64, u64)>,
    /// Whether the keys are explained instead of the list.
    pub has_help: bool,
    /// Commands of the function keys.
    pub commands: [Option<String>; KEYS],
    /// The screen.
    pub area: Rect,
    /// Numbers of entries that a search has left out.
    pub(super) hidden: Vec<bool>,
    pub(super) histories: [Vec<String>; 4],
    /// Whether the user has chosen a message; until then the first stays highlighted.
    pub(super) has_moved: bool,
}

impl State {
    /// The highlighted message.
    pub(super) fn current(&self) -> Option<usize> {
        self.list.get(self.cursor).copied()
    }

    /// The tagged messages, in the order of the list; those not listed come last.
    pub(super) fn tagged(&self) -> Vec<usize> {
        let listed = self.list.iter().copied();
        let others = (0..self.entries.len()).filter(|&entry| self.hidden[entry]);
        listed.chain(others).filter(|&entry| self.tags[entry]).collect()
    }

    /// The parts of the screen.
    pub(super) fn areas(&self) -> Areas {
        areas(self.area, self.has_preview)
    }

    /// Takes in new messages.
    pub(super) fn add(&mut self, entries: Vec<Entry>) {
        self.entries.extend(entries.into_iter().filter(|entry| entry.is_listed));
        let count = self.entries.len().max(self.tags.len());
        self.tags.resize(count, false);
        self.hidden.resize(count, false);
        self.sort();
    }

    /// Forgets all messages: they are scored again by another category. They come in the same
    /// order, so tags and the last search stay.
    pub(super) fn restart(&mut self, category: String) {
        self.category = category;
        self.entries.clear();
        self.list.clear();
        self.evidence = None;
        (self.cursor, self.top, self.has_moved) = (0, 0, false);
    }

    /// Sorts the list again; the highlighted message stays so.
    fn sort(&mut self) {
        let current = self.current().filter(|_| self.has_moved);
        let listed: Vec<usize> =
            (0..self.entries.len()).filter(|&entry| !self.hidden[entry]).collect();
        let number = self.scoring;
        let scores: Vec<f32> =
            listed.iter().map(|&entry| self.entries[entry].measures.scores[number]).collect();
        self.list = order::ascending(&scores).into_iter().map(|at| listed[at]).collect();
        if self.is_reversed {
            self.list.reverse();
        }
        let place = current.and_then(|entry| self.list.iter().position(|&other| other == entry));
        self.go(place.unwrap_or(0));
    }

    /// Takes in what a search has found among the messages listed.
    pub(super) fn found(&mut self, entries: &[usize]) {
        self.hidden.fill(true);
        for &entry in entries {
            self.hidden[entry] = false;
        }
        self.sort();
        self.notice = format!("{} messages listed; an empty search lists all", entries.len());
    }

    /// Highlights the message at `place`, or the last one.
    fn go(&mut self, place: usize) {
        let before = self.current();
        self.cursor = place.min(self.list.len().saturating_sub(1));
        let rows = self.rows();
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(rows));
        if self.current() != before {
            self.scroll = 0;
        }
    }

    /// Moves the highlight by hand.
    fn move_to(&mut self, place: usize) {
        self.has_moved = true;
        self.go(place);
    }

    /// Lines of the list that the screen has room for.
    fn rows(&self) -> usize {
        usize::from(self.areas().list.height).max(1)
    }

    /// The screen has this size now.
    pub(super) fn resize(&mut self, area: Rect) {
        self.area = area;
        self.go(self.cursor);
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Option<Effect> {
        use KeyCode::{Char, Down, End, Enter, F, Home, PageDown, PageUp, Up};
        if let Some((purpose, mut prompt)) = self.prompt.take() {
            match prompt.key(key, &self.histories[purpose.history()]) {
                ControlFlow::Continue(()) => self.prompt = Some((purpose, prompt)),
                ControlFlow::Break(line) => return self.entered(purpose, line?),
            }
            return None;
        }
        self.notice.clear();
        if std::mem::take(&mut self.has_help) {
            return None;
        }
        // With control, with meta, or alone.
        let held = match key.modifiers {
            held if held.contains(KeyModifiers::CONTROL) => '^',
            held if held.contains(KeyModifiers::ALT) => '~',
            _ => ' ',
        };
        match (held, key.code) {
            (' ', Char('q' | 'Q')) | ('^', Char('c')) => return Some(Effect::Quit),
            (_, Down) | ('^', Char('n')) | (' ', Char('j')) => self.move_to(self.cursor + 1),
            (_, Up) | ('^', Char('p')) | (' ', Char('k')) => {
                self.move_to(self.cursor.saturating_sub(1));
            }
            (_, PageDown) | ('^', Char('f' | 'v')) | (' ', Char(' ')) => {
                self.move_to(self.cursor + self.rows());
            }
            (_, PageUp) | ('^', Char('b')) | ('~', Char('v')) => {
                self.move_to(self.cursor.saturating_sub(self.rows()));
            }
            (_, End) | ('~', Char('>')) | (' ', Char('G')) => self.move_to(usize::MAX),
            (_, Home) | ('~', Char('<')) | (' ', Char('1')) => self.move_to(0),
            // Return and line feed, as some terminals send them.
            (_, Enter) | ('^', Char('m' | 'j')) | (' ', Char('v')) => {
                return self.current().map(Effect::Page);
            }
            (_, F(number)) => self.function(usize::from(number)),
            ('~', Char('s')) | (' ', Char('/')) => self.ask(Purpose::Match, ""),
            ('~', Char('r')) | (' ', Char('?')) => self.ask(Purpose::Mismatch, ""),
            (' ', Char('o')) => {
                self.scoring = (self.scoring + 1) % SCORINGS.len();
                self.sort();
            }
            (' ', Char('p')) => self.is_summary = !self.is_summary,
            (' ', Char('z')) => {
                self.is_reversed = !self.is_reversed;
                self.sort();
            }
            (' ', Char(letter @ ('t' | 'u'))) => {
                if let Some(current) = self.current() {
                    self.tags[current] = letter == 't';
                }
            }
            (' ', Char(letter @ ('T' | 'U'))) => {
                self.list.iter().for_each(|&entry| self.tags[entry] = letter == 'T');
            }
            (' ', Char('s')) => self.ask(Purpose::Pipe, ""),
            (' ', Char('S')) => self.ask_tagged(Purpose::PipeTagged, ""),
            (' ', Char('w')) => self.ask_tagged(Purpose::Save, ""),
            (' ', Char('c')) => self.ask(Purpose::Category, ""),
            (' ', Char('e')) => {
                self.has_preview = !self.has_preview;
                self.go(self.cursor);
            }
            (' ', Char('J')) => self.scroll_by(1),
            (' ', Char('K')) => self.scroll_by(-1),
            (' ', Char('h')) => self.has_help = true,
            _ => {}
        }
        None
    }

    fn function(&mut self, number: usize) {
        let command = number.checked_sub(1).and_then(|at| self.commands.get(at)?.clone());
        match command {
            Some(command) => self.ask_tagged(Purpose::PipeTagged, &command),
            None => self.notice = format!("F{number} has no command in .mailinspectrc"),
        }
    }

    fn scroll_by(&mut self, lines: isize) {
        let last = self.evidence.as_ref().map_or(0, |(_, evidence)| evidence.lines.len());
        self.scroll = self.scroll.saturating_add_signed(lines).min(last.saturating_sub(1));
    }

    fn ask(&mut self, purpose: Purpose, text: &str) {
        self.prompt = Some((purpose, Prompt::new(text)));
    }

    fn ask_tagged(&mut self, purpose: Purpose, text: &str) {
        if self.tags.contains(&true) {
            self.ask(purpose, text);
        } else {
            self.notice = String::from("no message is tagged: t tags one, T all that are listed");
        }
    }

    fn entered(&mut self, purpose: Purpose, line: String) -> Option<Effect> {
        let is_search = matches!(purpose, Purpose::Match | Purpose::Mismatch);
        if line.is_empty() {
            if is_search {
                self.hidden.fill(false);
                self.sort();
            }
            return None;
        }
        let history = &mut self.histories[purpose.history()];
        if history.last() != Some(&line) {
            history.push(line.clone());
        }
        Some(match purpose {
            Purpose::Pipe => Effect::Pipe { command: line, messages: vec![self.current()?] },
            Purpose::PipeTagged => Effect::Pipe { command: line, messages: self.tagged() },
            Purpose::Match | Purpose::Mismatch => Effect::Search {
                pattern: line,
                wants_matches: purpose == Purpose::Match,
                among: self.list.clone(),
            },
            Purpose::Category => Effect::Load(line),
            Purpose::Save => Effect::Save { path: line, messages: self.tagged() },
        })
    }

    /// Takes an action of the mouse: the wheel moves, a click highlights.
    pub(super) fn mouse(&mut self, event: MouseEvent) {
        if self.prompt.is_some() || self.has_help {
            return;
        }
        let at = Position { x: event.column, y: event.row };
        let Areas { list, preview, .. } = self.areas();
        let in_preview = preview.is_some_and(|preview| preview.contains(at));
        match event.kind {
            MouseEventKind::ScrollDown if in_preview => self.scroll_by(3),
            MouseEventKind::ScrollUp if in_preview => self.scroll_by(-3),
            MouseEventKind::ScrollDown => self.move_to(self.cursor + 3),
            MouseEventKind::ScrollUp => self.move_to(self.cursor.saturating_sub(3)),
            MouseEventKind::Down(_) if list.contains(at) => {
                let place = self.top + usize::from(at.y - list.y);
                if place < self.list.len() {
                    self.move_to(place);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::keys;
    use super::*;
    use crate::programs::mailinspect::mail::judge::Measures;
    use ratatui::crossterm::event::MouseButton;

    /// A screen whose list has ten rows. Its messages have these scores by every scoring except the
    /// second, by which the first message has the last score, and so on.
    pub(in super::super) fn state_of(scores: &[f32]) -> State {
        let entries = scores.iter().enumerate().map(|(at, &score)| Entry {
            subject: format!("Subject: subject {at}\n").into_bytes(),
            from: b"From: \"B. Blue\" <blue@example.org>\n".to_vec(),
            date: b"Date: Wed, 14 Jan 2004 10:00:00 +0000\n".to_vec(),
            from_line: b"From blue@example.org Wed Jan 14 10:00:00 2004\n".to_vec(),
            measures: Measures { scores: [score, -score, score, score], ..Measures::default() },
            is_listed: true,
            ..Entry::default()
        });
        let mut state = State {
            mailbox: "box".into(),
            category: "sample".into(),
            is_summary: true,
            has_colour: true,
            is_utf8: true,
            commands: super::super::commands::parse("F1 cat >>spam\n"),
            ..State::default()
        };
        state.resize(Rect::new(0, 0, 80, 13));
        state.add(entries.collect());
        state
    }

    fn press(state: &mut State, pressed: &str) -> Option<Effect> {
        keys(pressed).into_iter().map(|key| state.key(key)).last().flatten()
    }

    #[test]
    fn keys_move_the_highlight() {
        let scores: Vec<f32> = (0..25u8).map(f32::from).collect();
        for (pressed, cursor, top) in [
            ("", 0, 0),
            ("jj", 2, 0),
            ("<ctrl-n><down>k", 1, 0),
            ("jj<ctrl-p><up><up>", 0, 0),
            ("<ctrl-f>", 10, 1),
            ("<ctrl-v>", 10, 1),
            (" ", 10, 1),
            ("<pagedown><pagedown>", 20, 11),
            ("<pagedown><pagedown><pagedown>", 24, 15),
            ("G", 24, 15),
            ("<end>", 24, 15),
            ("<meta-gt>", 24, 15),
            ("Gk", 23, 15),
            ("G<ctrl-b>", 14, 14),
            ("G<meta-v>", 14, 14),
            ("G<pageup><pageup><pageup>", 0, 0),
            ("G1", 0, 0),
            ("G<home>", 0, 0),
            ("G<meta-lt>", 0, 0),
        ] {
            let mut state = state_of(&scores);
            assert_eq!(press(&mut state, pressed), None, "{pressed}");
            assert_eq!((state.cursor, state.top), (cursor, top), "{pressed}");
        }
    }

    #[test]
    fn keys_ask_for_work() {
        let pipe = |command: &str, messages: &[usize]| {
            Some(Effect::Pipe { command: command.into(), messages: messages.to_vec() })
        };
        let search = |pattern: &str, wants_matches, among: &[usize]| {
            let (pattern, among) = (pattern.into(), among.to_vec());
            Some(Effect::Search { pattern, wants_matches, among })
        };
        for (pressed, expected) in [
            ("q", Some(Effect::Quit)),
            ("Q", Some(Effect::Quit)),
            ("<ctrl-c>", Some(Effect::Quit)),
            ("<enter>", Some(Effect::Page(1))),
            ("jv", Some(Effect::Page(2))),
            ("s<enter>", None),
            ("sx<esc>", None),
            ("swc -l<enter>", pipe("wc -l", &[1])),
            ("Swc<enter>", None),
            ("tGtSwc<enter>", pipe("wc", &[1, 0])),
            ("TjuSwc<enter>", pipe("wc", &[1, 0])),
            ("TUSwc<enter>", None),
            ("zTSwc<enter>", pipe("wc", &[0, 2, 1])),
            ("T<f1><enter>", pipe("cat >>spam", &[1, 2, 0])),
            ("T<f1>2<enter>", pipe("cat >>spam2", &[1, 2, 0])),
            ("T<f2><enter>", Some(Effect::Page(1))), // no command: return shows the message
            ("/a|b<enter>", search("a|b", true, &[1, 2, 0])),
            ("<meta-s>a<enter>", search("a", true, &[1, 2, 0])),
            ("?a<enter>", search("a", false, &[1, 2, 0])),
            ("z<meta-r>a<enter>", search("a", false, &[0, 2, 1])),
            ("c./junk<enter>", Some(Effect::Load("./junk".into()))),
            ("twout<enter>", Some(Effect::Save { path: "out".into(), messages: vec![1] })),
            ("wx<enter>", Some(Effect::Page(1))), // nothing is tagged: return shows the message
            ("hq", None),                         // leaves the help
            ("hqq", Some(Effect::Quit)),
        ] {
            let mut state = state_of(&[3.0, 1.0, 2.0]);
            assert_eq!(press(&mut state, pressed), expected, "{pressed}");
        }
    }

    #[test]
    fn the_list_is_sorted_again_around_the_highlighted_message() {
        let mut state = state_of(&[3.0, 1.0, 2.0, 2.0]);
        for (pressed, list, current) in [
            ("", &[1, 2, 3, 0][..], 1),
            ("j", &[1, 2, 3, 0], 2),
            ("z", &[0, 3, 2, 1], 2),
            ("o", &[1, 3, 2, 0], 2), // the second scoring, reversed
            ("z", &[0, 2, 3, 1], 2),
            ("ooo", &[1, 2, 3, 0], 2),
        ] {
            press(&mut state, pressed);
            assert_eq!((&state.list[..], state.current()), (list, Some(current)), "{pressed}");
        }
    }

    #[test]
    fn searches_add_up_and_an_empty_one_lists_all() {
        let mut state = state_of(&[3.0, 1.0, 2.0]);
        press(&mut state, "T");
        state.found(&[0, 2]);
        assert_eq!(state.list, [2, 0]);
        assert!(matches!(press(&mut state, "/x<enter>"), Some(Effect::Search { among, .. })
            if among == [2, 0]));
        state.found(&[]);
        assert_eq!((state.current(), press(&mut state, "<enter>")), (None, None));
        assert_eq!(press(&mut state, "tGkz T?<enter>"), None);
        assert_eq!(state.list.len(), 3);
        assert_eq!(state.tagged().len(), 3);
    }

    #[test]
    fn messages_arrive_in_groups_and_hidden_ones_stay_out() {
        let mut state = state_of(&[5.0]);
        let more = state_of(&[7.0, 1.0, 9.0]).entries;
        let mut hidden = more[0].clone();
        hidden.is_listed = false;
        state.add(more);
        state.add(vec![hidden]);
        assert_eq!(state.list, [2, 0, 1, 3]);
        assert_eq!(state.cursor, 0);
        press(&mut state, "j");
        state.add(state_of(&[0.0]).entries);
        assert_eq!((state.cursor, state.current()), (2, Some(0)));
        press(&mut state, "t");
        state.restart("other".into());
        assert_eq!((state.current(), state.category.as_str()), (None, "other"));
        state.add(state_of(&[3.0, 1.0]).entries);
        assert_eq!((&state.list[..], state.tagged()), (&[1, 0][..], vec![0]));
    }

    #[test]
    fn the_mouse_moves_and_clicks() {
        let mut state = state_of(&[3.0, 1.0, 2.0]);
        let event = |kind, row| MouseEvent { kind, column: 5, row, modifiers: KeyModifiers::NONE };
        let click = MouseEventKind::Down(MouseButton::Left);
        for (kind, row, cursor) in [
            (click, 2, 1),
            (click, 9, 1), // no message there
            (click, 0, 1), // the title
            (MouseEventKind::ScrollDown, 2, 2),
            (MouseEventKind::ScrollUp, 2, 0),
        ] {
            state.mouse(event(kind, row));
            assert_eq!(state.cursor, cursor, "{kind:?} {row}");
        }
    }

    #[test]
    fn lines_typed_before_come_back() {
        let mut state = state_of(&[1.0]);
        press(&mut state, "sone<enter>");
        press(&mut state, "/two<enter>");
        let Some(Effect::Pipe { command, .. }) = press(&mut state, "s<up><enter>") else {
            panic!("a command")
        };
        assert_eq!(command, "one");
    }
}
